// What the channels of a LangGraph thread hold, and the messages in it.

import { createHash } from "node:crypto";

import type { LogRecord } from "./index.js";
import * as records from "./records.js";
import { isObject, type Json } from "./records.js";

/** What the serializer made of a value: a type, and bytes as base64. */
export type Typed = [type: string, data: string];

/**
 * A list that shares its beginning with longer ones. A child that only adds elements adds them to
 * the same memory.
 */
export class Growing<T> {
  readonly #items: T[];
  readonly count: number;

  constructor(items: T[]) {
    this.#items = items;
    this.count = items.length;
  }

  /** The elements, without those that longer lists added. */
  all(): T[] {
    return this.#items.slice(0, this.count);
  }

  at(index: number): T | undefined {
    return index < this.count ? this.#items[index] : undefined;
  }

  extended(keep: number, more: T[]): Growing<T> {
    const isEnd = keep === this.count && keep === this.#items.length;
    const items = isEnd ? this.#items : this.#items.slice(0, keep);
    for (const item of more) items.push(item);
    return new Growing(items);
  }
}

/** How a record says what a channel holds. */
export type Spec =
  | Typed
  | { same: string }
  | { version: unknown }
  | { list: { add: Typed[]; of?: string; keep?: number } };

/**
 * Whether a value is a list that is worth to be stored by elements: numbers are shorter together.
 */
export function isListOfObjects(value: unknown): value is unknown[] {
  const isShort = (element: unknown) =>
    element === null || element === undefined || ["boolean", "number"].includes(typeof element);
  return Array.isArray(value) && !Array.from(value as unknown[]).some(isShort);
}

/** The digest of a message, without the time at which it was written. */
export function digest(record: LogRecord): string {
  const { timestamp: _, ...stated } = record["message"] as Json;
  const text = JSON.stringify([stated, record["langgraph"] ?? null]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** The messages of LangChain in a value, as records. */
export function* readableMessages(value: unknown): Generator<LogRecord> {
  for (const message of Array.isArray(value) ? (value as unknown[]) : [value]) {
    if (!isObject(message) || message["content"] === undefined) continue;
    const record = readable(message, partsOf(message["content"]));
    if (record === undefined) continue;
    if (typeof message["id"] === "string") record["langgraph"] = message["id"];
    yield record;
  }
}

function kindOf(message: Json): unknown {
  const { getType, type } = message;
  // Called as a method: it may look at its object.
  return typeof getType === "function" ? (message as { getType(): unknown }).getType() : type;
}

function readable(message: Json, parts: Json[]): LogRecord | undefined {
  const kind = kindOf(message);
  if (kind === "human") return records.user(parts);
  if (kind === "ai") {
    const calls = Array.isArray(message["tool_calls"]) ? (message["tool_calls"] as unknown[]) : [];
    for (const call of calls.filter(isObject)) {
      parts.push(records.call(String(call["id"]), String(call["name"] ?? ""), call["args"]));
    }
    const stated = isObject(message["response_metadata"]) ? message["response_metadata"] : {};
    const model = stated["model_name"] ?? stated["model"] ?? "unknown";
    return records.assistant(parts, "langchain", String(model));
  }
  if (kind === "tool") {
    const id = String(message["tool_call_id"] ?? "");
    const isError = message["status"] === "error";
    return records.toolResult(id, String(message["name"] ?? ""), parts, isError);
  }
  return undefined;
}

function partsOf(content: unknown): Json[] {
  if (typeof content === "string") return [records.text(content)];
  const blocks = Array.isArray(content) ? (content as unknown[]) : [];
  return blocks.flatMap((block) => {
    const text = isObject(block) ? block["text"] : block;
    return typeof text === "string" ? [records.text(text)] : [];
  });
}
