// The checkpointer of LangGraph, beyond what its validation suite asks.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test } from "node:test";

import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Command, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { Store } from "boswell-store";
import { BoswellSaver } from "boswell-store/langgraph";

import { boswell, home } from "./fixtures.mjs";

const thread = (id) => ({ configurable: { thread_id: id } });

function echo(checkpointer) {
  return new StateGraph(MessagesAnnotation)
    .addNode("reply", (state) => ({ messages: [new AIMessage(`reply ${state.messages.length}`)] }))
    .addEdge(START, "reply")
    .compile({ checkpointer });
}

test("a thread goes on in another process, and its messages are messages", async (t) => {
  const folder = home(t);
  await echo(new BoswellSaver(folder)).invoke({ messages: [new HumanMessage("wombat?")] }, thread("t"));
  const again = echo(new BoswellSaver(await Store.open(folder)));
  const state = await again.invoke({ messages: [new HumanMessage("more")] }, thread("t"));
  assert.deepEqual(state.messages.map((it) => it.text), ["wombat?", "reply 1", "more", "reply 3"]);
  const history = [];
  for await (const snapshot of again.getStateHistory(thread("t"))) history.push(snapshot);
  assert.equal(history.length, 6);
  const program = boswell(t, folder);
  if (program === undefined) return;
  const shown = await program("show", "t");
  for (const text of ["wombat?", "reply 1", "more", "reply 3"]) assert.ok(shown.includes(text), shown);
});

test("a thread of twice the turns has twice the bytes", async (t) => {
  const folder = home(t);
  const graph = echo(new BoswellSaver(folder));
  const store = await Store.open(folder);
  const size = async () => statSync((await store.session("t")).path).size;
  const turns = async (count) => {
    for (let turn = 0; turn < count; turn += 1) {
      await graph.invoke({ messages: [new HumanMessage("x".repeat(1000))] }, thread("t"));
    }
    return await size();
  };
  const [half, whole] = [await turns(20), await turns(20)];
  assert.ok(whole < 2.3 * half, `${half} and ${whole} bytes`);
});

test("a graph that was interrupted is resumed by another process", async (t) => {
  const folder = home(t);
  const asking = (checkpointer) =>
    new StateGraph(MessagesAnnotation)
      .addNode("ask", () => ({ messages: [new AIMessage(`you said ${interrupt("sure?")}`)] }))
      .addEdge(START, "ask")
      .compile({ checkpointer });
  await asking(new BoswellSaver(folder)).invoke({ messages: [new HumanMessage("go")] }, thread("t"));
  const other = asking(new BoswellSaver(await Store.open(folder)));
  const state = await other.invoke(new Command({ resume: "yes" }), thread("t"));
  assert.equal(state.messages.at(-1).text, "you said yes");
});

test("a thread is copied, pruned, and cleared of runs", async (t) => {
  const folder = home(t);
  const saver = new BoswellSaver(folder);
  const graph = echo(saver);
  for (const turn of ["one", "two"]) {
    await graph.invoke({ messages: [new HumanMessage(turn)] }, thread("t"));
  }
  const count = async (id) => {
    const found = [];
    for await (const tuple of saver.list(thread(id))) found.push(tuple);
    return found.length;
  };
  const texts = async (id) => (await graph.getState(thread(id))).values.messages.map((it) => it.text);
  await saver.copyThread("t", "copy");
  await saver.copyThread("nobody", "nothing");
  assert.equal(await count("copy"), await count("t"));
  assert.deepEqual(await texts("copy"), ["one", "reply 1", "two", "reply 3"]);
  await graph.invoke({ messages: [new HumanMessage("three")] }, thread("copy"));
  assert.equal((await texts("t")).length, 4);
  // A checkpoint of another run, which is taken back with it.
  const { checkpoint, config } = await saver.getTuple(thread("t"));
  const later = { ...checkpoint, id: "ffffffff-ffff-6fff-8fff-ffffffffffff" };
  const metadata = { source: "update", step: 9, parents: {}, run_id: "r2" };
  await saver.put(config, later, metadata, {});
  assert.equal((await saver.getTuple(thread("t"))).checkpoint.id, later.id);
  await saver.deleteForRuns(["r2"]);
  assert.equal((await saver.getTuple(thread("t"))).checkpoint.id, checkpoint.id);
  await saver.prune(["t"]);
  assert.equal(await count("t"), 1);
  assert.deepEqual(await texts("t"), ["one", "reply 1", "two", "reply 3"]);
  await saver.prune(["t"], { strategy: "delete" });
  assert.equal(await count("t"), 0);
  assert.equal((await texts("copy")).length, 6);
});

test("two savers write to one thread", async (t) => {
  const folder = home(t);
  const savers = [new BoswellSaver(await Store.open(folder)), new BoswellSaver(await Store.open(folder))];
  const checkpoint = (id) => ({
    v: 4,
    id,
    ts: "2026-01-01T00:00:00.000Z",
    channel_values: { said: id },
    channel_versions: { said: 1 },
    versions_seen: {},
  });
  const ids = Array.from({ length: 20 }, (_, n) => `1f0${String(n).padStart(5, "0")}-0000-6000-8000-000000000000`);
  const metadata = { source: "loop", step: 0, parents: {} };
  await Promise.all(ids.map((id, n) => savers[n % 2].put(thread("t"), checkpoint(id), metadata, { said: 1 })));
  for (const saver of savers) {
    const found = [];
    for await (const tuple of saver.list(thread("t"))) found.push(tuple.checkpoint);
    assert.deepEqual(found.map((it) => it.channel_values.said), ids.toReversed());
  }
});
