// The objects that the store takes and returns.

/** A part of a message. */
export type MessagePart =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string; signature?: string }
  | { type: "tool_call"; id: string; name: string; arguments?: unknown }
  | { type: "image"; mime?: string; data?: string; reference?: string }
  | { type: "tool_result"; call: string; text: string; isError: boolean };

/** What a model used. */
export interface Usage {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
  cost?: number;
}

interface Placed {
  /** The id of its entry; one is generated without it. */
  id?: string;
  /** The entry that it follows; the leaf without it. */
  parent?: string;
}

interface WithContent {
  content?: string | (string | MessagePart)[];
}

/** A message that can be appended. */
export type Message =
  | (Placed & WithContent & { role: "user" | "system" })
  | (Placed &
      WithContent & {
        role: "assistant";
        model?: string;
        provider?: string;
        usage?: Usage;
        stopReason?: string;
        error?: string;
      })
  | (Placed & WithContent & { role: "tool"; call: string; tool?: string; isError?: boolean });

/**
 * A message as it is read: its content is always a list. It can be appended again.
 * `interrupted` is true of a result that is not in the log: it stands in for a missing one.
 */
export type ReadMessage = Message & { content: MessagePart[]; interrupted?: true };

/** A record in the form of the log. It may state its own `id` and `parentId`. */
export interface LogRecord {
  type: string;
  [member: string]: unknown;
}

/** What can be appended: a message, a record, or the JSON of a record. */
export type Item = Message | LogRecord | Uint8Array;

/** What an append expects and promises. */
export interface AppendOptions {
  /** Append only if the log has this revision. */
  expectRevision?: string;
  /** Append only if the conversation is at this entry. */
  expectLeaf?: string;
  /** `fsync`, which survives a crash of the machine and is the default, or `os`. */
  durability?: "fsync" | "os";
}

/** Where one item goes. */
export interface PlacedAppendOptions extends AppendOptions {
  id?: string;
  parent?: string;
  /** The item follows no other entry. */
  root?: boolean;
}

/** The acknowledgement of an entry: it is as durable as `durability` says. */
export interface Receipt {
  session: string;
  entry: string;
  revision: string;
  /** Whether the entry already existed with equal content. */
  deduplicated: boolean;
  durability: "fsync" | "os";
}

/** A session in a list. Times are in milliseconds since 1970. */
export interface SessionInfo {
  id: string;
  /** The length of its log in bytes. */
  size: number;
  modified?: number;
  title?: string;
  project?: string;
  created?: number;
  lastActive?: number;
  messages?: number;
  /** The person whom it is about. */
  subject?: string;
  /** When it expires, in milliseconds since 1970. */
  expires?: number;
}

/** What a model would be sent, in the form of the log. */
export interface Context {
  messages: Record<string, unknown>[];
  model: string | null;
}

/** Which entries are read, and from which end. */
export interface PageOptions {
  after?: string;
  before?: string;
  limit?: number;
  /** From the end. */
  backwards?: boolean;
  /** Only the current branch, not the whole log. */
  branch?: boolean;
}

/** A session that is to be made. */
export interface NewSessionOptions {
  /** Its folder; that of the process without it. */
  project?: string;
  id?: string;
  title?: string;
  /** The person whom it is about: `store.erase` erases everything about one. */
  subject?: string;
  /** Milliseconds after which it expires: `store.expire` deletes what has expired. */
  expiresIn?: number;
}

/** How a session is opened for writing. */
export interface WriterOptions {
  /** How many milliseconds to wait for the lease; 0 without it. */
  wait?: number;
  /** Without the lease, for several writers. */
  shared?: boolean;
  /** Ends the wait. */
  signal?: AbortSignal;
}

/** From where a session is followed. */
export interface FollowOptions {
  since?: string;
  fromEnd?: boolean;
}

/** A hit of a search. */
export interface SearchHit {
  session: string;
  entry?: string;
  role?: string;
  /** The text around the match. */
  snippet: string;
  /** Relevance, higher is better. */
  score: number;
  /** The title of the session, or how else it is named. */
  name: string;
}
