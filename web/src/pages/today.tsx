// What the user asked today, in every agent.

import { get, type Page } from "../api";
import { changedSlowly } from "../live";
import { Agent, Empty, Failed, folder, useLoaded } from "../parts";
import type { PromptShape } from "../shapes";
import { href } from "../state";
import { clock, w } from "../words";

export function Today() {
  const prompts = useLoaded<Page<PromptShape>>((signal) => get("/v1/prompts?since=today&limit=200&timeout_ms=8000", signal), [changedSlowly.value]);
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const items = (prompts.value?.items ?? []).filter((it) => it.at && Date.parse(it.at) >= midnight.getTime());
  return (
    <div class="wide">
      <h1>{w("today")}</h1>
      <p class="faint">{w("todayText")}</p>
      {prompts.error !== null && <Failed error={prompts.error} />}
      {prompts.value && items.length === 0 && <Empty title={w("todayNone")} />}
      {items.map((it) => (
        <a class="hit day-hit" href={it.session ? (it.entry ? href("s", it.session, it.entry) : href("s", it.session)) : undefined}>
          <Agent dialect={it.session?.split(":")[0] ?? it.agent} />
          <span><span class="last" dir="auto">{it.text.slice(0, 400)}</span><span class="faint">{folder(it.project)}</span></span>
          <span class="w">{clock(it.at)}</span>
        </a>
      ))}
    </div>
  );
}
