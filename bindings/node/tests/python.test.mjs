// Sessions that the adapters of the Python package wrote are read and continued here, and back.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";

import { Store } from "boswell-store";
import { BoswellSessionStore } from "boswell-store/claude";
import { BoswellSession } from "boswell-store/openai";

import { home, isThere } from "./fixtures.mjs";

const run = promisify(execFile);

/** Runs a program with the Python package; undefined if that is absent. */
function python(t) {
  const program = process.env.BOSWELL_PYTHON_PACKAGE ?? "";
  if (!isThere(t, "the Python package (cargo xtask python)", existsSync(program))) return undefined;
  return async (script, ...words) =>
    JSON.parse((await run(program, ["-c", script, ...words], { timeout: 120_000 })).stdout);
}

const ITEM = (text) => ({ type: "message", role: "user", content: text });
const NAME = "it's (a) name/ü*";

const OPENAI = `
import asyncio, json, sys
from boswell_store.openai import BoswellSession
async def main(home, name, text):
    session = BoswellSession(name, home)
    found = await session.get_items()
    await session.add_items([{"type": "message", "role": "user", "content": text}])
    print(json.dumps(found))
asyncio.run(main(*sys.argv[1:]))
`;

test("a session of the OpenAI Agents SDK goes on in both languages", async (t) => {
  const call = python(t);
  if (call === undefined) return;
  const folder = home(t);
  assert.deepEqual(await call(OPENAI, folder, NAME, "from Python"), []);
  const session = new BoswellSession(NAME, folder);
  await session.addItems([ITEM("from Node")]);
  const both = [ITEM("from Python"), ITEM("from Node")];
  assert.deepEqual(await session.getItems(), both);
  assert.deepEqual(await call(OPENAI, folder, NAME, "again"), both);
  assert.deepEqual(await session.popItem(), ITEM("again"));
  assert.equal((await (await Store.open(folder)).list()).length, 1);
});

const CLAUDE = `
import asyncio, json, sys
from boswell_store.claude import BoswellSessionStore
async def main(home, name, uuid):
    store = BoswellSessionStore(home)
    key = {"project_key": "p/q", "session_id": name}
    found = await store.load(key)
    await store.append(key, [{"type": "x", "uuid": uuid}])
    print(json.dumps(found))
asyncio.run(main(*sys.argv[1:]))
`;

test("a transcript of the Claude Agent SDK goes on in both languages", async (t) => {
  const call = python(t);
  if (call === undefined) return;
  const folder = home(t);
  await call(CLAUDE, folder, NAME, "p1");
  const store = new BoswellSessionStore(folder);
  const key = { projectKey: "p/q", sessionId: NAME };
  await store.append(key, [{ type: "x", uuid: "p1" }, { type: "x", uuid: "n1" }]);
  const found = await call(CLAUDE, folder, NAME, "p2");
  assert.deepEqual(found, [{ type: "x", uuid: "p1" }, { type: "x", uuid: "n1" }]);
  assert.deepEqual((await store.load(key)).map((it) => it.uuid), ["p1", "n1", "p2"]);
  assert.deepEqual((await store.listSessions("p/q")).map((it) => it.sessionId), [NAME]);
});
