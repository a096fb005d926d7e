// The change that a call makes to a file, line by line.

import type { Json } from "./shapes";

interface Line {
  mark: " " | "+" | "-" | "@";
  text: string;
}

export interface FileDiff {
  path: string;
  lines: Line[];
  added: number;
  removed: number;
}

/** Lines that two texts share at both ends stay; what is between was replaced. */
function replaced(before: string, after: string): Line[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const line = (mark: Line["mark"]) => (text: string): Line => ({ mark, text });
  return [
    ...a.slice(Math.max(0, start - 3), start).map(line(" ")),
    ...a.slice(start, a.length - end).map(line("-")),
    ...b.slice(start, b.length - end).map(line("+")),
    ...a.slice(a.length - end, a.length - end + 3).map(line(" ")),
  ];
}

const text = (value: Json | undefined) => (typeof value === "string" ? value : null);

function patch(body: string): Line[] {
  return body.split("\n").map((line) => {
    if (/^(@@|\*\*\*|diff |index |--- |\+\+\+ )/.test(line)) return { mark: "@", text: line };
    const mark = line[0] === "+" || line[0] === "-" ? line[0] : " ";
    return { mark, text: line.slice(mark === " " && line[0] !== " " ? 0 : 1) };
  });
}

/** The change of a call, if it edits a file. */
export function diffOf(part: { name?: string; input?: Json }): FileDiff | null {
  const input = part.input;
  if (typeof input !== "object" || input === null || Array.isArray(input)) return null;
  const it = input as { [key: string]: Json };
  const path = text(it.file_path) ?? text(it.path) ?? "";
  const before = text(it.old_string) ?? text(it.oldText) ?? text(it.old_str);
  const after = text(it.new_string) ?? text(it.newText) ?? text(it.new_str);
  let lines: Line[] | null = null;
  if (before !== null && after !== null) lines = replaced(before, after);
  else if (Array.isArray(it.edits)) {
    lines = it.edits.flatMap((edit) => {
      const one = edit as { [key: string]: Json };
      const [a, b] = [text(one.old_string) ?? text(one.oldText), text(one.new_string) ?? text(one.newText)];
      return a !== null && b !== null ? [...replaced(a, b), { mark: "@", text: "…" } as Line] : [];
    });
  } else if (path && text(it.content) !== null && /write|create/i.test(part.name ?? "")) {
    lines = text(it.content)!.split("\n").map((line) => ({ mark: "+", text: line }));
  } else if (/patch/i.test(part.name ?? "") && (text(it.input) ?? text(it.patch))) {
    lines = patch((text(it.input) ?? text(it.patch))!);
  }
  if (!lines || lines.length === 0) return null;
  const marked = (mark: string) => lines!.filter((line) => line.mark === mark).length;
  return { path, lines, added: marked("+"), removed: marked("-") };
}

const MOST = 400;

export function Diff({ diff }: { diff: FileDiff }) {
  return (
    <div class="diff" tabIndex={0} role="group" aria-label={diff.path}>
      {diff.path && <div class="h">{diff.path}</div>}
      {diff.lines.slice(0, MOST).map((line) =>
        line.mark === "@" ? (
          <div class="h">{line.text}</div>
        ) : (
          <div class={line.mark === "+" ? "a" : line.mark === "-" ? "d" : ""}>
            <i>{line.mark === " " ? "" : line.mark}</i>
            <span>{line.text}</span>
          </div>
        ),
      )}
      {diff.lines.length > MOST && <div class="h">… {diff.lines.length - MOST}</div>}
    </div>
  );
}
