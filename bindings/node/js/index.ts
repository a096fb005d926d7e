// Durable sessions for agents.
//
//     import { Store } from "boswell-store";
//
//     const store = await Store.open("agent-home");
//     const writer = await store.create();
//     await writer.append({ role: "user", content: "why is the build red?" });
//
// An append resolves when the entry is on the disk. `boswell-store/claude`, `/openai` and
// `/langgraph` are adapters for frameworks.

export { Entry, type Polled } from "./core/entry.js";
export {
  BoswellError,
  Busy,
  Conflict,
  Damaged,
  Denied,
  type ErrorDetails,
  Internal,
  Invalid,
  NoSpace,
  NotFound,
  TooNew,
  Unavailable,
  Unsupported,
} from "./core/errors.js";
export { Session } from "./core/session.js";
export { Blobs, Follower, Store } from "./core/store.js";
export type * from "./core/types.js";
export { Writer } from "./core/writer.js";

import type { ReadMessage } from "./core/types.js";

/** The text of a message that `session.messages()` returned. */
export function textOf(message: ReadMessage): string {
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
