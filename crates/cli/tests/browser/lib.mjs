// What every script of the browser suite needs: the browser, pages that are logged in, and a list of what went wrong.
//
// BOSWELL_PLAYWRIGHT is a folder with playwright-core and axe-core, BOSWELL_CHROMIUM a browser, BOSWELL_URL the
// address that `boswell web` printed, BOSWELL_COMMAND the program with its options as JSON.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const modules = process.env.BOSWELL_PLAYWRIGHT;
const require = createRequire(join(modules, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const url = process.env.BOSWELL_URL;
export const origin = new URL(url).origin;
export const wrong = [];

/** Notes a promise that is not kept. */
export function check(isRight, text) {
  if (!isRight) wrong.push(text);
}

const [program, ...options] = JSON.parse(process.env.BOSWELL_COMMAND);

/** Runs the program of the demo and returns what it prints. */
export function boswell(args, input) {
  return execFileSync(program, [...args, ...options], { input, encoding: "utf8", maxBuffer: 1 << 28 });
}

/** Starts the program of the demo. */
export function started(args) {
  return spawn(program, [...args, ...options], { stdio: ["pipe", "ignore", "inherit"] });
}

export const browser = await chromium.launch({
  executablePath: process.env.BOSWELL_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none", "--host-resolver-rules=MAP rebind.example 127.0.0.1"],
});

/** Requests of a page that have no answer yet. A stream of events is none of them: it never ends. */
const underWay = new WeakMap();

function count(page) {
  const open = new Set();
  underWay.set(page, open);
  page.on("request", (request) => {
    if (/^(xhr|fetch|document|script|stylesheet|image)$/.test(request.resourceType()) && !isStream(request)) open.add(request);
  });
  for (const ended of ["requestfinished", "requestfailed"]) page.on(ended, (request) => open.delete(request));
}

const isStream = (request) => new URL(request.url()).pathname.endsWith("/events") || (request.headers()["accept"] ?? "").includes("text/event-stream");

/** Watches a page: console errors, policy reports and requests to other places are wrong. */
export function watch(page, name = () => "page") {
  count(page);
  page.on("pageerror", (error) => wrong.push(`${name()}: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(`${name()}: console: ${message.text()}`);
  });
  page.on("response", (answer) => {
    if (answer.status() >= 400) wrong.push(`${name()}: ${answer.status()} from ${answer.request().method()} ${answer.url()}`);
  });
  page.on("request", (request) => {
    const at = request.url();
    if (!at.startsWith(origin) && !/^(blob|data|about):/.test(at)) wrong.push(`${name()}: asks ${at}`);
  });
}

let token = null;

/** Opens a page that may read. The one-time code is used by the first one. */
export async function open(options = {}, name) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, timezoneId: "UTC", locale: "en-US", ...options });
  await context.addInitScript(
    ([its, token]) => {
      document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
      if (token && location.origin === its && !sessionStorage.getItem("boswell.token")) sessionStorage.setItem("boswell.token", token);
    },
    [origin, token],
  );
  if (process.env.BOSWELL_DIST) {
    // While the page is changed: its files as they are in a folder, without building the program again.
    await context.route("**/assets/*", (route) => route.fulfill({ path: join(process.env.BOSWELL_DIST, route.request().url().split("/").pop()) }));
  }
  const page = await context.newPage();
  watch(page, name);
  await page.goto(token ? `${origin}/` : url);
  await page.waitForSelector("nav.rail");
  token ??= await page.evaluate(() => sessionStorage.getItem("boswell.token"));
  return page;
}

/** Goes to a place of the page and waits until it is quiet. */
export async function go(page, hash) {
  await page.goto(`${origin}/#/${hash}`);
  await quiet(page);
}

/** Waits until no answer is on its way and nothing is drawn. */
export async function quiet(page) {
  const open = underWay.get(page);
  const deadline = Date.now() + 60_000;
  do {
    await page.evaluate(settled);
  } while (open?.size && Date.now() < deadline);
  if (open?.size) throw new Error(`no answer after a minute: ${[...open].map((it) => it.url()).join(", ")}`);
}

/** Runs in the page: ends when nothing changed for a while, with frames drawn in between, so that effects have run. */
async function settled() {
  let [last, since] = [-1, performance.now()];
  while (performance.now() - since < 150) {
    const now = document.querySelectorAll("*").length + performance.getEntriesByType("resource").length + document.querySelectorAll(".progress, .ghost").length * 1000;
    if (now !== last || document.querySelector(".progress")) [last, since] = [now, performance.now()];
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
  }
}

/** What axe finds against WCAG 2.2 AA. */
export async function violations(page) {
  // The page's own policy forbids scripts in it; the browser's own channel is not subject to it.
  await page.evaluate(axe);
  const found = await page.evaluate(() =>
    axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"] }),
  );
  return found.violations.map((it) => `${it.id} ×${it.nodes.length} ${it.nodes[0].html.slice(0, 160)} ${it.nodes[0].failureSummary?.split("\n")[1] ?? ""}`);
}

/** Takes back what was noted and is expected. */
export function forgive(pattern) {
  wrong.splice(0, wrong.length, ...wrong.filter((it) => !pattern.test(it)));
}

/** Ends the script: fails if something was wrong. */
export async function end() {
  await browser.close();
  if (wrong.length) {
    console.error([...new Set(wrong)].slice(0, 40).join("\n"));
    process.exit(1);
  }
  process.exit(0);
}
