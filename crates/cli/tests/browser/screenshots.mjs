// The pictures of docs/web.md: `cargo xtask screenshot` runs it on the demo.
import { join } from "node:path";
import { end, go, open, quiet } from "./lib.mjs";

const out = process.env.BOSWELL_PICTURES;
const SHOTS = [
  ["sessions", "sessions", "light", "en", 1280],
  ["session", "s/claude:5ac5e505-ca12-40e3-a6c1-82bfd1662e80", "light", "en", 1280],
  ["search", "search?q=test", "dark", "zh", 1280],
  ["health", "health", "light", "en", 1280],
  ["phone", "s/pi:80459cf1-2168-485b-a791-1b5f65f8e9ff", "dark", "en", 390],
];
for (const [name, place, theme, language, width] of SHOTS) {
  const page = await open({ viewport: { width, height: width < 500 ? 760 : 800 } });
  await page.evaluate(([theme, language]) => {
    localStorage.setItem("boswell.theme", theme);
    localStorage.setItem("boswell.language", language);
  }, [theme, language]);
  await page.reload();
  await go(page, place);
  await page.waitForSelector({ sessions: ".row", session: ".run > .head", search: ".grp", health: ".step .diff", phone: ".forkbar" }[name]);
  if (name === "session") {
    await page.locator(".run > .head").first().click();
    await page.locator(".call", { hasText: "Edit" }).click();
  }
  await quiet(page);
  await page.screenshot({ path: join(out, `web-${name}.png`) });
  await page.context().close();
}
await end();
