// Another page of the same browser attacks the server: nothing is read, nothing is changed.
import { createServer } from "node:http";
import { boswell, browser, check, end, open, origin } from "./lib.mjs";

const page = await open();
const token = await page.evaluate(() => sessionStorage.getItem("boswell.token"));
const before = boswell(["list", "--json"]).replace(/"as_of":"[^"]*"/g, "");
const seen = [];
const evil = createServer((request, answer) => {
  seen.push(request.url + JSON.stringify(request.headers));
  answer.setHeader("Content-Type", "text/html");
  answer.end("<!doctype html><title>evil</title><body></body>");
});
await new Promise((ready) => evil.listen(0, "127.0.0.1", ready));
const port = evil.address().port;

/** What a page of another origin gets. */
async function attack(from) {
  const other = await (await browser.newContext()).newPage();
  await other.goto(from);
  const got = await other.evaluate(async ([target, token]) => {
    const results = {};
    const ask = async (name, path, options) => {
      try {
        const answer = await fetch(target + path, options);
        results[name] = `${answer.type} ${answer.status} ${(await answer.text()).length}`;
      } catch (error) {
        results[name] = "refused";
      }
    };
    const bearer = { Authorization: `Bearer ${token}` };
    await ask("get", "/v1/sessions");
    await ask("get with token", "/v1/sessions", { headers: bearer });
    await ask("get without cors", "/v1/sessions", { mode: "no-cors" });
    await ask("post", "/v1/sessions", { method: "POST", body: "{}", headers: bearer });
    await ask("simple post", "/v1/sessions", { method: "POST", body: "{}", mode: "no-cors", headers: { "Content-Type": "text/plain" } });
    await ask("login", "/v1/login", { method: "POST", body: '{"code":"x"}', mode: "no-cors" });
    await ask("events", "/v1/events", { headers: bearer });
    await ask("health", "/healthz");
    results.source = await new Promise((done) => {
      const source = new EventSource(`${target}/v1/events`);
      source.onopen = () => done("open");
      source.onerror = () => done("refused");
    });
    const element = (tag, source) => new Promise((done) => {
      const it = document.createElement(tag);
      it.onload = () => done("loaded");
      it.onerror = () => done("refused");
      it.src = target + source;
      document.body.append(it);
      setTimeout(() => done("nothing"), 1500);
    });
    results.script = await element("script", "/assets/app.js");
    results.image = await element("img", "/favicon.svg");
    results.frame = await new Promise((done) => {
      const frame = document.createElement("iframe");
      frame.src = target + "/";
      frame.onload = () => {
        try { done(frame.contentDocument ? "readable" : "opaque"); } catch { done("opaque"); }
      };
      document.body.append(frame);
      setTimeout(() => done("nothing"), 1500);
    });
    results.form = await new Promise((done) => {
      const form = document.createElement("form");
      form.method = "POST";
      form.action = target + "/v1/sessions";
      form.target = "sink";
      form.enctype = "text/plain";
      const sink = document.createElement("iframe");
      sink.name = "sink";
      sink.onload = () => done("answered");
      document.body.append(sink, form);
      form.submit();
      setTimeout(() => done("nothing"), 1500);
    });
    return results;
  }, [origin, token]);
  for (const name of ["get", "get with token", "post", "events", "health", "source", "script", "image"]) {
    check(got[name] === "refused", `${from}: ${name} is ${got[name]}`);
  }
  for (const name of ["get without cors", "simple post", "login"]) {
    check(/^(refused|opaque 0 0)/.test(got[name]), `${from}: ${name} is ${got[name]}`);
  }
  check(got.frame !== "readable", `${from}: a frame is ${got.frame}`);
  // The window of the page has no reference to the attacker, nor the other way round.
  const [popup] = await Promise.all([
    other.waitForEvent("popup"),
    other.evaluate((target) => void (window.opened = window.open(target + "/")), origin),
  ]);
  await popup.waitForLoadState();
  const reach = await other.evaluate(() => {
    try { return window.opened.closed || !window.opened.document ? "cut" : "readable"; } catch { return "cut"; }
  });
  check(reach === "cut", `${from}: the opened page is ${reach}`);
  check((await popup.evaluate(() => window.opener)) === null, `${from}: the page has an opener`);
  check((await popup.locator("nav.rail").count()) === 0, `${from}: the page is logged in without a code`);
  await other.context().close();
}

await attack(`http://127.0.0.1:${port}/`);
await attack(`http://localhost:${port}/`);
// A name of another site that resolves to this machine.
const rebound = await (await browser.newContext()).newPage();
for (const path of ["/", "/v1/sessions", "/healthz", "/assets/app.js", "/openapi.json"]) {
  const answer = await rebound.goto(`http://rebind.example:${new URL(origin).port}${path}`);
  check(answer.status() === 421, `a rebound name gets ${answer.status()} from ${path}`);
}
const after = boswell(["list", "--json"]).replace(/"as_of":"[^"]*"/g, "");
check(before === after, "the sessions changed");
check(!seen.some((line) => line.includes(token)), "the token came to another server");
// A link inside a session leads away without a referrer or an opener.
check((await page.evaluate(() => document.cookie)) === "", "there is a cookie");
evil.close();
await end();
