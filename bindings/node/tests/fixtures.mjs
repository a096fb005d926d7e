// What the tests share. A program that is absent skips a test here, and fails it in CI.

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A folder for a store, which is removed after the test. */
export function home(t) {
  const folder = mkdtempSync(join(tmpdir(), "boswell-node-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "home");
}

/** Skips the test, loudly; in CI nothing may be skipped. Returns whether to go on. */
export function isThere(t, what, is) {
  if (!is) {
    if (["true", "1"].includes(process.env.CI)) {
      throw new Error(`${what} is absent, and a CI run may not skip its tests`);
    }
    t.skip(`${what} is absent`);
  }
  return is;
}

export function onPath(program) {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.some((folder) => existsSync(join(folder, program)));
}

/** The command line program on one home; undefined if it is absent. */
export function boswell(t, folder) {
  const program = process.env.BOSWELL_PROGRAM;
  if (!isThere(t, "the program `boswell` (BOSWELL_PROGRAM)", existsSync(program ?? ""))) {
    return undefined;
  }
  const env = { PATH: process.env.PATH, HOME: dirname(folder), BOSWELL_HOME: folder };
  return async (...words) => (await run(program, words, { env, timeout: 60_000 })).stdout;
}

export const user = (content, more = {}) => ({ role: "user", content, ...more });
export const assistant = (content, more = {}) => ({ role: "assistant", content, ...more });
