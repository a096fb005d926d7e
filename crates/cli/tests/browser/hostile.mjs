// A home of hostile sessions changes nothing but text.
import { mkdirSync, openSync, writeSync, closeSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { boswell, check, end, go, open, quiet } from "./lib.mjs";

const SCRIPTS = [
  "<script>window.pwned=1</script>", "<img src=x onerror=window.pwned=1>", "<svg onload=window.pwned=1><script>window.pwned=1</script></svg>",
  "[click](javascript:window.pwned=1)", "[click](JaVaScRiPt:window.pwned=1)", "[click](data:text/html,<script>parent.pwned=1</script>)", "[click](vbscript:x)",
  "![p](http://127.0.0.1:9/picture.png)", "<iframe src=http://127.0.0.1:9/></iframe>", "<style>*{display:none!important}</style>", "<base href=http://127.0.0.1:9/>",
  "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>", "<form action=http://127.0.0.1:9/><input name=password autofocus></form>", "</title></textarea></p></div></main>",
  "{{constructor.constructor('window.pwned=1')()}}", "<a href='x' onclick=window.pwned=1>x</a>", "<details open ontoggle=window.pwned=1>", "<math><mtext></form><form><mglyph><style></math><img src onerror=window.pwned=1>",
];
const BIDI = "user \u202ecod.exe\u202c \u2066x\u2069 \u200bzero\u200b \u001b[2J\u001b]0;title\u0007 \u0000 \ufeff";
const ID = "0bad0bad-0000-4000-8000-00000000";
const folder = join(process.env.BOSWELL_DEMO, "home/.claude/projects/-hostile");
mkdirSync(folder, { recursive: true });

let number = 0;
const uuid = () => `${ID}${String(++number).padStart(4, "0")}`;
function entry(session, parent, type, content, more = {}) {
  const id = uuid();
  const message = type === "user" ? { role: "user", content } : { id: `m${number}`, type: "message", role: "assistant", model: SCRIPTS[0], content, stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } };
  const line = { parentUuid: parent, isSidechain: false, userType: "external", cwd: `/tmp/${SCRIPTS[1]}`, sessionId: session, version: "2.1.150", gitBranch: SCRIPTS[0], type, message, uuid: id, timestamp: new Date(1790000000000 + number * 1000).toISOString(), ...more };
  return [id, JSON.stringify(line) + "\n"];
}

/** A session in which everything is hostile. */
function planted(session) {
  let [parent, text] = [null, ""];
  const add = (type, content) => {
    const [id, line] = entry(session, parent, type, content);
    [parent, text] = [id, text + line];
  };
  const all = SCRIPTS.join("\n\n");
  add("user", `${all}\n${BIDI}`);
  add("assistant", [{ type: "thinking", thinking: all, signature: "x" }, { type: "text", text: `${all}\n\n${BIDI}` }]);
  add("assistant", [{ type: "tool_use", id: "t1", name: SCRIPTS[1], input: { file_path: SCRIPTS[0], old_string: all, new_string: SCRIPTS[2] } }]);
  add("user", [{ type: "tool_result", tool_use_id: "t1", content: all, is_error: true }]);
  const picture = (media_type, bytes) => ({ type: "image", source: { type: "base64", media_type, data: Buffer.from(bytes).toString("base64") } });
  add("user", [
    { type: "text", text: "pictures" }, picture("image/svg+xml", SCRIPTS[2]), picture("image/png", "<html><script>parent.pwned=1</script>"),
    picture("image/png", Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64")),
  ]);
  add("assistant", [{ type: "text", text: "- ".repeat(10000) + "deep" }]);
  add("assistant", [{ type: "text", text: Array.from({ length: 10000 }, (_, n) => " ".repeat(2 * (n % 400)) + "- x").join("\n") }]);
  add("assistant", [{ type: "text", text: "[".repeat(20000) + "a" + "](".repeat(20000) }]);
  add("assistant", [{ type: "text", text: "*a _b ".repeat(8000) }]);
  add("assistant", [{ type: "text", text: "the last answer" }]);
  text += `${JSON.stringify({ type: "custom-title", customTitle: SCRIPTS[0] + BIDI, sessionId: session })}\n`;
  writeFileSync(join(folder, `${session}.jsonl`), text);
}

/** A file in which everything is hostile, its name too, and the session that wrote it. */
function written(session) {
  const cwd = join(process.env.BOSWELL_DEMO, "projects", "<b onclick=window.pwned=1>");
  mkdirSync(cwd, { recursive: true });
  const name = "<img src=x onerror=window.pwned=1>.txt";
  const content = [...SCRIPTS, BIDI.replace("\u0000", "")].join("\n") + "\n";
  writeFileSync(join(cwd, name), content);
  const call = { type: "tool_use", id: "w1", name: "Write", input: { file_path: join(cwd, name), content } };
  const [asked, first] = entry(session, null, "user", `${SCRIPTS[0]} ${BIDI}`, { cwd });
  const [wrote, second] = entry(session, asked, "assistant", [call], { cwd });
  const [, third] = entry(session, wrote, "user", [{ type: "tool_result", tool_use_id: "w1", content: "done" }], { cwd });
  writeFileSync(join(folder, `${session}.jsonl`), first + second + third);
  return `project=${encodeURIComponent(cwd)}&file=${encodeURIComponent(name)}`;
}

/** A session with a line of 60 MB. */
function large(session) {
  const file = openSync(join(folder, `${session}.jsonl`), "w");
  const [id, first] = entry(session, null, "user", "a long line follows");
  writeSync(file, first);
  const [second, line] = entry(session, id, "user", [{ type: "tool_result", tool_use_id: "t", content: "LONG" }]);
  const [before, after] = line.split("LONG");
  writeSync(file, before);
  const piece = "<b>0123456789</b>".repeat(61_681);
  for (let n = 0; n < 60; n++) writeSync(file, piece);
  writeSync(file, after);
  const [, last] = entry(session, second, "assistant", [{ type: "text", text: "after the long line" }]);
  writeSync(file, last);
  closeSync(file);
}

const [hostile, long, writer] = [`${ID}aaaa`, `${ID}bbbb`, `${ID}cccc`];
planted(hostile);
large(long);
const file = written(writer);
boswell(["tag", `claude:${hostile}`, SCRIPTS[1].replace(/ /g, "_")]);

const page = await open({}, () => "hostile");
const inspect = async (place) => {
  const found = await page.evaluate(() => ({
    pwned: window.pwned,
    elements: [...document.querySelectorAll("main script, main iframe, main object, main embed, main style, main link, main base, main meta, main form, main video, main svg script, main math")].map((it) => it.outerHTML.slice(0, 80)),
    pictures: [...document.querySelectorAll("main img")].map((it) => it.getAttribute("src")).filter((it) => !it?.startsWith("blob:")),
    links: [...document.querySelectorAll("main a[href]")].map((it) => it.protocol).filter((it) => it !== "http:" && it !== "https:"),
    handlers: [...document.querySelectorAll("main *")].filter((it) => [...it.attributes].some((at) => /^on/.test(at.name))).length,
    // Characters that hide or reverse text are shown as escapes.
    invisible: /[\u202a-\u202e\u2066-\u2069\u200b\u0000\u001b]/.test(document.body.innerText),
    nodes: document.querySelectorAll("*").length,
  }));
  check(found.pwned === undefined, `${place}: a script ran`);
  for (const name of ["elements", "pictures", "links"]) check(found[name].length === 0, `${place}: ${name}: ${found[name].slice(0, 3)}`);
  check(found.handlers === 0, `${place}: ${found.handlers} handlers`);
  check(!found.invisible, `${place}: invisible characters`);
  check(found.nodes < 6000, `${place}: ${found.nodes} nodes`);
};
for (const place of ["sessions", "search?q=pwned", `search?q=${encodeURIComponent("<script>")}&mode=substring`, "health", "stats", "today", "vault", `s/claude:${hostile}`, `s/claude:${long}`, "files", `files?session=claude:${hostile}`, `files?session=claude:${writer}`, `files?${file.split("&")[0]}`, `files?${file}`]) {
  await go(page, place);
  await inspect(place);
}
check((await page.locator("table.blame code").count()) > SCRIPTS.length, "the hostile file is not shown");
await go(page, `s/claude:${hostile}`);
for (const key of ["g", "t", "T", "]", "G", "t"]) {
  await page.keyboard.press(key);
  await quiet(page);
  await inspect(`${key} in the hostile session`);
}
await page.keyboard.press("g");
await quiet(page);
check((await page.evaluate(() => document.body.innerText)).includes("<script>window.pwned=1</script>"), "the markup is not shown as text");
for (const button of await page.locator(".run button, .think button, .sub button").all()) await button.click({ timeout: 2000 }).catch(() => {});
await quiet(page);
await inspect("opened calls");
check((await page.locator("img.pic").count()) === 1, "the picture that is one is not shown, or another one is");
for (const link of await page.locator(".say a").all()) {
  const target = await link.evaluate((it) => [it.target, it.rel].join(" "));
  check(/_blank.*noopener.*noreferrer/.test(target), `a link is ${target}`);
}
check(new URL(page.url()).origin === new URL(process.env.BOSWELL_URL).origin, `the page went to ${page.url()}`);
await go(page, `s/claude:${long}`);
const isShown = page.waitForFunction(() => document.body.innerText.includes("after the long line"), null, { timeout: 40000 });
await isShown.catch(() => check(false, "what is after a long line is not shown"));
await end();
