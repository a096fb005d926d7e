// Small parts that several pages share.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem, allowChanges, mayChange } from "./api";
import type { SessionShape } from "./shapes";
import { askYes } from "./dialog";
import { changed } from "./live";
import { say } from "./state";
import { type Work, works } from "./work";
import { count, w } from "./words";

const PATHS: Record<string, string[]> = {
  list: ["M4 6h16M4 12h16M4 18h10"],
  search: ["M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14", "M16.5 16.5 21 21"],
  stats: ["M5 20V11M12 20V4M19 20v-6"],
  health: ["M3 12h4l2.5-6 5 12L17 12h4"],
  vault: ["M4 7h16v13H4z", "M3 4h18v3H3z", "M10 11h4"],
  today: ["M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16", "M12 8v4l3 2"],
  file: ["M6 3h8l4 4v14H6z", "M14 3v4h4", "M9 12h6M9 16h6"],
  settings: ["M4 7h10M18 7h2M4 17h2M10 17h10", "M16 5a2 2 0 1 1 0 4 2 2 0 0 1 0-4M8 15a2 2 0 1 1 0 4 2 2 0 0 1 0-4"],
  sun: ["M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8", "M12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4"],
  play: ["M8 5v14l11-7z"],
  fork: ["M7 5v6a4 4 0 0 0 4 4h2a4 4 0 0 1 4 4", "M7 5v14"],
  down: ["M12 4v11", "M7 11l5 5 5-5", "M5 20h14"],
  tag: ["M4 4h8l8 8-8 8-8-8z", "M8 8h.01"],
  copy: ["M9 9h10v10H9z", "M5 15V5h10"],
  car: ["M9 6l6 6-6 6"],
  back: ["M15 6l-6 6 6 6"],
  book: ["M6 3h11a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H8a3 3 0 0 1-3-3V4a1 1 0 0 1 1-1z", "M9 8h6M9 12h4"],
};

export function Icon({ name, class: className }: { name: string; class?: string }) {
  return (
    <svg class={className} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      {PATHS[name].map((d) => (
        <path d={d} />
      ))}
    </svg>
  );
}

const AGENTS: Record<string, [string, string]> = {
  claude: ["cc", "#c2603a"],
  codex: ["cx", "#2f7d6b"],
  pi: ["π", "#6b59c9"],
  omp: ["om", "#8a4fb0"],
  xcsh: ["xc", "#3f7f9c"],
  myagents: ["my", "#2b76ad"],
  clinvoker: ["cl", "#96701e"],
  oas: ["oa", "#5c7a34"],
  boswell: ["b", "#34489c"],
};

/** The letters and the colour of an agent; unknown ones have a colour of their own name. */
export function agentOf(dialect: string): [string, string] {
  const known = AGENTS[dialect];
  if (known) return known;
  let sum = 0;
  for (const c of dialect) sum = (sum * 31 + c.charCodeAt(0)) % 360;
  return [dialect.slice(0, 2), `hsl(${sum} 45% 42%)`];
}

export function Agent({ dialect }: { dialect: string }) {
  const [letters, colour] = agentOf(dialect);
  return (
    <span class="agent" style={{ "--c": colour }} title={dialect} role="img" aria-label={dialect}>
      {letters}
    </span>
  );
}

export function Dot({ dialect }: { dialect: string }) {
  return <span class="dot" style={{ "--c": agentOf(dialect)[1] }} />;
}

export function Badges({ session }: { session: SessionShape }) {
  return (
    <>
      {session.live && session.live.length > 0 && (
        <span class="badge good">
          <span class="dot live" />
          {w("live")}
        </span>
      )}
      {!!session.problems && <span class="badge warn">{w("damaged", count(session.problems))}</span>}
      {session.links.slice(0, 2).map((link) => (
        <span class="badge" title={link.ref}>
          {w("linked", link.ref.split(":")[0])}
        </span>
      ))}
      {session.archived && <span class="badge">{w("archived")}</span>}
      {session.hidden && <span class="badge">{w("hiddenBecause", session.hidden)}</span>}
    </>
  );
}

/** A folder, with the home shortened. */
export function folder(path: string | null): string {
  if (!path) return "–";
  return path.replace(/^\/(?:home|Users)\/[^/]+/, "~");
}

export function Failed({ error }: { error: unknown }) {
  const problem = error instanceof Problem ? error : null;
  return (
    <div class="err" role="alert">
      {problem?.message ?? String(error)}
      {problem?.hint && <small>{problem.hint}</small>}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <b>{title}</b>
      {children}
    </div>
  );
}

export async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  say(w("copied", text.length > 80 ? text.slice(0, 79) + "…" : text));
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

export function resumeCommand(session: SessionShape): string | null {
  const resume = session.resume;
  if (!resume) return null;
  const env = Object.entries(resume.env).map(([name, value]) =>
    value === null ? `env -u ${name}` : `${name}=${quoted(value)}`,
  );
  const cd = resume.cwd ? `cd ${quoted(resume.cwd)} && ` : "";
  return cd + [...env, ...resume.argv.map(quoted)].join(" ");
}

/** How far long work is, while it runs. */
export function Meter({ name }: { name: Work["name"] }) {
  const work = works.value.find((it) => it.name === name);
  if (!work) return null;
  const share = work.total ? Math.min(1, work.done / work.total) : 0;
  return (
    <div class="progress" role="progressbar" aria-label={w(name)} aria-valuemin={0} aria-valuemax={work.total} aria-valuenow={work.done}>
      <i style={{ width: `${100 * share}%` }} />
      <span class="num">{work.total ? w("nOf", count(work.done), count(work.total)) : "…"}</span>
    </div>
  );
}

export interface Loaded<T> {
  value: T | null;
  error: unknown;
  isLoading: boolean;
}

/** Loads a value whenever its inputs change; what was there stays until the new one is. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: unknown[]): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ value: null, error: null, isLoading: true });
  useEffect(() => {
    const stop = new AbortController();
    setState((old) => ({ ...old, isLoading: true }));
    load(stop.signal).then(
      (value) => setState({ value, error: null, isLoading: false }),
      (error) => {
        if (!stop.signal.aborted) setState((old) => ({ ...old, error, isLoading: false }));
      },
    );
    return () => stop.abort();
  }, inputs);
  return state;
}

/** Asks once whether this page may change sessions. */
export async function changesAllowed(): Promise<boolean> {
  if (mayChange()) return true;
  if (!(await askYes(w("allowTitle"), w("allowText"), w("allow")))) return false;
  try {
    await allowChanges();
    return true;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return false;
  }
}

/** Runs a change after it was allowed; says what went wrong. */
export async function change(work: () => Promise<void>): Promise<void> {
  if (!(await changesAllowed())) return;
  try {
    await work();
    // Lists show it at once, and not after the next look of the server.
    changed.value += 1;
  } catch (error) {
    const hint = error instanceof Problem && error.hint ? ` (${error.hint})` : "";
    say((error instanceof Error ? error.message : String(error)) + hint);
  }
}
