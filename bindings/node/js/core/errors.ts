// Errors by kind. The kind says what a caller can do about it, the hint says how.

/** What an error may state besides its message. */
export interface ErrorDetails {
  reason?: string;
  hint?: string;
  expected?: string;
  actual?: string;
  inDoubt?: string[];
  holderPid?: number;
}

/** What happened to which object, why, and what to do next. */
export class BoswellError extends Error {
  readonly kind: string = "Internal";
  /** Why it happened. */
  readonly reason: string | undefined;
  /** What to do next. */
  readonly hint: string | undefined;
  /** Of a conflict: the revision or leaf that was expected. */
  readonly expected: string | undefined;
  /** Of a conflict: the revision or leaf that was found. */
  readonly actual: string | undefined;
  /** Of a failed write: the entries of which it is unknown whether they survive. */
  readonly inDoubt: string[];
  /** Of a session that is being written: the process that writes it. */
  readonly holderPid: number | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message);
    this.name = new.target.name;
    this.reason = details.reason;
    this.hint = details.hint;
    this.expected = details.expected;
    this.actual = details.actual;
    this.inDoubt = details.inDoubt ?? [];
    this.holderPid = details.holderPid;
  }

  override toString(): string {
    const because = this.reason === undefined ? "" : `\n  because ${this.reason}`;
    const hint = this.hint === undefined ? "" : `\nhint: ${this.hint}`;
    return `${this.name}: ${this.message}${because}${hint}`;
  }
}

/** The session, entry or blob does not exist. */
export class NotFound extends BoswellError {
  override readonly kind = "NotFound";
}

/** Another process holds the lease; a retry may succeed. */
export class Busy extends BoswellError {
  override readonly kind = "Busy";
}

/** The session is not in the expected state, or the id is taken by other content. */
export class Conflict extends BoswellError {
  override readonly kind = "Conflict";
}

/** The request is not valid. */
export class Invalid extends BoswellError {
  override readonly kind = "Invalid";
}

/** The format cannot hold it. */
export class Unsupported extends BoswellError {
  override readonly kind = "Unsupported";
}

/** The operating system denies access. */
export class Denied extends BoswellError {
  override readonly kind = "Denied";
}

/** The data that is needed is damaged. */
export class Damaged extends BoswellError {
  override readonly kind = "Damaged";
}

/** The data was written by a newer version. */
export class TooNew extends BoswellError {
  override readonly kind = "TooNew";
}

/** The disk is full. */
export class NoSpace extends BoswellError {
  override readonly kind = "NoSpace";
}

/** The storage cannot be reached; a retry may succeed. */
export class Unavailable extends BoswellError {
  override readonly kind = "Unavailable";
}

/** A bug. */
export class Internal extends BoswellError {
  override readonly kind = "Internal";
}

const CLASSES: Record<string, new (message: string, details?: ErrorDetails) => BoswellError> = {
  NotFound,
  Busy,
  Conflict,
  Invalid,
  Unsupported,
  Denied,
  Damaged,
  TooNew,
  NoSpace,
  Unavailable,
  Internal,
};

/** What the addon states of an error. */
export interface StatedError extends ErrorDetails {
  kind: string;
  message: string;
}

/** The error of what the addon stated. */
export function errorOf(stated: StatedError): BoswellError {
  return new (CLASSES[stated.kind] ?? Internal)(stated.message, stated);
}

/** The error of an exception of the addon: its text is what it states. Others stay as they are. */
export function decoded(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith("{")) {
    return error;
  }
  try {
    return errorOf(JSON.parse(error.message) as StatedError);
  } catch {
    return error;
  }
}

/** Waits for a call of the addon. */
export async function settled<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw decoded(error);
  }
}
