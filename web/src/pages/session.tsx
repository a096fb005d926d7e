// A session: the outline of prompts, the transcript as a virtual list, and its map.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { download, get, send, type Page } from "../api";
import { ForkBar, Gaps } from "../between";
import { askText, askYes } from "../dialog";
import { type Detail, Entry, Run, detail, runOf, showsThinking } from "../entry";
import { Agent, Badges, Failed, Icon, change, copy, folder, resumeCommand } from "../parts";
import { BRANCHED, ERROR, Reader } from "../reader";
import type { EntryShape, SessionShape } from "../shapes";
import { go, href, keys, say } from "../state";
import { type Word, count, dollars, short, w } from "../words";
import { Map } from "../map";

export function Session({ name, entry }: { name: string; entry?: string }) {
  const reader = useMemo(() => new Reader(name), [name]);
  useEffect(() => {
    void reader.open();
    return () => reader.close();
  }, [reader]);
  const [isFinding, setFinding] = useState(false);
  const scroll = useRef<HTMLDivElement>(null);
  const session = reader.session.value;
  const list = useList(reader, scroll, entry);
  useKeys(reader, list, () => setFinding(true));
  if (reader.error.value !== null && !session) return <Failed error={reader.error.value} />;
  if (!session) return <div class="empty">{w("loading")}</div>;
  return (
    <div class={"session" + (isFinding ? " finding" : "") + (reader.branch.value === null ? "" : " elsewhere")}>
      <Head session={session} reader={reader} />
      {isFinding && <Find reader={reader} jump={list.jump} close={() => setFinding(false)} />}
      <Outline reader={reader} current={list.first} jump={list.jump} />
      {reader.branch.value !== null && (
        <div class="other" role="status">
          <Icon name="fork" />
          {w("offBranch")}
          <button class="btn" onClick={() => void reader.show(null)}>{w("toCurrent")}</button>
        </div>
      )}
      <div class="scroll" ref={scroll} tabIndex={0} aria-label={session.name} onScroll={list.onScroll}>
        <div class="page">{list.view}<Tail reader={reader} session={session} /></div>
      </div>
      <Map reader={reader} first={list.first} last={list.last} jump={list.jump} />
      {list.last < reader.total.value - 3 && (
        <button class="btn jump" onClick={() => list.jump(reader.total.value - 1)}>
          <Icon name="down" />
          {reader.fresh.value > 0 ? w("newEntries", count(reader.fresh.value)) : w("toEnd")}
        </button>
      )}
    </div>
  );
}

interface List {
  first: number;
  last: number;
  view: preact.JSX.Element;
  jump: (place: number) => void;
  onScroll: () => void;
}

/** Entries near the visible ones; scrolling stays at the first visible entry when heights change. */
function useList(reader: Reader, scroll: { current: HTMLDivElement | null }, entry?: string): List {
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(900);
  const [target, setTarget] = useState<number | null>(null);
  const slice = useRef<HTMLDivElement>(null);
  const started = useRef(false);
  // Nothing is drawn or loaded before it is known which entries are seen.
  const isPlaced = useRef(false);
  void reader.loaded.value;
  const total = reader.total.value;
  const jump = (place: number) => {
    const box = scroll.current;
    if (!box) return;
    isPlaced.current = true;
    setTarget(place);
    reader.want(place - 20, place + 60);
    box.scrollTop = reader.heights.top(place);
    setTop(box.scrollTop);
  };
  useLayoutEffect(() => {
    if (total === 0 || started.current || !scroll.current) return;
    started.current = true;
    setHeight(scroll.current.clientHeight);
    if (entry) void reader.find(entry).then((place) => jump(place ?? total - 1));
    else jump(total - 1);
  });
  useEffect(() => {
    if (!entry || !started.current) return;
    void reader.find(entry).then((place) => place !== null && jump(place));
  }, [entry]);
  const first = reader.heights.at(top);
  const last = Math.min(total, reader.heights.at(top + height) + 1);
  const from = Math.max(0, first - 12);
  const to = isPlaced.current ? Math.min(total, last + 16) : from;
  if (isPlaced.current) reader.want(from - 100, to + 200);
  const [, measure] = useState(0);
  useEffect(() => {
    if (!slice.current) return;
    // What is opened, and pictures that were loaded, change heights without a scroll.
    const observer = new ResizeObserver(() => measure((turn) => turn + 1));
    observer.observe(slice.current);
    return () => observer.disconnect();
  }, [total > 0]);
  useLayoutEffect(() => {
    const box = scroll.current;
    if (!slice.current || !box) return;
    let moved = 0;
    const anchor = target ?? first;
    for (const child of slice.current.children) {
      const place = Number((child as HTMLElement).dataset.place);
      // What is not loaded yet has the height that was guessed.
      if (!reader.entry(place)) continue;
      const by = reader.heights.set(place, (child as HTMLElement).offsetHeight);
      if (place < anchor) moved += by;
    }
    if (target !== null) {
      const wanted = reader.heights.top(target);
      if (Math.abs(box.scrollTop - wanted) > 2 && reader.entry(target)) box.scrollTop = wanted;
      setTop(box.scrollTop);
    } else if (Math.abs(moved) > 0.5) {
      box.scrollTop += moved;
      setTop(box.scrollTop);
    }
  });
  const items = [];
  for (let place = from; place < to; place++) {
    items.push(<Item key={place} reader={reader} place={place} number={reader.isPrompt(place) ? reader.promptsUpTo(place) : null} isTarget={place === target && !!entry} jump={jump} />);
  }
  const view = (
    <div class="win" style={{ height: `${reader.heights.total}px` }}>
      <div class="slice" ref={slice} style={{ transform: `translateY(${reader.heights.top(from)}px)` }}>{items}</div>
    </div>
  );
  const onScroll = () => {
    const box = scroll.current;
    if (!box) return;
    const by = Math.abs(box.scrollTop - (target === null ? box.scrollTop : reader.heights.top(target)));
    if (by > 40) setTarget(null);
    setTop(box.scrollTop);
    setHeight(box.clientHeight);
    if (box.scrollTop + box.clientHeight > box.scrollHeight - 60) reader.fresh.value = 0;
  };
  return { first, last, view, jump, onScroll };
}

interface Shown {
  reader: Reader;
  place: number;
  number: number | null;
  isTarget: boolean;
  jump: (place: number) => void;
}

function Item({ reader, place, number, isTarget, jump }: Shown) {
  const entry = reader.entry(place);
  const isNew = place === reader.seen && reader.total.value > reader.seen;
  let inside;
  if (!entry) inside = <div class="ghost" style={{ height: `${reader.heights.get(place)}px` }} />;
  else {
    const run = detail.value === "talk" ? null : runOf(reader, place);
    if (run) inside = run.first === place ? <Run entries={run.entries} id={entry.id ?? `#${place}`} /> : null;
    else inside = <Entry reader={reader} place={place} entry={entry} number={number} />;
  }
  return (
    <div class={isTarget ? "e at" : "e"} data-place={place}>
      {isNew && <div class="newline">{w("newSince")}</div>}
      <Gaps session={reader.name} gaps={entry?.gaps} />
      {inside}
      {entry?.branches && <ForkBar ends={entry.branches.ends} shown={entry.branches.shown} show={(end) => void reader.show(end).then(() => jump(place))} />}
      <Gaps session={reader.name} gaps={entry?.gaps_after} />
    </div>
  );
}

function Tail({ reader, session }: { reader: Reader; session: SessionShape }) {
  if (!session.live?.length) return null;
  void reader.total.value;
  return (
    <div class="tail"><span class="dot live" />{w("followed", `${session.agent ?? session.dialect} (${session.live.join(", ")})`)}</div>
  );
}

function Head({ session, reader }: { session: SessionShape; reader: Reader }) {
  const command = resumeCommand(session);
  const levels: [Detail, Word][] = [["talk", "talk"], ["summary", "summary"], ["full", "full"]];
  const path = reader.path;
  const reload = () => reader.open();
  const rename = () => change(async () => {
    const title = await askText(w("renameAsk"), session.title ?? session.name, w("rename"));
    if (title) await send("PATCH", path, { title }).then(reload);
  });
  const tag = () => change(async () => {
    const name = await askText(w("tagAsk"), "", w("tag"));
    if (name) await send("PATCH", path, { tags: { add: [name] } }).then(reload);
  });
  return (
    <div class="shead">
      <div class="l">
        <a class="ico" href={href("sessions")} aria-label={w("back")}><Icon name="back" /></a>
        <Agent dialect={session.dialect} />
        <h1 dir="auto" title={session.name}>{session.title ?? session.name}</h1>
        <Badges session={session} />
        <div class="toolbar">
          <div class="seg" role="group" aria-label={w("toolCalls")}>
            {levels.map(([level, word]) => (
              <button aria-pressed={detail.value === level} onClick={() => (detail.value = level)}>{w(word)}</button>
            ))}
          </div>
          <a class="btn" href={`#/files?session=${encodeURIComponent(session.ref)}`}><Icon name="file" />{w("files")}</a>
          <button class="btn" onClick={rename}>{w("rename")}</button>
          <button class="btn" onClick={tag}><Icon name="tag" />{w("tag")}</button>
          <button class="btn" onClick={() => void save(reader)}><Icon name="down" />{w("export")}</button>
          <button class="btn" onClick={() => fork(reader)}><Icon name="fork" />{w("fork")}</button>
          <button class="btn" onClick={() => void remove(reader)}>{w("delete")}</button>
          {command && <button class="btn main" onClick={() => copy(command)}><Icon name="play" />{w("resume")}</button>}
        </div>
      </div>
      <div class="meta">
        <span class="mono">{folder(session.project)}</span>
        {session.git_branch && <span class="mono">{session.git_branch}</span>}
        <span><b class="num">{count(reader.total.value)}</b> {w("entries")}</span>
        {session.messages !== null && <span><b class="num">{count(session.messages)}</b> {w("messages")}</span>}
        {session.tokens.input !== null && <span><b>{short(session.tokens.input)}</b> {w("in")} · <b>{short(session.tokens.output ?? 0)}</b> {w("out")}</span>}
        <span>{session.cost_usd === null ? null : <b>{dollars(session.cost_usd)}</b>}</span>
        {session.models.slice(0, 3).map((model) => <span>{model}</span>)}
        {session.tags.map((name) => <span class="badge">{name}</span>)}
      </div>
    </div>
  );
}

const fork = (reader: Reader) => change(async () => {
  const made = await send<SessionShape>("POST", `${reader.path}/fork`);
  say(w("forked", made.ref));
  go(href("s", made.ref));
});

const save = (reader: Reader) => download(`${reader.path}/export?format=html`);

const remove = (reader: Reader) => change(async () => {
  if (!(await askYes(w("deleteAsk"), reader.session.value?.name ?? reader.name, w("delete")))) return;
  await send("DELETE", reader.path);
  say(w("deletedNote"));
  go("#/sessions");
});

/** What came between a prompt and the next one. */
interface Turn {
  calls: number;
  failed: number;
  /** Compactions, and branches that were left. */
  marks: { place: number; isCut: boolean }[];
}

/** The turns of prompts that are shown. */
function turnsOf(reader: Reader, from: number, to: number): Turn[] {
  return reader.prompts.slice(from, to).map((first, n) => {
    const turn: Turn = { calls: 0, failed: 0, marks: [] };
    const end = reader.prompts[from + n + 1] ?? reader.total.value;
    for (let place = first; place < end; place++) {
      if (reader.word(place) === "tool_result") {
        turn.calls += 1;
        if (reader.flags[place] & ERROR) turn.failed += 1;
      }
      if (turn.marks.length === 8) continue;
      if (reader.flags[place] & BRANCHED) turn.marks.push({ place, isCut: false });
      if (reader.isCut(place)) turn.marks.push({ place, isCut: true });
    }
    return turn;
  });
}

function Sum({ turn }: { turn: Turn }) {
  if (turn.calls === 0) return null;
  return <small>{turn.calls === 1 ? w("call") : w("calls", count(turn.calls))}{turn.failed > 0 && ` · ${w("failed", count(turn.failed))}`}</small>;
}

/** How many prompts are shown before and after the current one. */
const NEAR = 60;

function Outline({ reader, current, jump }: { reader: Reader; current: number; jump: (place: number) => void }) {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const places = reader.prompts;
  // A session may have ten thousand prompts: only those near the current one are shown.
  const middle = Math.max(0, reader.promptsUpTo(current + 1) - 1);
  const here = places[middle];
  const start = Math.max(0, Math.min(middle - NEAR, places.length - 2 * NEAR));
  const turns = useMemo(() => turnsOf(reader, start, start + 2 * NEAR), [places, reader.total.value, start]);
  const from = places[start];
  useEffect(() => {
    if (from === undefined) return;
    const path = `${reader.path}/entries?only=prompts&from=${from}&limit=${2 * NEAR}&text_limit=200`;
    void get<Page<EntryShape>>(path).then((answer) => {
      const loaded = answer.items.map((it, n) => [places[start + n], it.text ?? ""]);
      setTexts((old) => ({ ...old, ...Object.fromEntries(loaded) }));
    });
  }, [Math.floor((from ?? 0) / 20), places.length]);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.scrollIntoView({ block: "nearest" }), [here]);
  return (
    <nav class="outline" aria-label={w("prompts")}>
      <h2>{w("prompts")}<span class="num">{count(places.length)}</span></h2>
      {start > 0 && <button onClick={() => jump(places[Math.max(0, start - NEAR)])}><i>↑</i><span>{count(start)}</span></button>}
      {places.slice(start, start + 2 * NEAR).map((place, n) => (
        <>
          <button ref={place === here ? button : undefined} aria-current={place === here ? "location" : undefined} onClick={() => jump(place)}>
            <i>{start + n + 1}</i>
            <span dir="auto">{(texts[place] ?? "…").slice(0, 110)}<Sum turn={turns[n]} /></span>
          </button>
          {turns[n].marks.map((mark) => (
            <button class={mark.isCut ? "cut" : "fork"} onClick={() => jump(mark.place)}><i>{mark.isCut ? "┄" : "↳"}</i><span>{mark.isCut ? w("wasCompacted") : w("left")}</span></button>
          ))}
        </>
      ))}
      {start + 2 * NEAR < places.length && (
        <button onClick={() => jump(places[start + 2 * NEAR])}><i>↓</i><span>{count(places.length - start - 2 * NEAR)}</span></button>
      )}
      {places.length === 0 && <p class="empty">{w("outlineEmpty")}</p>}
    </nav>
  );
}

function Find({ reader, jump, close }: { reader: Reader; jump: (place: number) => void; close: () => void }) {
  const [hits, setHits] = useState<{ entry: string }[] | null>(null);
  const [at, setAt] = useState(0);
  const [isBusy, setBusy] = useState(false);
  const timer = useRef(0);
  const stop = useRef(new AbortController());
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.focus();
    return () => stop.current.abort();
  }, []);
  const show = async (found: { entry: string }[], place: number) => {
    setAt(place);
    const position = await reader.find(found[place].entry);
    if (position !== null) jump(position);
  };
  const search = async (text: string) => {
    stop.current.abort();
    stop.current = new AbortController();
    const { signal } = stop.current;
    if (!text.trim()) return setHits(null);
    setBusy(true);
    try {
      const found = await reader.search(text, signal);
      if (signal.aborted) return;
      setHits(found);
      if (found.length) await show(found, found.length - 1);
    } catch {
      if (!signal.aborted) setHits([]);
    } finally {
      if (!signal.aborted) setBusy(false);
    }
  };
  const step = (by: number) => {
    if (hits?.length) void show(hits, (at + by + hits.length) % hits.length);
  };
  const state = isBusy ? "…" : hits === null ? "" : hits.length ? w("findCount", at + 1, hits.length) : w("findNone");
  return (
    <div class="findbar" role="search">
      <input ref={input} type="search" placeholder={w("find")} aria-label={w("find")}
        onKeyDown={(event) => {
          if (event.key === "Escape") close();
          else if (event.key === "Enter" && hits) step(event.shiftKey ? -1 : 1);
          else if (event.key === "Enter") void search(event.currentTarget.value);
        }}
        onInput={(event) => {
          const text = event.currentTarget.value;
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => void search(text), 250);
        }} />
      <span class="faint num" aria-live="polite">{state}</span>
      <button class="ico" onClick={() => step(-1)} aria-label={w("before")}>↑</button>
      <button class="ico" onClick={() => step(1)} aria-label={w("after")}>↓</button>
      <button class="ico" onClick={close} aria-label={w("close")}>×</button>
    </div>
  );
}

function useKeys(reader: Reader, list: List, find: () => void): void {
  useEffect(() => {
    const step = (by: 1 | -1, fits: (place: number) => boolean) => {
      const from = by === 1 ? list.first + (list.first === 0 && fits(0) ? 0 : 1) - 1 : list.first;
      const place = reader.next(by === 1 ? Math.max(from, list.first) : list.first, by, fits);
      if (place !== null) list.jump(place);
    };
    const levels: Detail[] = ["talk", "summary", "full"];
    const box = () => document.querySelector<HTMLElement>(".scroll");
    keys.value = {
      "]": () => step(1, (place) => reader.isPrompt(place)),
      "[": () => step(-1, (place) => reader.isPrompt(place)),
      "}": () => step(1, (place) => !!(reader.flags[place] & ERROR)),
      "{": () => step(-1, (place) => !!(reader.flags[place] & ERROR)),
      j: () => box()?.scrollBy({ top: 80 }), k: () => box()?.scrollBy({ top: -80 }),
      g: () => list.jump(0), G: () => list.jump(reader.total.value - 1),
      t: () => (detail.value = levels[(levels.indexOf(detail.value) + 1) % 3]),
      T: () => (showsThinking.value = !showsThinking.value),
      y: () => void copy(location.origin + "/" + href("s", reader.name, reader.entry(list.first)?.id ?? "")),
      r: () => { const command = reader.session.value && resumeCommand(reader.session.value); if (command) void copy(command); },
      f: () => void fork(reader),
      e: () => void save(reader),
      x: () => void remove(reader),
      c: () => go(`#/health?session=${encodeURIComponent(reader.name)}`),
      "Ctrl-F": find,
    };
    return () => void (keys.value = {});
  });
}
