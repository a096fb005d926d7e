// The programs of `endurance.test.mjs`.

import { readFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";

import { BoswellError, Store } from "boswell-store";

const [task, folder, given] = process.argv.slice(2);
const number = Number(given);
const store = await Store.open(folder);
const user = (content, more = {}) => ({ role: "user", content, ...more });

/** Appends until it is killed, and says what is acknowledged. */
async function kill() {
  const writer = await store.openSession("killed", { wait: 30_000 });
  const say = parentPort === null ? (it) => process.stdout.write(`${it}\n`) : (it) => parentPort.postMessage(it);
  for (let at = number; ; at += 8) {
    const batch = Array.from({ length: 8 }, async (_, offset) => {
      const id = `e${at + offset}`;
      say((await writer.append(user("x".repeat(500), { id }))).entry);
    });
    await Promise.all(batch);
  }
}

async function together() {
  const writer = await store.create({ id: "s" });
  await writer.append(user("first"));
  await Promise.all(Array.from({ length: number }, (_, at) => writer.append(user(String(at)))));
}

async function forget() {
  const writer = await store.create({ id: "s" });
  writer.append(user("forgotten"));
}

async function worker() {
  const writer = await store.openSession("shared", { shared: true });
  for (let at = 0; at < 25; at += 1) await writer.append(user(`${number}.${at}`));
}

const resident = () => Number(readFileSync("/proc/self/statm", "latin1").split(" ")[1]) * 4096;

/** Calls half as often as given until V8's heap has its size, then as often as given. */
async function fill() {
  const writer = await store.create({ id: "s" });
  const follower = await store.follower("s");
  const filled = async (calls) => {
    for (let call = 0; call < calls; call += 100) {
      const appends = Array.from({ length: 98 }, () =>
        writer.append(user("x".repeat(100)), { durability: "os" }),
      );
      await Promise.all(appends);
      await follower.poll();
      await store.blobs.get("nonsense").catch((error) => {
        if (!(error instanceof BoswellError)) throw error;
      });
      // The writer keeps the ids of entries that were not synced yet.
      if (call % 1000 === 0) await writer.flush();
      // Garbage would hide what is kept.
      if (call % 10_000 === 0) globalThis.gc();
    }
    globalThis.gc();
    return resident();
  };
  const before = await filled(number / 2);
  process.stdout.write(String((await filled(number)) - before));
}

await { kill, together, forget, worker, fill }[task]();
