// Every example runs, and the chat agent may be killed at any moment.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Store, textOf } from "boswell-store";

import { home, isThere } from "./fixtures.mjs";
import { folderOfPrograms, server } from "./postgres.mjs";

const run = promisify(execFile);
const example = (name) => fileURLToPath(new URL(`../examples/node/${name}.js`, import.meta.url));
const lines = async (name, ...words) =>
  (await run(process.execPath, [example(name), ...words], { timeout: 120_000 })).stdout.trim().split("\n");

const PROMPTS = Array.from({ length: 12 }, (_, number) => `prompt ${number}`);

test("the chat agent answers every prompt once, however often it is killed", async (t) => {
  const folder = home(t);
  const printed = [];
  let kills = 0;
  for (let turn = 0; turn < 2 * PROMPTS.length; turn += 1) {
    const child = spawn(process.execPath, [example("chat_agent"), folder, ...PROMPTS]);
    let text = "";
    child.stdout.on("data", (data) => {
      if (text === "") setTimeout(() => child.kill("SIGKILL"), (turn * 7) % 5);
      text += data;
    });
    const [, signal] = await new Promise((resolve) => child.on("close", (...how) => resolve(how)));
    printed.push(...text.split("\n").slice(0, -1));
    if (signal === null) break;
    kills += 1;
  }
  await lines("chat_agent", folder, ...PROMPTS);
  const messages = await (await (await Store.open(folder)).session("chat")).messages();
  assert.ok(kills > 0);
  assert.deepEqual(messages.map((it) => it.role), PROMPTS.flatMap(() => ["user", "assistant"]));
  assert.deepEqual(messages.filter((it) => it.role === "user").map(textOf), PROMPTS);
  const answers = messages.filter((it) => it.role === "assistant").map(textOf);
  // What was printed was durable before.
  assert.deepEqual(printed.filter((line) => !answers.includes(line)), []);
});

test("the graph goes on in its thread", async (t) => {
  const folder = home(t);
  assert.deepEqual(await lines("langgraph_graph", folder, "one"), ["1 messages so far"]);
  assert.deepEqual(await lines("langgraph_graph", folder, "two"), ["3 messages so far"]);
});

test("the agent goes on in its session", async (t) => {
  const folder = home(t);
  assert.deepEqual(await lines("openai_agent", folder, "one"), ["I was sent 1 items"]);
  assert.deepEqual(await lines("openai_agent", folder, "two"), ["I was sent 3 items"]);
});

test("the agent of the AI SDK goes on in its session", async (t) => {
  const folder = home(t);
  assert.deepEqual(await lines("ai_sdk_agent", folder, "one"), ["I was sent 1 messages"]);
  assert.deepEqual(await lines("ai_sdk_agent", folder, "two"), ["I was sent 3 messages"]);
  const messages = await (await (await Store.open(folder)).session("chat")).messages();
  assert.deepEqual(messages.map(textOf), ["one", "I was sent 1 messages", "two", "I was sent 3 messages"]);
});

test("the mirror of the Claude SDK is in a database", async (t) => {
  const programs = folderOfPrograms();
  if (!isThere(t, "PostgreSQL (PG_BIN)", programs !== undefined)) return;
  const mirror = ["claude_mirror", await server(t, programs), "s1"];
  assert.deepEqual(await lines(...mirror, "one", "two"), ["2 entries are in the database"]);
  assert.deepEqual(await lines(...mirror, "three"), ["3 entries are in the database"]);
});

test("bun runs the chat agent", async (t) => {
  const bun = process.env.BOSWELL_BUN ?? "";
  if (!isThere(t, "bun (BOSWELL_BUN)", existsSync(bun))) return;
  const folder = home(t);
  const { stdout } = await run(bun, [example("chat_agent"), folder, "one", "two"], { timeout: 120_000 });
  assert.deepEqual(stdout.trim().split("\n"), ["answer 1 to: one", "answer 3 to: two"]);
  assert.deepEqual(await lines("chat_agent", folder, "one", "two", "three"), ["answer 5 to: three"]);
});
