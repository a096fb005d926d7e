// Asks pi itself what it makes of a session file, so that our reading can be compared with the agent's.
//
//   node pi_context.mjs FILE [LEAF]     one answer; LEAF `-` means "before the first entry"
//   node pi_context.mjs < REQUESTS      one JSON line {"file", "leaf"?} per request, one answer line for each;
//                                       a leaf of null is "before the first entry", an absent one is pi's own
//
// BOSWELL_PI_PACKAGE names the folder of the installed package. No model, no network, no settings are needed.
//
// An answer is {"file", "header", "leaf", "entries": [{"id", "parentId", "type"}], "branch": [ids], "model",
// "thinkingLevel", "messages", "rewritten"} or {"file", "error"}. pi rewrites old versions and replaces files whose
// header it cannot read as soon as it opens them: it is therefore only ever shown a copy, and `rewritten` tells
// whether it changed that copy.

import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = null;

async function loadSessionManager() {
  const folder = process.env.BOSWELL_PI_PACKAGE;
  if (!folder) throw new Error("BOSWELL_PI_PACKAGE is not set; it names the folder of the installed pi package");
  const module = pathToFileURL(resolve(folder, "dist/core/session-manager.js"));
  return (await import(module.href)).SessionManager;
}

// pi follows parents without looking for a circle and would never come back from one.
function circleAbove(entries, leaf) {
  const parents = new Map(entries.map((entry) => [entry.id, entry.parentId]));
  const met = new Set();
  for (let id = leaf; id !== null && id !== undefined && parents.has(id); id = parents.get(id)) {
    if (met.has(id)) return id;
    met.add(id);
  }
  return undefined;
}

function describe(manager) {
  const entries = manager.getEntries();
  const leaf = manager.getLeafId() ?? null;
  const circle = circleAbove(entries, leaf);
  if (circle !== undefined) throw new Error(`the parents of ${leaf} run in a circle through ${circle}`);
  const context = manager.buildSessionContext();
  return {
    header: manager.getHeader(),
    leaf,
    entries: entries.map(({ id, parentId, type }) => ({ id, parentId, type })),
    branch: manager.getBranch().map((entry) => entry.id),
    model: context.model,
    thinkingLevel: context.thinkingLevel,
    messages: context.messages,
  };
}

function answer(SessionManager, { file, leaf }) {
  const scratch = mkdtempSync(join(tmpdir(), "boswell-pi-"));
  try {
    const copy = join(scratch, basename(file));
    copyFileSync(file, copy);
    const before = readFileSync(copy);
    const manager = SessionManager.open(copy, scratch);
    if (leaf === ROOT) manager.resetLeaf();
    else if (leaf !== undefined) manager.branch(leaf);
    return { file, ...describe(manager), rewritten: !before.equals(readFileSync(copy)) };
  } catch (error) {
    return { file, error: String(error?.message ?? error) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function requests() {
  const [file, leaf] = process.argv.slice(2);
  if (file) return [{ file, leaf: leaf === "-" ? ROOT : leaf }];
  const lines = readFileSync(0, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
}

const SessionManager = await loadSessionManager();
for (const request of requests()) {
  process.stdout.write(`${JSON.stringify(answer(SessionManager, request))}\n`);
}
