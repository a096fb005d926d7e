// Questions of the page, in its own dialog: a text, or yes.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { w } from "./words";

interface Question {
  title: string;
  text?: string;
  /** The text that is edited; without it the answer is yes. */
  value?: string;
  action: string;
  answer: (value: string | null) => void;
}

export const question = signal<Question | null>(null);

/** Asks for a text; `null` if the user does not want to give one. */
export function askText(title: string, value: string, action: string): Promise<string | null> {
  return new Promise((answer) => (question.value = { title, value, action, answer }));
}

export async function askYes(title: string, text: string, action: string): Promise<boolean> {
  const answer = await new Promise<string | null>((answer) => (question.value = { title, text, action, answer }));
  return answer !== null;
}

export function Dialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const it = question.value;
  useEffect(() => {
    if (it) dialog.current?.showModal();
  }, [it]);
  if (!it) return null;
  const end = (value: string | null) => {
    question.value = null;
    it.answer(value);
  };
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={() => end(null)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const field = event.currentTarget.elements.namedItem("value") as HTMLInputElement | null;
          end(field ? field.value : "yes");
        }}
      >
        <h2 id="question">{it.title}</h2>
        {it.text && <p>{it.text}</p>}
        {it.value !== undefined && <input class="text" name="value" aria-labelledby="question" value={it.value} autocomplete="off" />}
        <div class="acts">
          <button class="btn main">{it.action}</button>
          <button class="btn" type="button" onClick={() => end(null)}>{w("cancel")}</button>
        </div>
      </form>
    </dialog>
  );
}
