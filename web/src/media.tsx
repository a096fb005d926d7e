// Pictures and files inside entries. Only pictures without scripts are shown; the rest is a download.

import { useEffect, useState } from "preact/hooks";
import { ask, download } from "./api";
import { Icon } from "./parts";
import type { EntryShape } from "./shapes";
import { bytes, w } from "./words";

export interface MediaPart {
  type: string;
  mime?: string | null;
  bytes?: number;
  reference?: string | null;
}

export interface Media {
  entry: EntryShape;
  part: MediaPart;
  /** Its number among the pictures and files of the entry. */
  number: number;
}

const SHOWN = /^image\/(?:png|jpeg|jpg|gif|webp)$/i;
/** What is larger is loaded on request. */
const LARGEST = 4_000_000;

export function mediaOf(entry: EntryShape): Media[] {
  const parts = entry.content as unknown as MediaPart[];
  return parts.filter((part) => part.type === "media").map((part, number) => ({ entry, part, number }));
}

export function Pictures({ all }: { all: Media[] }) {
  return (
    <>
      {all.map((media) => (
        <Picture media={media} />
      ))}
    </>
  );
}

function Picture({ media: { entry, part, number } }: { media: Media }) {
  const path = `/v1/sessions/${encodeURIComponent(entry.session)}/entries/${encodeURIComponent(entry.id ?? "")}/media/${number}`;
  const isShown = SHOWN.test(part.mime ?? "");
  const [isWanted, setWanted] = useState(isShown && (part.bytes ?? 0) < LARGEST);
  const [url, setUrl] = useState<string | null>(null);
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    if (!isWanted) return;
    const stop = new AbortController();
    let made: string | null = null;
    void ask(path, { signal: stop.signal })
      .then((answer) => answer.blob())
      .then((blob) => {
        if (stop.signal.aborted) return;
        // The server names the type by the first bytes, whatever the session says.
        if (!SHOWN.test(blob.type)) return setMissing(true);
        made = URL.createObjectURL(blob);
        setUrl(made);
      })
      .catch(() => !stop.signal.aborted && setMissing(true));
    return () => {
      stop.abort();
      if (made) URL.revokeObjectURL(made);
    };
  }, [path, isWanted]);
  const name = part.reference ?? part.mime ?? "";
  const label = `${w("picture")} ${name}`.trim();
  if (url) return <img class="pic" src={url} alt={label} />;
  return (
    <div class="file">
      <Icon name="tag" />
      <span dir="auto">{label}</span>
      {part.bytes !== undefined && part.bytes !== null && <span class="num">{bytes(part.bytes)}</span>}
      {isMissing ? (
        <span class="faint">{w("notShown")}</span>
      ) : isShown ? (
        !isWanted && <button class="btn" onClick={() => setWanted(true)}>{w("showPicture")}</button>
      ) : (
        <button class="btn" onClick={() => void download(path)}>{w("download")}</button>
      )}
    </div>
  );
}
