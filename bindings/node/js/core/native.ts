// The addon: where it is, and what it offers.
//
// The package has one addon for each platform in `native/`; nothing is compiled or fetched when it
// is installed.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Unsupported } from "./errors.js";

export interface NativePage {
  heads: string;
  bytes: Buffer;
}

export interface NativeItem {
  message?: string;
  record?: string;
  bytes?: Buffer;
  id?: string;
  parent?: string;
  root?: boolean;
}

export interface NativeRules {
  expectRevision?: string;
  expectLeaf?: string;
  durability?: string;
}

export interface NativeRequest {
  project?: string;
  id?: string;
  title?: string;
  subject?: string;
  expiresIn?: number;
}

export interface NativePageRequest {
  after?: string;
  before?: string;
  limit?: number;
  backwards?: boolean;
  branch?: boolean;
}

export interface NativeWriter {
  readonly id: string;
  readonly path: string;
  readonly inDoubt: string[];
  append(number: number, items: NativeItem[], each: boolean, rules: NativeRules): void;
  branch(number: number, entry: string): void;
  reset(number: number): void;
  compact(number: number, summary: string, firstKept: string, tokensBefore: number): void;
  setTitle(number: number, title: string): void;
  flush(number: number): void;
  release(number: number): void;
  finish(number: number, error?: string): void;
  session(): Promise<NativeSession>;
}

export interface NativeSession {
  facts(): string;
  messages(at?: string, paired?: boolean): Promise<string>;
  context(at?: string): Promise<string>;
  entries(request: NativePageRequest): Promise<NativePage>;
  entry(id: string): Promise<NativePage>;
}

export interface NativeFollower {
  poll(): Promise<NativePage>;
}

export interface NativeBlobs {
  put(data: Buffer): Promise<string>;
  get(id: string): Promise<Buffer>;
  has(id: string): Promise<boolean>;
}

export interface NativeStore {
  readonly path: string | null;
  readonly blobs: NativeBlobs;
  create(request: NativeRequest): Promise<NativeWriter>;
  writer(id: string, shared: boolean): Promise<NativeWriter>;
  fork(id: string, at: string | undefined, request: NativeRequest): Promise<NativeWriter>;
  session(id: string): Promise<NativeSession>;
  has(id: string): Promise<boolean>;
  list(details: boolean, subject: string | undefined): Promise<string>;
  search(query: string, session: string | undefined, limit: number): Promise<string>;
  follow(id: string, since: string | undefined, fromEnd: boolean): Promise<NativeFollower>;
  setTitle(id: string, title: string): Promise<string>;
  setExpiry(id: string, expiresIn: number | undefined): Promise<string>;
  expire(): Promise<string[]>;
  erase(subject: string): Promise<string[]>;
  delete(id: string): Promise<string | null>;
  restore(id: string): Promise<void>;
}

/** Takes the answers of the waiter, as JSON. */
export type TakesAnswers = (text: string) => void;

export interface Addon {
  NativeStore: {
    open(path: string, answers: TakesAnswers): Promise<NativeStore>;
    inMemory(answers: TakesAnswers): Promise<NativeStore>;
    makeTables(address: string, role: string | undefined): Promise<number>;
    remote(address: string, tenant: string, answers: TakesAnswers): Promise<NativeStore>;
  };
}

/** The name of the platform in `native/`. */
function platform(): string {
  const name = `${process.platform}-${process.arch}`;
  return process.platform === "linux" && isMusl() ? `${name}-musl` : name;
}

function isMusl(): boolean {
  try {
    return readFileSync("/usr/bin/ldd", "latin1").includes("musl");
  } catch {
    return false;
  }
}

function loaded(): Addon {
  const name = `boswell-store.${platform()}.node`;
  const path = process.env["BOSWELL_STORE_ADDON"] ?? join(__dirname, "../../../native", name);
  try {
    return require(path) as Addon;
  } catch (error) {
    throw new Unsupported("the addon of boswell-store cannot be loaded", {
      reason: error instanceof Error ? error.message : String(error),
      hint: `this package has no working addon for ${platform()}; build one from its sources`,
    });
  }
}

export const addon: Addon = loaded();
