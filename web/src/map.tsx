// The map of a session: every entry a tick, drawn from the table of entries.

import { useEffect, useRef } from "preact/hooks";
import { BRANCHED, CUT, DAMAGED, ERROR, type Reader } from "./reader";
import { theme } from "./state";
import { w } from "./words";

const WIDTHS: Record<string, [number, number, string]> = {
  user: [0.08, 0.84, "--t-user"],
  assistant: [0.2, 0.6, "--t-say"],
  tool_result: [0.3, 0.4, "--t-tool"],
  compaction: [0.02, 0.96, "--t-fold"],
};

export function Map({ reader, first, last, jump }: { reader: Reader; first: number; last: number; jump: (place: number) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const total = reader.total.value;
  useEffect(() => {
    const it = canvas.current;
    if (!it || total === 0) return;
    // The transcript is painted first: the map of a long session takes longer than a frame.
    let waiting = 0;
    const observer = new ResizeObserver(() => {
      clearTimeout(waiting);
      waiting = setTimeout(() => paint(it, reader, total));
    });
    observer.observe(it);
    return () => {
      observer.disconnect();
      clearTimeout(waiting);
    };
  }, [total, theme.value, document.documentElement.dataset.theme]);
  const to = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const share = (event.clientY - box.top) / box.height;
    jump(Math.max(0, Math.min(total - 1, Math.floor(share * total))));
  };
  const share = (place: number) => `${(100 * place) / Math.max(1, total)}%`;
  return (
    <div class="map" role="scrollbar" aria-label={w("mapLabel")} aria-controls="main" aria-valuemin={0} aria-valuemax={total} aria-valuenow={first} aria-orientation="vertical"
      onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); to(event); }}
      onPointerMove={(event) => { if (event.buttons) to(event); }}>
      <canvas ref={canvas} aria-hidden="true" />
      <div class="vp" style={{ top: share(first), height: `max(6px, ${share(last - first)})` }} />
    </div>
  );
}

function paint(canvas: HTMLCanvasElement, reader: Reader, total: number): void {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  if (!context || height === 0) return;
  context.scale(ratio, ratio);
  const style = getComputedStyle(document.documentElement);
  const colours: Record<string, string> = {};
  const colour = (name: string) => (colours[name] ??= style.getPropertyValue(name).trim());
  const rows = Math.min(total, height);
  const tick = Math.max(1, Math.min(3, height / rows - 1));
  for (let row = 0; row < rows; row++) {
    const [from, to] = [Math.floor((row * total) / rows), Math.max(Math.floor(((row + 1) * total) / rows), Math.floor((row * total) / rows) + 1)];
    if (to - from > 3) {
      shares(context, reader, [from, to], [width, (row * height) / rows, tick], colour);
      continue;
    }
    let shown: [number, number, string] | null = null;
    for (let place = from; place < to; place++) {
      const word = reader.isCut(place) ? "compaction" : reader.word(place);
      const marked: [number, number, string] | null = reader.flags[place] & DAMAGED ? [0.02, 0.96, "--warn"] : reader.flags[place] & ERROR ? [0.25, 0.6, "--t-bad"] : null;
      const its = marked ?? WIDTHS[word];
      if (its && (!shown || its[1] > shown[1])) shown = its;
      if (reader.flags[place] & BRANCHED) fork(context, (row * height) / rows, colour("--t-user"));
    }
    if (!shown) continue;
    context.fillStyle = colour(shown[2]);
    context.fillRect(width * shown[0], (row * height) / rows, width * shown[1], tick);
  }
}

/** A branch that was left here. */
function fork(context: CanvasRenderingContext2D, top: number, colour: string): void {
  context.strokeStyle = context.fillStyle = colour;
  context.setLineDash([2, 2]);
  context.beginPath();
  context.moveTo(2, top);
  context.lineTo(5, top + 6);
  context.lineTo(5, top + 14);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.arc(5, top + 16, 2, 0, 7);
  context.fill();
}

const SHARES: [string, string][] = [["user", "--t-user"], ["error", "--t-bad"], ["compaction", "--t-fold"], ["assistant", "--t-say"], ["tool_result", "--t-tool"]];

/** One row for many entries: how much of each kind there is. */
function shares(
  context: CanvasRenderingContext2D,
  reader: Reader,
  [from, to]: [number, number],
  [width, top, tick]: [number, number, number],
  colour: (name: string) => string,
): void {
  // Counted by number: a lookup by word for each of 100,000 entries takes ten times as long.
  const counts = new Array<number>(reader.kinds.length).fill(0);
  const marked = { error: 0, compaction: 0 };
  for (let place = from; place < to; place++) {
    const flags = reader.flags[place];
    if (flags & ERROR) marked.error++;
    else if (flags & CUT) marked.compaction++;
    else counts[reader.kind[place]]++;
  }
  const sums: Record<string, number> = { ...marked };
  reader.kinds.forEach((word, kind) => (sums[word] = (sums[word] ?? 0) + counts[kind]));
  let left = width * 0.08;
  for (const [word, name] of SHARES) {
    const its = (width * 0.84 * (sums[word] ?? 0)) / (to - from);
    context.fillStyle = colour(name);
    context.fillRect(left, top, its, tick);
    left += its;
  }
}
