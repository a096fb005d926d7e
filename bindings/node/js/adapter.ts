// What the adapters share: names of sessions, one store for each folder, writers, order of calls.

import { createHash } from "node:crypto";
import { resolve } from "node:path";

import { BoswellError, Conflict, type LogRecord, NotFound, Store, type Writer } from "./index.js";

/** A store, or the folder of one. */
export type Place = string | Store;

// A session id is part of a file name.
const LONGEST_NAME = 120;

const stores = new Map<string, Promise<Store>>();

/** The store of a folder. Adapters in one process share it, so that they share its syncs. */
export function opened(place: Place): Promise<Store> {
  if (place instanceof Store) {
    return Promise.resolve(place);
  }
  const path = resolve(place);
  let store = stores.get(path);
  if (store === undefined) {
    store = Store.open(path);
    stores.set(path, store);
    // The next call tries again.
    store.catch(() => stores.delete(path));
  }
  return store;
}

/**
 * A session id for any text: the text itself where it can be one, else its quoted form. Different
 * texts have different names, the same as in the Python package.
 */
export function sessionName(text: string): string {
  const digest = (bytes: Buffer) => `%%${createHash("sha256").update(bytes).digest("hex")}`;
  if (!text.isWellFormed()) {
    return digest(Buffer.from(text, "utf16le"));
  }
  let name = encodeURIComponent(text)
    .replace(/[!*'()~]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/%40|%2B|%3D/g, (it) => decodeURIComponent(it));
  if (name.startsWith("-") || name.startsWith(".")) {
    name = `%${name.charCodeAt(0).toString(16).toUpperCase()}${name.slice(1)}`;
  }
  if (name.endsWith(".jsonl")) {
    name = `${name.slice(0, -6)}%2Ejsonl`;
  }
  // `%%` occurs in no quoted text.
  return name === "" || name.length > LONGEST_NAME ? digest(Buffer.from(text, "utf8")) : name;
}

/** Runs calls one after the other. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(call: () => Promise<T>): Promise<T> {
    const done = this.#last.then(call);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** How a session is made. */
export interface Beginning {
  first: LogRecord;
  project: string | undefined;
}

/**
 * Open writers of sessions, the last used ones. They hold no lease: frameworks let several
 * processes write to one session.
 */
export class Writers {
  readonly #store: Store;
  readonly #most: number;
  readonly #open = new Map<string, Promise<Writer>>();

  constructor(store: Store, most = 64) {
    this.#store = store;
    this.#most = most;
  }

  /** The writer of a session, which is made if it is not there. */
  get(name: string, beginning: Beginning): Promise<Writer> {
    let writer = this.#open.get(name);
    if (writer === undefined) {
      writer = this.#opened(name, beginning);
      const made = writer;
      writer.catch(() => {
        if (this.#open.get(name) === made) this.#open.delete(name);
      });
    }
    // At the end: it is the one that was used last.
    this.#open.delete(name);
    this.#open.set(name, writer);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= this.#most) break;
      this.#open.delete(oldest);
    }
    return writer;
  }

  async #opened(name: string, { first, project }: Beginning): Promise<Writer> {
    try {
      return await this.#store.writer(name, { shared: true });
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
    const options = { shared: true, first };
    return await this.#store.openSession(name, project === undefined ? options : { ...options, project });
  }

  forget(name: string): void {
    this.#open.delete(name);
  }

  /**
   * Calls with the session's writer. A writer that failed is opened again by the next call; one
   * whose log was deleted or replaced meanwhile is opened again at once.
   */
  async write<T>(
    name: string,
    beginning: Beginning,
    call: (writer: Writer) => Promise<T>,
  ): Promise<T> {
    try {
      return await call(await this.get(name, beginning));
    } catch (error) {
      if (error instanceof BoswellError) this.forget(name);
      if (!(error instanceof Conflict) || error.expected !== undefined || isTaken(error)) {
        throw error;
      }
    }
    return await call(await this.get(name, beginning));
  }
}

/** Whether an entry with that id and other content is there. */
export function isTaken(error: Conflict): boolean {
  return error.message.includes("taken");
}

/** Whether a text can be the id of an entry. */
export function isEntryId(text: unknown): text is string {
  return (
    typeof text === "string" &&
    text.length > 0 &&
    Buffer.byteLength(text) <= 255 &&
    !/[\p{C}\p{Z}]/u.test(text.replaceAll(" ", ""))
  );
}
