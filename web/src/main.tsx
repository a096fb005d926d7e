// The frame of the page: navigation, the search box, keys, and which page is shown.

import { effect, signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { about, enter, enterWith, follow, get, isIn, isOffline, type Page } from "./api";
import { Dialog, question } from "./dialog";
import { changed } from "./live";
import { Files } from "./pages/files";
import { Health, damaged } from "./pages/health";
import { Search } from "./pages/search";
import { Session } from "./pages/session";
import { Sessions } from "./pages/sessions";
import { Settings } from "./pages/settings";
import { Statistics } from "./pages/stats";
import { Today } from "./pages/today";
import { Vault } from "./pages/vault";
import { Dot, Failed, Icon, useLoaded } from "./parts";
import type { StoreShape } from "./shapes";
import { go, href, keys, route, said, setTheme, showTheme, theme } from "./state";
import { type Word, count, language, setLanguage, w } from "./words";

const PAGES: [name: string, icon: string, word: Word][] = [
  ["sessions", "list", "sessions"],
  ["search", "search", "search"],
  ["today", "today", "today"],
  ["stats", "stats", "stats"],
  ["health", "health", "health"],
  ["vault", "vault", "vault"],
  ["files", "file", "files"],
  ["settings", "settings", "settings"],
];

const help = signal(false);

function Rail() {
  const stores = useLoaded<Page<StoreShape>>((signal) => get("/v1/stores", signal), [changed.value > 0]);
  const current = route.value.name === "s" ? "sessions" : route.value.name;
  const known = (stores.value?.items ?? []).filter((store) => store.sessions);
  const all = known.reduce((sum, store) => sum + (store.sessions ?? 0), 0);
  return (
    <nav class="rail" aria-label="boswell">
      {PAGES.map(([name, icon, word]) => (
        <a href={href(name)} aria-current={current === name ? "page" : undefined}>
          <Icon name={icon} />
          {w(word)}
          {name === "sessions" && all > 0 && <span class="n num">{count(all)}</span>}
          {name === "health" && damaged.value > 0 && <span class="n num warn">{count(damaged.value)}</span>}
        </a>
      ))}
      <div class="stores">
        <h2>{w("stores")}</h2>
        {known.map((store) => (
          <div>
            <Dot dialect={store.dialect} />
            {store.dialect}
            <span class="num">{count(store.sessions ?? 0)}</span>
          </div>
        ))}
      </div>
    </nav>
  );
}

function Box() {
  const input = useRef<HTMLInputElement>(null);
  const here = route.value.name === "search" ? (route.value.query.get("q") ?? "") : "";
  const [text, setText] = useState(here);
  const timer = useRef(0);
  useEffect(() => setText(here), [here]);
  useEffect(() => {
    focusBox = () => {
      input.current?.focus();
      input.current?.select();
    };
  }, []);
  const search = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      if (value.trim()) go(`#/search?q=${encodeURIComponent(value)}`);
      else if (route.value.name === "search") go("#/search");
    }, 160);
  };
  return (
    <label class="find">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        value={text}
        placeholder={w("askAll")}
        aria-label={w("askAll")}
        onInput={(event) => search(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Then the keys of the list of hits work.
          if (event.key === "Escape" || event.key === "Enter") event.currentTarget.blur();
        }}
      />
      <kbd>/</kbd>
    </label>
  );
}

let focusBox = () => {};

function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (help.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [help.value]);
  const table: [string, Word][] = [
    ["1–8", "keyPages"], ["/", "keySearch"], ["j k", "keyMove"], ["Enter", "keyOpen"], ["Esc", "keyBack"],
    ["[ ]", "keyPrompts"], ["{ }", "keyFails"], ["t", "keyTools"], ["T", "keyThink"],
    ["g G", "keyEnds"], ["y", "keyCopy"], ["r", "keyResume"], ["f", "keyFork"], ["e", "keyExport"], ["x", "keyDelete"],
    ["c", "keyCheck"], ["Ctrl-F", "keyFind"], ["d", "keyTheme"], ["?", "keyHelp"],
  ];
  return (
    <dialog ref={dialog} aria-labelledby="help" onClose={() => (help.value = false)}>
      <h2 id="help">{w("keys")}</h2>
      <div class="k">
        {table.map(([key, word]) => (
          <div>
            {w(word)} <kbd>{key}</kbd>
          </div>
        ))}
      </div>
      <div class="acts">
        <button class="btn" onClick={() => (help.value = false)}>
          {w("close")}
        </button>
      </div>
    </dialog>
  );
}

function Login() {
  const [error, setError] = useState<unknown>(null);
  return (
    <main class="login" id="main">
      <div>
        <h1>{w("needLogin")}</h1>
        <p>{w("needLoginText")}</p>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const field = event.currentTarget.elements.namedItem("token") as HTMLInputElement;
            enterWith(field.value).catch(setError);
          }}
        >
          <label>
            {w("orToken")}
            <input name="token" type="password" autocomplete="off" />
          </label>
          <button class="btn main">{w("enter")}</button>
        </form>
        {error !== null && <Failed error={error} />}
      </div>
    </main>
  );
}

function Shown() {
  switch (route.value.name) {
    case "s":
      return <Session key={route.value.parts[0]} name={route.value.parts[0] ?? ""} entry={route.value.parts[1]} />;
    case "search":
      return <Search />;
    case "stats":
      return <Statistics />;
    case "health":
      return <Health />;
    case "vault":
      return <Vault />;
    case "files":
      return <Files />;
    case "today":
      return <Today />;
    case "settings":
      return <Settings />;
    default:
      return <Sessions />;
  }
}

function App() {
  const flip = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  flipTheme = flip;
  // As in index.html, which shows the name before the script has arrived.
  if (isIn.value === null) return <span class="brand">boswell</span>;
  if (isIn.value === false) return <Login />;
  return (
    <>
      <a class="skip" href="#main">
        {w("skip")}
      </a>
      <a class="brand" href={href("sessions")}>
        <Icon name="book" />
        boswell
      </a>
      <header class="top">
        <Box />
        <span class="grow" />
        {isOffline.value && <span class="badge warn">{w("offline")}</span>}
        {about.value?.scope === "write" && <span class="badge good">{w("allowed")}</span>}
        <button
          class="ico"
          title={w("language")}
          aria-label={`${language.value === "en" ? "中" : "En"} ${w("language")}`}
          onClick={() => setLanguage(language.value === "en" ? "zh" : "en")}
        >
          {language.value === "en" ? "中" : "En"}
        </button>
        <button class="ico" title={w("theme")} aria-label={w("theme")} onClick={flip}>
          <Icon name="sun" />
        </button>
        <button class="ico" title={w("keys")} aria-label={`? ${w("keys")}`} onClick={() => (help.value = true)}>
          <kbd>?</kbd>
        </button>
      </header>
      <Rail />
      <main id="main">
        <Shown />
      </main>
      <Help />
      <Dialog />
      <div class="vh" role="status" aria-live="polite">
        {said.value}
      </div>
      {said.value && (
        <div class="toast" aria-hidden="true">
          {said.value}
        </div>
      )}
    </>
  );
}

let flipTheme = () => {};

addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  const isTyping = target.matches("input, textarea, select, [contenteditable]");
  if (isTyping || event.altKey || event.metaKey || help.value || question.value) return;
  const here = keys.value;
  if (event.ctrlKey) {
    if (event.key === "f" && here["Ctrl-F"]) {
      event.preventDefault();
      here["Ctrl-F"]();
    }
    return;
  }
  // Enter and space belong to what has the focus.
  const isControl = target.matches("button, a, summary");
  if (isControl && (event.key === "Enter" || event.key === " ")) return;
  const does: Record<string, () => void> = {
    "/": () => focusBox(),
    "?": () => (help.value = true),
    d: () => flipTheme(),
    ...Object.fromEntries(PAGES.map(([name], place) => [String(place + 1), () => go(href(name))])),
    Escape: () => history.length > 1 && route.value.name === "s" && history.back(),
    ...here,
  };
  if (does[event.key]) {
    event.preventDefault();
    does[event.key]();
  }
});

showTheme();
setLanguage(language.value);
effect(() => {
  void theme.value;
  showTheme();
});
render(<App />, document.getElementById("app")!);
await enter();
effect(() => {
  if (!isIn.value) return;
  return follow("/v1/events", null, (event) => {
    if (["added", "changed", "gone", "health", "reset"].includes(event.name)) changed.value += 1;
  });
});
