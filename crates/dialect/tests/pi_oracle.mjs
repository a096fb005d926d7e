// Asks pi itself what it would send for a session, and compares that with what boswell says.
// stdin: one JSON object a line {name, text, leaf, model, thinking, messages}; leaf is absent (the tip), null (before everything) or an id.
// stdout: one line each, `ok NAME`, `refused NAME` (pi takes the file for no session) or `differs NAME: WHERE`.
// PI_PACKAGE is the folder of the installed package @mariozechner/pi-coding-agent. pi rewrites old files, so it gets a copy.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { pathToFileURL } from "node:url";

const module = path.join(process.env.PI_PACKAGE, "dist/core/session-manager.js");
const { SessionManager, loadEntriesFromFile } = await import(pathToFileURL(module).href);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "pi-oracle-"));

const joined = (model) => (model ? [model.provider, model.modelId].filter(Boolean).join("/") || null : null);

function verdict(test) {
  const file = path.join(folder, "session.jsonl");
  fs.writeFileSync(file, test.text);
  if (loadEntriesFromFile(file).length === 0) return `refused ${test.name}`;
  const session = SessionManager.open(file, folder);
  if (test.leaf === null) session.resetLeaf();
  else if (test.leaf !== undefined) session.branch(test.leaf);
  const context = JSON.parse(JSON.stringify(session.buildSessionContext()));
  const differs = (where, pi, ours) =>
    `differs ${test.name}: ${where}: pi ${JSON.stringify(pi)?.slice(0, 400)}, boswell ${JSON.stringify(ours)?.slice(0, 400)}`;
  if (context.messages.length !== test.messages.length) {
    return differs("number of messages", context.messages.length, test.messages.length);
  }
  for (const [at, message] of context.messages.entries()) {
    if (!isDeepStrictEqual(message, test.messages[at])) return differs(`message ${at}`, message, test.messages[at]);
  }
  if (joined(context.model) !== test.model) return differs("model", context.model, test.model);
  // What nothing states is absent for boswell, and off for pi.
  if (context.thinkingLevel !== (test.thinking ?? "off")) return differs("thinking", context.thinkingLevel, test.thinking);
  return `ok ${test.name}`;
}

for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  console.log(verdict(JSON.parse(line)));
}
fs.rmSync(folder, { recursive: true, force: true });
