// Takes part in a MyAgents store as its newest version does: lock folders with an owner, the transcript's outside the
// index's, the index through a temporary file. Appends rows and counts them, or holds the index lock until it is killed.
//
//   node myagents.mjs ROOT SESSION TIMES|hold

import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [root, session, times] = process.argv.slice(2);
const token = `node:${process.pid}:${Date.now() - Math.round(process.uptime() * 1000)}`;
const ownerOf = (lock) => {
  try {
    return readFileSync(join(lock, "owner"), "utf8").replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, "");
  } catch {
    return undefined;
  }
};

function isDead(owner) {
  const fits = /^(node|rust):(\d+)(?::(\d+))?$/.exec(owner ?? "");
  if (!fits) return false;
  try {
    process.kill(Number(fits[2]), 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

async function take(lock) {
  mkdirSync(join(lock, ".."), { recursive: true });
  for (const started = Date.now(); Date.now() - started < 30_000; ) {
    try {
      mkdirSync(lock);
      writeFileSync(join(lock, "owner"), `${token}\n`);
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const owner = ownerOf(lock);
    const age = () => {
      try {
        return Date.now() - statSync(lock).mtimeMs;
      } catch {
        return 0;
      }
    };
    if (isDead(owner) || (owner === undefined && age() > 30_000)) {
      const tomb = `${lock}.stale-${process.pid}-${Date.now()}`;
      try {
        renameSync(lock, tomb);
        rmSync(tomb, { recursive: true });
      } catch (error) {
        if (error.code !== "ENOENT") throw error;
      }
      continue;
    }
    await new Promise((go) => setTimeout(go, 2));
  }
  throw new Error(`${lock} is busy: ${ownerOf(lock)}`);
}

function release(lock) {
  const owner = ownerOf(lock);
  if (owner !== undefined && owner !== token) throw new Error(`our lock was taken by ${owner}`);
  rmSync(lock, { recursive: true });
}

async function locked(lock, act) {
  await take(lock);
  try {
    return await act();
  } finally {
    release(lock);
  }
}

const index = join(root, "sessions.json");
const indexLock = join(root, "sessions.lock");

function update(change) {
  const rows = JSON.parse(readFileSync(index, "utf8").replace(/^\uFEFF/, ""));
  change(rows.find((row) => row.id === session));
  writeFileSync(`${index}.tmp`, JSON.stringify(rows, null, 2));
  renameSync(`${index}.tmp`, index);
}

function append(row) {
  const log = join(root, "sessions", `${session}.jsonl`);
  const file = openSync(log, "r");
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  if (size > 0) readSync(file, last, 0, 1, size - 1);
  closeSync(file);
  const bytes = `${size > 0 && last[0] !== 10 ? "\n" : ""}${JSON.stringify(row)}\n`;
  appendFileSync(log, bytes);
  const now = readFileSync(log);
  if (now.subarray(size).toString() !== bytes) throw new Error("somebody wrote under our lock");
}

if (times === "hold") {
  await take(indexLock);
  process.stdout.write("held\n");
  setInterval(() => {}, 1000);
} else {
  const transcriptLock = join(root, "session-locks", `${session}.jsonl.lock`);
  for (let n = 0; n < Number(times); n += 1) {
    await locked(transcriptLock, async () => {
      append({ id: `peer-${n}`, role: "user", content: `theirs ${n}`, timestamp: new Date().toISOString() });
      await locked(indexLock, () =>
        update((row) => {
          row.stats.messageCount += 1;
          row.peerCount = (row.peerCount ?? 0) + 1;
        }),
      );
    });
    await new Promise((go) => setImmediate(go));
  }
}
