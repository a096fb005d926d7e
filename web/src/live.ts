// Counts changes of sessions: lists load again when it grows.

import { signal } from "@preact/signals";

export const changed = signal(0);

const waiting = signal(0);
let timer = 0;

/** The same, at most every two seconds. */
export const changedSlowly = waiting;

changed.subscribe((value) => {
  if (timer || value === waiting.peek()) return;
  timer = window.setTimeout(() => {
    timer = 0;
    waiting.value = changed.peek();
  }, 2000);
});
