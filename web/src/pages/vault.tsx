// Sessions that were deleted or archived.

import { useState } from "preact/hooks";
import { get, send, type Page } from "../api";
import { changed, changedSlowly } from "../live";
import { Agent, Empty, Failed, change, folder, useLoaded } from "../parts";
import type { KeepShape, LoggedOperation, Page as PageShape, SessionShape } from "../shapes";
import { href, say } from "../state";
import { ago, w } from "../words";

/** Every session, page by page: those in the vault may be old. */
async function hidden(signal: AbortSignal): Promise<SessionShape[]> {
  const found: SessionShape[] = [];
  let cursor: string | null = null;
  do {
    const rest: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
    const page: Page<SessionShape, PageShape> = await get(`/v1/sessions?hidden&limit=500${rest}`, signal);
    found.push(...page.items);
    cursor = page.page.cursor;
  } while (cursor);
  return found;
}

/** Deleted sessions of which there is a copy: by an operation, or by `keep`. */
async function restorable(signal: AbortSignal): Promise<Set<string>> {
  const [ops, kept] = await Promise.all([
    get<Page<LoggedOperation>>("/v1/ops", signal),
    get<Page<KeepShape>>("/v1/keep", signal),
  ]);
  const deleted = ops.items.filter((op) => op.kind === "delete" && op.undoable && !op.undone);
  return new Set([...deleted.map((op) => op.session), ...kept.items.flatMap((store) => store.gone)]);
}

export function Vault() {
  const [turn, setTurn] = useState(0);
  const all = useLoaded<SessionShape[]>(hidden, [turn, changedSlowly.value]);
  const copies = useLoaded<Set<string>>(restorable, [turn, changedSlowly.value]);
  const kept = (all.value ?? []).filter((it) => it.archived || (it.hidden === "ghost" && copies.value?.has(it.ref)));
  const restore = (session: SessionShape) => change(async () => {
    await send("POST", `/v1/sessions/${encodeURIComponent(session.ref)}/restore`);
    say(w("restored", session.name));
    setTurn(turn + 1);
    changed.value += 1;
  });
  return (
    <div class="wide">
      <h1>{w("vault")}</h1>
      <p class="faint">{w("vaultText")}</p>
      {all.error !== null && <Failed error={all.error} />}
      {all.value && copies.value && kept.length === 0 && <Empty title={w("vaultEmpty")}>{w("vaultHint")}</Empty>}
      {kept.map((it) => (
        <div class="dmg">
          <Agent dialect={it.dialect} />
          <span><a href={href("s", it.ref)} dir="auto"><b>{it.name}</b></a><br /><span class="faint">{folder(it.project)} · {ago(it.last_active)} · {it.archived ? w("archived") : w("deleted")}</span></span>
          <button class="btn" onClick={() => restore(it)}>{w("restore")}</button>
        </div>
      ))}
    </div>
  );
}
