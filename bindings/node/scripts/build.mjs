// Compiles the package in the folder that it is called in: `dist/cjs`, and `dist/esm` for the
// adapters.
//
//     node scripts/build.mjs TSC ADDON
//
// There is one copy of the core, that of CommonJS, and the module re-exports it: with two copies,
// an error of one would not be an instance of the classes of the other.

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [tsc, addon] = process.argv.slice(2);

function compile(...options) {
  const done = spawnSync(process.execPath, [tsc, "-p", "tsconfig.json", ...options], {
    stdio: "inherit",
  });
  if (done.status !== 0) {
    process.exit(done.status ?? 1);
  }
}

rmSync("dist", { recursive: true, force: true });
compile();
compile("--module", "commonjs", "--outDir", "dist/cjs");

for (const name of readdirSync("dist/esm/core")) {
  if (name.endsWith(".js")) {
    rmSync(join("dist/esm/core", name));
  }
}
writeFileSync("dist/esm/index.js", 'export * from "../cjs/index.js";\n');
writeFileSync("dist/esm/package.json", '{ "type": "module" }\n');
writeFileSync("dist/cjs/package.json", '{ "type": "commonjs" }\n');

function isMusl() {
  try {
    return readFileSync("/usr/bin/ldd", "latin1").includes("musl");
  } catch {
    return false;
  }
}

if (addon !== undefined) {
  const ending = process.platform === "linux" && isMusl() ? "-musl" : "";
  const name = `boswell-store.${process.platform}-${process.arch}${ending}.node`;
  mkdirSync("native", { recursive: true });
  copyFileSync(addon, join("native", name));
}
