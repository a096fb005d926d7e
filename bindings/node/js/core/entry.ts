// Entries as they are read.

import type { NativePage } from "./native.js";

interface Head {
  id?: string;
  parent?: string;
  kind: string;
  text?: string;
  revision?: string;
  raw: [number, number];
  whole?: [number, number];
  missing?: string[];
}

/** An entry of a session. */
export class Entry {
  /** Its id; `#line` if the record has none. */
  readonly id: string | undefined;
  /** The id of the entry that it follows; undefined for a root. */
  readonly parent: string | undefined;
  /** What it is: `user`, `assistant`, `tool`, `custom`, … */
  readonly kind: string;
  /** The text of a message; empty for other entries. */
  readonly text: string;
  /** The revision of the log up to this entry, if a follower returned it. */
  readonly revision: string | undefined;
  /** The record exactly as it is in the log. */
  readonly raw: Buffer;
  /** The record as JSON, with values that are stored as blobs. */
  readonly bytes: Buffer;
  /** Blobs that the record names and that are missing or damaged: their references stay in it. */
  readonly missingBlobs: string[];

  constructor(head: Head, page: Buffer) {
    this.id = head.id;
    this.parent = head.parent;
    this.kind = head.kind;
    this.text = head.text ?? "";
    this.revision = head.revision;
    this.raw = page.subarray(...head.raw);
    this.bytes = head.whole === undefined ? this.raw : page.subarray(...head.whole);
    this.missingBlobs = head.missing ?? [];
  }

  /** The parsed record. */
  json(): Record<string, unknown> {
    return JSON.parse(this.bytes.toString("utf8")) as Record<string, unknown>;
  }
}

/** What a poll returned. */
export interface Polled {
  /** It grows when the log was replaced; entries of earlier generations are void then. */
  generation: number;
  entries: Entry[];
}

/** The entries of a page. */
export function entriesOf(page: NativePage): Polled {
  const heads = JSON.parse(page.heads) as { generation: number; entries: Head[] };
  return {
    generation: heads.generation,
    entries: heads.entries.map((head) => new Entry(head, page.bytes)),
  };
}
