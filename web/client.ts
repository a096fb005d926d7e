// A client of boswell's server, generated from its table of addresses by
// `BOSWELL_BLESS=1 cargo test -p boswell-serve`.
// It needs `fetch` only: browsers, Node, Deno and Bun have it.

import type {
  AttachmentShape,
  BlameShape,
  CheckpointFile,
  ContextShape,
  DamageShape,
  DeleteStep,
  EntryRange,
  EntryShape,
  HeadsShape,
  HitShape,
  IndexShape,
  KeepShape,
  KeptShape,
  LoggedOperation,
  LossShape,
  MemoryShape,
  MessageShape,
  NodeShape,
  NoteShape,
  NoticeShape,
  OperationShape,
  Page,
  PlanStep,
  ProjectFile,
  ProjectShape,
  PromptShape,
  ReceiptShape,
  RepairPlanShape,
  RepairStepShape,
  ResumeLine,
  RewoundShape,
  SessionShape,
  StatShape,
  StoreShape,
  TouchedFile,
  WarningShape,
} from "./src/shapes";

/** A list, with what is known about the whole of it. */
export interface Listed<T, P = null> {
  items: T[];
  page: P;
  warnings: NoticeShape[];
}

/** An error of the server (RFC 9457). */
export class BoswellError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly hint: string | null,
  ) {
    super(message);
  }
}

export interface ServerEvent {
  name: string;
  id: string | null;
  data: unknown;
}

/** What a request may have besides its parameters. */
export interface RequestOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

type Query = { [name: string]: string | number | boolean | undefined };

export class Boswell {
  constructor(
    readonly base: string,
    readonly token: string,
  ) {}

  private async ask(method: string, path: string, query: Query, body: unknown, options: RequestOptions): Promise<Response> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== false);
    const text = given.map(([name, value]) => `${name}=${value === true ? "" : encodeURIComponent(String(value))}`).join("&");
    const headers = { ...options.headers, Authorization: `Bearer ${this.token}` };
    const isRaw = typeof body === "string" || body instanceof Uint8Array;
    const sent = body === undefined ? undefined : isRaw ? (body as BodyInit) : JSON.stringify(body);
    const answer = await fetch(this.base + path + (text ? `?${text}` : ""), { method, headers, body: sent, signal: options.signal });
    if (answer.ok) return answer;
    const problem = (await answer.json().catch(() => ({}))) as { kind?: string; detail?: string; hint?: string };
    throw new BoswellError(answer.status, problem.kind ?? "internal", problem.detail ?? answer.statusText, problem.hint ?? null);
  }

  private async json<T>(method: string, path: string, query: Query, body: unknown, options: RequestOptions): Promise<T> {
    return (await (await this.ask(method, path, query, body, options)).json()) as T;
  }

  private async *events(path: string, options: RequestOptions): AsyncGenerator<ServerEvent> {
    const answer = await this.ask("GET", path, {}, undefined, options);
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const fields = new Map(block.split("\n").map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
        const data = fields.get("data");
        if (data !== undefined) yield { name: fields.get("event") ?? "message", id: fields.get("id") ?? null, data: JSON.parse(data) };
      }
    }
  }

  /** Whether the server answers. */
  health(options: RequestOptions = {}): Promise<{ [name: string]: unknown }> {
    return this.json("GET", `/healthz`, {}, undefined, options);
  }

  /** This description. */
  openapi(options: RequestOptions = {}): Promise<{ [name: string]: unknown }> {
    return this.json("GET", `/openapi.json`, {}, undefined, options);
  }

  /** Version, scope and limits of the server. */
  about(options: RequestOptions = {}): Promise<{ [name: string]: unknown }> {
    return this.json("GET", `/v1`, {}, undefined, options);
  }

  /** The stores of this machine. */
  stores(options: RequestOptions = {}): Promise<Listed<StoreShape, null>> {
    return this.json("GET", `/v1/stores`, {}, undefined, options);
  }

  /** The projects. */
  projects(options: RequestOptions = {}): Promise<Listed<ProjectShape, null>> {
    return this.json("GET", `/v1/projects`, {}, undefined, options);
  }

  /** Memory pages of all projects. */
  memory(query: { text?: boolean } = {}, options: RequestOptions = {}): Promise<Listed<MemoryShape, null>> {
    return this.json("GET", `/v1/memory`, query, undefined, options);
  }

  /** Files that sessions of a project read or changed. */
  projectFiles(query: { project?: string } = {}, options: RequestOptions = {}): Promise<Listed<ProjectFile, null>> {
    return this.json("GET", `/v1/files`, query, undefined, options);
  }

  /** Which session, entry and prompt wrote each line of a file of a project. */
  blame(query: { project?: string; file?: string } = {}, options: RequestOptions = {}): Promise<BlameShape> {
    return this.json("GET", `/v1/blame`, query, undefined, options);
  }

  /** A page of sessions. */
  sessions(query: { agent?: string; project?: string; status?: string; tag?: string; branch?: string; model?: string; since?: string; until?: string; match?: string; sort?: string; limit?: number; offset?: number; cursor?: string; hidden?: boolean } = {}, options: RequestOptions = {}): Promise<Listed<SessionShape, Page>> {
    return this.json("GET", `/v1/sessions`, query, undefined, options);
  }

  /** Create a session. */
  create(body: unknown = {}, options: RequestOptions = {}): Promise<SessionShape> {
    return this.json("POST", `/v1/sessions`, {}, body, options);
  }

  /** One session. */
  session(session: string, options: RequestOptions = {}): Promise<SessionShape> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}`, {}, undefined, options);
  }

  /** Change title, tags or status. */
  annotate(session: string, body: unknown = {}, options: RequestOptions = {}): Promise<Listed<ReceiptShape | OperationShape | NoteShape | SessionShape, null>> {
    return this.json("PATCH", `/v1/sessions/${encodeURIComponent(session)}`, {}, body, options);
  }

  /** Delete a session; the vault keeps a copy. */
  delete(session: string, query: { plan?: boolean } = {}, options: RequestOptions = {}): Promise<Listed<OperationShape | PlanStep | DeleteStep, null>> {
    return this.json("DELETE", `/v1/sessions/${encodeURIComponent(session)}`, query, undefined, options);
  }

  /** A page of entries. */
  entries(session: string, query: { view?: string; branch?: string; from?: number; before?: string; after?: string; around?: string; only?: string; match?: string; limit?: number; raw?: boolean; tools?: string; subagents?: boolean; text_limit?: number } = {}, options: RequestOptions = {}): Promise<Listed<EntryShape, EntryRange>> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/entries`, query, undefined, options);
  }

  /** Append entries. */
  append(session: string, body: unknown = {}, options: RequestOptions = {}): Promise<Listed<ReceiptShape, null>> {
    return this.json("POST", `/v1/sessions/${encodeURIComponent(session)}/entries`, {}, body, options);
  }

  /** One entry, whole. */
  entry(session: string, entry: string, query: { raw?: boolean; tools?: string; text_limit?: number } = {}, options: RequestOptions = {}): Promise<EntryShape> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/entries/${encodeURIComponent(entry)}`, query, undefined, options);
  }

  /** Entries of the subagents that an entry started. */
  entriesOfSubagents(session: string, entry: string, query: { text_limit?: number } = {}, options: RequestOptions = {}): Promise<Listed<EntryShape, null>> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/entries/${encodeURIComponent(entry)}/subagents`, query, undefined, options);
  }

  /** An image or a file inside an entry. */
  media(session: string, entry: string, number: number, options: RequestOptions = {}): Promise<Response> {
    return this.ask("GET", `/v1/sessions/${encodeURIComponent(session)}/entries/${encodeURIComponent(entry)}/media/${encodeURIComponent(number)}`, {}, undefined, options);
  }

  /** The table of all entries as columns. */
  heads(session: string, query: { view?: string; branch?: string; from?: number; count?: number; as?: string } = {}, options: RequestOptions = {}): Promise<HeadsShape> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/heads`, query, undefined, options);
  }

  /** Branches, labels and compactions. */
  tree(session: string, options: RequestOptions = {}): Promise<Listed<NodeShape, null>> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/tree`, {}, undefined, options);
  }

  /** What a model would be sent next. */
  context(session: string, query: { leaf?: string; sent?: boolean } = {}, options: RequestOptions = {}): Promise<Listed<ContextShape | MessageShape, null>> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/context`, query, undefined, options);
  }

  /** Files that the session touched. */
  files(session: string, options: RequestOptions = {}): Promise<Listed<TouchedFile | CheckpointFile, null>> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/files`, {}, undefined, options);
  }

  /** Totals of the session. */
  sessionStats(session: string, query: { by?: string; agent?: string; project?: string; status?: string; tag?: string; branch?: string; model?: string; since?: string; until?: string } = {}, options: RequestOptions = {}): Promise<Listed<StatShape, StatShape>> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/stats`, query, undefined, options);
  }

  /** Images and files of the session. */
  attachments(session: string, options: RequestOptions = {}): Promise<Listed<AttachmentShape, null>> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/attachments`, {}, undefined, options);
  }

  /** The bytes of an attachment. */
  attachment(session: string, number: number, options: RequestOptions = {}): Promise<Response> {
    return this.ask("GET", `/v1/sessions/${encodeURIComponent(session)}/attachments/${encodeURIComponent(number)}`, {}, undefined, options);
  }

  /** The command that resumes the session. */
  resume(session: string, query: { same_permissions?: boolean } = {}, options: RequestOptions = {}): Promise<ResumeLine> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/resume`, query, undefined, options);
  }

  /** The session as a file. */
  export(session: string, query: { format?: string; redact?: string } = {}, options: RequestOptions = {}): Promise<Response> {
    return this.ask("GET", `/v1/sessions/${encodeURIComponent(session)}/export`, query, undefined, options);
  }

  /** Findings about the session. */
  checkSession(session: string, options: RequestOptions = {}): Promise<Listed<DamageShape | WarningShape, null>> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/check`, {}, undefined, options);
  }

  /** The plan of a repair, with its ETag. */
  planRepair(session: string, query: { likely?: boolean; steps?: string; in_place?: boolean; for?: string } = {}, options: RequestOptions = {}): Promise<Listed<RepairStepShape | LossShape, RepairPlanShape>> {
    return this.json("GET", `/v1/sessions/${encodeURIComponent(session)}/repair`, query, undefined, options);
  }

  /** Repair as planned; needs If-Match. */
  repair(session: string, body: unknown = {}, options: RequestOptions = {}): Promise<Listed<RepairStepShape | OperationShape, null>> {
    return this.json("POST", `/v1/sessions/${encodeURIComponent(session)}/repair`, {}, body, options);
  }

  /** New entries as they are written. */
  sessionEvents(session: string, options: RequestOptions = {}): AsyncGenerator<ServerEvent> {
    return this.events(`/v1/sessions/${encodeURIComponent(session)}/events`, options);
  }

  /** Create a session from a branch. */
  fork(session: string, body: unknown = {}, options: RequestOptions = {}): Promise<SessionShape> {
    return this.json("POST", `/v1/sessions/${encodeURIComponent(session)}/fork`, {}, body, options);
  }

  /** Move the leaf. */
  branch(session: string, body: unknown = {}, options: RequestOptions = {}): Promise<Listed<ReceiptShape | OperationShape, null>> {
    return this.json("POST", `/v1/sessions/${encodeURIComponent(session)}/branch`, {}, body, options);
  }

  /** Continue from before a prompt. */
  rewind(session: string, body: unknown = {}, options: RequestOptions = {}): Promise<Listed<RewoundShape | PlanStep, null>> {
    return this.json("POST", `/v1/sessions/${encodeURIComponent(session)}/rewind`, {}, body, options);
  }

  /** Set or remove the label of an entry. */
  label(session: string, body: unknown = {}, options: RequestOptions = {}): Promise<Listed<ReceiptShape | OperationShape | NoteShape | SessionShape, null>> {
    return this.json("POST", `/v1/sessions/${encodeURIComponent(session)}/label`, {}, body, options);
  }

  /** End the session. */
  close(session: string, body: unknown = {}, options: RequestOptions = {}): Promise<Listed<ReceiptShape | OperationShape | NoteShape | SessionShape, null>> {
    return this.json("POST", `/v1/sessions/${encodeURIComponent(session)}/close`, {}, body, options);
  }

  /** Restore a deleted or archived session. */
  restore(session: string, body: unknown = {}, options: RequestOptions = {}): Promise<Listed<OperationShape, null>> {
    return this.json("POST", `/v1/sessions/${encodeURIComponent(session)}/restore`, {}, body, options);
  }

  /** Text in every session. */
  search(query: { q?: string; mode?: string; in?: string; session?: string; agent?: string; project?: string; status?: string; tag?: string; branch?: string; model?: string; since?: string; until?: string; sort?: string; limit?: number; cursor?: string; timeout_ms?: number } = {}, options: RequestOptions = {}): Promise<Listed<HitShape, Page>> {
    return this.json("GET", `/v1/search`, query, undefined, options);
  }

  /** Prompts of the user, newest first. */
  prompts(query: { q?: string; agent?: string; project?: string; status?: string; tag?: string; branch?: string; model?: string; since?: string; until?: string; limit?: number; timeout_ms?: number } = {}, options: RequestOptions = {}): Promise<Listed<PromptShape, null>> {
    return this.json("GET", `/v1/prompts`, query, undefined, options);
  }

  /** Totals over sessions. */
  stats(query: { by?: string; agent?: string; project?: string; status?: string; tag?: string; branch?: string; model?: string; since?: string; until?: string } = {}, options: RequestOptions = {}): Promise<Listed<StatShape, StatShape>> {
    return this.json("GET", `/v1/stats`, query, undefined, options);
  }

  /** Findings about every session. */
  check(options: RequestOptions = {}): Promise<Listed<DamageShape | WarningShape, null>> {
    return this.json("GET", `/v1/check`, {}, undefined, options);
  }

  /** Operations that can be undone. */
  ops(options: RequestOptions = {}): Promise<Listed<LoggedOperation, null>> {
    return this.json("GET", `/v1/ops`, {}, undefined, options);
  }

  /** Undo an operation. */
  undo(op: string, body: unknown = {}, options: RequestOptions = {}): Promise<Listed<LoggedOperation, null>> {
    return this.json("POST", `/v1/ops/${encodeURIComponent(op)}/undo`, {}, body, options);
  }

  /** Update the search index. */
  index(body: unknown = {}, options: RequestOptions = {}): Promise<Listed<IndexShape, null>> {
    return this.json("POST", `/v1/index`, {}, body, options);
  }

  /** Stores whose agents delete sessions, and their copies. */
  kept(options: RequestOptions = {}): Promise<Listed<KeepShape, null>> {
    return this.json("GET", `/v1/keep`, {}, undefined, options);
  }

  /** Copy sessions that their agents may delete. */
  keep(body: unknown = {}, options: RequestOptions = {}): Promise<Listed<KeptShape, null>> {
    return this.json("POST", `/v1/keep`, {}, body, options);
  }

  /** A large value. */
  blob(sha256: string, options: RequestOptions = {}): Promise<Response> {
    return this.ask("GET", `/v1/blobs/${encodeURIComponent(sha256)}`, {}, undefined, options);
  }

  /** Store a large value under its digest. */
  putBlob(sha256: string, body: unknown = {}, options: RequestOptions = {}): Promise<Response> {
    return this.ask("PUT", `/v1/blobs/${encodeURIComponent(sha256)}`, {}, body, options);
  }

  /** Changes of all sessions. */
  allEvents(options: RequestOptions = {}): AsyncGenerator<ServerEvent> {
    return this.events(`/v1/events`, options);
  }

  /** Exchange a one-time code for a token. */
  login(body: unknown = {}, options: RequestOptions = {}): Promise<{ [name: string]: unknown }> {
    return this.json("POST", `/v1/login`, {}, body, options);
  }

  /** Let the page change sessions. */
  allowChanges(body: unknown = {}, options: RequestOptions = {}): Promise<{ [name: string]: unknown }> {
    return this.json("POST", `/v1/changes`, {}, body, options);
  }

  /** A ticket for one download. */
  ticket(body: unknown = {}, options: RequestOptions = {}): Promise<{ [name: string]: unknown }> {
    return this.json("POST", `/v1/tickets`, {}, body, options);
  }

  /** The download of a ticket. */
  take(ticket: string, options: RequestOptions = {}): Promise<Response> {
    return this.ask("GET", `/v1/take/${encodeURIComponent(ticket)}`, {}, undefined, options);
  }

  /** The page. */
  page(options: RequestOptions = {}): Promise<Response> {
    return this.ask("GET", `/`, {}, undefined, options);
  }

  /** The icon of the page. */
  icon(options: RequestOptions = {}): Promise<Response> {
    return this.ask("GET", `/favicon.svg`, {}, undefined, options);
  }

  /** A file of the page. */
  asset(name: string, options: RequestOptions = {}): Promise<Response> {
    return this.ask("GET", `/assets/${encodeURIComponent(name)}`, {}, undefined, options);
  }
}
