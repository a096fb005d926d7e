#!/usr/bin/env node
"use strict";
// Starts the program of the platform package that npm installed next to this one.

const { spawn } = require("node:child_process");

const packages = @PLATFORMS@;

function fail(message, hint) {
  process.stderr.write(`error: ${message}\nhint: ${hint}\n`);
  process.exit(2);
}

const platform = `${process.platform} ${process.arch}`;
const name = packages[platform];
if (!name) {
  fail(`there is no package of boswell for ${platform}`, "build it with `cargo install boswell`");
}
const file = process.platform === "win32" ? "boswell.exe" : "boswell";
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  fail(`the package ${name} is not installed`, "install again without `--omit=optional`");
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends Ctrl-C to both; the program decides what it means.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => fail(`cannot start ${program}: ${error.message}`, "install it again"));
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
