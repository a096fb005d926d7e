// The range of time of a search: drawn with the mouse, moved with keys, and taken back.
import { check, end, go, open, quiet } from "./lib.mjs";

const page = await open({}, () => "histogram");
const query = () => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.split("?")[1])));
/** The times of the hits that are shown, and how many there are. */
const hits = () => page.locator(".hit").count();

const search = async () => {
  await go(page, "search?q=the");
  await page.waitForSelector(".hist .edge");
  return hits();
};

const all = await search();
const box = await page.locator(".hist").boundingBox();
const at = (share) => [box.x + box.width * share, box.y + box.height / 2];
await page.mouse.move(...at(0.5));
await page.mouse.down();
await page.mouse.move(...at(0.7));
await page.mouse.move(...at(0.98));
await page.mouse.up();
await quiet(page);
const drawn = await query();
check(!!drawn.since && !drawn.until, `the second half was drawn: ${JSON.stringify(drawn)}`);
check((await hits()) < all, `${await hits()} of ${all} hits are in the second half`);
check((await page.locator(".facets .chosen").count()) === 1, "the range is not named");
const asked = await page.evaluate(() => performance.getEntriesByType("resource").map((it) => it.name).filter((it) => it.includes("/v1/search")).at(-1));
check(asked.includes("since=2"), `asked ${asked}`);
await page.locator(".facets .chosen").click();
await quiet(page);
check((await hits()) === all, "all hits are not back");

// By keys: the end of the range goes to the left.
await search();
// The range counts once it rests for half a second, and on a busy machine the keys of a script come further apart than
// that: they are sent at once, and what the end showed is noted as it changes.
await page.locator(".hist .edge").nth(1).focus();
await page.evaluate(() => {
  const edge = document.activeElement;
  window.shown = [];
  new MutationObserver(() => window.shown.push([edge.getAttribute("aria-valuenow"), edge.getAttribute("aria-valuetext")]))
    .observe(edge, { attributes: true, attributeFilter: ["aria-valuenow"] });
  for (let step = 0; step < 6; step++) edge.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true, cancelable: true }));
});
await page.waitForFunction(() => location.hash.includes("until="));
const shown = await page.evaluate(() => window.shown);
check(shown.some(([now]) => now === "18"), `the end was at ${JSON.stringify(shown)}`);
check(shown.every(([, text]) => (text ?? "").length > 4), "the end has no time");
await quiet(page);
const moved = await query();
check(!moved.since && Date.parse(moved.until) > 0, `the end was moved: ${JSON.stringify(moved)}`);
check((await hits()) < all, `${await hits()} of ${all} hits are before it`);
const start = page.locator(".hist .edge").nth(0);
if (await start.count()) {
  await start.focus();
  await page.keyboard.press("Home");
  await page.waitForTimeout(700);
  check(!(await query()).since, "the start was there already");
}
await end();
