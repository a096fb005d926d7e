// When hits were written: bars, and a range over them that is drawn with the pointer or moved with the arrow keys.

import { useEffect, useRef, useState } from "preact/hooks";
import { ago, moment, w } from "./words";

const BARS = 24;
/** How long a range that is moved by keys must rest before it counts. */
const REST = 500;

type Range = [from: number, to: number];

interface Props {
  times: number[];
  /** Gets the ends that were moved: `since`, `until`. */
  choose: (range: Record<string, string>) => void;
}

export function Histogram({ times, choose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const timer = useRef(0);
  const start = useRef(0);
  // What the pointer and the keys changed last, before it is drawn.
  const now = useRef<Range>([0, BARS]);
  const [range, draw] = useState<Range>(now.current);
  const first = times.reduce((least, it) => Math.min(least, it), Infinity);
  const last = times.reduce((most, it) => Math.max(most, it), -Infinity);
  const show = (from: number, to: number) => draw((now.current = [from, to]));
  useEffect(() => {
    show(0, BARS);
    return () => clearTimeout(timer.current);
  }, [first, last]);
  if (times.length < 2 || first === last) return null;
  const sums = new Array<number>(BARS).fill(0);
  for (const time of times) sums[Math.min(BARS - 1, Math.floor((BARS * (time - first)) / (last - first)))] += 1;
  const most = Math.max(...sums);
  const at = (edge: number) => new Date(first + (edge * (last - first)) / BARS).toISOString();
  const apply = () => {
    const [from, to] = now.current;
    const chosen: Record<string, string> = {};
    if (from > 0) chosen.since = at(from);
    if (to < BARS) chosen.until = at(to);
    if (from > 0 || to < BARS) choose(chosen);
  };
  const place = (event: PointerEvent) => {
    const { left, width } = box.current!.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - left) / width)) * BARS;
  };
  const begin = (event: PointerEvent) => {
    event.preventDefault();
    box.current!.setPointerCapture(event.pointerId);
    start.current = Math.min(BARS - 1, Math.floor(place(event)));
    show(start.current, start.current + 1);
  };
  const move = (event: PointerEvent) => {
    if (!event.buttons) return;
    const here = Math.min(BARS - 1, Math.floor(place(event)));
    show(Math.min(start.current, here), Math.max(start.current, here) + 1);
  };
  const shift = (edge: 0 | 1, by: number) => {
    const [from, to] = now.current;
    if (edge === 0) show(Math.max(0, Math.min(to - 1, from + by)), to);
    else show(from, Math.max(from + 1, Math.min(BARS, to + by)));
    clearTimeout(timer.current);
    timer.current = window.setTimeout(apply, REST);
  };
  return (
    <>
      <div class="hist" ref={box} onPointerDown={begin} onPointerMove={move} onPointerUp={apply} title={w("rangeHint")}>
        {sums.map((n, bar) => (
          <i class={bar >= range[0] && bar < range[1] ? (n ? "on" : "in") : ""} style={{ height: `${(100 * n) / most}%` }} />
        ))}
        <Edge edge={0} label={w("rangeFrom")} range={range} time={at(range[0])} shift={shift} />
        <Edge edge={1} label={w("rangeTo")} range={range} time={at(range[1])} shift={shift} />
      </div>
      <div class="axis"><span>{ago(at(0))}</span><span>{ago(at(BARS))}</span></div>
    </>
  );
}

interface EdgeProps {
  edge: 0 | 1;
  label: string;
  range: Range;
  time: string;
  shift: (edge: 0 | 1, by: number) => void;
}

/** One end of the range. The pointer draws a new range; this end is for the keyboard. */
function Edge({ edge, label, range, time, shift }: EdgeProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -4, PageUp: 4, Home: -BARS, End: BARS };
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    shift(edge, by);
  };
  return (
    <span class="edge" role="slider" tabIndex={0} aria-label={label} aria-valuemin={0} aria-valuemax={BARS} aria-valuenow={range[edge]}
      aria-valuetext={moment(time)} style={{ left: `${(100 * range[edge]) / BARS}%` }} onKeyDown={onKeyDown} />
  );
}
