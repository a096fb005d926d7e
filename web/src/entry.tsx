// One entry of a transcript: a prompt, an answer, or a run of calls.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { get } from "./api";
import { Diff, diffOf } from "./diff";
import { Subagents } from "./between";
import { Markdown } from "./markdown";
import { type Media, type MediaPart, Pictures, mediaOf } from "./media";
import { Icon } from "./parts";
import { HIDDEN, type Reader } from "./reader";
import type { EntryShape, Json } from "./shapes";
import { href } from "./state";
import { clock, count, moment, w } from "./words";

export type Detail = "talk" | "summary" | "full";
export const detail = signal<Detail>("summary");
export const showsThinking = signal(false);

export interface Part extends MediaPart {
  text?: string;
  call?: string;
  name?: string;
  input?: Json;
  is_error?: boolean;
}

export const partsOf = (entry: EntryShape) => entry.content as unknown as Part[];

/** Whether an entry consists of calls and results alone. */
export function isCompact(entry: EntryShape): boolean {
  const parts = partsOf(entry);
  if (entry.role === "tool") return true;
  if (entry.role !== "assistant" && entry.role !== "user") return false;
  const said = parts.some((part) => (part.type === "text" && part.text?.trim()) || part.type === "media");
  return !said && parts.some((part) => part.type === "tool_call" || part.type === "tool_result");
}

interface Call {
  entry: EntryShape;
  part: Part;
  result?: Part;
  media?: Media[];
}

function callsOf(entries: EntryShape[]): Call[] {
  const calls: Call[] = [];
  const byId = new Map<string, Call>();
  for (const entry of entries) {
    for (const part of partsOf(entry)) {
      if (part.type === "tool_call") {
        const call = { entry, part };
        calls.push(call);
        if (part.call) byId.set(part.call, call);
      } else if (part.type === "tool_result") {
        const call = part.call ? byId.get(part.call) : undefined;
        if (call) call.result = part;
        else calls.push({ entry, part: { type: "tool_call", name: entry.tool?.name ?? "…", call: part.call }, result: part });
        // Pictures of a result follow it.
        const answered = call ?? calls[calls.length - 1];
        const media = mediaOf(entry);
        if (media.length) answered.media = media;
      }
    }
  }
  return calls;
}

/** What a call is about, in one line. */
function about(input: Json | undefined): string {
  if (input === undefined || input === null) return "";
  if (typeof input !== "object") return String(input);
  const it = input as { [key: string]: Json };
  for (const key of ["command", "cmd", "file_path", "path", "pattern", "query", "url", "description", "prompt"]) {
    const value = it[key];
    if (typeof value === "string") return value;
    if (Array.isArray(value)) return value.join(" ");
  }
  return JSON.stringify(input);
}

function inputText(input: Json | undefined): string {
  if (typeof input === "string") return input;
  return JSON.stringify(input, null, 2) ?? "";
}

function names(calls: Call[]): string {
  const numbers = new Map<string, number>();
  for (const { part } of calls) numbers.set(part.name ?? "…", (numbers.get(part.name ?? "…") ?? 0) + 1);
  return [...numbers].map(([name, n]) => (n > 1 ? `${name} ×${n}` : name)).join(" · ");
}

const open = signal(new Set<string>());

export function toggle(key: string): void {
  const next = new Set(open.value);
  if (!next.delete(key)) next.add(key);
  open.value = next;
}

export function Run({ entries, id }: { entries: EntryShape[]; id: string }) {
  const calls = callsOf(entries);
  if (calls.length === 0) return null;
  const started = entries.filter((entry) => entry.subagents?.length);
  const failed = calls.filter((call) => call.result?.is_error).length;
  const isOpen = detail.value === "full" || open.value.has(id);
  if (calls.length === 1) {
    return (
      <div class="run">
        <CallLine call={calls[0]} id={`${id}/0`} isAlone />
        {started.map((entry) => <Subagents entry={entry} />)}
      </div>
    );
  }
  return (
    <div class={isOpen ? "run open" : "run"}>
      <button class="head" aria-expanded={isOpen} onClick={() => toggle(id)}>
        <Icon name="car" class="car" />
        {w("calls", count(calls.length))}
        <span class="names">{names(calls)}</span>
        {failed > 0 && <span class="fail">{w("failed", count(failed))}</span>}
        <span class="strip" aria-hidden="true">
          {calls.slice(0, 40).map((call) => (
            <i class={call.result?.is_error ? "bad" : diffOf(call.part) ? "edit" : "tool"} />
          ))}
        </span>
      </button>
      {isOpen && calls.map((call, place) => <CallLine call={call} id={`${id}/${place}`} />)}
      {started.map((entry) => <Subagents entry={entry} />)}
    </div>
  );
}

function CallLine({ call, id, isAlone }: { call: Call; id: string; isAlone?: boolean }) {
  const isOpen = open.value.has(id) || (detail.value === "full" && !open.value.has(`${id}-`));
  const flip = () => toggle(detail.value === "full" ? `${id}-` : id);
  const diff = diffOf(call.part);
  const result = call.result;
  return (
    <>
      <button class={isAlone ? "call alone" : "call"} aria-expanded={isOpen} onClick={flip}>
        <b>{call.part.name}</b>
        <span dir="auto">{about(call.part.input).split("\n")[0].slice(0, 300)}</span>
        {diff ? (
          <span class="st">
            <span class="plus">+{diff.added}</span> <span class="minus">−{diff.removed}</span>
          </span>
        ) : (
          <span class={result?.is_error ? "st bad" : "st"}>{result ? (result.is_error ? w("failed", 1) : lines(result.text)) : "…"}</span>
        )}
      </button>
      {isOpen && (
        <>
          {diff ? <Diff diff={diff} /> : call.part.input !== undefined && <pre class="out in" tabIndex={0}>{inputText(call.part.input)}</pre>}
          {result?.text && <pre class={result.is_error ? "out bad" : "out"} tabIndex={0} dir="auto">{result.text}{result.bytes ? `\n… ${w("cutText", count(result.bytes - result.text.length))}` : ""}</pre>}
          {call.media && <Pictures all={call.media} />}
        </>
      )}
    </>
  );
}

function lines(text: string | undefined): string {
  if (!text) return "ok";
  const number = text.trimEnd().split("\n").length;
  return number > 1 ? `${number}↵` : text.trim().slice(0, 24);
}

function Thinking({ text, id }: { text: string; id: string }) {
  const isOpen = showsThinking.value !== open.value.has(id);
  if (!isOpen) {
    return (
      <div class="think">
        <Icon name="car" />
        <button aria-expanded={false} onClick={() => toggle(id)} dir="auto">
          {w("thinking")} — {text.trim().split("\n")[0].slice(0, 160)}
        </button>
      </div>
    );
  }
  return (
    <div class="think open" dir="auto">
      <button aria-expanded={true} onClick={() => toggle(id)}>{w("thinking")}</button>
      {"\n"}
      {text}
    </div>
  );
}

/** The whole text of an entry whose beginning was loaded. */
function Whole({ entry }: { entry: EntryShape }) {
  const [text, setText] = useState(entry.text ?? "");
  const rest = (entry.text_bytes ?? 0) - text.length;
  const load = async () => {
    const path = `/v1/sessions/${encodeURIComponent(entry.session)}/entries/${encodeURIComponent(entry.id ?? "")}`;
    const whole = await get<EntryShape>(path);
    setText(whole.text ?? "");
  };
  return (
    <>
      <Markdown text={text} />
      {entry.text_bytes && rest > 0 && text === entry.text && <button class="btn" onClick={load}>{w("cutText", count(rest))}</button>}
    </>
  );
}

/** The place before which nothing is sent any more, with the summary that is sent instead. */
function Compaction({ entry }: { entry: EntryShape }) {
  const id = `${entry.id}/summary`;
  const isOpen = open.value.has(id) || detail.value === "full";
  const text = entry.text?.trim() ?? "";
  return (
    <>
      <div class="band">
        <div>
          {w("compacted")}
          {text && <button aria-expanded={isOpen} onClick={() => toggle(id)}>{isOpen ? w("close") : w("showSummary")}</button>}
        </div>
      </div>
      {isOpen && text && <div class="say folded" dir="auto"><Whole entry={entry} /></div>}
    </>
  );
}

export function Entry({ reader, place, entry, number }: { reader: Reader; place: number; entry: EntryShape; number: number | null }) {
  const parts = partsOf(entry);
  const id = entry.id ?? `#${place}`;
  const link = href("s", reader.name, id);
  if (entry.role === "user" && !(reader.flags[place] & HIDDEN)) {
    return (
      <div class="ask">
        <a class="who" href={link} title={w("copyLink")}>¶{number ?? ""}</a>
        <time class="when" dateTime={entry.at ?? ""} title={moment(entry.at)}>{clock(entry.at)}</time>
        <p dir="auto">{entry.text}</p>
        <Pictures all={mediaOf(entry)} />
      </div>
    );
  }
  if (reader.isCut(place)) return <Compaction entry={entry} />;
  if (entry.role === "assistant") {
    const calls = parts.some((part) => part.type === "tool_call");
    return (
      <>
        {detail.value !== "talk" && parts.filter((part) => part.type === "thinking" && part.text?.trim()).map((part, n) => <Thinking text={part.text!} id={`${id}/think${n}`} />)}
        {entry.text?.trim() && parts.some((part) => part.type === "text") && <div class="say" dir="auto"><Whole entry={entry} /></div>}
        <Pictures all={mediaOf(entry)} />
        {calls && detail.value !== "talk" && !isCompact(entry) && <Run entries={[entry, ...resultsAfter(reader, place)]} id={id} />}
      </>
    );
  }
  if (entry.role === "shell") return <pre class="out" dir="auto">{entry.text}</pre>;
  if (entry.text && detail.value === "full") return <div class="sys" title={entry.kind} dir="auto">{entry.kind}: {entry.text.slice(0, 300)}</div>;
  return null;
}

/** The results that follow an entry with text and calls. */
function resultsAfter(reader: Reader, place: number): EntryShape[] {
  const found: EntryShape[] = [];
  for (let next = place + 1; next < reader.total.value && next < place + 40; next++) {
    const entry = reader.entry(next);
    if (!entry || !isCompact(entry) || partsOf(entry).some((part) => part.type === "tool_call")) break;
    found.push(entry);
  }
  return found;
}

/** Where the run begins that an entry is part of; `null` if it is in none. */
export function runOf(reader: Reader, place: number): { first: number; entries: EntryShape[] } | null {
  const entry = reader.entry(place);
  if (!entry || !isCompact(entry)) return null;
  let first = place;
  while (first > 0 && place - first < 300) {
    const before = reader.entry(first - 1);
    if (!before || !isCompact(before)) break;
    first -= 1;
  }
  // Results behind an answer with text belong to that answer.
  const above = first > 0 ? reader.entry(first - 1) : undefined;
  if (above?.role === "assistant" && partsOf(above).some((part) => part.type === "tool_call")) {
    while (first <= place && !partsOf(reader.entry(first)!).some((part) => part.type === "tool_call")) first += 1;
    if (first > place) return { first: -1, entries: [] };
  }
  const entries: EntryShape[] = [];
  for (let next = first; next < reader.total.value && next - first < 300; next++) {
    const it = reader.entry(next);
    if (!it || !isCompact(it)) break;
    entries.push(it);
  }
  return { first, entries };
}
