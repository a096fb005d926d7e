// Kills, shared syncs, threads, memory.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

import { Store, textOf } from "boswell-store";

import { home, isThere, onPath, user } from "./fixtures.mjs";

const run = promisify(execFile);
// More of them run in a soak.
const KILLS = Number(process.env.BOSWELL_KILLS ?? 12);
const CALLS = Number(process.env.BOSWELL_CALLS ?? 100_000);
const PROGRAM = fileURLToPath(new URL("./appending.mjs", import.meta.url));

test("no acknowledged entry is lost when the process is killed", async (t) => {
  const folder = home(t);
  const acknowledged = new Set();
  let start = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const child = spawn(process.execPath, [PROGRAM, "kill", folder, String(start)]);
    let text = "";
    const ended = new Promise((resolve) => child.on("close", resolve));
    child.stdout.on("data", (data) => {
      // Killed at another moment after the first acknowledgement each time.
      if (text === "") setTimeout(() => child.kill("SIGKILL"), (kill * 37) % 50);
      text += data;
    });
    await ended;
    // The last line may have been cut by the kill.
    for (const line of text.split("\n").slice(0, -1)) acknowledged.add(line);
    const found = [];
    for await (const entry of await (await Store.open(folder)).session("killed")) {
      found.push(entry.id);
    }
    assert.equal(found.length, new Set(found).size);
    assert.deepEqual([...acknowledged].filter((id) => !found.includes(id)), []);
    start = 1 + Math.max(...found.filter((id) => /^e\d+$/.test(id)).map((id) => Number(id.slice(1))));
  }
  assert.ok(acknowledged.size >= KILLS);
  t.diagnostic(`soak: Node, ${KILLS} kills, ${acknowledged.size} acknowledged, 0 lost`);
});

async function syncs(folder, count) {
  const trace = `${folder}.trace`;
  const strace = ["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", trace];
  await run("strace", [...strace, process.execPath, PROGRAM, "together", folder, String(count)]);
  return readFileSync(trace, "utf8").match(/\bf(data)?sync\(/g)?.length ?? 0;
}

test("64 appends that are awaited together share syncs", async (t) => {
  if (!isThere(t, "strace", onPath("strace"))) return;
  const alone = await syncs(`${home(t)}-alone`, 0);
  const together = (await syncs(`${home(t)}-together`, 64)) - alone;
  // One by one, 64 appends need 64 syncs.
  assert.ok(together >= 1 && together <= 64 / 4, `${together} syncs`);
});

test("an append that nothing awaits is made before the process ends", async (t) => {
  const folder = home(t);
  await run(process.execPath, [PROGRAM, "forget", folder]);
  const messages = await (await (await Store.open(folder)).session("s")).messages();
  assert.deepEqual(messages.map(textOf), ["forgotten"]);
});

test("worker threads write to one store, and may be terminated while they do", async (t) => {
  const folder = home(t);
  const worker = (...words) => new Worker(PROGRAM, { argv: words });
  const ends = (it) => new Promise((resolve, reject) => it.on("exit", resolve).on("error", reject));
  const four = [0, 1, 2, 3].map((number) => worker("worker", folder, String(number)));
  assert.deepEqual(await Promise.all(four.map(ends)), [0, 0, 0, 0]);
  const store = await Store.open(folder);
  const texts = (await (await store.session("shared")).messages()).map(textOf);
  assert.equal(new Set(texts).size, 4 * 25);
  for (let round = 0; round < 5; round += 1) {
    const endless = worker("kill", folder, String(1000 * round));
    await new Promise((resolve) => endless.once("message", resolve));
    await endless.terminate();
    const writer = await store.writer("killed", { wait: 30_000 });
    await writer.append(user("after"));
    await writer.release();
  }
});

test("memory does not grow with calls", async (t) => {
  if (!isThere(t, "/proc", existsSync("/proc/self/statm"))) return;
  const words = ["--expose-gc", "--max-semi-space-size=2", PROGRAM, "fill", home(t), String(CALLS)];
  const { stdout } = await run(process.execPath, words, { timeout: 3_600_000 });
  t.diagnostic(`soak: Node, ${CALLS} calls after ${CALLS / 2}: ${stdout.trim()} bytes more`);
  // Less than 20 bytes a call: nothing is kept for each of them.
  assert.ok(Number(stdout) < Math.max(20 * CALLS, 4 << 20), `${stdout} bytes`);
});
