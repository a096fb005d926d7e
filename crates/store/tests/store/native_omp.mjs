// Lets oh-my-pi itself look at sessions, and add to them.
//
//   bun native_omp.mjs < REQUESTS
//
// One JSON line {"file", "add"} a request, one answer line for each, as native_pi.mjs gives them for pi.
// BOSWELL_OMP_PACKAGE names the folder of the installed package; its sources are run as they are, which needs bun.

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const module = resolve(process.env.BOSWELL_OMP_PACKAGE, "src/session/session-manager.ts");
const { SessionManager } = await import(pathToFileURL(module).href);

function describe(manager) {
  const entries = manager.getEntries();
  const labels = entries.map(({ id }) => [id, manager.getLabel(id)]).filter(([, label]) => label);
  const { messages, models } = manager.buildSessionContext();
  return structuredClone({
    header: manager.getHeader(),
    leaf: manager.getLeafId() ?? null,
    entries: entries.map(({ id, parentId, type }) => ({ id, parentId, type })),
    name: manager.getSessionName() ?? null,
    labels: Object.fromEntries(labels),
    messages,
    models,
  });
}

const usage = {
  input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

function add(manager) {
  const asked = manager.appendMessage({ role: "user", content: "asked in omp", timestamp: Date.now() });
  manager.appendMessage({
    role: "assistant", content: [{ type: "text", text: "answered in omp" }], api: "a", provider: "p", model: "m",
    usage, stopReason: "stop", timestamp: Date.now(),
  });
  manager.appendLabelChange(asked, "from omp");
  manager.branchWithSummary(asked, "left in omp");
  manager.appendMessage({ role: "user", content: "again in omp", timestamp: Date.now() });
}

async function answer({ file, add: adds }) {
  const before = readFileSync(file);
  const manager = await SessionManager.open(file, dirname(file));
  const loaded = describe(manager);
  const unchanged = before.equals(readFileSync(file));
  if (adds) {
    add(manager);
    await manager.setSessionName("named in omp", "user");
    await manager.flush();
  }
  const added = adds ? describe(manager) : null;
  await manager.close();
  return { loaded, unchanged, added };
}

const lines = readFileSync(0, "utf8").split("\n").filter((line) => line !== "");
const answers = [];
for (const line of lines) {
  try {
    answers.push(await answer(JSON.parse(line)));
  } catch (error) {
    answers.push({ error: String(error?.stack ?? error) });
  }
}
process.stdout.write(answers.map((said) => `${JSON.stringify(said)}\n`).join(""), () => process.exit(0));
