// Lets pi itself load sessions. stdin: one path a line; stdout: `PATH<tab>ENTRIES<tab>LENGTH OF THE BRANCH TO THE LEAF`.
// PI_PACKAGE is the folder of the installed package. pi rewrites what it takes for no session, so it gets a copy.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const module = path.join(process.env.PI_PACKAGE, "dist/core/session-manager.js");
const { SessionManager, loadEntriesFromFile } = await import(pathToFileURL(module).href);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "pi-loads-"));
for (const file of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const copy = path.join(folder, "session.jsonl");
  fs.copyFileSync(file, copy);
  const loaded = loadEntriesFromFile(copy).length;
  const session = loaded === 0 ? undefined : SessionManager.open(copy, folder);
  console.log([file, Math.max(loaded - 1, 0), session ? session.getBranch().length : 0].join("\t"));
}
fs.rmSync(folder, { recursive: true, force: true });
