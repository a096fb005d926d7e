// The store of a home folder.

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { type Entry, entriesOf, type Polled } from "./entry.js";
import { Busy, Conflict, NotFound, settled } from "./errors.js";
import { addon, type NativeFollower, type NativeRequest, type NativeStore } from "./native.js";
import { Promises } from "./promises.js";
import { Session } from "./session.js";
import type {
  FollowOptions,
  Item,
  NewSessionOptions,
  Receipt,
  SearchHit,
  SessionInfo,
  WriterOptions,
} from "./types.js";
import { Writer } from "./writer.js";

// The longest pause between two looks for a lease.
const LONGEST_PAUSE = 100;

/** Sessions in a folder, in memory or in a database. */
export class Store {
  readonly #native: NativeStore;
  readonly #promises: Promises;
  /** Large values by their digests. */
  readonly blobs: Blobs;

  private constructor(native: NativeStore, promises: Promises) {
    this.#native = native;
    this.#promises = promises;
    this.blobs = new Blobs(native);
  }

  /** Opens a folder as a store; it is made if it is not there. */
  static async open(path: string | URL): Promise<Store> {
    const promises = new Promises();
    const folder = typeof path === "string" ? resolve(path) : fileURLToPath(path);
    const native = await settled(() => addon.NativeStore.open(folder, promises.answer));
    return new Store(native, promises);
  }

  /** A store in memory: nothing is kept. */
  static async inMemory(): Promise<Store> {
    const promises = new Promises();
    const native = await settled(() => addon.NativeStore.inMemory(promises.answer));
    return new Store(native, promises);
  }

  /**
   * Makes the tables of a database, or brings older ones to this version, as their owner; `role` is
   * the user that programs connect as, which owns nothing. Returns the version.
   */
  static makeTables(address: string, options: { role?: string } = {}): Promise<number> {
    return settled(() => addon.NativeStore.makeTables(address, options.role));
  }

  /** Opens the sessions of a tenant in PostgreSQL. `makeTables` makes its tables. */
  static async remote(address: string, options: { tenant?: string } = {}): Promise<Store> {
    const promises = new Promises();
    const { tenant = "default" } = options;
    const opened = () => addon.NativeStore.remote(address, tenant, promises.answer);
    return new Store(await settled(opened), promises);
  }

  /** Its folder; `null` for a database. */
  get path(): string | null {
    return this.#native.path;
  }

  /** Makes a session. The writer holds its lease. */
  async create(options: NewSessionOptions = {}): Promise<Writer> {
    const request: NativeRequest = { project: process.cwd(), ...options };
    const native = await settled(() => this.#native.create(request));
    return new Writer(native, this.#promises);
  }

  /** Opens a session for writing and takes its lease. */
  async writer(id: string, options: WriterOptions = {}): Promise<Writer> {
    const { shared = false, wait = 0, signal } = options;
    const end = Date.now() + wait;
    for (let pause = 1; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      try {
        const native = await settled(() => this.#native.writer(id, shared));
        return new Writer(native, this.#promises);
      } catch (error) {
        const left = end - Date.now();
        if (!(error instanceof Busy) || left <= 0) {
          throw error;
        }
        await sleep(Math.min(pause, left), undefined, signal === undefined ? {} : { signal });
      }
    }
  }

  /**
   * Opens the session with that id for writing, or makes it, with `first` as its first entry.
   *
   * The lease of a process that was killed is free at once, so an agent that begins with this call
   * resumes where it was interrupted.
   */
  async openSession(
    id: string,
    options: WriterOptions & Pick<NewSessionOptions, "project" | "subject" | "expiresIn"> & {
        first?: Item;
      } = {},
  ): Promise<Writer> {
    const { project, subject, expiresIn, first, wait = 10_000, shared = false } = options;
    const wanted: NewSessionOptions = {
      id,
      ...(project === undefined ? {} : { project }),
      ...(subject === undefined ? {} : { subject }),
      ...(expiresIn === undefined ? {} : { expiresIn }),
    };
    const end = Date.now() + wait;
    for (let pause = 1; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      try {
        return await this.writer(id, { ...options, wait });
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
      }
      try {
        const made = await this.#made(wanted, first);
        if (!shared) return made;
        await made.release();
      } catch (error) {
        // Another process is making it.
        const isMade = error instanceof Conflict || error instanceof Busy;
        if (!isMade || Date.now() > end) throw error;
        await sleep(pause);
      }
    }
  }

  async #made(wanted: NewSessionOptions, first: Item | undefined): Promise<Writer> {
    const made = await this.create(wanted);
    try {
      if (first !== undefined) await made.append(first);
    } catch (error) {
      await made.release();
      throw error;
    }
    return made;
  }

  /** Makes a new session from the branch of another one that ends at its leaf or at an entry. */
  async fork(
    id: string,
    options: {
      at?: string;
      newId?: string;
      project?: string;
      title?: string;
      expiresIn?: number;
    } = {},
  ): Promise<Writer> {
    const { at, newId, ...rest } = options;
    const request: NativeRequest = newId === undefined ? rest : { ...rest, id: newId };
    const native = await settled(() => this.#native.fork(id, at, request));
    return new Writer(native, this.#promises);
  }

  /** The session as it is now. Of a session that was read before, only new lines are read. */
  async session(id: string): Promise<Session> {
    return new Session(await settled(() => this.#native.session(id)));
  }

  /** Whether there is a session with that id. */
  has(id: string): Promise<boolean> {
    return settled(() => this.#native.has(id));
  }

  /**
   * The sessions, from their names alone; with `details`, title, project and times are read. With
   * `subject`, only those that are about that person.
   */
  async list(options: { details?: boolean; subject?: string } = {}): Promise<SessionInfo[]> {
    const { details = false, subject } = options;
    return JSON.parse(await settled(() => this.#native.list(details, subject))) as SessionInfo[];
  }

  /** Text in the sessions of a folder: words, phrases and filters, as `boswell search` takes them. */
  async search(
    query: string,
    options: { session?: string; limit?: number } = {},
  ): Promise<SearchHit[]> {
    const { session, limit = 20 } = options;
    const text = await settled(() => this.#native.search(query, session, limit));
    return JSON.parse(text) as SearchHit[];
  }

  /** A follower of a session: from its first entry, from its end, or since a revision. */
  async follower(id: string, options: FollowOptions = {}): Promise<Follower> {
    const { since, fromEnd = false } = options;
    return new Follower(await settled(() => this.#native.follow(id, since, fromEnd)));
  }

  /** Entries as they are written, looking for new ones `every` so many milliseconds. */
  async *follow(
    id: string,
    options: FollowOptions & { every?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Entry, void, undefined> {
    const { every = 100, signal } = options;
    const follower = await this.follower(id, options);
    while (signal?.aborted !== true) {
      const { entries } = await follower.poll();
      yield* entries;
      if (entries.length === 0) {
        try {
          await sleep(every, undefined, signal === undefined ? {} : { signal });
        } catch {
          return; // The signal ended it.
        }
      }
    }
  }

  /** Gives a session a title, without its lease. */
  async setTitle(id: string, title: string): Promise<Receipt> {
    return JSON.parse(await settled(() => this.#native.setTitle(id, title))) as Receipt;
  }

  /**
   * Deletes a session that no driver holds; the vault keeps a copy. Returns the operation, which
   * `boswell undo` takes back; `null` for a database, whose rows are gone.
   */
  delete(id: string): Promise<string | null> {
    return settled(() => this.#native.delete(id));
  }

  /** Sets after how many milliseconds from now a session expires; `undefined` means never. */
  async setExpiry(id: string, expiresIn: number | undefined): Promise<Receipt> {
    return JSON.parse(await settled(() => this.#native.setExpiry(id, expiresIn))) as Receipt;
  }

  /**
   * Deletes the sessions that have expired, as `delete` does, and returns their ids. One that a
   * program has open stays until the next call.
   */
  expire(): Promise<string[]> {
    return settled(() => this.#native.expire());
  }

  /** Erases everything about a person, with all copies, and returns the ids of the sessions. */
  erase(subject: string): Promise<string[]> {
    return settled(() => this.#native.erase(subject));
  }

  /** Restores a session that was deleted. */
  restore(id: string): Promise<void> {
    return settled(() => this.#native.restore(id));
  }
}

/** Returns the entries of one session as they are written. The caller polls. */
export class Follower {
  readonly #native: NativeFollower;

  /** @internal */
  constructor(native: NativeFollower) {
    this.#native = native;
  }

  /** Everything new since the last poll. */
  async poll(): Promise<Polled> {
    return entriesOf(await settled(() => this.#native.poll()));
  }
}

/** Bytes that are stored once for each content. An id is `blob:sha256:` and the digest. */
export class Blobs {
  readonly #native: NativeStore;

  /** @internal */
  constructor(native: NativeStore) {
    this.#native = native;
  }

  /** Stores bytes, durably, and returns their id. */
  put(data: Uint8Array): Promise<string> {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    return settled(() => this.#native.blobs.put(bytes));
  }

  /** The bytes of a blob, checked against its digest. */
  get(id: string): Promise<Buffer> {
    return settled(() => this.#native.blobs.get(id));
  }

  /** Whether a blob exists; its bytes are not checked. */
  has(id: string): Promise<boolean> {
    return settled(() => this.#native.blobs.has(id));
  }
}
