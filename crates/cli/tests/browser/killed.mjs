// A writer appends 10,000 entries while the server is killed and started again: the page shows each once, in order.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { boswell, browser, check, end, forgive, quiet, started, watch } from "./lib.mjs";

const ENTRIES = 10_000;
const KILLS = 5;
const [program, ...options] = JSON.parse(process.env.BOSWELL_COMMAND);

/** Starts the server at the port that it had before. */
async function serve() {
  const child = spawn(program, ["serve", "--json", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  const line = await new Promise((ready) => child.stdout.once("data", (bytes) => ready(String(bytes).split("\n")[0])));
  return { child, said: JSON.parse(line) };
}

const session = JSON.parse(boswell(["new", "--json"])).ref;
boswell(["append", session, "--durability", "os", "--quiet"], `${JSON.stringify({ role: "user", text: "n0" })}\n`);
let { child, said } = await serve();
const token = readFileSync(said.read_token, "utf8").trim();
// High, so that many entries are drawn at a time.
const context = await browser.newContext({ viewport: { width: 1440, height: 4000 } });
await context.addInitScript((token) => sessionStorage.setItem("boswell.token", token), token);
const page = await context.newPage();
watch(page, () => "killed");
await page.goto(`${said.url}/#/s/${session}`);
await page.waitForSelector(".ask");

/** How many entries the page knows. */
const known = () => page.evaluate(() => Number(document.querySelector(".meta b.num").textContent.replace(/\D/g, "")));

const writer = started(["append", session, "--durability", "os", "--quiet"]);
let written = 1;
for (let kill = 1; kill <= KILLS; kill++) {
  const until = Math.floor((kill * ENTRIES) / (KILLS + 1));
  for (; written < until; written++) writer.stdin.write(`${JSON.stringify({ role: "user", text: `n${written}` })}\n`);
  await page.waitForTimeout(200);
  child.kill("SIGKILL");
  await new Promise((gone) => child.once("exit", gone));
  const before = said.url;
  ({ child, said } = await serve());
  check(said.url === before, `the server moved from ${before} to ${said.url}`);
}
for (; written < ENTRIES; written++) writer.stdin.write(`${JSON.stringify({ role: "user", text: `n${written}` })}\n`);
writer.stdin.end();
const deadline = Date.now() + 60_000;
while ((await known()) < ENTRIES && Date.now() < deadline) await page.waitForTimeout(200);
const total = await known();
check(total === ENTRIES, `the page knows ${total} of ${ENTRIES} entries`);

// Every place of the session is looked at.
await page.keyboard.press("g");
await quiet(page);
const seen = new Map();
for (let step = 0; step < 2 * ENTRIES && seen.size < ENTRIES; step++) {
  await page.waitForFunction(() => !document.querySelector(".ghost"), null, { timeout: 20_000 });
  const shown = await page.evaluate(() => [...document.querySelectorAll(".e[data-place]")].map((it) => [Number(it.dataset.place), it.querySelector(".ask > p")?.textContent]));
  for (const [place, text] of shown) {
    check(text === `n${place}`, `${text} is at ${place}`);
    seen.set(place, text);
  }
  const isEnd = await page.evaluate(() => {
    const box = document.querySelector(".scroll");
    const before = box.scrollTop;
    box.scrollTop += box.clientHeight;
    return box.scrollTop === before;
  });
  if (isEnd) break;
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}
check(seen.size === ENTRIES, `${seen.size} of ${ENTRIES} places were seen`);
child.kill("SIGKILL");
// This server is another one than that of the other scripts.
forgive(new RegExp(`asks ${said.url}/`));
// While the server was gone its requests failed, which is what is tested.
forgive(/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|network error|Failed to fetch/);
await end();
