// Sessions by day, with a preview of the selected one.

import { useEffect, useState } from "preact/hooks";
import { download, get, type Page } from "../api";
import { changedSlowly } from "../live";
import { Agent, Badges, Dot, Empty, Failed, Icon, copy, folder, resumeCommand, useLoaded } from "../parts";
import type { EntryShape, HeadsShape, Page as PageShape, ProjectShape, SessionShape, StoreShape } from "../shapes";
import { go, href, keys, route, setQuery } from "../state";
import { type Word, ago, bytes, count, dollars, moment, short, w } from "../words";
import { ShapeOf, Strip } from "../strip";

const SORTS: [string, Word][] = [
  ["active", "sortActive"], ["created", "sortCreated"], ["messages", "sortMessages"],
  ["size", "sortSize"], ["cost", "sortCost"], ["name", "sortName"],
];

type List = Page<SessionShape, PageShape>;

function query(cursor?: string): string {
  const params = new URLSearchParams({ limit: "60" });
  for (const name of ["agent", "project", "match", "sort", "hidden", "tag"]) {
    const value = route.value.query.get(name);
    if (value) params.set(name, value);
  }
  if (cursor) params.set("cursor", cursor);
  return `/v1/sessions?${params}`;
}

/** The heading that a session belongs under. */
function dayOf(at: string | null, now: Date): Word {
  if (!at) return "older";
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const days = (midnight - Date.parse(at)) / 86400000;
  if (days <= 0) return "today";
  if (days <= 1) return "yesterday";
  if (days <= 6) return "week";
  return days <= 30 ? "month" : "older";
}

export function Sessions() {
  const filters = route.value.query.toString();
  const first = useLoaded<List>((signal) => get(query(), signal), [filters, changedSlowly.value]);
  const [more, setMore] = useState<List[]>([]);
  useEffect(() => setMore([]), [filters]);
  const pages = first.value ? [first.value, ...more] : [];
  const rows = pages.flatMap((page) => page.items);
  const [chosen, choose] = useState("");
  const place = Math.max(0, rows.findIndex((row) => row.ref === chosen));
  const selected = rows[place];
  const cursor = pages.at(-1)?.page.cursor;
  const isGrouped = !route.value.query.get("sort") || route.value.query.get("sort") === "active";
  const load = async () => setMore([...more, await get<List>(query(cursor!))]);
  useEffect(() => {
    const move = (by: number) => {
      const next = rows[Math.min(rows.length - 1, Math.max(0, place + by))];
      if (next) {
        choose(next.ref);
        document.getElementById(`row-${next.ref}`)?.scrollIntoView({ block: "nearest" });
      }
    };
    keys.value = {
      j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
      Enter: () => selected && go(href("s", selected.ref)),
      r: () => selected && copyResume(selected),
    };
    return () => void (keys.value = {});
  });
  const now = new Date();
  let day: Word | "" = "";
  return (
    <div class="list">
      <div class="col">
        <h1 class="vh">{w("sessions")}</h1>
        <Filters total={first.value?.page.total ?? null} />
        {first.error !== null && <Failed error={first.error} />}
        <div role="listbox" aria-label={w("sessions")} tabIndex={0} aria-activedescendant={selected && `row-${selected.ref}`}>
          {rows.map((row) => {
            const its = dayOf(row.last_active, now);
            const heading = isGrouped && its !== day;
            day = its;
            return (
              <>
                {heading && <div class="day" role="presentation">{w(its)}</div>}
                <Row row={row} isSelected={row === selected} choose={() => choose(row.ref)} />
              </>
            );
          })}
        </div>
        {cursor && <button class="btn more" onClick={load}>{w("more")}</button>}
        {first.value && rows.length === 0 && (
          <Empty title={filters ? w("noMatch") : w("noSessions")}>{filters ? w("noMatchHint") : w("noSessionsHint")}</Empty>
        )}
      </div>
      {selected && <Peek key={selected.ref} session={selected} />}
    </div>
  );
}

function Filters({ total }: { total: number | null }) {
  const stores = useLoaded<Page<StoreShape>>((signal) => get("/v1/stores", signal), []);
  const agent = route.value.query.get("agent");
  const dialects = (stores.value?.items ?? []).filter((it) => it.sessions).map((it) => it.dialect);
  const project = route.value.query.get("project");
  const projects = useLoaded<Page<ProjectShape>>((signal) => get("/v1/projects", signal), []);
  const folders = [...new Set([...(project ? [project] : []), ...(projects.value?.items ?? []).map((it) => it.project).filter((it): it is string => !!it)])].slice(0, 200);
  return (
    <div class="bar">
      <button class="chip" aria-pressed={!agent} onClick={() => setQuery({ agent: null })}>{w("allAgents")}</button>
      {[...new Set(dialects)].map((name) => (
        <button class="chip" aria-pressed={agent === name} onClick={() => setQuery({ agent: agent === name ? null : name })}>
          <Dot dialect={name} />
          {name}
        </button>
      ))}
      <label class="chip">
        <span class="vh">{w("project")}</span>
        <select value={project ?? ""} onChange={(event) => setQuery({ project: event.currentTarget.value || null })}>
          <option value="">{w("allProjects")}</option>
          {folders.map((path) => <option value={path}>{folder(path)}</option>)}
        </select>
      </label>
      <label class="chip">
        <span class="vh">{w("order")}</span>
        <select value={route.value.query.get("sort") ?? "active"} onChange={(event) => setQuery({ sort: event.currentTarget.value })}>
          {SORTS.map(([value, word]) => <option value={value}>{w(word)}</option>)}
        </select>
      </label>
      <button class="chip" aria-pressed={route.value.query.has("hidden")} onClick={() => setQuery({ hidden: route.value.query.has("hidden") ? null : "1" })}>
        {w("showHidden")}
      </button>
      <span class="sum num" aria-live="polite">{total === null ? "" : count(total)}</span>
    </div>
  );
}

function Row({ row, isSelected, choose }: { row: SessionShape; isSelected: boolean; choose: () => void }) {
  return (
    <div class="row" role="option" id={`row-${row.ref}`} aria-selected={isSelected} onClick={choose} onDblClick={() => go(href("s", row.ref))}>
      <Agent dialect={row.dialect} />
      <div>
        <div class="t"><span dir="auto">{row.name}</span><Badges session={row} /></div>
        <div class="s" dir="auto">
          <b>{folder(row.project)}</b>
          {row.git_branch && ` · ${row.git_branch}`}
          {row.first_prompt && row.first_prompt !== row.name && ` — ${row.first_prompt.slice(0, 200)}`}
        </div>
      </div>
      <Strip kinds={row.kinds} />
      <div class="r num h">{row.messages === null ? "–" : count(row.messages)}</div>
      <div class="r num h">{row.cost_usd === null ? "" : dollars(row.cost_usd)}</div>
      <div class="r">{ago(row.last_active)}</div>
    </div>
  );
}

export function copyResume(session: SessionShape): void {
  const command = resumeCommand(session);
  if (command) void copy(command);
}

function Peek({ session }: { session: SessionShape }) {
  const command = resumeCommand(session);
  const last = useLoaded<Page<EntryShape>>(
    (signal) => get(`/v1/sessions/${encodeURIComponent(session.ref)}/entries?only=prompts&limit=1&text_limit=600`, signal),
    [session.ref, session.revision],
  );
  const heads = useLoaded<HeadsShape>(
    (signal) => get(`/v1/sessions/${encodeURIComponent(session.ref)}/heads?as=columns`, signal),
    [session.ref, session.revision],
  );
  const asked = last.value?.items[0]?.text ?? session.first_prompt;
  const facts: [Word, string | null][] = [
    ["messages", session.messages === null ? w("unknown") : count(session.messages)],
    ["toolCalls", session.tool_calls === null ? null : count(session.tool_calls)],
    ["tokens", session.tokens.input === null ? null : `${short(session.tokens.input)} ${w("in")} · ${short(session.tokens.output ?? 0)} ${w("out")}`],
    ["cost", session.cost_usd === null ? w("unknown") : dollars(session.cost_usd)],
    ["models", session.models.join(", ") || null],
    ["status", session.status],
    ["tags", session.tags.join(", ") || null],
    ["created", moment(session.created)],
    ["size", bytes(session.bytes)],
    ["kept", session.kept === null ? null : session.kept ? w("keptYes") : w("keptNo")],
  ];
  return (
    <section class="peek" aria-label={w("preview")} tabIndex={0}>
      <div class="peekhead">
        <Agent dialect={session.dialect} /> <span class="mono faint">{session.dialect}:{session.id.slice(0, 8)}</span>
      </div>
      <h2 dir="auto">{session.title ?? session.name}</h2>
      <div class="mono faint">{folder(session.project)}{session.git_branch && ` · ${session.git_branch}`}</div>
      {session.summary && session.summary !== session.title && <p class="sum" dir="auto">{session.summary}</p>}
      <div class="acts">
        <a class="btn main" href={href("s", session.ref)}>{w("read")} <kbd>↵</kbd></a>
        {command && <button class="btn" onClick={() => copy(command)}><Icon name="play" />{w("resume")}</button>}
        <button class="btn" onClick={() => download(`/v1/sessions/${encodeURIComponent(session.ref)}/export?format=html`)}><Icon name="down" />{w("export")}</button>
      </div>
      {command && (
        <div class="cmd"><code>{command}</code><button class="ico" aria-label={w("copy")} title={w("copy")} onClick={() => copy(command)}><Icon name="copy" /></button></div>
      )}
      {asked && (<><div class="cap">{w("lastAsked")}</div><div class="last" dir="auto">{asked.slice(0, 420)}</div></>)}
      <dl>
        {facts.filter(([, value]) => value).map(([word, value]) => (<><dt>{w(word)}</dt><dd title={value!}>{value}</dd></>))}
      </dl>
      {heads.value && heads.value.total > 0 && (<><div class="cap">{w("shape")}</div><ShapeOf heads={heads.value} /></>)}
    </section>
  );
}
