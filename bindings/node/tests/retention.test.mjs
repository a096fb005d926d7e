// Expiry, erasure by person, and search.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Busy, Invalid, Store, Unsupported } from "boswell-store";

import { assistant, home, user } from "./fixtures.mjs";

async function say(store, id, text, options = {}) {
  const writer = await store.create({ id, ...options });
  await writer.appendAll([user(text), assistant("understood")]);
  await writer.release();
}

const ids = async (store, options) => (await store.list(options)).map((it) => it.id).toSorted();

test("what has expired is deleted, and can be restored", async (t) => {
  const store = await Store.open(home(t));
  await say(store, "short", "hello", { expiresIn: 0 });
  await say(store, "long", "hello", { expiresIn: 3_600_000 });
  assert.deepEqual(await store.expire(), ["short"]);
  assert.deepEqual(await ids(store), ["long"]);
  await store.restore("short");
  await store.setExpiry("short", undefined);
  await store.setExpiry("long", 0);
  assert.deepEqual(await store.expire(), ["long"]);
  await assert.rejects(store.setExpiry("short", -1), Invalid);
});

test("everything about a person is erased", async (t) => {
  const store = await Store.open(home(t));
  await say(store, "a", "the word is xylophone", { subject: "ann" });
  await say(store, "b", "marimba", { subject: "bob" });
  await (await store.fork("a", { newId: "fork" })).release();
  assert.deepEqual(await ids(store, { subject: "ann" }), ["a", "fork"]);
  assert.equal((await store.search("xylophone")).length, 2);
  const writer = await store.writer("a");
  await assert.rejects(store.erase("ann"), Busy);
  await writer.release();
  assert.deepEqual(await store.erase("ann"), ["a"]);
  assert.deepEqual(await store.search("xylophone"), []);
  const [left] = await store.list({ details: true });
  assert.equal(left.subject, "bob");
});

test("search finds words, phrases and one session", async (t) => {
  const store = await Store.open(home(t));
  await say(store, "a", "why is the build red? because of the wombat");
  await say(store, "b", "the wombat sleeps");
  const hits = await store.search("wombat");
  assert.deepEqual(hits.map((hit) => hit.session).toSorted(), ["a", "b"]);
  assert.ok(hits.every((hit) => hit.role === "user" && hit.snippet.includes("wombat")));
  assert.deepEqual((await store.search("wombat", { session: "a" })).map((hit) => hit.session), ["a"]);
  assert.equal((await store.search("wombat", { limit: 1 })).length, 1);
  await assert.rejects((await Store.inMemory()).search("wombat"), Unsupported);
});

test("an address that is none is refused without repeating it", async () => {
  const address = "postgres://user:hunter2@[nowhere";
  await assert.rejects(Store.remote(address), (error) => {
    assert.ok(error instanceof Invalid);
    assert.ok(!JSON.stringify([error.message, error.reason, error.hint]).includes("hunter2"));
    return true;
  });
});
