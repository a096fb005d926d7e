// Cost, tokens and messages over time and by agent, project and model; every plot has its table.

import { get, type Page } from "../api";
import { Dot, Failed, agentOf, folder, useLoaded } from "../parts";
import type { StatShape } from "../shapes";
import { href, route, setQuery } from "../state";
import { type Word, count, dollars, short, w } from "../words";

type Stats = Page<StatShape, StatShape>;
const SPANS: [string, Word][] = [["day", "day"], ["week", "byWeek"], ["month", "byMonth"]];
const SINCE: Record<string, string> = { day: "30d", week: "180d", month: "730d" };

export function Statistics() {
  const span = route.value.query.get("by") ?? "day";
  const since = SINCE[span] ?? "30d";
  const load = (by: string) => (signal: AbortSignal) => get<Stats>(`/v1/stats?by=${by}&since=${since}`, signal);
  const time = useLoaded<Stats>(load(`${span},agent`), [span]);
  const agents = useLoaded<Stats>(load("agent"), [span]);
  const models = useLoaded<Stats>(load("model"), [span]);
  const projects = useLoaded<Stats>(load("project"), [span]);
  const total = agents.value?.page;
  return (
    <div class="wide">
      <h1>{w("stats")}</h1>
      <div class="filterbar seg-row">
        <div class="seg" role="group">
          {SPANS.map(([name, word]) => <button aria-pressed={span === name} onClick={() => setQuery({ by: name })}>{w(word)}</button>)}
        </div>
      </div>
      {time.error !== null && <Failed error={time.error} />}
      {total && <Tiles total={total} />}
      <section class="card">
        <h2>{w("costBy", w(SPANS.find(([name]) => name === span)![1]))}</h2>
        {time.value && <Bars sums={time.value.items} />}
        {total && <p class="faint">{w("pricesAsOf", total.prices_as_of)}{total.unpriced_models.length > 0 && ` · ${w("unpriced", total.unpriced_models.join(", "))}`}</p>}
      </section>
      <div class="two">
        <Table word="agent" stats={agents.value} label={(key) => <><Dot dialect={key} /> {key}</>} />
        <Table word="model" stats={models.value} label={(key) => key} />
      </div>
      <Table word="project" stats={projects.value} label={(key) => <a href={`${href("sessions")}?project=${encodeURIComponent(key)}`}>{folder(key)}</a>} />
    </div>
  );
}

/** A cost; without a price it is not zero. */
const cost = (sum: StatShape) => (sum.cost_usd === null ? w("noPrice") : dollars(sum.cost_usd));

function Tiles({ total }: { total: StatShape }) {
  const number = (n: number | null) => (n === null ? "–" : short(n));
  const tiles: [string, Word][] = [
    [cost(total), "cost"], [number(total.sessions), "sessions"], [number(total.turns), "turns"],
    [number(total.tool_calls), "toolCalls"], [total.tokens.input === null ? "–" : `${number(total.tokens.input)} / ${number(total.tokens.output)}`, "tokens"],
  ];
  return <div class="tiles">{tiles.map(([value, word]) => <div class="tile"><b>{value}</b><span>{w(word)}</span></div>)}</div>;
}

function Bars({ sums }: { sums: StatShape[] }) {
  const keys = [...new Set(sums.map((sum) => sum.key ?? ""))];
  const agents = [...new Set(sums.map((sum) => sum.then_key ?? ""))];
  const by = new Map(sums.map((sum) => [`${sum.key}|${sum.then_key}`, sum]));
  const valueOf = (sum: StatShape | undefined) => sum?.cost_usd ?? 0;
  const totals = keys.map((key) => agents.reduce((all, agent) => all + valueOf(by.get(`${key}|${agent}`)), 0));
  const most = Math.max(...totals, 0.01);
  return (
    <>
      <div class="bars" role="img" aria-label={w("plotTable")}>
        {keys.map((key, n) => (
          <div title={`${key}: ${dollars(totals[n])}`}>
            {agents.map((agent) => <i style={{ height: `${(100 * valueOf(by.get(`${key}|${agent}`))) / most}%`, "--c": agentOf(agent)[1] }} />)}
          </div>
        ))}
      </div>
      <div class="axis"><span>{keys[0]}</span><span>{dollars(most)}</span><span>{keys.at(-1)}</span></div>
      <div class="legend">{agents.map((agent) => <span><Dot dialect={agent} />{agent}</span>)}</div>
      <details>
        <summary class="faint">{w("plotTable")}</summary>
        <table>
          <thead><tr><th></th>{agents.map((agent) => <th class="num">{agent}</th>)}</tr></thead>
          <tbody>{keys.map((key) => (
            <tr><td>{key}</td>{agents.map((agent) => { const sum = by.get(`${key}|${agent}`); return <td class="num">{sum ? cost(sum) : ""}</td>; })}</tr>
          ))}</tbody>
        </table>
      </details>
    </>
  );
}

function Table({ word, stats, label }: { word: Word; stats: Stats | null; label: (key: string) => preact.ComponentChildren }) {
  const sums = (stats?.items ?? []).slice(0, 30);
  const most = Math.max(0.01, ...sums.map((sum) => sum.cost_usd ?? 0));
  return (
    <section class="card" tabIndex={0} aria-label={w(word)}>
      <h2>{w(word)}</h2>
      <table>
        <thead><tr><th></th><th class="num">{w("sessions")}</th><th class="num">{w("turns")}</th><th class="num">{w("tokens")}</th><th class="num">{w("cost")}</th><th class="wide-col"></th></tr></thead>
        <tbody>
          {sums.map((sum) => (
            <tr>
              <td>{sum.key === null ? "–" : label(sum.key)}</td>
              <td class="num">{count(sum.sessions)}</td>
              <td class="num">{sum.turns === null ? "–" : short(sum.turns)}</td>
              <td class="num">{sum.tokens.output === null ? "–" : short((sum.tokens.input ?? 0) + sum.tokens.output)}</td>
              <td class="num">{cost(sum)}</td>
              <td><div class="meter" aria-hidden="true"><i style={{ width: `${(100 * (sum.cost_usd ?? 0)) / most}%` }} /></div></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
