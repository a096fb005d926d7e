// Builds the page into a folder: the same input gives the same bytes.
import { build } from "esbuild";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const out = process.argv[2];
if (!out) throw new Error("usage: node build.mjs FOLDER");
mkdirSync(out, { recursive: true });
await build({
  entryPoints: { app: "src/main.tsx" },
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  outdir: out,
});
await build({ entryPoints: { app: "src/style.css" }, minify: true, charset: "utf8", outdir: out });
copyFileSync("index.html", join(out, "index.html"));
copyFileSync("icon.svg", join(out, "icon.svg"));
