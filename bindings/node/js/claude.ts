// `SessionStore` of the Claude Agent SDK.
//
//     import { BoswellSessionStore } from "boswell-store/claude";
//
//     query({ prompt, options: { sessionStore: new BoswellSessionStore("agent-home") } });
//
// The SDK writes its own files first and mirrors them here, in batches that it repeats after an
// error. So an entry with a `uuid` is kept once, and entries are handed back as they came.

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import type { SessionKey, SessionStore, SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";

import { isEntryId, opened, type Place, Serial, sessionName, Writers } from "./adapter.js";
import { type LogRecord, NotFound, type SessionInfo, type Store } from "./index.js";
import * as records from "./records.js";
import { isObject, type Json } from "./records.js";

const AGENT = "claude-agent-sdk";
const MEMBER = "claude";

interface Opened {
  store: Store;
  writers: Writers;
}

/** What is done with an entry that came again with other content; the first one is kept. */
export type Warn = (text: string) => void;

/** Transcripts by key: `projectKey`, `sessionId` and, for subagents, `subpath`. */
export class BoswellSessionStore implements SessionStore {
  readonly #place: Place;
  readonly #project: string | undefined;
  readonly #warn: Warn;
  // Entries of a session that this process knows to be in its log.
  readonly #known = new Map<string, Set<string>>();
  // One batch at a time, so that the order of calls is the order of entries.
  readonly #serial = new Serial();
  #store: Promise<Opened> | undefined;

  constructor(store: Place, options: { project?: string; warn?: Warn } = {}) {
    this.#place = store;
    this.#project = options.project;
    this.#warn = options.warn ?? ((text) => process.emitWarning(text, "BoswellWarning"));
  }

  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    if (entries.length > 0) {
      // A copy: the caller may change its list while earlier batches are written.
      const all = [...entries];
      await this.#serial.run(() => this.#append(key, all));
    }
  }

  /** The entries of a key; null for a key that was never written. */
  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const entries = await this.#entries(nameOf(key));
    // A session that was made by a call which then failed has no entries.
    return entries.length === 0 ? null : entries;
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const ending = `~${digest(projectKey)}`;
    const found = [];
    for (const info of await this.#listed()) {
      const isMain = info.id.endsWith(ending) && info.id.split("~").length === 2;
      const key = isMain ? await this.#key(info.id) : undefined;
      if (key !== undefined) {
        found.push({ sessionId: String(key["session_id"]), mtime: info.modified ?? 0 });
      }
    }
    return found;
  }

  /** Deletes a session with its subpaths, or one subpath. The vault keeps copies. */
  async delete(key: SessionKey): Promise<void> {
    await this.#serial.run(async () => {
      const { store, writers } = await this.#opened();
      const main = nameOf(key);
      const below = key.subpath ? [] : (await this.#listed()).map((info) => info.id);
      for (const name of [main, ...below.filter((id) => id.startsWith(`${main}~`))]) {
        writers.forget(name);
        this.#known.delete(name);
        try {
          await store.delete(name);
        } catch (error) {
          if (!(error instanceof NotFound)) throw error;
        }
      }
    });
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    const below = `${nameOf({ projectKey: key.projectKey, sessionId: key.sessionId })}~`;
    const found = [];
    for (const info of await this.#listed()) {
      const stated = info.id.startsWith(below) ? await this.#key(info.id) : undefined;
      if (stated !== undefined) found.push(String(stated["subpath"]));
    }
    return found;
  }

  #opened(): Promise<Opened> {
    this.#store ??= opened(this.#place).then((store) => ({ store, writers: new Writers(store) }));
    this.#store.catch(() => (this.#store = undefined));
    return this.#store;
  }

  async #listed(): Promise<SessionInfo[]> {
    return await (await this.#opened()).store.list();
  }

  async #append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    const { store, writers } = await this.#opened();
    const name = nameOf(key);
    let known = this.#known.get(name);
    if (known === undefined || !(await store.has(name))) {
      known = await this.#ids(name);
      this.#known.set(name, known);
    }
    const batch: LogRecord[] = [];
    for (const entry of entries) {
      const record = recordOf(entry, known);
      const id = record["id"];
      if (typeof id === "string" && known.has(id)) {
        await this.#repeated(name, id, entry, batch);
        continue;
      }
      if (typeof id === "string") known.add(id);
      batch.push(record);
    }
    if (batch.length === 0) return;
    const first = records.meta(AGENT, key.sessionId, statedKey(key));
    const beginning = { first, project: this.#project ?? key.projectKey };
    try {
      await writers.write(name, beginning, (writer) => writer.appendAll(batch));
    } catch (error) {
      // The next call looks what of the batch is there.
      this.#known.delete(name);
      throw error;
    }
  }

  /** An entry that is there already: the first one is kept. */
  async #repeated(name: string, id: string, entry: Json, batch: LogRecord[]): Promise<void> {
    const begun = batch.find((record) => record["id"] === id);
    const kept = begun === undefined ? await this.#entry(name, id) : begun[MEMBER];
    if (kept !== undefined && !isDeepStrictEqual(kept, JSON.parse(JSON.stringify(entry)))) {
      this.#warn(`entry ${id} of session ${name} came again with other content; the first is kept`);
    }
  }

  async #entry(name: string, id: string): Promise<unknown> {
    const { store } = await this.#opened();
    try {
      return (await (await store.session(name)).entry(id)).json()[MEMBER];
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  async #ids(name: string): Promise<Set<string>> {
    const ids = new Set<string>();
    for (const entry of await this.#page(name)) {
      if (entry.id !== undefined) ids.add(entry.id);
    }
    return ids;
  }

  async #entries(name: string): Promise<SessionStoreEntry[]> {
    const stated = (await this.#page(name)).map((entry) => entry.json());
    const own = stated.filter((record) => MEMBER in record);
    return own.map((record) => record[MEMBER] as SessionStoreEntry);
  }

  async #page(name: string, limit?: number) {
    const { store } = await this.#opened();
    try {
      const session = await store.session(name);
      return await session.page(limit === undefined ? {} : { limit });
    } catch (error) {
      if (error instanceof NotFound) return [];
      throw error;
    }
  }

  /** The key of a session; none if it is not there or has no entries. */
  async #key(name: string): Promise<Json | undefined> {
    const stated = (await this.#page(name, 3)).map((entry) => entry.json());
    const meta = stated.find((record) => record["customType"] === "boswell.meta");
    if (meta === undefined || stated.length < 3) return undefined;
    const data = meta["data"];
    const key = isObject(data) ? data["metadata"] : undefined;
    return isObject(key) ? key : undefined;
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex").slice(0, 24);
}

/**
 * The session id of a key: `session~project` or `session~project~subpath`, the latter two as
 * digests, because a file name has not room for paths.
 */
function nameOf(key: SessionKey): string {
  const main = `${sessionName(key.sessionId)}~${digest(key.projectKey)}`;
  return key.subpath ? `${main}~${digest(key.subpath)}` : main;
}

function statedKey(key: SessionKey): Json {
  const stated = { project_key: key.projectKey, session_id: key.sessionId };
  return key.subpath ? { ...stated, subpath: key.subpath } : stated;
}

/** The record of an entry: a message if it is one, and the entry as it came. */
function recordOf(entry: Json, known: Set<string>): LogRecord {
  const record = readable(entry) ?? records.custom("claude.entry");
  const { uuid, parentUuid, timestamp } = entry;
  if (isEntryId(uuid)) record["id"] = uuid;
  if (isEntryId(parentUuid) && known.has(parentUuid)) record["parentId"] = parentUuid;
  if (typeof timestamp === "string" && timestamp !== "") record["timestamp"] = timestamp;
  record[MEMBER] = entry;
  return record;
}

function readable(entry: Json): LogRecord | undefined {
  const { type, message } = entry;
  if ((type !== "user" && type !== "assistant") || !isObject(message)) return undefined;
  const content = message["content"];
  const given = typeof content === "string" ? [records.text(content)] : content;
  if (!Array.isArray(given)) return undefined;
  const blocks = (given as unknown[]).filter(isObject);
  const parts = blocks.flatMap(partOf);
  if (type === "assistant") {
    const model = typeof message["model"] === "string" ? message["model"] : "unknown";
    return records.assistant(parts, "anthropic", model);
  }
  const results = blocks.filter((block) => block["type"] === "tool_result");
  const [result] = results;
  const id = result?.["tool_use_id"];
  if (results.length === 1 && result !== undefined && typeof id === "string") {
    const told = [records.text(resultText(result))];
    return records.toolResult(id, "", told, result["is_error"] === true);
  }
  return records.user([...parts, ...results.map((it) => records.text(resultText(it)))]);
}

function partOf(block: Json): Json[] {
  const { type, text, thinking, id } = block;
  if (type === "text" && typeof text === "string") return [records.text(text)];
  if (type === "thinking" && typeof thinking === "string") return [records.thinking(thinking)];
  if (type === "tool_use" && typeof id === "string") {
    return [records.call(id, String(block["name"] ?? ""), block["input"])];
  }
  return [];
}

function resultText(block: Json): string {
  const content = block["content"];
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? (content as unknown[]).filter(isObject) : [];
  const texts = parts.map((part) => part["text"]).filter((text) => typeof text === "string");
  return texts.join("\n");
}
