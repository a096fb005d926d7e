// Writers of sessions.

import { Invalid, settled } from "./errors.js";
import type { NativeItem, NativeWriter } from "./native.js";
import type { Promises } from "./promises.js";
import { Session } from "./session.js";
import type { AppendOptions, Item, PlacedAppendOptions, Receipt } from "./types.js";

const HINT =
  'give { role: "user", content: "…" }, or a record such as ' +
  '{ type: "custom", customType: "…", data: {…} }, or its JSON as bytes';

/**
 * Appends to one session. An append resolves when its entry is durable. Calls keep their order,
 * also those that are not awaited, and appends that are awaited together share one `fsync`.
 */
export class Writer {
  readonly #native: NativeWriter;
  readonly #promises: Promises;

  /** @internal */
  constructor(native: NativeWriter, promises: Promises) {
    this.#native = native;
    this.#promises = promises;
  }

  /** The id of its session. */
  get id(): string {
    return this.#native.id;
  }

  /** The path of its log. */
  get path(): string {
    return this.#native.path;
  }

  /** After a failed write or `fsync`: the entries of which it is unknown whether they survive. */
  get inDoubt(): string[] {
    return this.#native.inDoubt;
  }

  /** Appends a message or a record; resolves when it is durable. */
  append(item: Item, options: PlacedAppendOptions = {}): Promise<Receipt> {
    return this.#append([item], false, options, options);
  }

  /** Appends a batch: checked, written and acknowledged as a whole. */
  async appendAll(items: Iterable<Item>, options: AppendOptions = {}): Promise<Receipt[]> {
    const all = [...items];
    return all.length === 0 ? [] : await this.#append(all, true, options, {});
  }

  #append<T>(
    items: Item[],
    each: boolean,
    rules: AppendOptions,
    place: PlacedAppendOptions,
  ): Promise<T> {
    return this.#promises.call<T>((number) => {
      const made = items.map((item) => stated(item, place));
      this.#native.append(number, made, each, rules);
    });
  }

  /** Moves the leaf to an entry: the next entry follows it. Nothing is removed. */
  branch(entry: string): Promise<Receipt> {
    return this.#promises.call((number) => this.#native.branch(number, entry));
  }

  /** Moves the leaf before everything: the next entry is a root. Nothing is removed. */
  reset(): Promise<Receipt> {
    return this.#promises.call((number) => this.#native.reset(number));
  }

  /** Replaces what a model is sent before `firstKept` by a summary. Nothing is removed. */
  compact(
    summary: string,
    firstKept: string,
    options: { tokensBefore?: number } = {},
  ): Promise<Receipt> {
    const tokens = options.tokensBefore ?? 0;
    return this.#promises.call((number) =>
      this.#native.compact(number, summary, firstKept, tokens),
    );
  }

  /** Gives the session a title. */
  setTitle(title: string): Promise<Receipt> {
    return this.#promises.call((number) => this.#native.setTitle(number, title));
  }

  /** Waits until everything that was appended is durable. */
  flush(): Promise<void> {
    return this.#promises.call((number) => this.#native.flush(number));
  }

  /** The session as it is now, with every append that was begun. */
  async session(): Promise<Session> {
    await this.flush();
    return new Session(await settled(() => this.#native.session()));
  }

  /** Makes everything durable and gives the session up, to be continued later. */
  release(): Promise<void> {
    return this.#promises.call((number) => this.#native.release(number));
  }

  /** Ends the session: its status is `completed`, or `error` with a text. */
  finish(options: { error?: string } = {}): Promise<void> {
    return this.#promises.call((number) => this.#native.finish(number, options.error));
  }

  /** Releases the session at the end of `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}

function stated(item: Item, place: PlacedAppendOptions): NativeItem {
  const { id, parent, root } = place;
  const made: NativeItem = {};
  if (id !== undefined) made.id = id;
  if (parent !== undefined) made.parent = parent;
  if (root !== undefined) made.root = root;
  if (item instanceof Uint8Array) {
    made.bytes = Buffer.from(item.buffer, item.byteOffset, item.byteLength);
  } else if (typeof item !== "object" || item === null) {
    throw new Invalid("this cannot be appended", { hint: HINT });
  } else if ("type" in item) {
    made.record = printed(item);
  } else if ("role" in item) {
    made.message = printed(item);
    if (typeof item.id === "string") made.id ??= item.id;
    if (typeof item.parent === "string") made.parent ??= item.parent;
  } else {
    throw new Invalid("this has neither `role` nor `type`", { hint: HINT });
  }
  return made;
}

function printed(item: object): string {
  try {
    return JSON.stringify(item);
  } catch (error) {
    throw new Invalid("this has no form in JSON", {
      reason: error instanceof Error ? error.message : String(error),
      hint: HINT,
    });
  }
}
