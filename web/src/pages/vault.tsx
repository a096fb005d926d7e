// Sessions that were deleted or archived.

import { useState } from "preact/hooks";
import { get, send, type Page } from "../api";
import { changed } from "../live";
import { Agent, Empty, Failed, change, folder, useLoaded } from "../parts";
import type { SessionShape } from "../shapes";
import { href } from "../state";
import { ago, w } from "../words";

export function Vault() {
  const [turn, setTurn] = useState(0);
  const all = useLoaded<Page<SessionShape>>((signal) => get("/v1/sessions?hidden&limit=500", signal), [turn]);
  const kept = (all.value?.items ?? []).filter((it) => it.archived || it.hidden === "deleted");
  const restore = (session: SessionShape) => change(async () => {
    await send("POST", `/v1/sessions/${encodeURIComponent(session.ref)}/restore`);
    setTurn(turn + 1);
    changed.value += 1;
  });
  return (
    <div class="wide">
      <h1>{w("vault")}</h1>
      <p class="faint">{w("vaultText")}</p>
      {all.error !== null && <Failed error={all.error} />}
      {all.value && kept.length === 0 && <Empty title={w("vaultEmpty")}>{w("vaultHint")}</Empty>}
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
