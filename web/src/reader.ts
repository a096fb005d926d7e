// A session as the reader sees it: the table of all entries, and pages of those that are near.

import { signal } from "@preact/signals";
import { Problem, follow, get, type Page } from "./api";
import type { EntryRange, EntryShape, HeadsShape, HitShape, Page as PageShape, SessionShape } from "./shapes";
import { Heights } from "./virtual";

const PAGE = 100;
const KEPT = 60;
/** How many bytes of a text a page has. */
const TEXT = 16384;
/** How many hits a search in a session collects. */
const HITS = 500;

export const HIDDEN = 1;
export const ERROR = 2;
export const DAMAGED = 32;
export const CUT = 64;
export const BRANCHED = 128;

function bytesOf(text: string): number[] {
  const binary = atob(text);
  const bytes = new Array<number>(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** How high an entry is before it was seen, by its kind. */
const GUESSES: Record<string, number> = {
  user: 110, assistant: 120, tool_result: 1, compaction: 70, system: 24, shell: 60, attachment: 1,
};

export class Reader {
  readonly path: string;
  session = signal<SessionShape | null>(null);
  total = signal(0);
  /** Grows when entries were loaded. */
  loaded = signal(0);
  error = signal<unknown>(null);
  fresh = signal(0);
  /** The last entry of the branch that is shown; `null` for the current one. */
  branch = signal<string | null>(null);
  seen = 0;
  kinds: string[] = [];
  kind: number[] = [];
  flags: number[] = [];
  /** The positions of all prompts, in order. */
  prompts: number[] = [];
  heights = new Heights([]);
  private pages = new Map<number, EntryShape[]>();
  /** The last entries, which come with the table: they are what is seen first. */
  private end: { from: number; items: EntryShape[] } = { from: 0, items: [] };
  private asked = new Set<number>();
  private stop = () => {};
  private isClosed = false;

  constructor(readonly name: string) {
    this.path = `/v1/sessions/${encodeURIComponent(name)}`;
  }

  private query(): string {
    return this.branch.value === null ? "" : `&branch=${encodeURIComponent(this.branch.value)}`;
  }

  async open(): Promise<void> {
    try {
      const [session, heads, end] = await Promise.all([
        get<SessionShape>(this.path),
        get<HeadsShape>(`${this.path}/heads?as=marks${this.query()}`),
        get<Page<EntryShape, EntryRange>>(`${this.path}/entries?limit=${PAGE}&text_limit=${TEXT}${this.query()}`),
      ]);
      if (this.isClosed) return;
      this.session.value = session;
      this.take(heads, end);
      this.stop();
      this.stop = follow(`${this.path}/events`, heads.revision, (event) => {
        if (event.name === "entry" && this.branch.value === null) this.append(event.data as EntryShape);
        else if (event.name === "reset") void this.open();
        else if (event.name === "gone") this.forget();
        else if (event.name === "changed" && this.session.value) {
          this.session.value = { ...this.session.value, live: event.data.live };
        }
      });
      // A session that was closed while its answer came is not followed.
      if (this.isClosed) this.stop();
    } catch (error) {
      this.error.value = error;
    }
  }

  close(): void {
    this.isClosed = true;
    this.stop();
    this.clear();
  }

  private clear(): void {
    this.pages.clear();
    this.end = { from: 0, items: [] };
  }

  /** Shows the branch that ends at an entry; `null` for the current one. */
  async show(branch: string | null): Promise<void> {
    if (this.branch.value === branch) return;
    this.branch.value = branch;
    await this.open();
  }

  /** Forgets everything: the session is gone, and nothing of it may stay. */
  private forget(): void {
    this.stop();
    this.clear();
    this.session.value = null;
    this.total.value = 0;
    this.error.value = new Problem(404, "not_found", this.name, null);
    this.loaded.value += 1;
  }

  private take(heads: HeadsShape, end: Page<EntryShape, EntryRange>): void {
    this.kinds = [...heads.kinds];
    this.kind = bytesOf(heads.kind);
    this.flags = bytesOf(heads.flags);
    // One pass over numbers: words for each of 100,000 entries would be felt.
    const guesses = this.kinds.map((kind) => GUESSES[kind] ?? 1);
    const prompt = this.kinds.indexOf("user");
    const heights = new Float64Array(heads.total);
    this.prompts = [];
    for (let place = 0; place < heads.total; place++) {
      const kind = this.kind[place];
      heights[place] = guesses[kind] ?? 1;
      if (kind === prompt && !(this.flags[place] & HIDDEN)) this.prompts.push(place);
    }
    this.heights = new Heights(heights);
    this.clear();
    this.asked.clear();
    // Entries that were written between the two answers come as events.
    const isSame = end.page.revision === heads.revision && end.page.first !== null;
    if (isSame) this.takeEnd(end.page.first!, end.items);
    this.seen = heads.total;
    this.total.value = heads.total;
    this.loaded.value += 1;
  }

  /** Takes the last entries: as many as a page has, so that they cover the last page. */
  private takeEnd(from: number, items: EntryShape[]): void {
    this.end = { from, items };
    for (let page = Math.ceil(from / PAGE); page * PAGE < from + items.length; page++) {
      this.asked.add(page);
      this.pages.set(page, items.slice(page * PAGE - from, (page + 1) * PAGE - from));
    }
  }

  private append(entry: EntryShape): void {
    const place = this.total.value;
    const word = entry.role === "tool" ? "tool_result" : (entry.role ?? entry.kind);
    let kind = this.kinds.indexOf(word);
    if (kind < 0) kind = this.kinds.push(word) - 1;
    this.kind.push(kind);
    const failed = (entry.content as { is_error?: boolean }[]).some((part) => part.is_error);
    this.flags.push((entry.hidden ? HIDDEN : 0) | (failed ? ERROR : 0));
    if (this.heights.isFull) {
      const all = Array.from({ length: place }, (_, at) => this.heights.get(at));
      this.heights = new Heights(all, place);
    }
    this.heights.push(GUESSES[word] ?? 1);
    const page = this.pages.get(Math.floor(place / PAGE));
    if (page && page.length === place % PAGE) page.push(entry);
    else if (place % PAGE === 0) this.pages.set(place / PAGE, [entry]);
    else this.asked.delete(Math.floor(place / PAGE));
    if (this.isPrompt(place)) this.prompts.push(place);
    this.total.value = place + 1;
    this.fresh.value += 1;
    this.loaded.value += 1;
  }

  word(place: number): string {
    return this.kinds[this.kind[place]] ?? "unknown";
  }

  entry(place: number): EntryShape | undefined {
    return this.pages.get(Math.floor(place / PAGE))?.[place % PAGE] ?? this.end.items[place - this.end.from];
  }

  /** How many prompts there are up to a position. */
  promptsUpTo(place: number): number {
    let [from, to] = [0, this.prompts.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.prompts[middle] <= place) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Loads the pages of a range that are not there. */
  want(from: number, to: number): void {
    for (let page = Math.floor(Math.max(0, from) / PAGE); page * PAGE < Math.min(to, this.total.value); page++) {
      if (!this.asked.has(page)) {
        this.asked.add(page);
        void this.load(page);
      }
    }
  }

  private async load(page: number): Promise<void> {
    const branch = this.branch.value;
    try {
      const path = `${this.path}/entries?from=${page * PAGE}&limit=${PAGE}&text_limit=${TEXT}${this.query()}`;
      const answer = await get<Page<EntryShape, EntryRange>>(path);
      if (this.isClosed || branch !== this.branch.value) return;
      this.pages.set(page, answer.items);
      // The page that was used longest ago goes first.
      for (const old of [...this.pages.keys()].slice(0, Math.max(0, this.pages.size - KEPT))) {
        this.pages.delete(old);
        this.asked.delete(old);
      }
      this.loaded.value += 1;
    } catch (error) {
      this.asked.delete(page);
      this.error.value = error;
    }
  }

  /** The position of an entry, on the branch that has it: changes to that branch if need be. */
  async find(entry: string): Promise<number | null> {
    const on = this.query();
    const path = (branch: string) =>
      `${this.path}/entries?around=${encodeURIComponent(entry)}&limit=0&text_limit=0${branch}`;
    const answer = await get<Page<EntryShape, EntryRange>>(path(on)).catch(() => null);
    const found = answer?.items[0];
    if (!found || answer.page.first === null) return null;
    if (!found.on_branch) await this.show(found.id);
    return answer.page.first;
  }

  /** Entries with a text, in the order of the log. The index answers: the session is not read. */
  async search(text: string, signal: AbortSignal): Promise<{ entry: string; line: number }[]> {
    const found = new Map<string, number>();
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ q: text, session: this.name, mode: "substring", limit: "100", timeout_ms: "8000" });
      if (cursor) query.set("cursor", cursor);
      const page: Page<HitShape, PageShape> = await get(`/v1/search?${query}`, signal);
      for (const hit of page.items) if (hit.entry) found.set(hit.entry, hit.line ?? 0);
      cursor = page.page.cursor;
    } while (cursor && found.size < HITS);
    return [...found].map(([entry, line]) => ({ entry, line })).sort((a, b) => a.line - b.line);
  }

  /** The next place in a direction that fits. */
  next(from: number, by: 1 | -1, fits: (place: number) => boolean): number | null {
    for (let place = from + by; place >= 0 && place < this.total.value; place += by) {
      if (fits(place)) return place;
    }
    return null;
  }

  isPrompt(place: number): boolean {
    return this.word(place) === "user" && !(this.flags[place] & HIDDEN);
  }

  isCut(place: number): boolean {
    return this.word(place) === "compaction" || !!(this.flags[place] & CUT);
  }
}
