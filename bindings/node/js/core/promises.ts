// Open promises by number. The waiter thread answers many of them with one call.

import { decoded, errorOf, type StatedError } from "./errors.js";

interface Open {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

// The longest time that a timer can have.
const LONGEST = 2 ** 31 - 1;

/** The promises of one store. */
export class Promises {
  readonly #open = new Map<number, Open>();
  #last = 0;
  #alive: NodeJS.Timeout | undefined;

  /** Begins a call of the addon that answers with a number. */
  call<T>(begin: (number: number) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const number = this.#free();
      try {
        begin(number);
      } catch (error) {
        reject(decoded(error));
        return;
      }
      this.#open.set(number, { resolve: resolve as (value: unknown) => void, reject });
      // The addon's function does not keep the process alive, but an open append has to.
      this.#alive ??= setInterval(() => {}, LONGEST);
      this.#alive.ref();
    });
  }

  /** Answers promises: `[[number, value], [number, null, error], …]` as JSON. */
  readonly answer = (text: string): void => {
    const answers = JSON.parse(text) as [number, unknown, StatedError?][];
    for (const [number, value, error] of answers) {
      const open = this.#open.get(number);
      this.#open.delete(number);
      if (error === undefined) {
        open?.resolve(value ?? undefined);
      } else {
        open?.reject(errorOf(error));
      }
    }
    if (this.#open.size === 0) {
      this.#alive?.unref();
    }
  };

  #free(): number {
    do {
      this.#last = (this.#last + 1) >>> 0;
    } while (this.#open.has(this.#last));
    return this.#last;
  }
}
