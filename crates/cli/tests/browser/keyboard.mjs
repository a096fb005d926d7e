// The daily jobs without a mouse: every step is a key.
import { boswell, check, end, forgive, open, quiet } from "./lib.mjs";

const page = await open({ permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true }, () => "keyboard");
const press = async (...keys) => {
  for (const key of keys) await page.keyboard.press(key);
  await quiet(page);
};
const type = async (text) => {
  await page.keyboard.type(text);
  await quiet(page);
};
const text = () => page.evaluate(() => document.body.innerText);
const copied = () => page.evaluate(() => navigator.clipboard.readText());
const job = async (name, work) => {
  try {
    await work();
  } catch (error) {
    check(false, `${name}: ${error.message.split("\n")[0]}`);
  }
};
/** Moves the focus with Tab until it is on something with these words. */
const tabTo = async (words) => {
  const seen = [];
  for (let step = 0; step < 80; step++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => (document.activeElement?.innerText || document.activeElement?.getAttribute("aria-label") || "").trim());
    if (words.test(at)) return true;
    seen.push(at.slice(0, 20));
  }
  throw new Error(`nothing with ${words} can be reached with Tab, only ${[...new Set(seen)].join(" | ")}`);
};
const fresh = async () => {
  await page.keyboard.press("Escape");
  await press("1");
};

await job("find a conversation and go on with it", async () => {
  await press("/");
  await type("coupon rounded");
  await page.waitForTimeout(300);
  await press("Enter", "Enter");
  await page.waitForSelector(".session");
  await press("r");
  check(/claude/.test(await copied()) && /5ac5e505/.test(await copied()), `copied ${await copied()}`);
});
await fresh();
await job("what did I do: sessions by day", async () => {
  check((await page.locator(".day").count()) > 0, "no days");
  await press("j", "j", "k");
  const chosen = await page.locator("[aria-selected=true]").count();
  check(chosen === 1, `${chosen} rows are selected`);
});
await job("what was spent by project and model", async () => {
  await press("4");
  await tabTo(/^week$/);
  await press("Enter");
  const shown = await text();
  check(/Model/.test(shown) && /Project/.test(shown) && /\$/.test(shown), "no table of costs");
});
await job("a session does not resume any more", async () => {
  await press("5");
  await page.waitForSelector(".plan .step");
  check(/its agent sees now/.test(await text()), "not said what the agent sees");
  check((await page.locator(".step .diff .a, .step .diff .d").count()) > 0, "no bytes are shown");
  await tabTo(/^Apply 3 steps$/);
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open]");
  await press("Enter");
  await page.waitForFunction(() => /Repaired/.test(document.body.innerText));
  check(boswell(["ops", "--json"]).includes("repair"), "no operation was recorded");
  await quiet(page);
  await tabTo(/^Undo$/);
  await press("Enter");
  await page.waitForFunction(() => /undone/.test(document.body.innerText));
  await quiet(page);
});
await job("share without secrets", async () => {
  await page.goto(page.url().split("#")[0] + "#/s/claude:5ac5e505-ca12-40e3-a6c1-82bfd1662e80");
  await quiet(page);
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("e")]);
  check(/\.html$/.test(download.suggestedFilename()), `the export is ${download.suggestedFilename()}`);
});
await job("read: prompts, detail, find, link", async () => {
  await press("g", "]", "[", "t", "T", "t", "t");
  await press("Control+f");
  await type("nearest cent");
  await page.waitForFunction(() => /1 of 1|2 of 2/.test(document.querySelector(".findbar")?.innerText ?? ""));
  await press("Escape", "y");
  check(/#\/s\/claude/.test(await copied()), `the link is ${await copied()}`);
});
await fresh();
await job("delete what is big, and get it back", async () => {
  await page.goto(page.url().split("#")[0] + "#/sessions?sort=size");
  await quiet(page);
  await press("Enter");
  await page.waitForSelector(".session");
  await page.keyboard.press("x");
  await page.waitForSelector("dialog[open]");
  await press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#/sessions"));
  await press("6");
  await page.waitForSelector(".dmg button");
  await tabTo(/^Restore$/);
  await press("Enter");
  await page.waitForFunction(() => /Restored/.test(document.body.innerText));
});
await job("keep beyond what the agent deletes", async () => {
  await press("5");
  await quiet(page);
  if (await page.locator(".warnbox").count()) {
    await tabTo(/^Keep copies$/);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /Copies of/.test(document.body.innerText));
  }
});
await job("which session changed this file", async () => {
  await press("/");
  await page.keyboard.press("Control+a");
  await type("coupon.rs");
  await page.waitForTimeout(300);
  check((await page.locator(".grp").count()) > 0, "no session with the file");
  check((await page.locator(".grp mark").count()) > 0, "no match is marked");
});
await job("who wrote this line, and why", async () => {
  await press("Escape", "7");
  await tabTo(/projects\/shop/);
  await press("Enter");
  await tabTo(/src\/coupon\.rs/);
  await press("Enter");
  await page.waitForSelector("table.blame");
  const shown = await text();
  check(/unexplained/.test(shown) && /2 of 3 lines/.test(shown), "what no session explains is not said");
  check(/SPRING10/.test(shown), "the prompt is not shown");
  await tabTo(/SPRING10/);
  await press("Enter");
  await page.waitForSelector(".session .e.at");
  check(/SPRING10/.test(await page.locator(".e.at").innerText()), "the link does not lead to the prompt");
});
await job("help", async () => {
  await press("Escape", "?");
  check((await page.locator("dialog[open]").count()) === 1, "no help");
  await press("Escape");
  check((await page.locator("dialog[open]").count()) === 0, "help does not close");
});
// A plan that was shown while its session was undone is asked for once more.
forgive(/ 404 from GET .*\/v1\/sessions\/|console: Failed to load resource.*404/);
await end();
