// What a session consists of, as a strip: prompts, answers, tools.

import type { HeadsShape } from "./shapes";
import { w } from "./words";

const COLOURS: [RegExp, string][] = [
  [/^(user|prompt)/, "user"],
  [/assistant|message|agent/, "say"],
  [/tool|function|result|exec/, "tool"],
  [/compact|summary/, "fold"],
];

export function Strip({ kinds }: { kinds: { [kind: string]: number } | null }) {
  if (!kinds) return <span class="shape" />;
  const sums: Record<string, number> = { user: 0, say: 0, tool: 0, fold: 0 };
  for (const [kind, number] of Object.entries(kinds)) {
    const found = COLOURS.find(([pattern]) => pattern.test(kind));
    if (found) sums[found[1]] += number;
  }
  const all = Object.values(sums).reduce((a, b) => a + b, 0);
  if (all === 0) return <span class="shape" />;
  let x = 0;
  const parts = Object.entries(sums).map(([kind, number]) => {
    const width = (108 * number) / all;
    const part = <rect x={x} y={9} width={Math.max(0, width - 1)} height={8} rx={1.5} class={`t-${kind}`} />;
    x += width;
    return number ? part : null;
  });
  const text = Object.entries(sums).map(([kind, number]) => `${kind} ${number}`).join(", ");
  return (
    <svg class="shape" viewBox="0 0 108 26" role="img" aria-label={text}>
      <title>{text}</title>
      {parts}
    </svg>
  );
}

const BUCKETS = 36;
const RANK = ["tool", "say", "edit", "user", "fold", "bad"];

/** The shape of a session: where prompts, work, failures and compactions are. */
export function ShapeOf({ heads }: { heads: HeadsShape }) {
  const kinds = Uint8Array.from(atob(heads.kind), (c) => c.charCodeAt(0));
  const flags = Uint8Array.from(atob(heads.flags), (c) => c.charCodeAt(0));
  const number = Math.min(BUCKETS, kinds.length);
  const most = Math.ceil(kinds.length / number);
  const bars = [];
  for (let bucket = 0; bucket < number; bucket++) {
    const from = Math.floor((bucket * kinds.length) / number);
    const to = Math.floor(((bucket + 1) * kinds.length) / number);
    let [best, busy] = [0, 0];
    for (let place = from; place < to; place++) {
      const word = heads.kinds[kinds[place]];
      const kind = flags[place] & 2 ? "bad" : flags[place] & 64 || word === "compaction" ? "fold" : word === "user" && !(flags[place] & 1) ? "user" : word === "assistant" ? "say" : "tool";
      best = Math.max(best, RANK.indexOf(kind));
      if (kind !== "tool") busy += 1;
    }
    const height = 8 + (20 * busy) / most;
    bars.push(<rect x={bucket * 9} y={30 - height} width={7} height={height} rx={1.5} class={`t-${RANK[best]}`} />);
  }
  return <svg class="shapeof" viewBox={`0 0 ${BUCKETS * 9} 30`} role="img" aria-label={w("shape")}>{bars}</svg>;
}
