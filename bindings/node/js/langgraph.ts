// `BaseCheckpointSaver` of LangGraph.
//
//     import { BoswellSaver } from "boswell-store/langgraph";
//
//     const graph = builder.compile({ checkpointer: new BoswellSaver("agent-home") });
//
// A thread is a session. A checkpoint is one entry, whose parent is the entry of its parent
// checkpoint. Only channels that changed are written, and of a list only the elements that are new,
// so that a thread grows with what happens in it and not with its length at every step. Messages of
// a checkpoint are also written as messages, so that `boswell show` and search read them.

import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";

import { isTaken, opened, type Place, sessionName, Writers } from "./adapter.js";
import { Conflict, Invalid, type LogRecord, NotFound, type Session, type Store } from "./index.js";
import { AGENT, HIDE, type Saved, Thread } from "./langgraph_thread.js";
import * as records from "./records.js";

// How many threads are kept in memory; others are read from their logs when they are used.
const MOST_THREADS = 64;
// How often a put is tried again when other processes write to the thread first.
const TRIES = 100;
// How many entries of a thread are copied in one batch.
const COPIED_AT_ONCE = 256;
// Checkpoints before this version have the tasks of the next step as writes of their parent.
const TASKS_IN_CHANNEL = 4;

/** Checkpoints in a folder of sessions. */
export class BoswellSaver extends BaseCheckpointSaver {
  readonly #place: Place;
  readonly #project: string | undefined;
  readonly #threads = new Map<string, Thread>();
  #store: Promise<{ store: Store; writers: Writers }> | undefined;

  constructor(store: Place, options: { serde?: SerializerProtocol; project?: string } = {}) {
    super(options.serde);
    this.#place = store;
    this.#project = options.project;
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const threadId = config.configurable?.["thread_id"] as unknown;
    if (threadId === undefined) return undefined;
    const ns = namespace(config) ?? "";
    const thread = await this.#thread(String(threadId));
    return await thread.serial.run(async () => {
      if (!(await thread.refresh())) return undefined;
      const wanted = getCheckpointId(config);
      const saved = wanted ? thread.get(ns, wanted) : thread.newestFirst(ns, undefined)[0];
      return saved && (await this.#tuple(thread, String(threadId), saved));
    });
  }

  /** Checkpoints, newest first. */
  async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    for (const threadId of await this.#threadIds(config)) {
      if (left <= 0) return;
      for (const found of await this.#ofThread(threadId, config, options, left)) {
        yield found;
        left -= 1;
      }
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const threadId = required(config, "thread_id");
    const ns = namespace(config) ?? "";
    const parent = getCheckpointId(config) || undefined;
    const thread = await this.#thread(threadId);
    return await thread.serial.run(async () => {
      for (let tries = 0; tries < TRIES; tries += 1) {
        await thread.refresh();
        const put = { ns, parent, checkpoint, metadata, newVersions: newVersions ?? {} };
        if (await this.#written(threadId, await thread.encode(put))) {
          return configOf(threadId, ns, checkpoint.id);
        }
      }
      throw new Conflict("other writers keep appending to the thread first", { hint: "try again" });
    });
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const threadId = required(config, "thread_id");
    const checkpointId = required(config, "checkpoint_id");
    const ns = namespace(config) ?? "";
    const numbered = writes.map(([channel, value], at): [number, string, unknown] => {
      return [WRITES_IDX_MAP[channel] ?? at, channel, value];
    });
    const thread = await this.#thread(threadId);
    await thread.serial.run(async () => {
      await thread.refresh();
      const record = await thread.encodeWrites(ns, checkpointId, taskId, numbered);
      if (record !== undefined && !(await this.#written(threadId, [record]))) {
        throw new Conflict("the thread was changed meanwhile", { hint: "try again" });
      }
    });
  }

  /** Deletes the session of a thread; the vault keeps a copy. */
  async deleteThread(threadId: string): Promise<void> {
    const name = sessionName(threadId);
    const thread = await this.#named(name);
    const { store, writers } = await this.#opened();
    await thread.serial.run(async () => {
      writers.forget(name);
      thread.clear();
      try {
        await store.delete(name);
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
      }
    });
  }

  /** Hides the checkpoints of runs, in every thread, with their writes. */
  async deleteForRuns(runIds: string[]): Promise<void> {
    const runs = new Set<unknown>(runIds);
    for (const threadId of runs.size === 0 ? [] : await this.#threadIds({})) {
      await this.#hide(threadId, async (thread, saved) => {
        const metadata = (await thread.metadata(saved)) as unknown as Record<string, unknown>;
        return runs.has(metadata?.["run_id"]);
      });
    }
  }

  /** Hides all checkpoints but the latest of each namespace, or deletes the threads. */
  async prune(
    threadIds: string[],
    options: { strategy?: "keep_latest" | "delete" } = {},
  ): Promise<void> {
    const { strategy = "keep_latest" } = options;
    if (strategy !== "keep_latest" && strategy !== "delete") {
      const hint = "give keep_latest or delete";
      throw new Invalid(`\`${String(strategy)}\` is not a strategy`, { hint });
    }
    for (const threadId of threadIds) {
      if (strategy === "delete") {
        await this.deleteThread(threadId);
        continue;
      }
      const kept = new Set<string>();
      await this.#hide(threadId, async (_, { ns }) => {
        // The newest comes first.
        const isLatest = !kept.has(ns);
        kept.add(ns);
        return !isLatest;
      });
    }
  }

  /** Copies every entry of a thread to another one. */
  async copyThread(sourceThreadId: string, targetThreadId: string): Promise<void> {
    const { store, writers } = await this.#opened();
    let source;
    try {
      source = await store.session(sessionName(sourceThreadId));
    } catch (error) {
      if (error instanceof NotFound) return;
      throw error;
    }
    const name = sessionName(targetThreadId);
    const beginning = { first: records.meta(AGENT, targetThreadId), project: this.#project };
    await writers.get(name, beginning);
    const root = await metaEntry(await store.session(name));
    const named = await metaEntry(source);
    let batch: (LogRecord | Uint8Array)[] = [];
    const append = async () => {
      const made = batch;
      batch = [];
      if (made.length > 0) {
        await writers.write(name, beginning, (writer) => writer.appendAll(made));
      }
    };
    for await (const entry of source.entries()) {
      const record = entry.json() as LogRecord;
      // These are the target's own.
      if (entry.kind === "header" || isMeta(record)) continue;
      const isBelowRoot = entry.parent === named;
      batch.push(isBelowRoot ? { ...record, parentId: root ?? null } : entry.bytes);
      if (batch.length >= COPIED_AT_ONCE) await append();
    }
    await append();
  }

  /** Hides the checkpoints of a thread that are to be hidden; the newest is asked about first. */
  async #hide(
    threadId: string,
    isHidden: (thread: Thread, saved: Saved) => Promise<boolean>,
  ): Promise<void> {
    const thread = await this.#thread(threadId);
    await thread.serial.run(async () => {
      if (!(await thread.refresh())) return;
      const checkpoints: [string, string][] = [];
      for (const saved of thread.newestFirst(undefined, undefined)) {
        if (await isHidden(thread, saved)) checkpoints.push([saved.ns, saved.id]);
      }
      if (checkpoints.length > 0) {
        await this.#written(threadId, [records.custom(HIDE, { checkpoints })]);
      }
    });
  }

  async #ofThread(
    threadId: string,
    config: RunnableConfig,
    { before, filter = {} }: CheckpointListOptions,
    limit: number,
  ): Promise<CheckpointTuple[]> {
    const only = config.configurable?.["checkpoint_id"] as string | undefined;
    const bound = (before && getCheckpointId(before)) || undefined;
    const thread = await this.#thread(threadId);
    return await thread.serial.run(async () => {
      const found: CheckpointTuple[] = [];
      if (!(await thread.refresh())) return found;
      for (const saved of thread.newestFirst(namespace(config), bound)) {
        if (found.length >= limit) break;
        if (only && saved.id !== only) continue;
        const metadata = (await thread.metadata(saved)) as unknown as Record<string, unknown>;
        if (Object.entries(filter).some(([key, value]) => metadata?.[key] !== value)) continue;
        found.push(await this.#tuple(thread, threadId, saved));
      }
      return found;
    });
  }

  async #threadIds(config: RunnableConfig): Promise<string[]> {
    const stated = config.configurable?.["thread_id"] as unknown;
    if (stated !== undefined && stated !== "") return [String(stated)];
    const ids: string[] = [];
    const { store } = await this.#opened();
    for (const { id } of await store.list()) {
      const thread = await this.#named(id);
      await thread.serial.run(() => thread.refresh());
      // Other sessions of the store are left out.
      if (thread.threadId !== undefined) ids.push(thread.threadId);
    }
    return ids;
  }

  async #tuple(thread: Thread, threadId: string, saved: Saved): Promise<CheckpointTuple> {
    const { ns, id, parent } = saved;
    const checkpoint = await thread.checkpoint(saved);
    if (checkpoint.v < TASKS_IN_CHANNEL && parent !== undefined) {
      await this.#addTasks(thread, checkpoint, ns, parent);
    }
    const tuple: CheckpointTuple = {
      config: configOf(threadId, ns, id),
      checkpoint,
      metadata: await thread.metadata(saved),
      pendingWrites: (await thread.pendingWrites(ns, id)) as CheckpointPendingWrite[],
    };
    if (parent !== undefined) tuple.parentConfig = configOf(threadId, ns, parent);
    return tuple;
  }

  /** Adds the tasks that an old checkpoint has as writes of its parent. */
  async #addTasks(
    thread: Thread,
    checkpoint: Checkpoint,
    ns: string,
    parent: string,
  ): Promise<void> {
    const writes = await thread.pendingWrites(ns, parent);
    const tasks = writes.filter(([, channel]) => channel === TASKS);
    checkpoint.channel_values[TASKS] = tasks.map(([, , value]) => value);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  /** Appends a batch; false if another process took one of its ids first. */
  async #written(threadId: string, batch: LogRecord[]): Promise<boolean> {
    const { writers } = await this.#opened();
    const beginning = { first: records.meta(AGENT, threadId), project: this.#project };
    try {
      await writers.write(sessionName(threadId), beginning, (writer) => writer.appendAll(batch));
      return true;
    } catch (error) {
      if (error instanceof Conflict && isTaken(error)) return false;
      throw error;
    }
  }

  #opened(): Promise<{ store: Store; writers: Writers }> {
    this.#store ??= opened(this.#place).then((store) => ({ store, writers: new Writers(store) }));
    this.#store.catch(() => (this.#store = undefined));
    return this.#store;
  }

  #thread(threadId: string): Promise<Thread> {
    return this.#named(sessionName(threadId));
  }

  async #named(name: string): Promise<Thread> {
    const { store } = await this.#opened();
    const thread = this.#threads.get(name) ?? new Thread(store, name, this.serde);
    // At the end: it is the one that was used last.
    this.#threads.delete(name);
    this.#threads.set(name, thread);
    for (const oldest of this.#threads.keys()) {
      if (this.#threads.size <= MOST_THREADS) break;
      this.#threads.delete(oldest);
    }
    return thread;
  }
}

function isMeta(record: LogRecord): boolean {
  return record["customType"] === "boswell.meta";
}

/** The entry that names the thread: the first one after the header. */
async function metaEntry(session: Session): Promise<string | undefined> {
  const first = await session.page({ limit: 2 });
  return first.find((entry) => isMeta(entry.json() as LogRecord))?.id;
}

function namespace(config: RunnableConfig): string | undefined {
  return config.configurable?.["checkpoint_ns"] as string | undefined;
}

function required(config: RunnableConfig, member: string): string {
  const value = config.configurable?.[member] as unknown;
  if (value === undefined || value === "") {
    throw new Invalid(`the configuration has no \`${member}\``, {
      hint: `give it as { configurable: { ${member}: "…" } }`,
    });
  }
  return String(value);
}

function configOf(threadId: string, ns: string, checkpointId: string): RunnableConfig {
  return {
    configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: checkpointId },
  };
}
