// What stands between entries: gaps of the log, branches that were left, and subagents.

import { useState } from "preact/hooks";
import { get, type Page } from "./api";
import { isCompact, Run } from "./entry";
import { Markdown } from "./markdown";
import { Failed, Icon, useLoaded } from "./parts";
import type { EntryShape } from "./shapes";
import { href } from "./state";
import { bytes, count, w } from "./words";

export type Gap = { line: number; bytes: number };

export function Gaps({ session, gaps }: { session: string; gaps: readonly Gap[] | undefined }) {
  if (!gaps?.length) return null;
  return (
    <>
      {gaps.slice(0, 5).map((gap) => (
        <div class="gap">
          <span>{w("gap", count(gap.line), bytes(gap.bytes))}</span>
          <a href={`${href("health")}?session=${encodeURIComponent(session)}`}>{w("health")}</a>
        </div>
      ))}
      {gaps.length > 5 && <div class="gap">{w("moreGaps", count(gaps.length - 5))}</div>}
    </>
  );
}

/** Where a conversation was continued more than once. */
export function ForkBar({ ends, shown, show }: { ends: readonly string[]; shown: number; show: (end: string) => void }) {
  const step = (by: number) => show(ends[(shown + by + ends.length) % ends.length]);
  return (
    <div class="forkbar">
      <Icon name="fork" />
      <span>{w("continued")}</span>
      <span class="sw">
        <button aria-label={w("branchBefore")} title={w("branchBefore")} onClick={() => step(-1)}>‹</button>
        {w("branchOf", shown + 1, ends.length)}
        <button aria-label={w("branchAfter")} title={w("branchAfter")} onClick={() => step(1)}>›</button>
      </span>
    </div>
  );
}

/** The subagents that an entry started, each with its entries below it. */
export function Subagents({ entry }: { entry: EntryShape }) {
  const all = entry.subagents ?? [];
  return (
    <>
      {all.map((it) => (
        <Subagent entry={entry} id={it.id} task={it.task} />
      ))}
    </>
  );
}

function Subagent({ entry, id, task }: { entry: EntryShape; id: string; task: string | null }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class={isOpen ? "sub open" : "sub"}>
      <button class="head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="car" class="car" />
        <b>{w("subagent")}</b>
        <span class="names" dir="auto">{task ?? id}</span>
      </button>
      {isOpen && <Inside entry={entry} id={id} />}
    </div>
  );
}

/** How many entries of a subagent are shown at first. */
const FIRST = 40;

function Inside({ entry, id }: { entry: EntryShape; id: string }) {
  const path = `/v1/sessions/${encodeURIComponent(entry.session)}/entries/${encodeURIComponent(entry.id ?? "")}/subagents?text_limit=16384`;
  const all = useLoaded<Page<EntryShape>>((signal) => get(path, signal), [path]);
  const [shown, setShown] = useState(FIRST);
  if (all.error !== null) return <Failed error={all.error} />;
  if (!all.value) return <p class="faint pad">{w("loading")}</p>;
  // Ids of subagents are parts of the names of their sessions.
  const its = all.value.items.filter((it) => it.session.includes(id));
  const entries = its.length ? its : all.value.items;
  return (
    <div class="inside">
      <Entries entries={entries.slice(0, shown)} id={id} />
      {entries.length > shown && (
        <button class="btn more" onClick={() => setShown(shown + 200)}>
          {w("more")} · {count(entries.length - shown)}
        </button>
      )}
    </div>
  );
}

function Entries({ entries, id }: { entries: EntryShape[]; id: string }) {
  const shown = [];
  for (let place = 0; place < entries.length; place++) {
    const entry = entries[place];
    if (isCompact(entry)) {
      const first = place;
      while (place + 1 < entries.length && isCompact(entries[place + 1])) place++;
      shown.push(<Run entries={entries.slice(first, place + 1)} id={`${id}/${first}`} />);
    } else if (entry.text?.trim() && !entry.hidden) {
      const isAsked = entry.role === "user";
      shown.push(
        <div class={isAsked ? "ask small" : "say"} dir="auto">
          {isAsked ? <p>{entry.text}</p> : <Markdown text={entry.text} />}
        </div>,
      );
    }
  }
  return <>{shown}</>;
}
