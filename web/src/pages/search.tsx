// Text in every session: facets, hits by session, marked.

import { useEffect, useState } from "preact/hooks";
import { get, type Page } from "../api";
import { Histogram } from "../histogram";
import { Agent, Dot, Empty, Failed, folder, useLoaded } from "../parts";
import type { HitShape, Page as PageShape } from "../shapes";
import { go, href, keys, route, setQuery } from "../state";
import { type Word, ago, bytes, count, moment, w } from "../words";

const FIELDS: [string, Word][] = [
  ["prompts", "fieldPrompts"], ["answers", "fieldAnswers"], ["thinking", "fieldThinking"], ["calls", "fieldCalls"],
  ["results", "fieldResults"], ["titles", "fieldTitles"], ["summaries", "fieldSummaries"], ["memory", "fieldMemory"], ["context", "fieldContext"],
];
const TIMES: [string, Word | null, string][] = [["", "all", ""], ["1d", null, "24 h"], ["7d", null, "7 d"], ["30d", null, "30 d"], ["365d", null, "1 y"]];

type Found = Page<HitShape, PageShape>;

function path(cursor?: string): string {
  const params = new URLSearchParams({ limit: "60", timeout_ms: "8000" });
  for (const name of ["q", "in", "agent", "project", "since", "until", "sort", "mode"]) {
    const value = route.value.query.get(name);
    if (value) params.set(name, value);
  }
  if (cursor) params.set("cursor", cursor);
  return `/v1/search?${params}`;
}

/** A snippet with its matches marked: ranges count bytes of UTF-8. */
function Marked({ hit }: { hit: HitShape }) {
  const text = new TextEncoder().encode(hit.snippet);
  const decode = (from: number, to: number) => new TextDecoder().decode(text.slice(from, to));
  const nodes = [];
  let at = 0;
  for (const [from, to] of hit.ranges as unknown as [number, number][]) {
    nodes.push(decode(at, from), <mark>{decode(from, to)}</mark>);
    at = to;
  }
  nodes.push(decode(at, text.length));
  return <>{nodes}</>;
}

export function Search() {
  const query = route.value.query;
  const q = query.get("q") ?? "";
  const started = performance.now();
  const found = useLoaded<{ found: Found; ms: number } | null>(
    async (signal) => (q.trim() ? { found: await get<Found>(path(), signal), ms: performance.now() - started } : null),
    [query.toString()],
  );
  const [more, setMore] = useState<Found[]>([]);
  useEffect(() => setMore([]), [query.toString()]);
  const pages = found.value ? [found.value.found, ...more] : [];
  const hits = pages.flatMap((page) => page.items);
  const groups: HitShape[][] = [];
  for (const hit of hits) {
    const group = groups.find((it) => it[0].session === hit.session);
    if (group) group.push(hit);
    else groups.push([hit]);
  }
  const [at, setAt] = useState(0);
  useEffect(() => {
    const move = (by: number) => {
      const next = Math.max(0, Math.min(groups.length - 1, at + by));
      setAt(next);
      document.getElementById(`group${next}`)?.scrollIntoView({ block: "nearest" });
    };
    keys.value = { j: () => move(1), k: () => move(-1), Enter: () => groups[at] && go(link(groups[at][0])) };
    return () => void (keys.value = {});
  });
  const page = found.value?.found.page;
  const cursor = pages.at(-1)?.page.cursor;
  return (
    <div class="search">
      <Facets hits={hits} />
      <div class="hits">
        <h1 class="vh">{w("search")}</h1>
        {page && (
          <div class="sumline" aria-live="polite">
            <span>{w("hitsIn", page.total === null ? `${count(hits.length)}+` : count(page.total), page.sessions == null ? `${groups.length}+` : count(page.sessions))}</span>
            <span class="num">{Math.round(found.value!.ms)} ms</span>
            {page.complete ? <span class="badge good">{w("covered")}</span> : <span class="badge warn">{w("incomplete")}</span>}
            {!!page.scanned_bytes && <span>{w("scanned", bytes(page.scanned_bytes))}</span>}
            <button class="chip order" onClick={() => setQuery({ sort: query.get("sort") === "newest" ? null : "newest" })}>
              {query.get("sort") === "newest" ? w("newest") : w("best")}
            </button>
          </div>
        )}
        {found.error !== null && <Failed error={found.error} />}
        {page && hits.length === 0 && <Empty title={w("noHits")}>{w("noHitsHint")}</Empty>}
        {!q.trim() && <Empty title={w("askAll")}><code>lease "two writers" agent:claude since:30d !draft</code></Empty>}
        {groups.map((group, n) => <Group group={group} id={`group${n}`} isCurrent={n === at} />)}
        {cursor && <button class="btn more" onClick={async () => setMore([...more, await get<Found>(path(cursor))])}>{w("more")}</button>}
      </div>
    </div>
  );
}

const link = (hit: HitShape) => (hit.entry ? href("s", hit.session, hit.entry) : href("s", hit.session));

function Group({ group, id, isCurrent }: { group: HitShape[]; id: string; isCurrent: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const first = group[0];
  const shown = isOpen ? group : group.slice(0, 4);
  return (
    <section class={isCurrent ? "grp cur" : "grp"} id={id}>
      <h3><Agent dialect={first.session.split(":")[0]} /><a href={link(first)} dir="auto">{first.name}</a></h3>
      <div class="s">{folder(first.project)} · {ago(first.at)} · {count(group.length)}</div>
      {shown.map((hit) => (
        <a class="hit" href={link(hit)}>
          <span class="k">{w(FIELDS.find(([name]) => name === hit.field)?.[1] ?? "fieldContext")}</span>
          <span class={hit.field === "calls" || hit.field === "results" ? "x m" : "x"} dir="auto"><Marked hit={hit} /></span>
          <span class="w">{ago(hit.at)}</span>
        </a>
      ))}
      {group.length > 4 && !isOpen && <button class="chip" onClick={() => setOpen(true)}>{w("more")} · {count(group.length - 4)}</button>}
    </section>
  );
}

function Facets({ hits }: { hits: HitShape[] }) {
  const query = route.value.query;
  const tally = (of: (hit: HitShape) => string | null) => {
    const sums = new Map<string, number>();
    for (const hit of hits) {
      const key = of(hit);
      if (key) sums.set(key, (sums.get(key) ?? 0) + 1);
    }
    return [...sums].sort((a, b) => b[1] - a[1]).slice(0, 12);
  };
  const chosen = query.get("in");
  const flip = (name: string, value: string) => setQuery({ [name]: query.get(name) === value ? null : value });
  const fields = new Map(tally((hit) => hit.field));
  const keep = (name: string, list: [string, number][]): [string, number][] => {
    const value = query.get(name);
    return value && !list.some(([it]) => it === value) ? [[value, 0], ...list] : list;
  };
  return (
    <div class="facets">
      <h2>{w("when")}</h2>
      <Histogram times={hits.flatMap((hit) => (hit.at ? [Date.parse(hit.at)] : []))} choose={setQuery} />
      <Chosen />
      {TIMES.map(([value, word, text]) => (
        <button aria-pressed={(query.get("since") ?? "") === value && !query.get("until")} onClick={() => setQuery({ since: value || null, until: null })}>{word ? w(word) : text}</button>
      ))}
      <h2>{w("where")}</h2>
      {FIELDS.map(([name, word]) => (
        <button aria-pressed={chosen === name} onClick={() => flip("in", name)}>{w(word)}<span class="num">{fields.get(name) ? count(fields.get(name)!) : ""}</span></button>
      ))}
      <h2>{w("agent")}</h2>
      {keep("agent", tally((hit) => hit.session.split(":")[0])).map(([name, n]) => (
        <button aria-pressed={query.get("agent") === name} onClick={() => flip("agent", name)}><Dot dialect={name} />{name}<span class="num">{n || ""}</span></button>
      ))}
      <h2>{w("project")}</h2>
      {keep("project", tally((hit) => hit.project)).map(([name, n]) => (
        <button aria-pressed={query.get("project") === name} onClick={() => flip("project", name)} title={name}>{folder(name).split("/").slice(-2).join("/")}<span class="num">{n || ""}</span></button>
      ))}
    </div>
  );
}

/** The range that was drawn, with a way back to all times. */
function Chosen() {
  const [since, until] = ["since", "until"].map((name) => route.value.query.get(name));
  const isAge = !until && TIMES.some(([value]) => value === (since ?? ""));
  if (isAge) return null;
  const text = (at: string | null) => (at && !Number.isNaN(Date.parse(at)) ? moment(at) : (at ?? "…"));
  return (
    <button class="chosen" aria-label={w("rangeClear", text(since), text(until))} onClick={() => setQuery({ since: null, until: null })}>
      {text(since)} – {text(until)}<span aria-hidden="true">×</span>
    </button>
  );
}
