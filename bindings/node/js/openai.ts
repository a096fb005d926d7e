// `Session` of the OpenAI Agents SDK.
//
//     import { BoswellSession } from "boswell-store/openai";
//
//     const session = new BoswellSession("customer-17", "agent-home");
//     await run(agent, "hello", { session });
//
// Items are kept as they came. `popItem` and `clearSession` move the leaf: nothing is deleted, and
// `boswell tree` shows what was taken back.

import type { AgentInputItem, Session as AgentSession } from "@openai/agents-core";

import { type Beginning, opened, type Place, sessionName, Writers } from "./adapter.js";
import { Conflict, type Entry, type LogRecord, NotFound, type Session, type Store } from "./index.js";
import * as records from "./records.js";
import { isObject, type Json } from "./records.js";

const AGENT = "openai-agents";
const MEMBER = "openai";
// How often a change is tried again when other writers append first.
const TRIES = 100;

/** The items of one session. */
export class BoswellSession implements AgentSession {
  readonly #sessionId: string;
  readonly #place: Place;
  readonly #name: string;
  readonly #beginning: Beginning;
  #store: Promise<{ store: Store; writers: Writers }> | undefined;

  constructor(sessionId: string, store: Place, options: { project?: string } = {}) {
    this.#sessionId = sessionId;
    this.#place = store;
    this.#name = sessionName(sessionId);
    this.#beginning = { first: records.meta(AGENT, sessionId), project: options.project };
  }

  async getSessionId(): Promise<string> {
    return this.#sessionId;
  }

  /** The items in order; with a limit, the last ones. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    const session = await this.#read();
    if (session === undefined || (limit !== undefined && limit <= 0)) {
      return [];
    }
    const items: AgentInputItem[] = [];
    for await (const [, item] of itemsBackwards(session)) {
      items.push(item);
      if (items.length === limit) break;
    }
    return items.reverse();
  }

  /** Appends items as one batch; resolves when they are durable. */
  async addItems(items: AgentInputItem[]): Promise<void> {
    if (items.length === 0) return;
    const made = items.map(recordOf);
    const { writers } = await this.#opened();
    await writers.write(this.#name, this.#beginning, (writer) => writer.appendAll(made));
  }

  /** Takes the last item back, and returns it. */
  async popItem(): Promise<AgentInputItem | undefined> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const session = await this.#read();
      const popped = session === undefined ? undefined : await last(session);
      if (session === undefined || popped === undefined) {
        return undefined;
      }
      const [entry, item] = popped;
      // Only if nothing was appended since: it would be taken back with the item.
      if (await this.#move(entry.parent, session.revision)) {
        return item;
      }
    }
    throw new Conflict("other writers keep appending to the session first", { hint: "try again" });
  }

  /** Takes all items back. */
  async clearSession(): Promise<void> {
    const { store, writers } = await this.#opened();
    if (await store.has(this.#name)) {
      await writers.write(this.#name, this.#beginning, (writer) => writer.reset());
    }
  }

  /** Replaces the items by others, at once. The replaced ones stay on their old branch. */
  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const [first, ...rest] = items.map(recordOf);
    if (first === undefined) {
      await this.clearSession();
      return;
    }
    const batch = [{ ...first, parentId: null }, ...rest];
    const { writers } = await this.#opened();
    await writers.write(this.#name, this.#beginning, (writer) => writer.appendAll(batch));
  }

  #opened(): Promise<{ store: Store; writers: Writers }> {
    this.#store ??= opened(this.#place).then((store) => ({ store, writers: new Writers(store) }));
    this.#store.catch(() => (this.#store = undefined));
    return this.#store;
  }

  async #read(): Promise<Session | undefined> {
    const { store } = await this.#opened();
    try {
      return await store.session(this.#name);
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  async #move(parent: string | undefined, expectRevision: string): Promise<boolean> {
    const leaf = records.custom("boswell.leaf");
    const place = parent === undefined ? { root: true } : { parent };
    const { writers } = await this.#opened();
    try {
      await writers.write(this.#name, this.#beginning, (writer) =>
        writer.append(leaf, { ...place, expectRevision }),
      );
      return true;
    } catch (error) {
      if (error instanceof Conflict && error.expected !== undefined) return false;
      throw error;
    }
  }
}

async function last(session: Session): Promise<[Entry, AgentInputItem] | undefined> {
  for await (const found of itemsBackwards(session)) {
    return found;
  }
  return undefined;
}

/** The items of the branch from its end, with their entries. */
async function* itemsBackwards(session: Session): AsyncGenerator<[Entry, AgentInputItem]> {
  for await (const entry of session.entries({ branch: true, backwards: true })) {
    const item = entry.json()[MEMBER];
    if (item !== undefined && item !== null) {
      yield [entry, item as AgentInputItem];
    }
  }
}

function recordOf(item: AgentInputItem): LogRecord {
  const record = readable(item as unknown as Json) ?? records.custom("openai.item");
  record[MEMBER] = item;
  return record;
}

/** The message that an item is; none for items that are not messages. */
function readable(item: Json): LogRecord | undefined {
  const kind = item["type"] ?? ("role" in item ? "message" : undefined);
  // The Python SDK has the names of the API, the JavaScript SDK names of its own.
  const callId = item["call_id"] ?? item["callId"];
  if (kind === "message") {
    const parts = partsOf(item["content"]);
    if (item["role"] === "assistant") return records.assistant(parts, "openai");
    if (item["role"] === "user") return records.user(parts);
  } else if (kind === "function_call" && typeof callId === "string") {
    const call = records.call(callId, String(item["name"] ?? ""), item["arguments"]);
    return records.assistant([call], "openai");
  } else if (isResult(kind) && typeof callId === "string") {
    return records.toolResult(callId, String(item["name"] ?? ""), partsOf(item["output"]));
  } else if (kind === "reasoning") {
    const texts = partsOf(item["summary"] ?? item["content"]).map((part) => part["text"]);
    if (texts.length > 0) {
      return records.assistant([records.thinking(texts.join("\n"))], "openai");
    }
  }
  return undefined;
}

function isResult(kind: unknown): boolean {
  return kind === "function_call_output" || kind === "function_call_result";
}

function partsOf(content: unknown): Json[] {
  if (typeof content === "string") return [records.text(content)];
  const blocks = Array.isArray(content) ? (content as unknown[]) : [content];
  return blocks.filter(isObject).flatMap((block) => {
    const text = block["text"] ?? block["refusal"];
    return typeof text === "string" ? [records.text(text)] : [];
  });
}
