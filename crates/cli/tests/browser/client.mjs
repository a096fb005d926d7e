// The generated client compiles, and lists, searches, reads, appends and follows.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const wrong = [];
const check = (isRight, text) => isRight || wrong.push(text);
const require = createRequire(join(process.env.BOSWELL_PLAYWRIGHT, "package.json"));
const compiler = join(require.resolve("typescript/package.json"), "../bin/tsc");
const out = mkdtempSync(join(tmpdir(), "client-"));
const source = new URL("../../../../web/client.ts", import.meta.url).pathname;
execFileSync(process.execPath, [compiler, "--strict", "--noUnusedLocals", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom,dom.iterable", "--skipLibCheck", "--outDir", out, source], { stdio: "inherit" });
writeFileSync(join(out, "package.json"), '{"type":"module"}');
const { Boswell, BoswellError } = await import(pathToFileURL(join(out, "client.js")));

const [program, ...options] = JSON.parse(process.env.BOSWELL_COMMAND);
const server = spawn(program, ["serve", "--write", "--port", "0", "--json", ...options], { stdio: ["ignore", "pipe", "inherit"] });
const said = JSON.parse(await new Promise((ready) => server.stdout.once("data", (bytes) => ready(String(bytes).split("\n")[0]))));
const client = new Boswell(said.url, readFileSync(said.write_token, "utf8").trim());
try {
  const listed = await client.sessions({ limit: 3 });
  check(listed.items.length === 3 && listed.items[0].type === "session", "list");
  const found = await client.search({ q: "coupon" });
  check(found.items.length > 0 && found.page.type === "page", "search");
  const made = await client.create({ title: "by the client", project: process.env.BOSWELL_DEMO });
  const before = await client.sessionEvents(made.ref, { signal: AbortSignal.timeout(20000) });
  const first = await before.next();
  check(first.value.name === "session", "follow");
  const receipts = await client.append(made.ref, [{ role: "user", text: "hello" }, { role: "assistant", text: "yes" }], { headers: { "Idempotency-Key": "k1" } });
  check(receipts.items.length === 2, "append");
  const seen = [];
  for await (const event of before) {
    if (event.name === "entry") seen.push(event.data.text);
    if (seen.length === 2) break;
  }
  check(seen.join() === "hello,yes", `followed ${seen}`);
  const again = await client.append(made.ref, [{ role: "user", text: "hello" }, { role: "assistant", text: "yes" }], { headers: { "Idempotency-Key": "k1" } });
  check(again.items.every((it) => it.deduplicated), "append again");
  const read = await client.entries(made.ref, { limit: 10 });
  check(read.items.map((it) => it.text).filter(Boolean).join().endsWith("hello,yes"), "read");
  const heads = await client.heads(made.ref);
  check(heads.total === read.page.total, "heads");
  const refused = await client.session("none-such").catch((error) => error);
  check(refused instanceof BoswellError && refused.status === 404 && refused.kind === "not_found", "error");
} finally {
  server.kill();
}
if (wrong.length) {
  console.error(wrong.join("\n"));
  process.exit(1);
}
