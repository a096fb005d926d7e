// Pictures of two pages, compared pixel by pixel.
//
// A picture that is stored would depend on the fonts of the machine, so that each page is drawn twice in the same
// browser: at once, and after other pages were visited. Clock, theme, language and width are fixed, so that the same
// pixels are expected; 0.05 % of them (648) may differ, which is more than the edges of some glyphs that are drawn at
// another fraction of a pixel (some 40 were seen), and less than a line of text. That the comparison notices a line is
// checked with one that is hidden; and in the dark the layout must be the same, and the colours others.
import { browser, check, end, go, open, quiet } from "./lib.mjs";

const TOLERANCE = 0.0005;
const PAGES = [["sessions", "sessions", ".row"], ["session", "s/claude:5ac5e505-ca12-40e3-a6c1-82bfd1662e80", ".ask"]];
const now = new Date();

const blank = await (await browser.newContext()).newPage();

/** The share of pixels that differ between two pictures. */
async function difference(one, other) {
  const pictures = [one, other].map((it) => `data:image/png;base64,${it.toString("base64")}`);
  return blank.evaluate(async (pictures) => {
    const [a, b] = await Promise.all(
      pictures.map(async (url) => {
        const picture = new Image();
        picture.src = url;
        await picture.decode();
        const canvas = new OffscreenCanvas(picture.width, picture.height);
        const context = canvas.getContext("2d");
        context.drawImage(picture, 0, 0);
        return context.getImageData(0, 0, picture.width, picture.height);
      }),
    );
    if (a.width !== b.width || a.height !== b.height) return 1;
    let others = 0;
    for (let at = 0; at < a.data.length; at += 4) {
      const by = Math.max(...[0, 1, 2].map((channel) => Math.abs(a.data[at + channel] - b.data[at + channel])));
      if (by > 8) others += 1;
    }
    return others / (a.data.length / 4);
  }, pictures);
}

/** A page in a theme, whose clock stands still. */
async function themed(theme) {
  const page = await open({ reducedMotion: "reduce" }, () => `pixels ${theme}`);
  await page.clock.setFixedTime(now);
  await page.evaluate((theme) => {
    localStorage.setItem("boswell.theme", theme);
    localStorage.setItem("boswell.language", "en");
  }, theme);
  await page.reload();
  return page;
}

async function shot(page, [, place, landmark]) {
  await go(page, place);
  await page.waitForSelector(landmark);
  await page.evaluate(() => document.fonts.ready);
  await quiet(page);
  return page.screenshot({ animations: "disabled" });
}

/** Where everything with a size is. */
const layout = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("body *")].map((it) => {
      const { x, y, width, height } = it.getBoundingClientRect();
      return [it.tagName, x, y, width, height].join(" ");
    }),
  );

const fresh = await themed("light");
const used = await themed("light");
const dark = await themed("dark");
for (const it of ["stats", "health", "search?q=test", "settings"]) await go(used, it);
for (const name of PAGES) {
  const picture = await shot(fresh, name);
  const again = await difference(picture, await shot(used, name));
  check(again <= TOLERANCE, `${name[0]}: ${(100 * again).toFixed(3)} % of the pixels differ after other pages`);
  const inDark = await difference(picture, await shot(dark, name));
  check(inDark > 0.5, `${name[0]}: only ${(100 * inDark).toFixed(1)} % of the pixels differ in the dark`);
  const [places, darkPlaces] = [await layout(fresh), await layout(dark)];
  const moved = places.filter((it, at) => it !== darkPlaces[at]);
  check(places.length === darkPlaces.length && moved.length === 0, `${name[0]}: moved in the dark: ${moved.slice(0, 3)}`);
  await fresh.evaluate((landmark) => document.querySelector(landmark).style.setProperty("visibility", "hidden"), name[2]);
  const hidden = await difference(picture, await fresh.screenshot({ animations: "disabled" }));
  check(hidden > TOLERANCE, `${name[0]}: a hidden part is not noticed (${(100 * hidden).toFixed(3)} %)`);
  console.log(JSON.stringify({ page: name[0], again, dark: inDark, hidden }));
}
await end();
