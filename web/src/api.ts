// Talks to the server: the token, JSON, errors, and streams of events.

import { signal } from "@preact/signals";

export interface Page<T, P = unknown> {
  items: T[];
  page: P;
  warnings: { message: string; hint: string | null }[];
}

export interface About {
  version: string;
  read_only: boolean;
  scope: "read" | "write";
  may_allow_changes: boolean;
}

/** An error of the server, in its own words. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    detail: string,
    readonly hint: string | null,
  ) {
    super(detail);
  }
}

const KEY = "boswell.token";
const WRITE = "boswell.write";

/** Whether the page has a token; `null` until that is known. */
export const isIn = signal<boolean | null>(null);
export const isOffline = signal(false);
export const about = signal<About | null>(null);

function token(): string {
  return sessionStorage.getItem(WRITE) ?? sessionStorage.getItem(KEY) ?? "";
}

/** Whether the user allowed changes. */
export function mayChange(): boolean {
  return about.value?.scope === "write";
}

async function failure(answer: Response): Promise<Problem> {
  const body = await answer.json().catch(() => ({}));
  const detail = body.detail ?? answer.statusText;
  return new Problem(answer.status, body.kind ?? "internal", detail, body.hint ?? null);
}

export async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = new Headers(options.headers);
  headers.set("Authorization", `Bearer ${token()}`);
  let answer: Response;
  try {
    answer = await fetch(path, { ...options, headers, cache: "no-cache" });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "AbortError")) isOffline.value = true;
    throw error;
  }
  isOffline.value = false;
  if (answer.status === 401) isIn.value = false;
  if (!answer.ok) throw await failure(answer);
  return answer;
}

// Characters that reverse the reading direction, are invisible, or control a terminal.
const HOSTILE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Shows what would hide or reverse text, as the command line does. */
export function visible(_key: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  return value.replace(HOSTILE, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return JSON.parse(await (await ask(path, { signal })).text(), visible);
}

export async function send<T>(
  method: string,
  path: string,
  body: unknown = {},
  headers: Record<string, string> = {},
): Promise<T> {
  const init = { method, headers, body: method === "DELETE" ? undefined : JSON.stringify(body) };
  return (await ask(path, init)).json();
}

export async function refreshAbout(): Promise<void> {
  about.value = await get<About>("/v1");
  isIn.value = true;
}

/** Gets in with the one-time code of the address, or with the token of an earlier load. */
export async function enter(): Promise<void> {
  const code = /[#&]k=([\w-]+)/.exec(location.hash)?.[1];
  if (code) {
    history.replaceState(null, "", "/");
    const answer = await fetch("/v1/login", { method: "POST", body: JSON.stringify({ code }) });
    if (answer.ok) sessionStorage.setItem(KEY, (await answer.json()).token);
  }
  if (!token()) {
    isIn.value = false;
    return;
  }
  try {
    await refreshAbout();
  } catch {
    sessionStorage.removeItem(WRITE);
    await refreshAbout().catch(() => (isIn.value = false));
  }
}

export async function enterWith(text: string): Promise<void> {
  sessionStorage.setItem(KEY, text.trim());
  await refreshAbout();
}

export async function allowChanges(): Promise<void> {
  const answer = await send<{ token: string }>("POST", "/v1/changes", { allow: true });
  sessionStorage.setItem(WRITE, answer.token);
  await refreshAbout();
}

/** A link that downloads without a header, valid once. */
export async function download(path: string): Promise<void> {
  const { ticket } = await send<{ ticket: string }>("POST", "/v1/tickets", { path });
  location.assign(`/v1/take/${ticket}`);
}

export interface Event {
  name: string;
  id: string | null;
  data: any;
}

/** Reads one event from its lines. */
export function parseEvent(block: string): Event | null {
  let name = "message";
  let id: string | null = null;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at <= 0) continue;
    const value = line.slice(at + 1).replace(/^ /, "");
    const field = line.slice(0, at);
    if (field === "event") name = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
  return data.length ? { name, id, data: JSON.parse(data.join("\n"), visible) } : null;
}

/** Reads the events of one answer until its end. */
export async function events(path: string, options: RequestInit, take: (event: Event) => void): Promise<void> {
  const answer = await ask(path, options);
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) take(event);
    }
  }
}

/** Follows a stream until it is stopped; comes back after the last event that it got. */
export function follow(path: string, since: string | null, take: (event: Event) => void): () => void {
  const stop = new AbortController();
  let last = since;
  const once = () => {
    const headers: Record<string, string> = last ? { "Last-Event-ID": last } : {};
    return events(path, { headers, signal: stop.signal }, (event) => {
      if (stop.signal.aborted) return;
      if (event.id) last = event.id;
      take(event);
    });
  };
  void (async () => {
    let pause = 1000;
    while (!stop.signal.aborted) {
      const ok = await once().then(
        () => true,
        () => false,
      );
      if (isIn.value === false) return;
      pause = ok ? 1000 : Math.min(pause * 2, 15000);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  })();
  return () => stop.abort();
}
