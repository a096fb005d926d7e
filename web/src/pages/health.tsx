// Findings about sessions, the plan of a repair with the bytes that it changes, its application, and undo.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ask, get, send, type Page } from "../api";
import { changed } from "../live";
import { Agent, Empty, Failed, Meter, change, copy, useLoaded } from "../parts";
import type { DamageShape, KeepShape, LoggedOperation, LossShape, RepairPlanShape, RepairStepShape, SessionShape, WarningShape } from "../shapes";
import { href, route, say, setQuery } from "../state";
import { run, works } from "../work";
import { type Word, ago, count, w } from "../words";

type Finding = DamageShape | WarningShape;

/** What the last check found; it stays while other pages are shown. */
const found = signal<Finding[] | null>(null);
const failure = signal<unknown>(null);
export const damaged = signal(0);

/** Checks every session; findings appear as they are made. */
async function check(stop: AbortSignal): Promise<void> {
  const findings: Finding[] = [];
  failure.value = null;
  try {
    await run("check", "GET", "/v1/check", stop, (event) => {
      if (stop.aborted) return;
      findings.push(event.data as Finding);
      found.value = [...findings];
    });
    if (!stop.aborted) found.value = findings;
  } catch (error) {
    if (!stop.aborted) failure.value = error;
  }
  damaged.value = new Set(findings.flatMap((it) => (it.type === "damage" && it.session ? [it.session] : []))).size;
}

export function Health() {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    void check(stop.signal);
    return () => stop.abort();
  }, [turn]);
  const findings = found.value ?? [];
  const damage = findings.filter((it): it is DamageShape => it.type === "damage" && !!it.session);
  const bySession = new Map<string, DamageShape[]>();
  for (const it of damage) bySession.set(it.session!, [...(bySession.get(it.session!) ?? []), it]);
  const others = findings.filter((it) => it.type !== "damage" || !it.session);
  const wanted = route.value.query.get("session");
  const shown = wanted ?? [...bySession.keys()][0];
  const isRunning = works.value.some((it) => it.name === "check");
  const again = () => {
    // What was repaired or undone may not be there any more.
    found.value = null;
    setTurn(turn + 1);
    changed.value += 1;
  };
  return (
    <div class="health">
      <div class="col" tabIndex={0} role="region" aria-label={w("findings")}>
        <div class="bar">
          <h1 class="h1">{w("health")}</h1>
          <span class="sum" aria-live="polite">{isRunning ? w("checking") : w("foundIn", count(damage.length), count(bySession.size))}</span>
          <button class="btn" disabled={isRunning} onClick={again}>{w("checkAgain")}</button>
        </div>
        <Meter name="check" />
        {failure.value !== null && <Failed error={failure.value} />}
        <Endangered turn={turn} again={again} />
        {found.value && !isRunning && findings.length === 0 && <Empty title={w("healthy")}>{w("healthyHint")}</Empty>}
        {[...bySession].map(([session, list]) => (
          <Damaged key={session} session={session} list={list} isShown={session === shown} />
        ))}
        {others.map((it) => (
          <div class="dmg"><span class="dot" /><span><b>{it.problem}</b><br /><span class="faint">{it.detail}</span></span><span /></div>
        ))}
        <Operations again={again} turn={turn} />
      </div>
      {shown && <Plan key={shown} session={shown} again={again} />}
    </div>
  );
}

function Damaged({ session, list, isShown }: { session: string; list: DamageShape[]; isShown: boolean }) {
  const about = useLoaded<SessionShape>((signal) => get(`/v1/sessions/${encodeURIComponent(session)}`, signal), [session]);
  const seen = list.find((it) => it.reachable !== null);
  const kinds = [...new Set(list.map((it) => it.problem))].join(" · ");
  return (
    <button class="dmg" aria-current={isShown ? "true" : undefined} onClick={() => setQuery({ session })}>
      <Agent dialect={session.split(":")[0]} />
      <span>
        <b dir="auto">{about.value?.name ?? session}</b>
        <span class="faint line">{seen ? w("agentSees", count(seen.reachable!), count(seen.total ?? 0)) : list[0].detail}</span>
        <span class="mono faint line">{kinds}</span>
      </span>
      <span class="badge warn">{w("damaged", count(list.length))}</span>
    </button>
  );
}

/** Sessions that their agent will delete soon. */
function Endangered({ turn, again }: { turn: number; again: () => void }) {
  const kept = useLoaded<Page<KeepShape>>((signal) => get("/v1/keep", signal), [turn]);
  const lost = (kept.value?.items ?? []).reduce((sum, store) => sum + store.lost_soon.length, 0);
  const isRunning = works.value.some((it) => it.name === "keep");
  const keep = () => change(async () => {
    await run("keep", "POST", "/v1/keep", new AbortController().signal, (event) => {
      if (event.name === "kept") say(w("keptNow", count(event.data.sessions)));
    });
    again();
  });
  if (lost === 0 && !isRunning) return null;
  return (
    <div class="warnbox">
      <b>{w("lostCount", count(lost))}</b>
      <span>{w("lostText")}</span>
      <button class="btn" disabled={isRunning} onClick={keep}>{w("keepThem")}</button>
      <Meter name="keep" />
    </div>
  );
}

interface Planned {
  steps: RepairStepShape[];
  losses: LossShape[];
  end: RepairPlanShape;
  tag: string;
}

function Plan({ session, again }: { session: string; again: () => void }) {
  const path = `/v1/sessions/${encodeURIComponent(session)}`;
  const [chosen, setChosen] = useState<number[] | null>(null);
  const [turn, setTurn] = useState(0);
  const plan = useLoaded<Planned>(async (signal) => {
    const answer = await ask(`${path}/repair${chosen === null ? "" : `?steps=${chosen.join(",")}`}`, { signal });
    const read = (await answer.json()) as Page<RepairStepShape | LossShape, RepairPlanShape>;
    return {
      steps: read.items.filter((it): it is RepairStepShape => it.type === "step"),
      losses: read.items.filter((it): it is LossShape => it.type === "loss"),
      end: read.page,
      tag: answer.headers.get("etag") ?? "",
    };
  }, [session, chosen?.join(","), turn]);
  const about = useLoaded<SessionShape>((signal) => get(path, signal), [session, turn]);
  const apply = () => change(async () => {
    await send("POST", `${path}/repair`, chosen === null ? {} : { steps: chosen }, { "If-Match": plan.value!.tag });
    say(w("applied"));
    setChosen(null);
    setTurn(turn + 1);
    again();
  });
  const steps = plan.value?.steps ?? [];
  const taken = steps.filter((step) => step.taken).map((step) => step.step);
  const flip = (step: number) => setChosen(taken.includes(step) ? taken.filter((it) => it !== step) : [...taken, step].sort((a, b) => a - b));
  const end = plan.value?.end;
  const command = `boswell repair ${session}${chosen === null ? "" : taken.map((step) => ` --step ${step}`).join("")} --apply`;
  return (
    <section class="plan" aria-label={w("plan")} tabIndex={0}>
      <a class="mono faint" href={href("s", session)}>{session}</a>
      <h2 dir="auto">{about.value?.name ?? w("plan")}</h2>
      {end && (
        <div class="before">
          <Reach word="seesNow" n={end.reachable} of={end.total} kind="bad" />
          <Reach word="seesAfter" n={end.would_reach} of={end.total} kind="good" />
        </div>
      )}
      {plan.error !== null && <Failed error={plan.error} />}
      {steps.map((step) => <Step key={step.step} step={step} flip={() => flip(step.step)} />)}
      {plan.value && steps.length === 0 && <p class="faint">{w("planNone")}</p>}
      {end?.refused && <p class="faint">{end.refused}</p>}
      {plan.value?.losses.map((loss) => <p class="faint">{loss.reader}: {loss.loses} ({count(loss.times)})</p>)}
      {taken.length > 0 && (
        <div class="acts">
          <button class="btn main" onClick={apply}>{w("applySteps", count(taken.length))}</button>
          <button class="btn" onClick={() => void copy(command)}>{w("copyCommand")}</button>
          <span class="faint">{w("canUndo")}</span>
        </div>
      )}
    </section>
  );
}

function Reach({ word, n, of, kind }: { word: Word; n: number; of: number; kind: string }) {
  return (
    <div>
      <span class="faint">{w(word)}</span>
      <b>{w("nOf", count(n), count(of))}</b>
      <div class="meter" aria-hidden="true"><i class={n < of ? kind : "good"} style={{ width: `${(100 * n) / Math.max(1, of)}%` }} /></div>
    </div>
  );
}

const CLASSES: Record<string, Word> = { append: "classAppend", rewrite: "classRewrite", change: "classChange" };

function Step({ step, flip }: { step: RepairStepShape; flip: () => void }) {
  return (
    <div class="step">
      <label class="h">
        <input type="checkbox" checked={step.taken} onChange={flip} />
        <b>{step.step}. {step.does}</b>
        <span class={`badge ${step.confidence === "certain" ? "good" : "warn"}`}>{w(step.confidence as Word)}</span>
      </label>
      {step.changes?.map((change) => (
        <div class="diff" tabIndex={0} role="group" aria-label={step.does}>
          <div class="h">{step.line === null ? "" : `${w("line", count(step.line))}, `}{w(CLASSES[step.class] ?? "classChange")}</div>
          {lines(change.before, change.after).map(([mark, text]) => (
            <div class={mark === "+" ? "a" : mark === "-" ? "d" : ""}><i>{mark}</i><span>{text}</span></div>
          ))}
        </div>
      ))}
    </div>
  );
}

/** How many characters of a line are shown around what changed. */
const AROUND = 60;

/** The lines that differ, each cut to what is near the change. */
function lines(before: string, after: string): [string, string][] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  if (a.at(-1) === "") a.pop();
  if (b.at(-1) === "") b.pop();
  const shown: [string, string][] = [];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  let at = 0;
  if (left.length && right.length) while (at < Math.min(left[0].length, right[0].length) && left[0][at] === right[0][at]) at++;
  const near = (text: string) => {
    const from = Math.max(0, at - AROUND);
    return (from ? "…" : "") + text.slice(from, from + 4 * AROUND) + (text.length > from + 4 * AROUND ? "…" : "");
  };
  for (const line of left.slice(0, 12)) shown.push(["-", near(line)]);
  for (const line of right.slice(0, 12)) shown.push(["+", near(line)]);
  if (shown.length === 0) shown.push(["±", w("lineEnd")]);
  return shown;
}

function Operations({ again, turn }: { again: () => void; turn: number }) {
  const ops = useLoaded<Page<LoggedOperation>>((signal) => get("/v1/ops", signal), [turn, changed.value]);
  const undo = (op: string) => change(async () => {
    await send("POST", `/v1/ops/${op}/undo`);
    say(w("undone"));
    again();
  });
  return (
    <>
      <h2 class="day">{w("operations")}</h2>
      {ops.value?.items.length === 0 && <p class="faint pad">{w("noOps")}</p>}
      {ops.value?.items.slice(0, 30).map((op) => (
        <div class="dmg">
          <span class="dot" />
          <span><b dir="auto">{op.title}</b><span class="faint line">{ago(op.at)} · {op.kind}</span></span>
          {op.undoable && !op.undone ? <button class="btn" onClick={() => undo(op.op)}>{w("undo")}</button> : <span class="faint">{op.undone ? w("undone") : ""}</span>}
        </div>
      ))}
    </>
  );
}
