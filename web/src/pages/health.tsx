// Findings about sessions, the plan of a repair, its application, and undo.

import { useState } from "preact/hooks";
import { ask, get, type Page } from "../api";
import { changed } from "../live";
import { Agent, Empty, Failed, change, useLoaded } from "../parts";
import type { DamageShape, LoggedOperation, LossShape, RepairStepShape, WarningShape } from "../shapes";
import { href, route, say, setQuery } from "../state";
import { type Word, ago, count, w } from "../words";
import { send } from "../api";

type Finding = DamageShape | WarningShape;

export function Health() {
  const [turn, setTurn] = useState(0);
  const found = useLoaded<Page<Finding>>((signal) => get("/v1/check", signal), [turn]);
  const findings = found.value?.items ?? [];
  const damage = findings.filter((it): it is DamageShape => it.type === "damage" && !!it.session);
  const bySession = new Map<string, DamageShape[]>();
  for (const it of damage) bySession.set(it.session!, [...(bySession.get(it.session!) ?? []), it]);
  const others = findings.filter((it) => it.type !== "damage" || !it.session);
  const wanted = route.value.query.get("session");
  const shown = wanted ?? [...bySession.keys()][0];
  const again = () => { setTurn(turn + 1); changed.value += 1; };
  return (
    <div class="health">
      <div class="col">
        <div class="bar"><h1 class="h1">{w("health")}</h1><span class="sum">{found.isLoading ? w("checking") : count(damage.length)}</span></div>
        {found.error !== null && <Failed error={found.error} />}
        {found.value && findings.length === 0 && <Empty title={w("healthy")}>{w("healthyHint")}</Empty>}
        {[...bySession].map(([session, list]) => (
          <button class="dmg" aria-current={session === shown ? "true" : undefined} onClick={() => setQuery({ session })}>
            <Agent dialect={session.split(":")[0]} />
            <span><b class="mono">{session.split(":")[1].slice(0, 12)}</b><br /><span class="faint">{list[0].detail}</span></span>
            <span class="badge warn">{w("damaged", count(list.length))}</span>
          </button>
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

interface Planned {
  steps: RepairStepShape[];
  losses: LossShape[];
  tag: string;
}

function Plan({ session, again }: { session: string; again: () => void }) {
  const path = `/v1/sessions/${encodeURIComponent(session)}`;
  const [isLikely, setLikely] = useState(false);
  const [turn, setTurn] = useState(0);
  const plan = useLoaded<Planned>(async (signal) => {
    const answer = await ask(`${path}/repair${isLikely ? "?likely" : ""}`, { signal });
    const items = ((await answer.json()) as Page<RepairStepShape | LossShape>).items;
    return {
      steps: items.filter((it): it is RepairStepShape => it.type === "step"),
      losses: items.filter((it): it is LossShape => it.type === "loss"),
      tag: answer.headers.get("etag") ?? "",
    };
  }, [session, isLikely, turn]);
  const check = useLoaded<Page<DamageShape>>((signal) => get(`${path}/check`, signal), [session, turn]);
  const first = check.value?.items.find((it) => it.reachable !== null);
  const apply = () => change(async () => {
    await send("POST", `${path}/repair`, { likely: isLikely }, { "If-Match": plan.value!.tag });
    say(w("applied"));
    setTurn(turn + 1);
    again();
  });
  const taken = plan.value?.steps.filter((step) => step.taken).length ?? 0;
  return (
    <section class="plan" aria-label={w("plan")}>
      <h2>{w("plan")}</h2>
      <a class="mono faint" href={href("s", session)}>{session}</a>
      {first && (
        <div class="before">
          <div><span class="faint">{w("seesNow")}</span><b>{count(first.reachable!)}</b></div>
          <div><span class="faint">{w("seesAfter")}</span><b>{count(first.total ?? 0)}</b></div>
        </div>
      )}
      {plan.error !== null && <Failed error={plan.error} />}
      {plan.value?.steps.map((step) => (
        <div class="step"><div class="h"><span class={step.taken ? "badge good" : "badge"}>{w(step.confidence as Word)}</span><b>{step.does}</b></div></div>
      ))}
      {plan.value && plan.value.steps.length === 0 && <p class="faint">{w("planNone")}</p>}
      {plan.value?.losses.map((loss) => <p class="faint">{loss.reader}: {loss.loses} ({count(loss.times)})</p>)}
      <div class="acts">
        {taken > 0 && <button class="btn main" onClick={apply}>{w("apply")} · {count(taken)}</button>}
        <label class="chip"><input type="checkbox" checked={isLikely} onChange={(event) => setLikely(event.currentTarget.checked)} />{w("likely")}</label>
      </div>
    </section>
  );
}

function Operations({ again, turn }: { again: () => void; turn: number }) {
  const ops = useLoaded<Page<LoggedOperation>>((signal) => get("/v1/ops", signal), [turn]);
  const undo = (op: string) => change(async () => {
    await send("POST", `/v1/ops/${op}/undo`);
    again();
  });
  return (
    <>
      <div class="day">{w("operations")}</div>
      {ops.value?.items.length === 0 && <p class="faint pad">{w("noOps")}</p>}
      {ops.value?.items.slice(0, 30).map((op) => (
        <div class="dmg">
          <span class="dot" />
          <span><b>{op.title}</b><br /><span class="faint">{ago(op.at)} · {op.kind}</span></span>
          {op.undoable && !op.undone ? <button class="btn" onClick={() => undo(op.op)}>{w("undo")}</button> : <span />}
        </div>
      ))}
    </>
  );
}
