// The figures of `cargo xtask bench serve`: a long session in a real browser.
import { gzipSync } from "node:zlib";
import { end, open, origin, quiet } from "./lib.mjs";

const RUNS = 5;
const session = process.env.BOSWELL_SESSION;
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

const [first, paint, nodes, heap] = [[], [], [], []];
for (let run = 0; run < RUNS; run++) {
  const page = await open({}, () => "bench");
  // The paint of a page that is logged in, as it is on every day but the first.
  await page.reload();
  await page.waitForSelector("nav.rail");
  await quiet(page);
  paint.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
  first.push(
    await page.evaluate(async (session) => {
      const start = performance.now();
      location.hash = `#/s/${session}`;
      while (!document.querySelector(".ask > p")) await new Promise((resolve) => requestAnimationFrame(resolve));
      return performance.now() - start;
    }, session),
  );
  await quiet(page);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("HeapProfiler.collectGarbage");
  heap.push((await cdp.send("Runtime.getHeapUsage")).usedSize);
  nodes.push(await page.evaluate(() => document.querySelectorAll("*").length));
  await page.context().close();
}
const script = gzipSync(await (await fetch(`${origin}/assets/app.js`)).text(), { level: 9 }).length;
console.log(
  JSON.stringify({
    first_ms: first[0], again_ms: median(first.slice(1)), paint_ms: median(paint), nodes: Math.max(...nodes), heap: Math.max(...heap), script,
  }),
);
await end();
