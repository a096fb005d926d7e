// A LangGraph thread, as its log tells it.
//
// The entries of a thread, besides messages:
//
// * `langgraph.checkpoint`: a checkpoint. `values` says for each channel what it holds: a value
//   (`[type, base64]`), the value of an earlier checkpoint (`{ same: id }`), or a list
//   (`{ list: … }`) of which `keep` elements are those of an earlier checkpoint and `add` are new.
// * `langgraph.writes`: writes of a task.
// * `langgraph.hide`: checkpoints that were pruned. Their entries stay, so that others may refer to
//   them.
//
// The Python package writes the same entries. A thread in memory follows its log, so that it sees
// what other processes write.

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import type { Checkpoint, CheckpointMetadata, SerializerProtocol } from "@langchain/langgraph-checkpoint";

import { isEntryId, Serial } from "./adapter.js";
import { type Follower, type LogRecord, NotFound, type Store } from "./index.js";
import { digest, Growing, isListOfObjects, readableMessages, type Spec, type Typed } from "./langgraph_values.js";
import * as records from "./records.js";
import { isObject, type Json } from "./records.js";

export const AGENT = "langgraph";
const CHECKPOINT = "langgraph.checkpoint";
const WRITES = "langgraph.writes";
export const HIDE = "langgraph.hide";
// The longest id of an entry, with room for the number of a repeated put.
const LONGEST_ID = 240;

type Packed = { json: unknown } | { typed: Typed };
type Value = Typed | Growing<Typed>;

interface StatedCheckpoint {
  ns: string;
  id: string;
  parent: string | null;
  checkpoint: Packed;
  metadata: Packed;
  values?: Record<string, Spec>;
  shown?: string[];
}

/** A checkpoint in memory. */
export interface Saved {
  ns: string;
  id: string;
  entry: string;
  parent: string | undefined;
  stated: StatedCheckpoint;
  versions: Record<string, unknown>;
  /** What each channel holds: one value, or a list. */
  values: Map<string, Value>;
  /** Digests of the messages that were written as messages up to here. */
  shown: Growing<string>;
}

interface Write {
  task: string;
  at: number;
  path: string;
  channel: string;
  value: Typed;
}

interface StatedWrites {
  ns: string;
  id: string;
  task: string;
  path: string;
  writes: [number, string, string, string][];
}

/** A put, as the framework gives it. */
export interface Put {
  ns: string;
  parent: string | undefined;
  checkpoint: Checkpoint;
  metadata: CheckpointMetadata;
  newVersions: Record<string, unknown>;
}

const key = (...parts: unknown[]): string => JSON.stringify(parts);

/** The checkpoints of one thread. The caller runs its calls one after the other. */
export class Thread {
  readonly serial = new Serial();
  readonly #store: Store;
  readonly #name: string;
  readonly #serde: SerializerProtocol;
  #follower: Follower | undefined;
  #generation = 0;
  threadId: string | undefined;
  // In the order of their first put.
  #saved = new Map<string, Saved>();
  #byVersion = new Map<string, Value>();
  #writes = new Map<string, Map<string, Write>>();
  #hidden = new Set<string>();

  constructor(store: Store, name: string, serde: SerializerProtocol) {
    this.#store = store;
    this.#name = name;
    this.#serde = serde;
  }

  clear(): void {
    this.#follower = undefined;
    this.#forget();
  }

  #forget(): void {
    this.threadId = undefined;
    this.#saved = new Map();
    this.#byVersion = new Map();
    this.#writes = new Map();
    this.#hidden = new Set();
  }

  /** Reads what is new in the log; false if there is no log. */
  async refresh(): Promise<boolean> {
    let polled;
    try {
      if (this.#follower === undefined) {
        this.#follower = await this.#store.follower(this.#name);
        this.#generation = 0;
      }
      polled = await this.#follower.poll();
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      this.clear();
      return false;
    }
    if (polled.generation !== this.#generation) {
      this.#generation = polled.generation;
      this.#forget();
    }
    for (const entry of polled.entries) {
      if ((entry.kind === "custom" || entry.kind === "meta") && entry.id !== undefined) {
        await this.#read(entry.id, entry.json());
      }
    }
    return true;
  }

  async #read(id: string, record: Json): Promise<void> {
    const data = isObject(record["data"]) ? record["data"] : {};
    switch (record["customType"]) {
      case CHECKPOINT:
        return await this.#readCheckpoint(id, data as unknown as StatedCheckpoint);
      case WRITES:
        return this.#readWrites(data as unknown as StatedWrites);
      case HIDE:
        for (const [ns, hidden] of data["checkpoints"] as [string, string][]) {
          this.#hidden.add(key(ns, hidden));
        }
        return;
      case "boswell.meta": {
        const external = data["external_ids"];
        const named = isObject(external) ? external[AGENT] : undefined;
        if (typeof named === "string") this.threadId = named;
      }
    }
  }

  /** A checkpoint that was not pruned. */
  get(ns: string, id: string): Saved | undefined {
    return this.#hidden.has(key(ns, id)) ? undefined : this.any(ns, id);
  }

  /** A checkpoint, also one that was pruned. */
  any(ns: string, id: string | undefined): Saved | undefined {
    return id === undefined ? undefined : this.#saved.get(key(ns, id));
  }

  /** Checkpoints of a namespace, or of all, newest first: ids sort by time. */
  newestFirst(ns: string | undefined, before: string | undefined): Saved[] {
    return [...this.#saved.values()]
      .filter((saved) => ns === undefined || saved.ns === ns)
      .filter((saved) => before === undefined || saved.id < before)
      .filter((saved) => !this.#hidden.has(key(saved.ns, saved.id)))
      .sort((one, other) => (one.id < other.id ? 1 : one.id > other.id ? -1 : 0));
  }

  async checkpoint(saved: Saved): Promise<Checkpoint> {
    const checkpoint = (await this.#unpacked(saved.stated.checkpoint)) as Checkpoint;
    const values: Json = {};
    for (const [channel, value] of saved.values) {
      values[channel] = await this.#value(value);
    }
    checkpoint.channel_values = values;
    return checkpoint;
  }

  async metadata(saved: Saved): Promise<CheckpointMetadata> {
    return (await this.#unpacked(saved.stated.metadata)) as CheckpointMetadata;
  }

  async #value(value: Value): Promise<unknown> {
    if (value instanceof Growing) {
      return await Promise.all(value.all().map((element) => this.#loaded(element)));
    }
    return await this.#loaded(value);
  }

  async #dumped(value: unknown): Promise<Typed> {
    const [type, data] = await this.#serde.dumpsTyped(value);
    return [type, Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64")];
  }

  async #loaded([type, data]: Typed): Promise<unknown> {
    // A plain array of bytes: values of the type `bytes` are handed out as they are.
    return await this.#serde.loadsTyped(type, new Uint8Array(Buffer.from(data, "base64")));
  }

  /** The records of a put: messages that are new, then the checkpoint. */
  async encode({ ns, parent, checkpoint, metadata, newVersions }: Put): Promise<LogRecord[]> {
    const before = this.any(ns, parent);
    const { channel_values: values, ...rest } = checkpoint;
    const said = this.#newMessages(before, values);
    const stated: StatedCheckpoint = {
      ns,
      id: checkpoint.id,
      parent: parent ?? null,
      checkpoint: await this.#packed(rest),
      metadata: await this.#packed(metadata),
      values: await this.#specs(ns, before, checkpoint, newVersions),
      shown: said.map(([it]) => it),
    };
    const record = records.custom(CHECKPOINT, stated);
    record["id"] = this.#freeId(ns, checkpoint.id);
    const batch = [...said.map(([, message]) => message), record];
    const [first] = batch;
    if (before !== undefined && first !== undefined) first["parentId"] = before.entry;
    return batch;
  }

  async #specs(
    ns: string,
    before: Saved | undefined,
    checkpoint: Checkpoint,
    newVersions: Record<string, unknown>,
  ): Promise<Record<string, Spec>> {
    const specs: Record<string, Spec> = {};
    const { channel_values: values, channel_versions: versions } = checkpoint;
    for (const [channel, value] of Object.entries(values ?? {})) {
      // The contract: a channel that is not among the new versions was stored before, or is not.
      const spec = Object.hasOwn(newVersions, channel)
        ? await this.#spec(before, channel, value)
        : this.#inherited(ns, before, channel, versions[channel]);
      if (spec !== undefined) specs[channel] = spec;
    }
    return specs;
  }

  /** The id of the entry. A put that is repeated is a new entry, and the last one counts. */
  #freeId(ns: string, id: string): string {
    let name = ns === "" ? id : `${ns}/${id}`;
    if (Buffer.byteLength(name) > LONGEST_ID || !isEntryId(name)) {
      name = createHash("sha256").update(name).digest("hex");
    }
    const saved = this.any(ns, id);
    if (saved === undefined) return name;
    const number = /#(\d+)$/.exec(saved.entry)?.[1];
    return `${name}#${number === undefined ? 2 : Number(number) + 1}`;
  }

  async #spec(before: Saved | undefined, channel: string, value: unknown): Promise<Spec> {
    if (!isListOfObjects(value)) return await this.#dumped(value);
    const elements = await Promise.all(value.map((element) => this.#dumped(element)));
    const old = before?.values.get(channel);
    let keep = 0;
    if (old instanceof Growing) {
      while (keep < elements.length && isDeepStrictEqual(elements[keep], old.at(keep))) keep += 1;
    }
    const add = elements.slice(keep);
    return keep === 0 || before === undefined
      ? { list: { add } }
      : { list: { add, of: before.id, keep } };
  }

  /** What a channel holds that was not changed, if it is there already. */
  #inherited(
    ns: string,
    before: Saved | undefined,
    channel: string,
    version: unknown,
  ): Spec | undefined {
    if (before !== undefined && before.values.has(channel)) {
      if (before.versions[channel] === version) return { same: before.id };
    }
    const isThere = version !== undefined && this.#byVersion.has(key(ns, channel, version));
    return isThere ? { version } : undefined;
  }

  async #readCheckpoint(entry: string, stated: StatedCheckpoint): Promise<void> {
    const { ns, id, values = {}, shown = [] } = stated;
    const parent = stated.parent ?? undefined;
    const before = this.any(ns, parent);
    const inner = (await this.#unpacked(stated.checkpoint)) as Checkpoint;
    const saved: Saved = {
      ns,
      id,
      entry,
      parent,
      stated: { ...stated, values: {}, shown: [] },
      versions: inner.channel_versions ?? {},
      values: new Map(),
      shown: (before?.shown ?? new Growing<string>([])).extended(before?.shown.count ?? 0, shown),
    };
    for (const [channel, spec] of Object.entries(values)) {
      const value = this.#resolved(ns, channel, spec);
      if (value === undefined) continue;
      saved.values.set(channel, value);
      const version = saved.versions[channel];
      if (version !== undefined) this.#byVersion.set(key(ns, channel, version), value);
    }
    this.#saved.set(key(ns, id), saved);
    this.#hidden.delete(key(ns, id));
  }

  #resolved(ns: string, channel: string, spec: Spec): Value | undefined {
    if (Array.isArray(spec)) return spec;
    if ("version" in spec) return this.#byVersion.get(key(ns, channel, spec.version));
    if ("same" in spec) return this.any(ns, spec.same)?.values.get(channel);
    const { add, of, keep = 0 } = spec.list;
    if (of === undefined) return new Growing(add);
    const old = this.any(ns, of)?.values.get(channel);
    return old instanceof Growing ? old.extended(keep, add) : undefined;
  }

  #newMessages(before: Saved | undefined, values: Json): [string, LogRecord][] {
    const known = new Set(before?.shown.all());
    const said: [string, LogRecord][] = [];
    for (const value of Object.values(values ?? {})) {
      for (const record of readableMessages(value)) {
        const told = digest(record);
        if (known.has(told)) continue;
        known.add(told);
        said.push([told, record]);
      }
    }
    return said;
  }

  /** The record of the writes that are not there yet; special ones replace older ones. */
  async encodeWrites(
    ns: string,
    checkpoint: string,
    task: string,
    writes: [number, string, unknown][],
  ): Promise<LogRecord | undefined> {
    const there = this.#writes.get(key(ns, checkpoint));
    const fresh: [number, string, string, string][] = [];
    for (const [at, channel, value] of writes) {
      if (at < 0 || there?.has(key(task, at)) !== true) {
        fresh.push([at, channel, ...(await this.#dumped(value))]);
      }
    }
    if (fresh.length === 0) return undefined;
    // At the tip, not below its checkpoint: writes may come after the next checkpoint, and the last
    // entry is the leaf of the session.
    return records.custom(WRITES, { ns, id: checkpoint, task, path: "", writes: fresh });
  }

  #readWrites({ ns, id, task, path, writes }: StatedWrites): void {
    const there = this.#writes.get(key(ns, id)) ?? new Map<string, Write>();
    this.#writes.set(key(ns, id), there);
    for (const [at, channel, type, data] of writes) {
      if (at < 0 || !there.has(key(task, at))) {
        there.set(key(task, at), { task, at, path, channel, value: [type, data] });
      }
    }
  }

  async pendingWrites(ns: string, id: string): Promise<[string, string, unknown][]> {
    const rows = [...(this.#writes.get(key(ns, id))?.values() ?? [])];
    const order = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
    rows.sort((a, b) => order(a.path, b.path) || order(a.task, b.task) || a.at - b.at);
    const loaded = rows.map(async (row): Promise<[string, string, unknown]> => {
      return [row.task, row.channel, await this.#loaded(row.value)];
    });
    return await Promise.all(loaded);
  }

  // JSON where the value survives it, else what the serializer makes of it

  async #packed(value: unknown): Promise<Packed> {
    try {
      const copy = JSON.parse(JSON.stringify(value)) as unknown;
      if (isDeepStrictEqual(copy, value)) return { json: copy };
    } catch {
      // It has no form in JSON.
    }
    return { typed: await this.#dumped(value) };
  }

  async #unpacked(packed: Packed): Promise<unknown> {
    // A copy: LangGraph changes what it is given.
    return "json" in packed ? structuredClone(packed.json) : await this.#loaded(packed.typed);
  }
}
