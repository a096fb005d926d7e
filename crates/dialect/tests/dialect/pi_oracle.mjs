// Asks pi itself what it would send for a session, and compares that with what boswell says.
// stdin: one JSON object a line {name, text, leaf, model, thinking, messages, sent}; leaf is absent (the tip), null (before everything) or an id; sent may be absent.
// stdout: one line each, `ok NAME`, `refused NAME` (pi takes the file for no session) or `differs NAME: WHERE`.
// PI_PACKAGE is the folder of the installed package @mariozechner/pi-coding-agent. pi rewrites old files, so it gets a copy.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { pathToFileURL } from "node:url";

const module = path.join(process.env.PI_PACKAGE, "dist/core/session-manager.js");
const { SessionManager, loadEntriesFromFile } = await import(pathToFileURL(module).href);
const load = (file) => import(pathToFileURL(file).href);
const { convertToLlm } = await load(path.join(process.env.PI_PACKAGE, "dist/core/messages.js"));
const { transformMessages } = await load(path.join(process.env.PI_PACKAGE, "../pi-ai/dist/providers/transform-messages.js"));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "pi-oracle-"));

const joined = (model) => (model ? [model.provider, model.modelId].filter(Boolean).join("/") || null : null);

// What goes to a provider, as role, call and text; a model that nobody names is the one that gave every answer.
// Without the words around a summary, which boswell leaves out, results without a call, which it drops, and empty thoughts.
function sent(messages) {
  const nobody = messages.map((m) => ({ ...m, provider: undefined, api: undefined, model: undefined }));
  const asked = new Set();
  const words = [];
  for (const m of transformMessages(convertToLlm(nobody), { input: ["image"] })) {
    const list = Array.isArray(m.content) ? m.content : [];
    const parts = typeof m.content === "string" ? [{ type: "text", text: m.content }] : list;
    if (m.role === "toolResult" && !asked.has(m.toolCallId)) continue;
    parts.filter((part) => part.type === "toolCall").forEach((part) => asked.add(part.id));
    const told = parts.map((part) => part.text ?? (part.type === "image" ? "image" : undefined));
    words.push([m.role, m.toolCallId ?? null, told.filter((text) => text !== undefined).map(bare)]);
  }
  return words;
}

const bare = (text) => text.replace(/^[^<]*<summary>\n([^]*?)\n?<\/summary>$/, "$1");

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
  if (test.sent !== undefined) {
    const goes = sent(context.messages);
    const ours = test.sent.map(([role, call, parts]) => [role, call, parts.map(bare)]);
    if (!isDeepStrictEqual(goes, ours)) return differs("what is sent", goes, ours);
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
