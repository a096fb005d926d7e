// The store of the Claude Agent SDK.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Store } from "boswell-store";
import { BoswellSessionStore } from "boswell-store/claude";

import { boswell, home } from "./fixtures.mjs";

const KEY = { projectKey: "-proj-demo", sessionId: "0199" };
const ENTRIES = [
  {
    type: "user",
    uuid: "u1",
    parentUuid: null,
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user", content: "what ate the wombat?" },
  },
  {
    type: "assistant",
    uuid: "a1",
    parentUuid: "u1",
    message: {
      role: "assistant",
      model: "claude-x",
      content: [
        { type: "thinking", thinking: "look", signature: "s" },
        { type: "tool_use", id: "t1", name: "Read", input: { path: "a" } },
      ],
    },
  },
  {
    type: "user",
    uuid: "r1",
    parentUuid: "a1",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "grass" }] },
  },
  { type: "summary", summary: "about wombats", leafUuid: "r1" },
];
const entry = (uuid, more = {}) => ({ type: "x", uuid, ...more });

test("entries are handed back in order, deep-equal, of their key alone", async (t) => {
  const store = new BoswellSessionStore(home(t));
  assert.equal(await store.load(KEY), null);
  await store.append(KEY, []);
  assert.equal(await store.load(KEY), null);
  assert.deepEqual(await store.listSessions(KEY.projectKey), []);
  await store.append(KEY, ENTRIES.slice(0, 1));
  await store.append(KEY, ENTRIES.slice(1));
  assert.deepEqual(await store.load(KEY), ENTRIES);
  assert.equal(await store.load({ ...KEY, projectKey: "other" }), null);
  const nested = entry("n", { deep: { list: [1, null, true, { "a b": "ü\n" }], empty: {} } });
  await store.append({ ...KEY, sessionId: "2" }, [nested, { type: "title" }, { type: "title" }]);
  assert.deepEqual(await store.load({ ...KEY, sessionId: "2" }), [nested, { type: "title" }, { type: "title" }]);
  const many = Array.from({ length: 50 }, (_, n) => entry(`m${n}`));
  await Promise.all(many.map((it) => store.append({ ...KEY, sessionId: "3" }, [it])));
  assert.deepEqual(await store.load({ ...KEY, sessionId: "3" }), many);
});

test("subpaths are kept apart, listed, and deleted with their session", async (t) => {
  const store = new BoswellSessionStore(home(t));
  const sub = (subpath) => ({ ...KEY, subpath });
  await store.append(sub("subagents/agent-1"), [entry("s")]);
  assert.deepEqual(await store.listSessions(KEY.projectKey), []);
  await store.append(KEY, ENTRIES);
  await store.append(sub("subagents/agent-2"), [entry("s")]);
  const [listed, ...more] = await store.listSessions(KEY.projectKey);
  assert.deepEqual(more, []);
  assert.equal(listed.sessionId, KEY.sessionId);
  assert.ok(Number.isInteger(listed.mtime) && listed.mtime > 1e12);
  assert.deepEqual((await store.listSubkeys(KEY)).sort(), ["subagents/agent-1", "subagents/agent-2"]);
  assert.deepEqual(await store.listSubkeys({ ...KEY, sessionId: "019" }), []);
  await store.delete(sub("subagents/agent-1"));
  assert.equal(await store.load(sub("subagents/agent-1")), null);
  assert.deepEqual(await store.load(KEY), ENTRIES);
  await store.append({ ...KEY, sessionId: "other" }, [entry("o")]);
  await store.delete(KEY);
  assert.equal(await store.load(KEY), null);
  assert.equal(await store.load(sub("subagents/agent-2")), null);
  assert.deepEqual(await store.load({ ...KEY, sessionId: "other" }), [entry("o")]);
  await store.delete(KEY);
  await store.append(KEY, ENTRIES);
  assert.deepEqual(await store.load(KEY), ENTRIES);
});

test("a batch that is repeated is kept once, and other content is reported", async (t) => {
  const folder = home(t);
  const warnings = [];
  const store = new BoswellSessionStore(folder, { warn: (text) => warnings.push(text) });
  await store.append(KEY, ENTRIES.slice(0, 2));
  await store.append(KEY, ENTRIES.slice(0, 3));
  const again = new BoswellSessionStore(await Store.open(folder));
  await again.append(KEY, ENTRIES);
  assert.deepEqual(await store.load(KEY), ENTRIES);
  assert.deepEqual(warnings, []);
  await store.append(KEY, [{ ...ENTRIES[0], message: { role: "user", content: "other" } }]);
  assert.match(warnings.join(), /other content/);
  assert.deepEqual(await store.load(KEY), ENTRIES);
});

test("sessions of any name are kept apart", async (t) => {
  const names = ["a", "A", "a b", "a/b", "a~b", "..", "-x", "x.jsonl", "é", "x".repeat(300), "%61", "it's (a) *!"];
  const store = new BoswellSessionStore(home(t));
  for (const sessionId of names) {
    const key = { projectKey: "p/q:r", sessionId };
    await store.append(key, [{ type: "x", name: sessionId }]);
    await store.append({ ...key, subpath: "subagents/1" }, [{ type: "y", name: sessionId }]);
  }
  for (const sessionId of names) {
    const key = { projectKey: "p/q:r", sessionId };
    assert.deepEqual(await store.load(key), [{ type: "x", name: sessionId }]);
    assert.deepEqual(await store.listSubkeys(key), ["subagents/1"]);
  }
  const listed = await store.listSessions("p/q:r");
  assert.deepEqual(listed.map((it) => it.sessionId).sort(), names.toSorted());
});

test("entries are messages for the program", async (t) => {
  const folder = home(t);
  await new BoswellSessionStore(folder).append(KEY, ENTRIES);
  const [info] = await (await Store.open(folder)).list();
  const program = boswell(t, folder);
  if (program === undefined) return;
  const shown = await program("show", info.id);
  assert.match(shown, /what ate the wombat\?/);
  assert.match(shown, /grass/);
});
