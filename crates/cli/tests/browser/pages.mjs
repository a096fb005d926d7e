// Every page × light and dark × English and Chinese × three widths: axe finds nothing, the console is silent, and no
// other machine is asked.
import { join } from "node:path";
import { check, end, go, open, violations } from "./lib.mjs";

const PAGES = [
  "sessions", "s/claude:5ac5e505-ca12-40e3-a6c1-82bfd1662e80", "s/pi:80459cf1-2168-485b-a791-1b5f65f8e9ff", "s/claude:833ea297-bc15-46f2-af48-b629cdef98bd",
  "search?q=test", "search", "today", "stats", "health", "vault", "settings", "files", "files?session=claude:5ac5e505-ca12-40e3-a6c1-82bfd1662e80",
  ...["", "&file=src/coupon.rs"].map((file) => `files?project=${encodeURIComponent(join(process.env.BOSWELL_DEMO, "projects/shop"))}${file}`),
];
const variants = ["light", "dark"].flatMap((theme) => ["en", "zh"].map((language) => ({ theme, language })));

const known = new Set();

async function visit({ theme, language }) {
  let here = "start";
  const page = await open({}, () => `${here} ${theme} ${language}`);
  await page.evaluate(([theme, language]) => {
    localStorage.setItem("boswell.theme", theme);
    localStorage.setItem("boswell.language", language);
  }, [theme, language]);
  await page.reload();
  for (const name of PAGES) {
    here = name;
    await go(page, name);
    for (const width of [1440, 760, 390]) {
      await page.setViewportSize({ width, height: width < 500 ? 844 : 900 });
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      for (const found of await violations(page)) {
        // The same finding on every page is named once.
        if (!known.has(found)) check(false, `${name} ${theme} ${language} ${width}: ${found}`);
        known.add(found);
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${name} ${theme} ${language} ${width}: ${wide} px wider than the window`);
    }
    const shown = await page.evaluate(() => document.documentElement.lang + document.documentElement.dataset.theme);
    check(shown === (language === "zh" ? "zh-CN" : "en") + theme, `${name}: shown as ${shown}`);
    check((await page.locator("h1, [role=alert]").count()) > 0, `${name} ${theme} ${language}: no heading`);
    check((await page.locator("[role=alert]").count()) === 0, `${name} ${theme} ${language}: an error is shown`);
  }
  await page.context().close();
}

// The first variant uses the one-time code; then two at a time, one for each core.
await visit(variants[0]);
await Promise.all([visit(variants[1]), (async () => { await visit(variants[2]); await visit(variants[3]); })()]);
await end();
