// A page that follows a session: each entry once and in order; what is purged is gone; 100,000 entries stay small.
import { gzipSync } from "node:zlib";
import { boswell, check, end, go, open, origin, quiet, started } from "./lib.mjs";

const page = await open({}, () => "live");
const make = () => JSON.parse(boswell(["new", "--json"])).ref;
const feed = (session, texts) => boswell(["append", session, "--durability", "os", "--quiet"], texts.map((text) => JSON.stringify({ role: "user", text }) + "\n").join(""));
const prompts = () => page.evaluate(() => [...document.querySelectorAll(".ask > p")].map((it) => it.textContent));

// Follow.
const followed = make();
feed(followed, ["first"]);
await go(page, `s/${followed}`);
await page.waitForFunction(() => document.querySelector(".ask"));
const writer = started(["append", followed, "--durability", "os", "--quiet"]);
for (let n = 0; n < 300; n++) writer.stdin.write(JSON.stringify({ role: "user", text: `n${n}` }) + "\n");
writer.stdin.end();
await page.waitForFunction(() => /301/.test(document.querySelector(".meta")?.innerText ?? ""), null, { timeout: 90000 });
await page.keyboard.press("G");
await quiet(page);
const last = await prompts();
check(last.at(-1) === "n299", `the last prompt is ${last.at(-1)}`);
const numbers = last.map((it) => Number(it.slice(1))).filter((it) => !Number.isNaN(it));
check(numbers.every((n, at) => at === 0 || n === numbers[at - 1] + 1), `out of order: ${numbers}`);

// Purge while the page shows it.
const secret = make();
feed(secret, ["heliotrope-7741"]);
await go(page, `s/${secret}`);
await page.waitForFunction(() => document.body.innerText.includes("heliotrope-7741"));
boswell(["delete", secret, "--purge", "--apply"]);
await page.waitForFunction(() => !document.documentElement.outerHTML.includes("heliotrope-7741"), null, { timeout: 90000 });

// Many entries.
const long = make();
feed(long, Array.from({ length: 100_000 }, (_, n) => `entry number ${n}`));
const large = await open({}, () => "large");
const context = large.context();
const first = await large.evaluate(async (session) => {
  const start = performance.now();
  location.hash = `#/s/${session}`;
  while (!document.querySelector(".ask > p")) await new Promise((resolve) => requestAnimationFrame(resolve));
  return performance.now() - start;
}, long);
await quiet(large);
const cdp = await context.newCDPSession(large);
await cdp.send("HeapProfiler.collectGarbage");
const { usedSize } = await cdp.send("Runtime.getHeapUsage");
const nodes = await large.evaluate(() => document.querySelectorAll("*").length);
const paint = await large.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null);
const script = gzipSync(await (await fetch(`${origin}/assets/app.js`)).text(), { level: 9 }).length;
console.log(JSON.stringify({ first_ms: Math.round(first), nodes, heap_mb: +(usedSize / 1e6).toFixed(1), js_gz: script, first_paint_ms: Math.round(paint ?? -1) }));
check(nodes <= 1500, `${nodes} nodes of 1,500`);
check(usedSize <= 60e6, `${usedSize} bytes of heap`);
check(script <= 60_000, `${script} bytes of script`);
await large.keyboard.press("g");
await quiet(large);
check((await large.evaluate(() => document.querySelector(".ask > p")?.textContent)) === "entry number 0", "the start is not shown");
await large.keyboard.press("G");
await quiet(large);
check((await large.evaluate(() => [...document.querySelectorAll(".ask > p")].at(-1)?.textContent)) === "entry number 99999", "the end is not shown");
await end();
