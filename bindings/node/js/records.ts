// Records of the log for messages of frameworks.
//
// A framework's object is kept whole in a member of its own, and the message beside it is what
// `boswell show`, search and the page read. The Python package writes the same records.

import type { LogRecord } from "./index.js";

export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function message(stated: Json): LogRecord {
  return { type: "message", message: { ...stated, timestamp: Date.now() } };
}

export function user(parts: Json[]): LogRecord {
  return message({ role: "user", content: parts });
}

export function assistant(parts: Json[], provider: string, model = "unknown"): LogRecord {
  const calls = parts.some((part) => part["type"] === "toolCall");
  return message({
    role: "assistant",
    content: parts,
    api: "unknown",
    provider,
    model,
    stopReason: calls ? "toolUse" : "stop",
  });
}

export function toolResult(id: string, tool: string, parts: Json[], isError = false): LogRecord {
  return message({ role: "toolResult", toolCallId: id, toolName: tool, content: parts, isError });
}

export function custom(kind: string, data?: unknown): LogRecord {
  const record: LogRecord = { type: "custom", customType: kind };
  if (data !== undefined) {
    record["data"] = data;
  }
  return record;
}

export function text(value: string): Json {
  return { type: "text", text: value };
}

export function thinking(value: string): Json {
  return { type: "thinking", thinking: value };
}

/** A tool call. Arguments that are not an object become one, as providers demand it. */
export function call(id: string, name: string, given: unknown): Json {
  let value = given;
  if (typeof value === "string") {
    try {
      value = JSON.parse(value) as unknown;
    } catch {
      // It stays text.
    }
  }
  const isEmpty = value === undefined || value === null || value === "";
  const args = isObject(value) ? value : isEmpty ? {} : { input: value };
  return { type: "toolCall", id, name, arguments: args };
}

/** The first entry of a session that an adapter makes: who wrote it, and its id there. */
export function meta(agent: string, externalId: string, more?: Json): LogRecord {
  const data: Json = { agent, external_ids: { [agent]: externalId } };
  if (more !== undefined) {
    data["metadata"] = more;
  }
  return custom("boswell.meta", data);
}
