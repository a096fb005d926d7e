// The session of the OpenAI Agents SDK, beside the SDK's own in memory.

import assert from "node:assert/strict";
import { test } from "node:test";

import { MemorySession } from "@openai/agents-core";
import { Store } from "boswell-store";
import { BoswellSession } from "boswell-store/openai";

import { boswell, home } from "./fixtures.mjs";

const items = [
  { type: "message", role: "user", content: "what ate the wombat?" },
  { type: "reasoning", content: [{ type: "input_text", text: "look it up" }] },
  { type: "function_call", callId: "c1", name: "find", arguments: '{"what":"wombat"}' },
  { type: "function_call_result", callId: "c1", name: "find", status: "completed", output: { type: "text", text: "grass" } },
  { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "nothing did" }] },
  { type: "compaction", encrypted_content: "…" },
];

test("every call answers as the session in memory does", async (t) => {
  const ours = new BoswellSession("a session/ü", home(t));
  const theirs = new MemorySession({ sessionId: "a session/ü" });
  const both = async (call) => {
    const [our, their] = [await call(ours), await call(theirs)];
    assert.deepEqual(our, their);
    return our;
  };
  await both((it) => it.getSessionId());
  await both((it) => it.getItems());
  await both((it) => it.popItem());
  await both((it) => it.clearSession());
  await both((it) => it.addItems([]));
  await both((it) => it.addItems(items));
  for (const limit of [undefined, 0, 1, 3, 100, -1]) await both((it) => it.getItems(limit));
  assert.deepEqual(await both((it) => it.popItem()), items.at(-1));
  await both((it) => it.addItems([items[0]]));
  await both((it) => it.getItems(2));
  await both((it) => it.popItem());
  await both((it) => it.popItem());
  await both((it) => it.getItems());
  await both((it) => it.clearSession());
  await both((it) => it.getItems());
  await both((it) => it.popItem());
  await both((it) => it.addItems(items.slice(0, 2)));
  await both((it) => it.getItems());
});

test("items are messages, and what was taken back stays in the log", async (t) => {
  const folder = home(t);
  const session = new BoswellSession("s", folder);
  await session.addItems(items);
  await session.replaceHistoryWithCompaction([items[5], items[4]]);
  assert.deepEqual(await session.getItems(), [items[5], items[4]]);
  const store = await Store.open(folder);
  const all = await (await store.session("s")).page();
  assert.equal(all.filter((entry) => "openai" in entry.json()).length, items.length + 2);
  await new BoswellSession("t", folder).addItems(items);
  const program = boswell(t, folder);
  if (program === undefined) return;
  const shown = await program("show", "t");
  for (const text of ["what ate the wombat?", "grass", "nothing did"]) assert.ok(shown.includes(text), shown);
  assert.match(await program("search", "wombat"), /wombat/);
});

test("two sessions on one log pop each item once", async (t) => {
  const folder = home(t);
  const sessions = [
    new BoswellSession("s", await Store.open(folder)),
    new BoswellSession("s", await Store.open(folder)),
  ];
  const numbered = Array.from({ length: 20 }, (_, n) => ({ type: "message", role: "user", content: String(n) }));
  await sessions[0].addItems(numbered);
  const popped = await Promise.all(numbered.map((_, n) => sessions[n % 2].popItem()));
  assert.deepEqual(popped.map((it) => Number(it.content)).sort((a, b) => a - b), numbered.map((_, n) => n));
  assert.deepEqual(await sessions[1].getItems(), []);
});
