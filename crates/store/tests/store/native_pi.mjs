// Lets pi itself look at sessions, and add to them.
//
//   node native_pi.mjs < REQUESTS
//
// One JSON line {"file", "add"} a request, one answer line for each. Each file is a copy that pi may do with as it likes.
// An answer says what pi made of it, whether loading alone changed a byte, and, with "add", what it appended then.
// BOSWELL_PI_PACKAGE names the folder of the installed package.

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const module = resolve(process.env.BOSWELL_PI_PACKAGE, "dist/core/session-manager.js");
const { SessionManager } = await import(pathToFileURL(module).href);

function describe(manager) {
  const entries = manager.getEntries();
  const labels = entries.map(({ id }) => [id, manager.getLabel(id)]).filter(([, label]) => label);
  const { messages, model, thinkingLevel } = manager.buildSessionContext();
  return {
    header: manager.getHeader(),
    leaf: manager.getLeafId() ?? null,
    entries: entries.map(({ id, parentId, type }) => ({ id, parentId, type })),
    name: manager.getSessionName() ?? null,
    labels: Object.fromEntries(labels),
    messages,
    model,
    thinkingLevel,
  };
}

const usage = {
  input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

function add(manager) {
  const asked = manager.appendMessage({ role: "user", content: "asked in pi", timestamp: Date.now() });
  manager.appendMessage({
    role: "assistant", content: [{ type: "text", text: "answered in pi" }], api: "a", provider: "p", model: "m",
    usage, stopReason: "stop", timestamp: Date.now(),
  });
  manager.appendLabelChange(asked, "from pi");
  manager.appendSessionInfo("named in pi");
  manager.branchWithSummary(asked, "left in pi");
  manager.appendMessage({ role: "user", content: "again in pi", timestamp: Date.now() });
}

function answer({ file, add: adds }) {
  const before = readFileSync(file);
  const manager = SessionManager.open(file, dirname(file));
  const loaded = describe(manager);
  const unchanged = before.equals(readFileSync(file));
  if (adds) add(manager);
  return { loaded, unchanged, added: adds ? describe(manager) : null };
}

for (const line of readFileSync(0, "utf8").split("\n").filter((line) => line !== "")) {
  let said;
  try {
    said = answer(JSON.parse(line));
  } catch (error) {
    said = { error: String(error?.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
