// Generated from the shapes of `boswell-app`; see CONTRIBUTING.md.

/** Any JSON value, copied from a session. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** From `archive`: a session that would be archived. */
export interface ArchiveStep {
  v: 1;
  type: "step";
  /** what would be done */
  done: string;
  /** the session */
  session: string;
  /** time of the last entry */
  last_active: string | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** An image or a file of a session. */
export interface AttachmentShape {
  v: 1;
  type: "attachment";
  /** the session */
  session: string;
  /** the entry that contains or names it */
  entry: string | null;
  /** MIME type, where it is known */
  mime: string | null;
  /** size in bytes */
  bytes: number | null;
  /** path of the file, or the name that the entry gives it */
  place: string;
  /** whether the file that the entry names is missing */
  missing: boolean;
  /** with `--extract`: path of the extracted file */
  written?: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `blame FILE`: who wrote each line of a file. */
export interface BlameShape {
  v: 1;
  type: "blame";
  /** the file: its real path */
  file: string;
  /** the top folder of its git repository */
  repository: string | null;
  /** the lines that were asked for */
  lines: BlamedLine[];
  /** the prompts that they name, each once */
  prompts: BlamedPrompt[];
  /** the sessions that wrote them, that of the most lines first */
  sessions: BlamedSession[];
  /** lines that no session explains */
  unexplained: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A line of a file. */
export interface BlamedLine {
  /** its number, counted from 1 */
  line: number;
  /** its text, without the line end */
  text: string;
  /** `session`, or `unexplained` */
  origin: string;
  /** the session that wrote it */
  session: string | null;
  /** the agent of that session */
  agent: string | null;
  /** the entry with the call that wrote it */
  entry: string | null;
  /** the entry with the prompt before that call */
  prompt: string | null;
  /** when the call was made */
  when: string | null;
  /** the commit that brought it into the file */
  commit?: string;
}

/** A prompt that led to lines of a file. */
export interface BlamedPrompt {
  /** the session */
  session: string;
  /** the entry */
  entry: string;
  /** time of the prompt */
  at: string | null;
  /** its text without secrets, or the beginning of it */
  text: string;
}

/** A session that wrote lines of a file. */
export interface BlamedSession {
  /** the session */
  session: string;
  /** its agent */
  agent: string;
  /** title, else summary, else first prompt */
  name: string;
  /** how many of the lines it wrote */
  lines: number;
}

/** An entry that several branches continue. */
export interface BranchesPlace {
  /** the last entry of each branch, in the order in which they begin in the log */
  ends: string[];
  /** index of the branch that is shown */
  shown: number;
}

/** From the server: a session was added, changed or removed. */
export interface ChangeShape {
  v: 1;
  type: "change";
  /** the session */
  session: string;
  /** opaque string: revision of the log; `null` if the session is gone */
  revision: string | null;
  /** when the log was last written */
  modified: string | null;
  /** ids of agent processes that have it open */
  live: number[];
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A step, applied or planned. */
export interface ChangeStep {
  v: 1;
  type: "step";
  /** what it does */
  does: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A file that an operation changed. */
export interface ChangedFile {
  /** the file */
  path: string;
  /** size before; `null` if the file did not exist */
  before: number | null;
  /** size after; `null` if the file was removed */
  after: number | null;
  /** how many bytes were appended, if nothing else changed */
  appended: number | null;
}

/** Lines of a log before and after a step. A byte that is not UTF-8 is written as `\\xNN`. */
export interface ChangedLines {
  /** position of the first byte */
  at: number;
  /** as they are */
  before: string;
  /** as they would be */
  after: string;
}

/** A copy of a file that an agent stored with a session. */
export interface CheckpointFile {
  v: 1;
  type: "checkpoint";
  /** the session */
  session: string;
  /** where the copy is */
  path: string;
  /** size in bytes */
  bytes: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `clean`: a session that would be moved into the vault. */
export interface CleanStep {
  v: 1;
  type: "step";
  /** what would be done */
  done: string;
  /** the session */
  session: string;
  /** time of the last entry */
  last_active: string | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `blame COMMIT`: which sessions made a commit. */
export interface CommitBlameShape {
  v: 1;
  type: "commit_blame";
  /** id of the commit */
  commit: string;
  /** when it was committed */
  at: string | null;
  /** first line of its message */
  subject: string;
  /** lines that it adds to text files */
  added: number;
  /** of these, lines that no session explains */
  unexplained: number;
  /** the sessions, that of the most lines first */
  sessions: CommitSession[];
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A session that had part in a commit. */
export interface CommitSession {
  /** the session */
  session: string;
  /** its agent */
  agent: string;
  /** title, else summary, else first prompt */
  name: string;
  /** `edits` if it wrote lines of the commit; `time` if it only worked in the project between the commit and the one before */
  by: string;
  /** how many of its lines it wrote */
  lines: number;
  /** the files with these lines, below the top folder */
  files: string[];
  /** the entries that wrote them */
  entries: string[];
}

/** A commit. */
export interface CommitShape {
  /** short id */
  id: string;
  /** when it was committed */
  at: string | null;
  /** first line of its message */
  subject: string;
}

/** The settings of a context; settings that only one agent has follow as further members. */
export interface ContextShape {
  v: 1;
  type: "context";
  /** the session */
  session: string;
  /** the entry that it ends with */
  leaf: string | null;
  /** opaque string that changes with the log */
  revision: string;
  /** the model; `provider/model` if the agent has providers */
  model: string | null;
  /** models by role */
  models: { [key: string]: string };
  /** thinking level of the model */
  thinking_level: string | null;
  /** mode of the agent, such as `plan` */
  mode: string | null;
  /** data of the mode */
  mode_data: Json | null;
  /** rules that were added during the session, each once */
  rules: string[];
  /** permission mode of the agent */
  permission_mode: string | null;
  /** always `null` */
  memory: Json | null;
  /** how many messages there are */
  messages: number;
  /** estimated number of tokens */
  tokens_estimate: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** Something that a conversion does not carry over, or only changed. */
export interface ConversionLoss {
  /** kind of loss, such as `thinking` or `other_branches` */
  kind: string;
  /** how often */
  count: number;
  /** what happens to it */
  text: string;
  /** the first entry of the source where it occurs */
  entry: string | null;
}

/** From `convert`: a session of another agent with the same conversation, planned or made. */
export interface ConversionShape {
  v: 1;
  type: "conversion";
  /** the session that is carried over */
  source: string;
  /** the last entry of the source that is carried over */
  entry: string;
  /** the session that is made; its id is the same each time */
  target: string;
  /** whether it was made before, so that nothing is written */
  exists: boolean;
  /** messages of user and model, and results of tools, that are carried over */
  messages: number;
  /** what is not carried over, or only changed */
  losses: ConversionLoss[];
  /** SHA-256 of the log as it is or was written */
  sha256: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A problem of a session or a store. */
export interface DamageShape {
  v: 1;
  type: "damage";
  /** the session, where it is about one */
  session: string | null;
  /** the file or folder */
  path: string | null;
  /** line of the log */
  line: number | null;
  /** the entry, where it is about one */
  entry: string | null;
  /** kind of problem, such as `torn_tail` */
  problem: string;
  /** `damage` if a known reader loses or refuses something because of it, else `info` */
  severity: string;
  /** details, in one sentence */
  detail: string;
  /** entries of the conversation that the agent would load */
  reachable: number | null;
  /** all entries of the conversation */
  total: number | null;
  /** how it can be repaired: `append`, `rewrite`, `fork`, `none` */
  repair: string;
  /** known readers that lose or refuse something because of it */
  hurts: string[] | null;
  /** true for an archived session */
  archived?: boolean;
  /** the command to run next */
  next: string | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `delete`: a file of a session that would be removed. */
export interface DeleteStep {
  v: 1;
  type: "step";
  /** what would be done */
  done: string;
  /** the file */
  path: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A command to try. */
export interface DemoCommand {
  /** arguments of the script */
  command: string;
  /** what the command shows */
  shows: string;
}

/** Sample sessions to try boswell on. */
export interface DemoShape {
  v: 1;
  type: "demo";
  /** its folder */
  path: string;
  /** a script that runs boswell on it */
  script: string;
  /** command-line options that select its stores */
  options: string[];
  /** commands to try */
  commands: DemoCommand[];
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A file that calls changed. */
export interface EditedFile {
  /** the file, as the tools name it */
  path: string;
  /** lines that were added; `null` if a tool does not tell */
  added: number | null;
  /** lines that were removed */
  removed: number | null;
  /** how many calls changed it */
  edits: number;
  /** the session of the last change */
  session: string;
  /** the entry of the last change */
  entry: string;
}

/** From the server: which entries of a session an answer has. */
export interface EntryRange {
  v: 1;
  type: "range";
  /** the session whose entries they are */
  session: string;
  /** opaque string: revision of the log */
  revision: string;
  /** position of the first entry, from 0; `null` if there is none */
  first: number | null;
  /** position of the last entry */
  last: number | null;
  /** how many entries the view has */
  total: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** An entry of a session. */
export interface EntryShape {
  v: 1;
  type: "entry";
  /** the session that it belongs to */
  session: string;
  /** its id, or `#LINE` if it has none */
  id: string | null;
  /** the entry that it follows */
  parent: string | null;
  /** the agent's own type of the record */
  kind: string;
  /** role: `user`, `assistant` and others */
  role: string | null;
  /** when it was written */
  at: string | null;
  /** its line in the log */
  line: number | null;
  /** its text, or a description of it */
  text: string | null;
  /** parts: `text`, `thinking`, `tool_call`, `tool_result`, `media`, `other` */
  content: Json[];
  /** the model that answered */
  model: string | null;
  /** tokens of the message */
  usage: TokensShape | null;
  /** why the model stopped, as the agent calls it */
  stop_reason: string | null;
  /** the first tool call or result in it */
  tool: ToolShape | null;
  /** whether it is on the current branch */
  on_branch: boolean;
  /** whether it is the current leaf */
  leaf: boolean;
  /** whether the agent hides it */
  hidden: boolean;
  /** from the server: position in the view, from 0 */
  position?: number;
  /** from the server: how many bytes `text` has, if only its beginning is here */
  text_bytes?: number;
  /** from the server: bytes before it in the log that are not a record */
  gaps?: GapPlace[];
  /** from the server: the same after it, if it is the last entry */
  gaps_after?: GapPlace[];
  /** from the server: other branches that continue it */
  branches?: BranchesPlace;
  /** from the server: subagents that were started by its calls */
  subagents?: StartedSubagent[];
  /** with `--raw`: the record */
  raw?: string;
  /** with `--raw`: the record, where it is not UTF-8 */
  raw_base64?: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** An error, printed on stderr. */
export interface ErrorShape {
  v: 1;
  type: "error";
  /** `not_found`, `busy`, `conflict`, `invalid`, `unsupported`, `denied`, `damaged`, `too_new`, `no_space`, `unavailable`, `internal` */
  kind: string;
  /** what failed and why */
  message: string;
  /** what to do next */
  hint: string | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A session as one document that contains every byte of its files. */
export interface ExportShape {
  v: 1;
  type: "export";
  /** the session: DIALECT:ID */
  ref: string;
  /** the format of its store */
  dialect: string;
  /** the agent's id of the session */
  id: string;
  /** the session as `list` shows it */
  session: SessionShape;
  /** its log, then the files that belong to it */
  files: ExportedFile[];
  /** keys and passwords that were removed, and those that are left in */
  secrets: ExportedSecrets;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A file of an export. */
export interface ExportedFile {
  /** its path below the store's folder */
  key: string;
  /** `log`, or the kind of side file */
  kind: string;
  /** its parts in order: a string, or `{"base64"}` where the bytes are not UTF-8 */
  content: Json[];
  /** size in bytes */
  bytes: number;
  /** SHA-256 of the content */
  sha256: string;
}

/** Keys and passwords of an export. */
export interface ExportedSecrets {
  /** how many were removed */
  removed: number;
  /** how many are left in */
  left: number;
  /** how many are left in, by kind */
  kinds: { [key: string]: number };
}

/** A call whose last run failed. */
export interface FailureShape {
  /** the session */
  session: string;
  /** the entry with the result */
  entry: string;
  /** time of the result */
  at: string | null;
  /** the tool */
  tool: string;
  /** the command that was run, or what the tool worked on */
  subject: string;
  /** what the tool said, or the beginning of it */
  said: string;
}

/** With `--diff` and from `checkout`: how a file differs from what it was at an entry of a session. */
export interface FileDifference {
  v: 1;
  type: "file";
  /** the session */
  session: string;
  /** for copies of the agent: the prompt before which they were made */
  prompt?: string;
  /** the file, below the folder of the project */
  path: string;
  /** `unchanged`, `changed`, `gone`, `new since` and others */
  change: string;
  /** for copies of the agent: whether it was changed outside the session */
  conflict?: boolean;
  /** the lines that differ, if both are text */
  diff: string | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** With `--at`: a file as it was at an entry of a session. */
export interface FormerFile {
  v: 1;
  type: "file";
  /** the session */
  session: string;
  /** for copies of the agent: the prompt before which they were made */
  prompt?: string;
  /** the file, below the folder of the project */
  path: string;
  /** `file`, `absent`, or why the content is unknown */
  state: string;
  /** for checkpoints of boswell: the blob with the content */
  blob?: string | null;
  /** for copies of the agent: size in bytes */
  bytes?: number | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** Bytes of a log that are not a record. */
export interface GapPlace {
  /** number of the line, from 1 */
  line: number;
  /** length in bytes */
  bytes: number;
}

/** From `handoff`: a digest of a session, made of its own text. */
export interface HandoffShape {
  v: 1;
  type: "handoff";
  /** the session */
  session: string;
  /** project folder */
  project: string | null;
  /** the first prompt */
  goal: string | null;
  /** sentences of answers that tell a decision or a reason, oldest first */
  decisions: string[];
  /** files that tools changed */
  files: string[];
  /** commands that were run last */
  commands: string[];
  /** sentences about what is still to be done, and prompts without an answer */
  open_ends: string[];
  /** the last prompt */
  last_prompt: string | null;
  /** the last answer */
  last_answer: string | null;
  /** how many texts were left out, because there was no room */
  left_out: number;
  /** tokens of the digest, as estimated */
  tokens: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From the server: the table of a session's entries, one value per entry in each column. Columns are base64 of little-endian numbers. */
export interface HeadsShape {
  v: 1;
  type: "heads";
  /** the session */
  session: string;
  /** opaque string: revision of the log */
  revision: string;
  /** position of the first entry */
  from: number;
  /** how many entries the columns have */
  count: number;
  /** how many entries the view has */
  total: number;
  /** the words of `kind`, by number; each answer has its own */
  kinds: string[];
  /** number of the kind, one byte */
  kind: string;
  /** marks, one byte: 1 hidden, 2 error, 4 on the current branch, 8 leaf, 16 of a subagent, 32 damaged, 64 nothing before it is sent any more, 128 other branches continue it */
  flags: string;
  /** seconds since 1970, four bytes; 4294967295 if unknown */
  at: string;
  /** position of the parent, four bytes; 4294967295 if it has none in this view */
  parent: string;
  /** size of the record in bytes, four bytes; 4294967295 stands for that and more */
  bytes: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From the server: whether a session is damaged or lost soon changed. */
export interface HealthShape {
  v: 1;
  type: "health";
  /** the session */
  session: string;
  /** whether a part of its log could not be read as records */
  damaged: boolean;
  /** whether its agent deletes it soon, and no copy of it is kept */
  lost_soon: boolean;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A match in a session or a memory file. */
export interface HitShape {
  v: 1;
  type: "hit";
  /** the session; for memory: the path */
  session: string;
  /** the entry */
  entry: string | null;
  /** its line in the log */
  line: number | null;
  /** what the entry is */
  kind: string;
  /** role: `user`, `assistant` and others */
  role: string | null;
  /** part of the entry: `prompts`, `answers`, `thinking`, `calls`, `results`, `titles`, `summaries`, `memory`, `context` */
  field: string;
  /** when it was written, else when the session last changed */
  at: string | null;
  /** the text around the match */
  snippet: string;
  /** byte ranges of the snippet that match */
  ranges: number[][];
  /** relevance, higher is better */
  score: number;
  /** the agent that wrote it */
  agent: string;
  /** project folder; for memory: the agent's key of the project */
  project: string | null;
  /** name of the session, as in `session` */
  name: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A side file that was imported with its session. */
export interface ImportedFile {
  /** kind of content */
  kind: string;
  /** original path */
  path: string;
}

/** State of the catalog and the search index. */
export interface IndexShape {
  v: 1;
  type: "index";
  /** sessions that can be read */
  sessions: number;
  /** sessions and memory files in the index */
  sources: number;
  /** bytes read by this command */
  read_bytes: number;
  /** bytes of text that the index was made from */
  text_bytes: number;
  /** size of the index */
  index_bytes: number;
  /** sessions and memory files that could not be read */
  failed: number;
  /** whether everything is indexed */
  complete: boolean;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A store whose agent deletes sessions, and its copies in the vault. */
export interface KeepShape {
  v: 1;
  type: "keep";
  /** the format of the store */
  dialect: string;
  /** its folder */
  root: string;
  /** whether `keep` is on */
  on: boolean;
  /** since when it is on */
  since: string | null;
  /** what starts the copying: `hook`, `timer` */
  trigger: string | null;
  /** whether hook or timer is still installed */
  installed: boolean | null;
  /** after how many days the agent deletes sessions; `null` if its settings cannot be read */
  deletes_after_days: number | null;
  /** how many sessions there are */
  sessions: number;
  /** how many of them have an up-to-date copy */
  kept: number;
  /** folders that cannot be listed, so new files in them are not copied */
  unreadable: string[];
  /** refs of deleted sessions that have a copy */
  gone: string[];
  /** ids that will be deleted within 7 days and have no copy */
  lost_soon: string[];
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `keep on` and `keep off`: a change outside boswell's own folder, applied or planned. */
export interface KeepStep {
  v: 1;
  type: "step";
  /** what was or would be done */
  does: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `keep on` and `keep run`: what was copied. */
export interface KeptShape {
  v: 1;
  type: "kept";
  /** sessions of which files were copied */
  sessions: number;
  /** files that were copied */
  files: number;
  /** bytes that were copied, before compression */
  bytes: number;
  /** how many files or stores could not be copied */
  failed: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A side file that was not imported with its session. */
export interface LeftFile {
  /** kind of content */
  kind: string;
  /** path */
  path: string;
  /** the reason */
  why: string;
}

/** The same conversation in another store. */
export interface LinkShape {
  /** ref of the session there */
  ref: string;
  /** path of the log */
  path: string | null;
  /** in what the two differ: `turns`, `last_active`, `tokens`; `null` if not compared */
  drift: string[] | null;
}

/** From `clean`: a stale lock that was or would be removed. */
export interface LockStep {
  v: 1;
  type: "step";
  /** what was or would be done */
  done: string;
  /** the lock */
  path: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `ops`: a change that boswell made in stores. */
export interface LoggedOperation {
  v: 1;
  type: "op";
  /** its id */
  op: string;
  /** when it was created */
  at: string;
  /** kind of change, such as `rename` or `delete` */
  kind: string;
  /** the session that was changed */
  session: string;
  /** what was done, in one line */
  title: string;
  /** the files that it changed */
  files: ChangedFile[];
  /** the operation that it undid */
  undoes: string | null;
  /** whether it was undone */
  undone?: boolean;
  /** whether it can probably be undone */
  undoable?: boolean;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `repair`: what a reader still loses after the repair. */
export interface LossShape {
  v: 1;
  type: "loss";
  /** the session */
  session: string;
  /** the name of the reader for `--for` */
  reader: string;
  /** whether the repair was asked to help this reader */
  goal: boolean;
  /** the problem */
  problem: string;
  /** what it loses */
  loses: string;
  /** how often */
  times: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A memory file that `add`, `edit` or `rm` changed. */
export interface MemoryChanged {
  v: 1;
  type: "memory";
  /** whose memory it is */
  dialect: string;
  /** the agent's key of the project; for boswell's own memory the folder */
  project_key: string;
  /** the file */
  path: string;
  /** size of the file; `null` if it was removed */
  bytes: number | null;
  /** the operation, for `undo` */
  op: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A line of a memory file that contains the text. */
export interface MemoryHit {
  v: 1;
  type: "memory_hit";
  /** whose memory it is */
  dialect: string;
  /** the file */
  path: string;
  /** number of the line, from 1 */
  line: number;
  /** the line */
  text: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A problem of the memory of a project. */
export interface MemoryProblemShape {
  v: 1;
  type: "memory_problem";
  /** whose memory it is */
  dialect: string;
  /** the agent's key of the project; for boswell's own memory the folder */
  project_key: string;
  /** kind of problem */
  problem: string;
  /** details, in one sentence */
  detail: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A memory file. */
export interface MemoryShape {
  v: 1;
  type: "memory";
  /** whose memory it is */
  dialect: string;
  /** the agent's key of the project; for boswell's own memory the folder */
  project_key: string;
  /** the file */
  path: string;
  /** whether it is the index page, which links to the others */
  index: boolean;
  /** size of the file */
  bytes: number;
  /** how many lines it has */
  lines: number;
  /** how many of them are loaded at the start of a session */
  loaded_lines: number;
  /** with `show`: the text */
  text?: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A message that a model would be sent. */
export interface MessageShape {
  v: 1;
  type: "message";
  /** role, as the agent calls it */
  role: string;
  /** its parts, as the agent writes them */
  content: Json[];
  /** the entry that it comes from; `null` for a placeholder */
  entry: string | null;
  /** with `--sent`: other entries that were merged into it */
  joined?: string[];
  /** the message as the agent stores it, if it has more members */
  native?: Json;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A branch point, a leaf, a label or a compaction of a session. */
export interface NodeShape {
  v: 1;
  type: "node";
  /** the session */
  session: string;
  /** id of the entry, or `#LINE` if it has none */
  id: string;
  /** the nearest ancestor that is shown */
  above: string | null;
  /** the entry that it follows */
  parent: string | null;
  /** number of entries between it and that ancestor */
  between: number;
  /** number of branch points above it */
  depth: number;
  /** number of its children */
  children: number;
  /** the agent's own type of the record */
  kind: string;
  /** role: `user`, `assistant` and others */
  role: string | null;
  /** when it was written */
  at: string | null;
  /** label of the entry */
  label: string | null;
  /** whether it is a compaction */
  compaction: boolean;
  /** whether it is the current leaf */
  leaf: boolean;
  /** whether it is on the current branch */
  on_branch: boolean;
  /** start of its text */
  text: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** An annotation that the agent's format cannot store, so boswell stores it as a note. */
export interface NoteShape {
  v: 1;
  type: "note";
  /** the session */
  session: string;
  /** what was stored: `rename`, `tag`, `label`, `status` */
  what: string | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From the server: something that was noticed on the way to an answer. */
export interface NoticeShape {
  v: 1;
  type: "notice";
  /** `remark`, or as in `error` the kind of what could not be read */
  kind: string;
  /** what was noticed */
  message: string;
  /** what to do next */
  hint: string | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A change that was applied, and that `undo` reverts. */
export interface OperationShape {
  v: 1;
  type: "op";
  /** its id */
  op: string;
  /** kind of change, such as `rename` or `delete` */
  kind: string;
  /** the session that was changed; `DIALECT:*` for a change of a whole store */
  session: string;
  /** for a change that followed a plan: the last entry that it added, if there is one */
  entry?: string | null;
  /** for `repair`: the repaired fork, if one was made */
  made?: string | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A prompt of an outline. */
export interface OutlinePrompt {
  /** its number, from 1 */
  number: number;
  /** the entry */
  entry: string;
  /** time of the prompt */
  at: string | null;
  /** its text, or the beginning of it */
  text: string;
}

/** From `outline`: what was asked and done on the current branch of a session. */
export interface OutlineShape {
  v: 1;
  type: "outline";
  /** the session */
  session: string;
  /** title, else summary, else first prompt */
  name: string;
  /** the agent that wrote it */
  agent: string;
  /** project folder */
  project: string | null;
  /** when it was created */
  created: string | null;
  /** time of the last entry */
  last_active: string | null;
  /** summary, if there is one */
  summary: string | null;
  /** the prompts in order */
  prompts: OutlinePrompt[];
  /** files that tools of the session and of its subagents changed */
  files: EditedFile[];
  /** calls whose last run failed */
  failures: FailureShape[];
  /** entries at which older messages were replaced by a summary */
  compactions: string[];
  /** how many other branches leave the current one */
  other_branches: number;
  /** sentences about what is still to be done, and a prompt without an answer */
  open_ends: string[];
  /** the last answer */
  last_answer: QuotedText | null;
  /** what the program of `--with` printed about all of this */
  digest?: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** The last line of a list: counts, and the cursor of the next page. */
export interface Page {
  v: 1;
  type: "page";
  /** how many lines came before this one */
  shown: number;
  /** how many there are in all pages; `null` if not all were counted */
  total: number | null;
  /** for `search`: how many sessions have hits; `null` if not all were counted */
  sessions?: number | null;
  /** value of `--cursor` for the next page; `null` on the last page */
  cursor: string | null;
  /** whether everything was searched */
  complete: boolean;
  /** for `search`: bytes that were scanned because they are not indexed yet */
  scanned_bytes?: number;
  /** when the list was made */
  as_of: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** Conversations of a store, compared with their transcripts in other stores. */
export interface PairsShape {
  v: 1;
  type: "pairs";
  /** the format of the store */
  dialect: string;
  /** its folder */
  root: string;
  /** conversations that are also in another store */
  twice: number;
  /** conversations that are only in this store */
  once: number;
  /** of these, conversations whose transcript is missing */
  transcript_gone: number;
  /** conversations in two stores whose copies differ */
  drifted: number;
  /** bytes of these conversations in this store */
  bytes: number;
  /** bytes in the other stores */
  other_bytes: number;
  /** both together */
  total_bytes: number;
  /** bytes in this store for each byte in the others */
  ratio: number | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A step of a plan, applied or not. */
export interface PlanStep {
  v: 1;
  type: "step";
  /** what it does */
  does: string;
  /** the files that it changes */
  keys: string[];
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From the server: how far long work is. */
export interface ProgressShape {
  v: 1;
  type: "progress";
  /** the work: `check`, `index`, `keep` */
  work: string;
  /** how much is done: sessions, for `index` blocks of 16 KB */
  done: number;
  /** how much there is */
  total: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A file that tools of a project's sessions read or changed, and that is there. */
export interface ProjectFile {
  v: 1;
  type: "project_file";
  /** the folder of the project */
  project: string;
  /** the file, below that folder */
  path: string;
  /** how many of the sessions name it */
  sessions: number;
  /** how often tools were called with it */
  calls: number;
  /** the last active session that names it */
  session: string;
  /** the last entry there that names it */
  entry: string;
  /** when that session was active last */
  last_active: string | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A project folder. */
export interface ProjectShape {
  v: 1;
  type: "project";
  /** the folder; `null` for sessions that name none */
  project: string | null;
  /** for a worktree: the main checkout */
  repository: string | null;
  /** how many sessions it has */
  sessions: number;
  /** dialects of these sessions */
  agents: string[];
  /** time of the last entry of these sessions */
  last_active: string | null;
  /** size of their logs */
  bytes: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A prompt of the user. */
export interface PromptShape {
  v: 1;
  type: "prompt";
  /** text of the prompt */
  text: string;
  /** time of the prompt */
  at: string | null;
  /** the agent that was asked */
  agent: string;
  /** the project folder */
  project: string | null;
  /** the session */
  session: string | null;
  /** the entry */
  entry: string | null;
  /** where it was found: `session`, `history`, `boswell` */
  source: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `delete --purge`: a session that was purged. */
export interface PurgeOp {
  v: 1;
  type: "op";
  /** id of the operation */
  op: string;
  /** `purge` */
  kind: string;
  /** the session that was purged */
  session: string;
  /** how many copies of it were removed */
  purged: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A text of a session with its place. */
export interface QuotedText {
  /** the entry */
  entry: string;
  /** when it was written */
  at: string | null;
  /** the text, or the beginning of it */
  text: string;
}

/** An entry that was written. */
export interface ReceiptShape {
  v: 1;
  type: "receipt";
  /** the session */
  session: string;
  /** the entry */
  entry: string;
  /** opaque string: revision of the log after this entry */
  revision: string;
  /** whether the entry was written by an earlier append */
  deduplicated: boolean;
  /** what it survives: the end of the process (`os`) or of the machine (`fsync`) */
  durable: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From the server: the end of a plan. */
export interface RepairPlanShape {
  v: 1;
  type: "plan";
  /** the session */
  session: string;
  /** how many steps would be applied */
  taken: number;
  /** messages that the agent reaches now */
  reachable: number;
  /** messages that it would reach */
  would_reach: number;
  /** messages in the file */
  total: number;
  /** why no step is applied although some are sure enough */
  refused: string | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `repair`: a step, applied or not. */
export interface RepairStepShape {
  v: 1;
  type: "step";
  /** the session */
  session: string;
  /** number in the plan; 0 once it was applied */
  step: number;
  /** whether it is or would be applied */
  taken: boolean;
  /** confidence: `certain`, `likely`, `guess` */
  confidence: string;
  /** kind of change: `append`, `rewrite`, `change` */
  class: string;
  /** the problem that it solves */
  problem: string;
  /** line of the problem */
  line: number | null;
  /** entry of the problem */
  entry: string | null;
  /** what it does */
  does: string;
  /** readers that it helps; an empty list means all */
  helps: string[];
  /** from the server: the lines that it changes */
  changes?: ChangedLines[];
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** What boswell finds on this machine. */
export interface ReportShape {
  v: 1;
  type: "report";
  /** names and values */
  facts: { [key: string]: string };
  /** the stores that were found */
  stores: ReportedStore[];
  /** locks that a process holds now */
  locks: string[];
  /** operations that were interrupted */
  unfinished: string[];
  /** kinds of errors that occurred while the report was made */
  troubles: string[];
  /** folders that look like other profiles of an agent; they are not read */
  profiles: ReportedProfile[];
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A folder that looks like another profile of an agent. */
export interface ReportedProfile {
  /** its format */
  dialect: string;
  /** the folder */
  root: string;
}

/** A store of a report. */
export interface ReportedStore {
  /** its format */
  dialect: string;
  /** its folder */
  root: string;
  /** how many sessions `list` shows */
  sessions: number;
  /** how many sessions `list` hides */
  hidden: number;
  /** size of their logs */
  bytes: number;
  /** how well it supports each operation */
  can: { [key: string]: string };
  /** kinds of problems found while it was listed */
  problems: string[];
}

/** From `checkout`: a file that was restored, or why it was not. */
export interface RestoreStep {
  v: 1;
  type: "step";
  /** the file */
  path: string;
  /** what was done, or why nothing was */
  done: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** The command that resumes a session. */
export interface ResumeLine {
  v: 1;
  type: "resume";
  /** program and arguments */
  argv: string[];
  /** working folder of the command */
  cwd: string | null;
  /** environment variables to set; `null` for one to unset */
  env: { [key: string]: string | null };
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** The command that resumes a session. */
export interface ResumeShape {
  /** the command */
  argv: string[];
  /** working folder of the command */
  cwd: string | null;
  /** environment variables to set; `null` for one to unset */
  env: { [key: string]: string | null };
}

/** A session that continues from before a prompt. */
export interface RewoundShape {
  v: 1;
  type: "rewound";
  /** the session */
  session: string;
  /** the prompt, as given on the command line */
  entry: string;
  /** the current leaf; `null` if the prompt was the first entry */
  leaf: string | null;
  /** the text of the prompt */
  text: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `secrets --scrub`: copies, notes and blobs in which secrets would be replaced. */
export interface ScrubCopiesStep {
  v: 1;
  type: "step";
  /** what would be done */
  done: string;
  /** the session */
  session: string;
  /** copies in the vault */
  copies: number;
  /** notes and records */
  records: number;
  /** blobs that would be replaced */
  blobs: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `secrets --scrub`: a file in which secrets would be replaced. */
export interface ScrubFileStep {
  v: 1;
  type: "step";
  /** what would be done */
  done: string;
  /** the session */
  session: string;
  /** the file */
  path: string;
  /** how many secrets it contains */
  secrets: number;
  /** kinds of these secrets */
  kinds: string[];
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `secrets --scrub`: a session in which secrets were replaced. */
export interface ScrubbedStep {
  v: 1;
  type: "step";
  /** what was done */
  done: string;
  /** the session */
  session: string;
  /** id of the operation that changed files; `null` if none was changed */
  op: string | null;
  /** how many secrets were replaced in files */
  secrets: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A secret in a session, without the secret itself. */
export interface SecretShape {
  v: 1;
  type: "secret";
  /** the session */
  session: string;
  /** path of the log */
  path: string | null;
  /** the entry */
  entry: string;
  /** its line in the log */
  line: number | null;
  /** what kind of secret */
  kind: string;
  /** the secret, masked */
  shown: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `serve` and `web`: a server that listens. */
export interface ServingShape {
  v: 1;
  type: "serving";
  /** address of the page */
  url: string;
  /** address and port that it listens at */
  address: string;
  /** file with the token for reading */
  read_token: string;
  /** file with the token for changes; `null` if the server only reads */
  write_token: string | null;
  /** file with the token for agents, which opens `/mcp` alone; `null` if that is not served */
  mcp_token: string | null;
  /** process id of the server */
  pid: number;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A session. `list` reads only the beginning and the end of a long log; then the counts are `null`. */
export interface SessionShape {
  v: 1;
  type: "session";
  /** reference for other commands: DIALECT:ID */
  ref: string;
  /** the agent's id of the session */
  id: string;
  /** the agent that wrote it */
  agent: string | null;
  /** the format of its store */
  dialect: string;
  /** label of its store in the settings */
  store_label: string | null;
  /** title, else summary, else first prompt, cut to 50 columns, else the short id */
  name: string;
  /** title, if it has one */
  title: string | null;
  /** who set the title */
  title_source: string | null;
  /** summary, if there is one */
  summary: string | null;
  /** text of the first prompt */
  first_prompt: string | null;
  /** project folder */
  project: string | null;
  /** status, such as `active`, `paused`, `completed` or `error` */
  status: string | null;
  /** error message, if it failed */
  error: string | null;
  /** tags from the log and from notes */
  tags: string[];
  /** metadata of the agent */
  metadata: { [key: string]: string };
  /** when it was created */
  created: string | null;
  /** time of the last entry */
  last_active: string | null;
  /** opaque string that changes with the log */
  revision: string | null;
  /** id of the current leaf */
  leaf: string | null;
  /** messages of user and model, on all branches */
  messages: number | null;
  /** prompts of the user */
  turns: number | null;
  /** number of entries, as in `show --records` */
  entries: number | null;
  /** tool calls */
  tool_calls: number | null;
  /** time that the agent worked on it */
  duration_ms: number | null;
  /** records by kind */
  kinds: { [key: string]: number } | null;
  /** tokens of all messages */
  tokens: TokensShape;
  /** cost that the agent recorded */
  cost_usd: number | null;
  /** premium requests of a subscription; may be a fraction */
  premium_requests: number | null;
  /** models that were used */
  models: string[];
  /** git branch of the project */
  git_branch: string | null;
  /** last permission mode */
  permission_mode: string | null;
  /** version of the agent that last wrote it */
  agent_version: string | null;
  /** the session that it was forked from, or that started it */
  parent: string | null;
  /** refs of sessions of other agents that `convert` made from it */
  converted_to: string[];
  /** ids in other systems */
  external_ids: { [key: string]: string };
  /** the same conversation in other stores */
  links: LinkShape[];
  /** path of the log */
  path: string | null;
  /** size of its log */
  bytes: number;
  /** how many parts of the log are not valid records */
  problems: number | null;
  /** ids of agent processes that have it open, as far as the agent records them */
  live: number[] | null;
  /** whether it is pinned */
  pinned: boolean;
  /** whether the vault has an up-to-date copy from `keep` */
  kept: boolean | null;
  /** whether it is archived */
  archived: boolean;
  /** when its agent will delete it, if it is not used */
  expires: string | null;
  /** always `null` in a list */
  subagents: number | null;
  /** always `null` in a list */
  attachments: number | null;
  /** why `list` hides it */
  hidden: string | null;
  /** the repaired fork that replaces it, if that is on the same page */
  superseded_by?: string;
  /** the command that resumes it */
  resume: ResumeShape | null;
  /** from `import`: side files that were imported */
  brought?: ImportedFile[];
  /** from `import`: side files that were not imported */
  left?: LeftFile[];
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A setting and where its value comes from. */
export interface SettingShape {
  v: 1;
  type: "setting";
  /** its name */
  key: string;
  /** its value */
  value: string;
  /** where the value comes from: a file, `built in`, or an option */
  origin: string;
  /** purpose of the setting */
  what: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A subagent that a call started. */
export interface StartedSubagent {
  /** its id */
  id: string;
  /** its task, in a few words */
  task: string | null;
}

/** Totals over sessions. */
export interface StatShape {
  v: 1;
  type: "stat";
  /** grouping: `total`, `day`, `week`, `month`, `project`, `agent`, `model`, `session`, `host`; days, weeks and months are local */
  by: string;
  /** day, project, agent, model, session or host; `null` for the total and for sessions without a project */
  key: string | null;
  /** with two groupings: the second */
  then_by?: string;
  /** with two groupings: the key of the second */
  then_key?: string | null;
  /** conversations; a subagent counts as part of the session that started it */
  sessions: number;
  /** messages of user and model */
  messages: number | null;
  /** prompts of the user */
  turns: number | null;
  /** tool calls */
  tool_calls: number | null;
  /** records */
  entries: number | null;
  /** working time of agents, where they recorded it */
  duration_ms: number | null;
  /** records by kind */
  kinds: { [key: string]: number } | null;
  /** tokens of all messages */
  tokens: TokensShape;
  /** cost, as recorded or computed from prices */
  cost_usd: number | null;
  /** premium requests of a subscription; may be a fraction */
  premium_requests: number | null;
  /** models without a price; their cost is not included */
  unpriced_models: string[];
  /** date of the price list */
  prices_as_of: string;
  /** whether the settings override prices */
  prices_overridden: boolean;
  /** false if some sessions could not be read */
  complete: boolean;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `statusline`: what an agent's status line shows. */
export interface StatuslineShape {
  v: 1;
  type: "statusline";
  /** the session; `null` if none is known */
  session: string | null;
  /** the model as the agent or the log names it */
  model: string | null;
  /** what the session cost, as the agent says or computed from prices */
  cost_usd: number | null;
  /** what all sessions cost on this local day, as far as it is known */
  today_usd: number | null;
  /** time of the last refresh of the catalog: what other sessions spent since is missing */
  as_of: string | null;
  /** tokens in the context */
  context_tokens: number | null;
  /** size of the context window, if the agent says it */
  context_window: number | null;
  /** how much of the window is used, in percent */
  context_percent: number | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A store: the folder of an agent's sessions. */
export interface StoreShape {
  v: 1;
  type: "store";
  /** the format of its sessions */
  dialect: string;
  /** name of the agent */
  title: string;
  /** its folder */
  root: string;
  /** label in the settings */
  label: string | null;
  /** how many sessions `list` shows */
  sessions: number;
  /** how many sessions `list` hides */
  hidden: number;
  /** size of all logs */
  bytes: number;
  /** how well it supports each operation: `native`, `rewrites`, `note`, `no` */
  can: { [key: string]: string };
  /** problems of the store */
  warnings: StoreWarning[];
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A problem of a store. */
export interface StoreWarning {
  /** kind of problem */
  problem: string;
  /** the file; absent for `lost_soon` */
  path?: string;
  /** for `lost_soon`: how many sessions */
  sessions?: number;
  /** details, in one sentence */
  detail: string;
}

/** Generated title and summary of a session. */
export interface SummaryShape {
  v: 1;
  type: "summary";
  /** the session */
  session: string;
  /** at most 8 words */
  title: string;
  /** at most 3 sentences */
  summary: string;
  /** whether it was stored */
  kept: boolean;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A prompt in a time. */
export interface TodayPrompt {
  /** the session */
  session: string;
  /** the entry */
  entry: string;
  /** time of the prompt */
  at: string | null;
  /** its text, or the beginning of it */
  text: string;
}

/** A session of a project. */
export interface TodaySession {
  /** reference for other commands: DIALECT:ID */
  ref: string;
  /** title, else summary, else first prompt */
  name: string;
  /** the agent that wrote it */
  agent: string;
}

/** From `today`: what was done in a project since a time. */
export interface TodayShape {
  v: 1;
  type: "today";
  /** the folder, or the main checkout of its repository; `null` for sessions that name none */
  project: string | null;
  /** since when */
  since: string;
  /** before when */
  until: string;
  /** sessions with entries in that time */
  sessions: TodaySession[];
  /** the prompts in order */
  prompts: TodayPrompt[];
  /** files that tools changed */
  files: EditedFile[];
  /** commands whose last run failed */
  failures: FailureShape[];
  /** commits of the user on local branches; `null` if it is not a repository of git */
  commits: CommitShape[] | null;
  /** cost of the local days of that time, as recorded or computed from prices */
  cost_usd: number | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** Tokens of a message or of several. */
export interface TokensShape {
  /** input tokens */
  input: number | null;
  /** output tokens */
  output: number | null;
  /** tokens read from the cache */
  cache_read: number | null;
  /** tokens written to the cache, in all */
  cache_write: number | null;
  /** of these, tokens cached for one hour, if known */
  cache_write_1h: number | null;
  /** tokens of reasoning */
  reasoning: number | null;
}

/** A tool call or its result. */
export interface ToolShape {
  /** the tool */
  name: string | null;
  /** id of the call */
  call: string | null;
  /** whether it failed; `null` for a call */
  is_error: boolean | null;
}

/** A file that tools of a session read or changed. */
export interface TouchedFile {
  v: 1;
  type: "file";
  /** the session */
  session: string;
  /** the file, as the tools name it */
  path: string;
  /** how often each tool was called with it */
  tools: { [key: string]: number };
  /** the first entry that names it */
  first: string;
  /** the last entry that names it */
  last: string;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `repair`: messages that readers do not send after the repair, for one reason. */
export interface UnsentShape {
  v: 1;
  type: "unsent";
  /** the session */
  session: string;
  /** why: `no_conversation`, `reader_fails`, `not_read`, `no_content`, `same_id`, `behind_gap`, `parallel_call`, `no_result`, `no_call`, `repeated_call`, `other_branch`, `before_compaction`, `side_chain`, `client_error`, `nothing_to_send` */
  reason: string;
  /** whether the readers leave such messages out of sound sessions too */
  intended: boolean;
  /** the readers */
  readers: string[];
  /** lines of the messages */
  lines: number[];
  /** entries of the messages */
  entries: string[];
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `clean --vault`: copies that were or would be dropped from the vault. */
export interface VaultStep {
  v: 1;
  type: "step";
  /** what was or would be done */
  done: string;
  /** how many copies */
  records: number;
  /** how many files of the vault were removed; `null` in a plan */
  objects: number | null;
  /** how many bytes were freed; `null` in a plan */
  bytes: number | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** From `check`: a session that its agent will delete soon and that has no copy. */
export interface WarningShape {
  v: 1;
  type: "warning";
  /** the session, where it is about one */
  session: string | null;
  /** the file or folder */
  path: string | null;
  /** always `null` */
  line: number | null;
  /** always `null` */
  entry: string | null;
  /** kind of problem: `lost_soon` */
  problem: string;
  /** details, in one sentence */
  detail: string;
  /** always `null` */
  reachable: number | null;
  /** always `null` */
  total: number | null;
  /** how it can be repaired: `append`, `rewrite`, `fork`, `none` */
  repair: string;
  /** always `null` */
  hurts: string[] | null;
  /** the command to run next */
  next: string | null;
  /** the host that the line is of; absent for this machine */
  host?: string;
}

/** A line of JSON output, and an item of a list of the server. */
export type Line =
  | SessionShape
  | Page
  | HitShape
  | PromptShape
  | StatShape
  | IndexShape
  | StoreShape
  | PairsShape
  | ProjectShape
  | SecretShape
  | EntryShape
  | EntryRange
  | HeadsShape
  | NodeShape
  | ContextShape
  | MessageShape
  | AttachmentShape
  | CheckpointFile
  | TouchedFile
  | FormerFile
  | FileDifference
  | SummaryShape
  | ExportShape
  | ResumeLine
  | HandoffShape
  | OutlineShape
  | TodayShape
  | StatuslineShape
  | BlameShape
  | CommitBlameShape
  | ProjectFile
  | ConversionShape
  | DamageShape
  | WarningShape
  | LossShape
  | UnsentShape
  | ReceiptShape
  | RewoundShape
  | NoteShape
  | PlanStep
  | RepairStepShape
  | RepairPlanShape
  | RestoreStep
  | DeleteStep
  | ArchiveStep
  | ChangeStep
  | CleanStep
  | VaultStep
  | LockStep
  | ScrubFileStep
  | ScrubCopiesStep
  | ScrubbedStep
  | KeepStep
  | OperationShape
  | LoggedOperation
  | PurgeOp
  | KeepShape
  | KeptShape
  | MemoryShape
  | MemoryChanged
  | MemoryHit
  | MemoryProblemShape
  | ReportShape
  | SettingShape
  | DemoShape
  | ErrorShape
  | NoticeShape
  | ChangeShape
  | HealthShape
  | ServingShape
  | ProgressShape
  ;
