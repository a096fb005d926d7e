// Long work of the server, with its progress: index, check, keep.

import { signal } from "@preact/signals";
import { Problem, events, type Event } from "./api";

export interface Work {
  name: "check" | "index" | "keep";
  done: number;
  total: number;
}

/** The work that runs now. */
export const works = signal<Work[]>([]);

const place = (work: Work) => {
  works.value = [...works.value.filter((it) => it.name !== work.name), work];
};

/** Starts work and follows it until its end; `take` gets what is neither progress nor the end. */
export async function run(
  name: Work["name"],
  method: string,
  path: string,
  stop: AbortSignal,
  take: (event: Event) => void,
): Promise<void> {
  place({ name, done: 0, total: 0 });
  try {
    let isDone = false;
    const body = method === "GET" ? undefined : "{}";
    await events(path, { method, body, signal: stop, headers: { Accept: "text/event-stream" } }, (event) => {
      if (event.name === "progress") place({ name, done: event.data.done, total: event.data.total });
      else if (event.name === "done") isDone = true;
      else if (event.name === "error") throw new Problem(500, event.data.kind, event.data.message, event.data.hint);
      else take(event);
    });
    if (!isDone && !stop.aborted) throw new Problem(502, "unavailable", name, null);
  } finally {
    works.value = works.value.filter((it) => it.name !== name);
  }
}
