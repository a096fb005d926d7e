// Files of a project or of a session, and which session wrote each line of one.

import { useState } from "preact/hooks";
import { get, type Page } from "../api";
import { changedSlowly } from "../live";
import { Agent, Empty, Failed, Icon, folder, useLoaded } from "../parts";
import type { BlameShape, BlamedLine, ProjectFile, ProjectShape, SessionShape, TouchedFile } from "../shapes";
import { href, route } from "../state";
import { ago, count, moment, w } from "../words";

/** How many lines are drawn before the user asks for more. */
const STEP = 400;

const link = (query: Record<string, string>) => `#/files?${new URLSearchParams(query)}`;
const encoded = (query: Record<string, string>) => new URLSearchParams(query).toString();

export function Files() {
  const { query } = route.value;
  const [project, file, session] = ["project", "file", "session"].map((name) => query.get(name) ?? "");
  if (project && file) return <Blame key={`${project}/${file}`} project={project} file={file} session={session} />;
  if (session) return <OfSession key={session} session={session} />;
  if (project) return <OfProject key={project} project={project} />;
  return <Projects />;
}

function Projects() {
  const found = useLoaded<Page<ProjectShape>>((signal) => get("/v1/projects", signal), [changedSlowly.value]);
  const projects = (found.value?.items ?? []).filter((it) => it.project);
  return (
    <div class="wide">
      <h1>{w("files")}</h1>
      <p class="faint">{w("filesText")}</p>
      {found.error !== null && <Failed error={found.error} />}
      {found.value && projects.length === 0 && <Empty title={w("noSessions")}>{w("noSessionsHint")}</Empty>}
      <ul class="files">
        {projects.map((it) => (
          <li>
            <a href={link({ project: it.project! })}>
              <span class="mono" dir="auto">{folder(it.project)}</span>
              <span class="faint num">{w("lostCount", count(it.sessions))} · {ago(it.last_active)}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A file in a list; without a project it is outside of it, and has no link. */
interface Listed {
  path: string;
  project: string | null;
  note: string;
}

function List({ files, session }: { files: Listed[]; session?: string }) {
  const [text, setText] = useState("");
  const shown = files.filter((it) => it.path.toLowerCase().includes(text.toLowerCase()));
  return (
    <>
      {files.length > 8 && (
        <input class="text" type="search" value={text} placeholder={w("filterFiles")} aria-label={w("filterFiles")} onInput={(event) => setText(event.currentTarget.value)} />
      )}
      <ul class="files">
        {shown.slice(0, 500).map((it) => {
          const line = <><span class="mono" dir="auto">{it.path}</span><span class="faint num">{it.note}</span></>;
          const to = it.project && link({ project: it.project, file: it.path, ...(session ? { session } : {}) });
          return <li>{to ? <a href={to}>{line}</a> : <div>{line}</div>}</li>;
        })}
      </ul>
      {shown.length > 500 && <p class="faint">{w("nOf", count(500), count(shown.length))}</p>}
    </>
  );
}

function OfProject({ project }: { project: string }) {
  const found = useLoaded<Page<ProjectFile>>((signal) => get(`/v1/files?${encoded({ project })}`, signal), [changedSlowly.value]);
  const files = (found.value?.items ?? []).map((it) => ({
    path: it.path, project, note: `${w("lostCount", count(it.sessions))} · ${ago(it.last_active)}`,
  }));
  return (
    <div class="wide">
      <Back to="#/files" />
      <h1 dir="auto">{folder(project)}</h1>
      <p class="faint">{w("filesOfProject")}</p>
      {found.error !== null && <Failed error={found.error} />}
      {found.isLoading && !found.value && <p class="empty">{w("loading")}</p>}
      {found.value && files.length === 0 && <Empty title={w("filesNone")}>{w("filesNoneHint")}</Empty>}
      {(found.value?.warnings ?? []).map((it) => <p class="faint">{it.message}</p>)}
      <List files={files} />
    </div>
  );
}

/** The path of a file below a folder; `null` if it is elsewhere. */
function below(project: string | null, path: string): string | null {
  if (!project) return null;
  if (!path.startsWith("/")) return path.replace(/^(\.\/)+/, "");
  const root = project.replace(/\/+$/, "") + "/";
  return path.startsWith(root) ? path.slice(root.length) : null;
}

function OfSession({ session }: { session: string }) {
  const path = `/v1/sessions/${encodeURIComponent(session)}`;
  const found = useLoaded<[SessionShape, Page<TouchedFile>]>(
    (signal) => Promise.all([get<SessionShape>(path, signal), get<Page<TouchedFile>>(`${path}/files`, signal)]),
    [session],
  );
  const [about, touched] = found.value ?? [null, null];
  const project = about?.project ?? null;
  const files: Listed[] = (touched?.items ?? []).filter((it) => it.type === "file").map((it) => {
    const inside = below(project, it.path);
    const tools = Object.entries(it.tools).map(([name, n]) => (n > 1 ? `${name} ×${count(n)}` : name)).join(", ");
    return { path: inside ?? it.path, project: inside === null ? null : project, note: tools };
  });
  return (
    <div class="wide">
      <Back to={href("s", session)} />
      <h1 dir="auto">{about?.name ?? session}</h1>
      <p class="faint">{w("filesOfSession")}</p>
      {found.error !== null && <Failed error={found.error} />}
      {found.value && files.length === 0 && <Empty title={w("filesNone")}>{w("filesNoneHint")}</Empty>}
      <List files={files} session={session} />
    </div>
  );
}

function Back({ to }: { to: string }) {
  return <a class="ico" href={to} aria-label={w("back")}><Icon name="back" /></a>;
}

/** Neighbouring lines that one call wrote, or that no session explains. */
interface Stretch {
  first: BlamedLine;
  lines: BlamedLine[];
}

function stretches(lines: BlamedLine[]): Stretch[] {
  const all: Stretch[] = [];
  for (const line of lines) {
    const last = all.at(-1);
    if (last && last.first.session === line.session && last.first.entry === line.entry) last.lines.push(line);
    else all.push({ first: line, lines: [line] });
  }
  return all;
}

function Blame({ project, file, session }: { project: string; file: string; session: string }) {
  const found = useLoaded<BlameShape>((signal) => get(`/v1/blame?${encoded({ project, file })}`, signal), [project, file]);
  const [most, setMost] = useState(STEP);
  const blame = found.value;
  const total = blame?.lines.length ?? 0;
  return (
    <div class="wide">
      <Back to={session ? link({ session }) : link({ project })} />
      <h1 class="path" dir="auto">{file}</h1>
      <p class="faint mono" dir="auto">{folder(project)}</p>
      {found.error !== null && <Failed error={found.error} />}
      {found.isLoading && !blame && <p class="empty">{w("loading")}</p>}
      {blame && (
        <>
          <Sessions blame={blame} />
          <table class="blame">
            <caption class="vh">{w("whoWrote")}</caption>
            <thead>
              <tr><th scope="col">{w("wroteIt")}</th><th scope="col">{w("lineNumber")}</th><th scope="col">{w("lineText")}</th></tr>
            </thead>
            <tbody>
              {stretches(blame.lines.slice(0, most)).map((it) => <Lines stretch={it} blame={blame} />)}
            </tbody>
          </table>
          {total > most && <button class="btn more" onClick={() => setMost(most + STEP)}>{w("more")} · {count(total - most)}</button>}
        </>
      )}
    </div>
  );
}

function Sessions({ blame }: { blame: BlameShape }) {
  return (
    <ul class="wrote">
      {blame.sessions.map((it) => (
        <li>
          <a href={href("s", it.session)}>
            <Agent dialect={it.session.split(":")[0]} />
            <span dir="auto">{it.name.slice(0, 160)}</span>
            <span class="num">{w("wroteLines", count(it.lines))}</span>
          </a>
        </li>
      ))}
      <li class="faint">{w("unexplainedOf", count(blame.unexplained), count(blame.lines.length))}</li>
    </ul>
  );
}

function Lines({ stretch, blame }: { stretch: Stretch; blame: BlameShape }) {
  return (
    <>
      {stretch.lines.map((line, n) => (
        <tr class={n === 0 ? "first" : undefined}>
          {n === 0 && <td class="by" rowSpan={stretch.lines.length}><Who line={line} blame={blame} /></td>}
          <td class="n num">{line.line}</td>
          <td class="t"><code dir="auto">{line.text || " "}</code></td>
        </tr>
      ))}
    </>
  );
}

/** The call that wrote a line, and the prompt before it. */
function Who({ line, blame }: { line: BlamedLine; blame: BlameShape }) {
  if (!line.session || !line.entry) return <span class="none">{w("unexplained")}</span>;
  const prompt = blame.prompts.find((it) => it.session === line.session && it.entry === line.prompt);
  return (
    <>
      <a href={href("s", line.session, line.entry)} title={moment(line.when)}>
        <Agent dialect={line.session.split(":")[0]} />
        <span>{ago(line.when)}</span>
      </a>
      {prompt && <a class="asked" href={href("s", line.session, prompt.entry)} dir="auto">{prompt.text.slice(0, 140)}</a>}
    </>
  );
}
