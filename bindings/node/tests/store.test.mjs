// The store: what is written is read, errors by kind, branches, pages, blobs.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

import * as boswellStore from "boswell-store";
import { BoswellError, Busy, Conflict, Invalid, NotFound, Store, textOf } from "boswell-store";

import { assistant, boswell, home, user } from "./fixtures.mjs";

const said = async (session) => (await session.messages()).map(textOf);

test("what is appended is read back, by this process and by the program", async (t) => {
  const folder = home(t);
  const store = await Store.open(folder);
  const writer = await store.create({ id: "s", project: "/p", title: "red build" });
  const receipt = await writer.append(user("why is the build red?"));
  assert.equal(receipt.session, "s");
  assert.equal(receipt.durability, "fsync");
  assert.equal(receipt.deduplicated, false);
  await writer.append(
    assistant([
      { type: "thinking", text: "look" },
      { type: "tool_call", id: "c1", name: "Read", arguments: { path: "a" } },
    ]),
  );
  await writer.append({ role: "tool", call: "c1", tool: "Read", content: "a test fails" });
  await writer.append(assistant("a test fails", { model: "m", usage: { input: 3, cost: 0.5 } }));
  const session = await writer.session();
  assert.deepEqual(await session.messages(), await (await store.session("s")).messages());
  assert.equal(session.title, "red build");
  assert.equal(session.project, "/p");
  assert.deepEqual((await session.messages())[1].content, [
    { type: "thinking", text: "look" },
    { type: "tool_call", id: "c1", name: "Read", arguments: { path: "a" } },
  ]);
  await writer.finish();
  const program = boswell(t, folder);
  if (program !== undefined) {
    const shown = await program("show", "s");
    assert.match(shown, /why is the build red\?/);
    assert.match(shown, /a test fails/);
  }
});

test("a call of an interrupted turn is answered in what a model is sent", async (t) => {
  const writer = await (await Store.open(home(t))).create({ id: "s" });
  const call = { type: "tool_call", id: "c1", name: "Read", arguments: {} };
  await writer.append(assistant([call]));
  await writer.append(user("go on"));
  const session = await writer.session();
  const roles = (messages) => messages.map((it) => it.role);
  const sent = await session.messages();
  assert.deepEqual(roles(sent), ["assistant", "tool", "user"]);
  assert.deepEqual(sent.map((it) => it.interrupted ?? false), [false, true, false]);
  assert.deepEqual([sent[1].call, sent[1].isError], ["c1", true]);
  assert.deepEqual(roles(await session.messages({ paired: false })), ["assistant", "user"]);
  assert.deepEqual(roles((await session.context()).messages), ["assistant", "toolResult", "user"]);
});

test("messages that were read can be appended again", async () => {
  const store = await Store.inMemory();
  const one = await store.create({ id: "one" });
  await one.append(user([{ type: "text", text: "see" }, { type: "image", mime: "image/png", data: "aGk=" }]));
  await one.append({ role: "system", content: "be brief" });
  const messages = await (await one.session()).messages();
  const two = await store.create({ id: "two" });
  await two.appendAll(messages);
  assert.deepEqual(await (await two.session()).messages(), messages);
});

test("records and bytes are kept as they came", async (t) => {
  const store = await Store.open(home(t));
  const writer = await store.create({ id: "s" });
  const record = { type: "custom", customType: "x", id: "e1", data: { text: "\ud800 ü", n: 1.5 } };
  await writer.append(record);
  await writer.append(Buffer.from('{"type":"custom","customType":"y","id":"e2","data":{"n":1.0}}'));
  const session = await writer.session();
  assert.deepEqual((await session.entry("e1")).json().data, record.data);
  assert.match((await session.entry("e2")).bytes.toString(), /"n":1\.0/);
});

test("errors are classes by kind with a hint", async (t) => {
  const store = await Store.open(home(t));
  const caught = async (call) => {
    try {
      await call();
    } catch (error) {
      assert.ok(error instanceof BoswellError, String(error));
      return error;
    }
    return assert.fail("it did not throw");
  };
  const missing = await caught(() => store.session("none"));
  assert.ok(missing instanceof NotFound);
  assert.equal(missing.kind, "NotFound");
  const writer = await store.create({ id: "s" });
  const busy = await caught(() => store.writer("s", { wait: 20 }));
  assert.ok(busy instanceof Busy);
  assert.equal(busy.holderPid, process.pid);
  assert.ok(busy.hint);
  assert.ok((await caught(() => store.create({ id: "s" }))) instanceof Conflict);
  for (const item of [{ role: "bard" }, {}, null, 7, { role: "user", content: 5 }, { role: "tool" }]) {
    const invalid = await caught(() => writer.append(item));
    assert.ok(invalid instanceof Invalid, `${JSON.stringify(item)}: ${invalid}`);
    assert.ok(invalid.hint);
  }
  assert.ok((await caught(() => writer.append(user("\ud800")))) instanceof Invalid);
  assert.ok((await caught(() => writer.append({ type: "x", n: 1n }))) instanceof Invalid);
  assert.ok((await caught(() => store.blobs.get("nonsense"))) instanceof Invalid);
  assert.ok((await caught(() => writer.branch("none"))) instanceof NotFound);
  assert.deepEqual(await said(await writer.session()), []);
});

test("a conflict names what was expected, and reaches its own caller only", async () => {
  const store = await Store.inMemory();
  const writer = await store.create({ id: "s" });
  const first = await writer.append(user("one"));
  const answers = await Promise.allSettled([
    writer.append(user("two")),
    writer.append(user("x"), { expectRevision: first.revision }),
    writer.appendAll([user("3"), user("4")]),
  ]);
  assert.deepEqual(answers.map((answer) => answer.status), ["fulfilled", "rejected", "fulfilled"]);
  assert.ok(answers[1].reason instanceof Conflict && answers[1].reason.expected);
  assert.deepEqual(await said(await writer.session()), ["one", "two", "3", "4"]);
});

test("calls keep their place between appends that are not awaited", async () => {
  const store = await Store.inMemory();
  const writer = await store.create({ id: "s" });
  const asked = await writer.append(user("why?"));
  await Promise.all([
    writer.append(assistant("no")),
    writer.branch(asked.entry),
    writer.append(assistant("yes")),
    writer.flush(),
  ]);
  assert.deepEqual(await said(await writer.session()), ["why?", "yes"]);
  await writer.compact("they asked", asked.entry);
  assert.deepEqual((await said(await writer.session())).slice(1), ["why?", "yes"]);
  await writer.reset();
  assert.deepEqual(await said(await writer.session()), []);
  await writer.release();
  await assert.rejects(writer.append(user("too late")), Invalid);
});

test("200 appends that are awaited together keep their order", async () => {
  const store = await Store.inMemory();
  const writer = await store.create({ id: "s" });
  const numbers = Array.from({ length: 200 }, (_, number) => String(number));
  const receipts = await Promise.all(numbers.map((number) => writer.append(user(number))));
  const session = await writer.session();
  assert.deepEqual(await said(session), numbers);
  const entries = [];
  for await (const entry of session) {
    if (entry.kind === "user") entries.push(entry.id);
  }
  assert.deepEqual(entries, receipts.map((receipt) => receipt.entry));
});

test("entries are read in pages, from both ends and of one branch", async () => {
  const store = await Store.inMemory();
  const writer = await store.create({ id: "s" });
  const numbers = Array.from({ length: 150 }, (_, number) => `e${number}`);
  await writer.appendAll(numbers.map((id) => user(id, { id })));
  const session = await writer.session();
  const collect = async (options) => {
    const ids = [];
    for await (const entry of session.entries(options)) {
      if (entry.kind === "user") ids.push(entry.id);
    }
    return ids;
  };
  assert.deepEqual(await collect({}), numbers);
  assert.deepEqual(await collect({ backwards: true }), numbers.toReversed());
  assert.deepEqual(await collect({ after: "e147" }), ["e148", "e149"]);
  assert.deepEqual(await collect({ before: "e70", backwards: true, limit: 66 }), numbers.slice(4, 70).reverse());
  const page = await session.page({ after: "e9", limit: 2 });
  assert.deepEqual(page.map((entry) => entry.text), ["e10", "e11"]);
  assert.equal(page[0].parent, "e9");
  await writer.branch("e1");
  await writer.append(user("other", { id: "other" }));
  const branched = await writer.session();
  const branch = await branched.page({ branch: true });
  const messages = branch.filter((entry) => entry.kind === "user");
  assert.deepEqual(messages.map((entry) => entry.id), ["e0", "e1", "other"]);
  assert.equal(branched.leaf, "other");
});

test("sessions are forked, listed, deleted and restored", async (t) => {
  const store = await Store.open(home(t));
  const writer = await store.create({ id: "s", title: "first", project: "/p" });
  const one = await writer.append(user("one"));
  await writer.append(user("two"));
  const fork = await store.fork("s", { at: one.entry, newId: "f" });
  await fork.append(user("other"));
  assert.deepEqual(await said(await fork.session()), ["one", "other"]);
  assert.equal((await fork.session()).project, "/p");
  await writer.release();
  await fork.release();
  const listed = await store.list({ details: true });
  assert.deepEqual(listed.map((info) => info.id).sort(), ["f", "s"]);
  assert.ok(listed.every((info) => info.modified > 1e12));
  await store.setTitle("f", "second");
  assert.equal((await store.session("f")).title, "second");
  await store.delete("f");
  assert.equal(await store.has("f"), false);
  await store.restore("f");
  assert.equal(await store.has("f"), true);
});

test("a session is followed while it is written", async (t) => {
  const store = await Store.open(home(t));
  const writer = await store.openSession("s");
  const found = [];
  const following = (async () => {
    for await (const entry of store.follow("s", { every: 5 })) {
      if (entry.text) found.push(entry.text);
      if (found.length === 3) return;
    }
  })();
  for (const text of ["a", "b", "c"]) await writer.append(user(text));
  await following;
  assert.deepEqual(found, ["a", "b", "c"]);
  const stop = new AbortController();
  const ended = (async () => {
    for await (const entry of store.follow("s", { fromEnd: true, every: 5, signal: stop.signal })) {
      assert.equal(entry.text, "d");
      assert.ok(entry.revision);
      stop.abort();
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 30));
  await writer.append(user("d"));
  await ended;
});

test("blobs are stored by their content", async (t) => {
  const store = await Store.open(home(t));
  const data = Buffer.alloc(100_000, 7);
  const id = await store.blobs.put(data);
  assert.match(id, /^blob:sha256:/);
  assert.equal(await store.blobs.put(new Uint8Array(data)), id);
  assert.deepEqual(await store.blobs.get(id), data);
  assert.equal(await store.blobs.has(id), true);
  assert.equal(await store.blobs.has(`blob:sha256:${"0".repeat(64)}`), false);
});

test("a lease is waited for, and openSession makes a session once", async (t) => {
  const folder = home(t);
  const [one, other] = await Promise.all([Store.open(folder), Store.open(folder)]);
  const writer = await one.openSession("s", { first: { type: "custom", customType: "begun" } });
  const waiting = other.openSession("s", { wait: 20_000 });
  await writer.append(user("one"));
  await writer.release();
  const second = await waiting;
  await second.append(user("two"));
  assert.deepEqual(await said(await second.session()), ["one", "two"]);
  await second[Symbol.asyncDispose]();
  const shared = await Promise.all([
    one.openSession("t", { shared: true }),
    other.openSession("t", { shared: true }),
  ]);
  await Promise.all(shared.map((it, n) => it.append(user(`shared ${n}`))));
  const both = await said(await one.session("t"));
  assert.equal(both.length, 2);
});

test("require and import share one set of classes", async () => {
  const required = createRequire(import.meta.url)("boswell-store");
  assert.equal(required.Store, Store);
  for (const name of Object.keys(required)) assert.equal(boswellStore[name], required[name], name);
});
