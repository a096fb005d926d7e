// Snapshots of sessions.

import { type Entry, entriesOf } from "./entry.js";
import { decoded, Internal, settled } from "./errors.js";
import type { NativeSession } from "./native.js";
import type { Context, PageOptions, ReadMessage } from "./types.js";

interface Facts {
  id: string;
  path?: string;
  revision: string;
  title?: string;
  project?: string;
  leaf?: string;
  length: number;
}

// How many entries are read at a time.
const PAGE = 64;

/** A session as it was read: it does not change when others append. */
export class Session implements AsyncIterable<Entry> {
  readonly #native: NativeSession;
  #facts: Facts | undefined;

  /** @internal */
  constructor(native: NativeSession) {
    this.#native = native;
  }

  get #known(): Facts {
    if (this.#facts === undefined) {
      try {
        this.#facts = JSON.parse(this.#native.facts()) as Facts;
      } catch (error) {
        throw decoded(error);
      }
    }
    return this.#facts;
  }

  get id(): string {
    return this.#known.id;
  }

  /** The path of its log. */
  get path(): string | undefined {
    return this.#known.path;
  }

  /** The revision of the log that was read. */
  get revision(): string {
    return this.#known.revision;
  }

  get title(): string | undefined {
    return this.#known.title;
  }

  /** The folder of its project. */
  get project(): string | undefined {
    return this.#known.project;
  }

  /** The entry where the conversation is; undefined if it is empty or was reset. */
  get leaf(): string | undefined {
    return this.#known.leaf;
  }

  /** How many entries the log has, its header included. */
  get length(): number {
    return this.#known.length;
  }

  /**
   * The messages that a model would be sent, at the leaf or at another entry: every tool call is
   * followed by its result. With `paired: false` they are as they were written.
   */
  async messages(options: { at?: string; paired?: boolean } = {}): Promise<ReadMessage[]> {
    const text = await settled(() => this.#native.messages(options.at, options.paired));
    return JSON.parse(text) as ReadMessage[];
  }

  /** What a model would be sent, in the form of the log, and the settings in force. */
  async context(options: { at?: string } = {}): Promise<Context> {
    return JSON.parse(await settled(() => this.#native.context(options.at))) as Context;
  }

  /** A page of entries in the order of the log, or backwards from its end. */
  async page(options: PageOptions = {}): Promise<Entry[]> {
    return entriesOf(await settled(() => this.#native.entries(options))).entries;
  }

  /** The entry with that id. */
  async entry(id: string): Promise<Entry> {
    const [found] = entriesOf(await settled(() => this.#native.entry(id))).entries;
    if (found === undefined) {
      throw new Internal(`entry ${id} was found and not read`);
    }
    return found;
  }

  /** The entries, read in pages as they are asked for. */
  async *entries(options: PageOptions = {}): AsyncGenerator<Entry, void, undefined> {
    const { backwards = false, branch = false } = options;
    let { after, before } = options;
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    while (left > 0) {
      const limit = Math.min(left, PAGE);
      const page = await this.page({
        limit,
        backwards,
        branch,
        ...(after === undefined ? {} : { after }),
        ...(before === undefined ? {} : { before }),
      });
      yield* page;
      const last = page.at(-1)?.id;
      if (page.length < limit || last === undefined) {
        return;
      }
      left -= page.length;
      if (backwards) {
        before = last;
      } else {
        after = last;
      }
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<Entry, void, undefined> {
    return this.entries();
  }
}
