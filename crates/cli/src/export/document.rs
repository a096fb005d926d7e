//! A session as one JSON document that holds every byte of its files.
//!
//! `{"v":1,"type":"export","ref","dialect","id","session":{…},"files":[{"key","kind","content":[…],"bytes","sha256"}],"secrets":{"removed","left","kinds"}}`:
//! the pieces of `content` in order are the file; a piece is its text, or `{"base64"}` where it is
//! not UTF-8. Memory follows the longest piece.

use boswell_model::json::Json;
use boswell_model::{Result, SessionRef};
use boswell_store::{Hasher, Resolved, Session};

use super::Redactor;
use crate::output::{Output, json_line};
use boswell_app::base64;

/// A piece is cut here where a file has no line ends.
const PIECE: usize = 1 << 20;

/// Writes the document; `watch` is shown every piece, and `last` gives what is said
/// of secrets at its end.
pub(crate) fn write(
    found: &Resolved,
    (session, hidden): (&Session, &Redactor),
    shape: &Json,
    watch: &mut dyn FnMut(&[u8]),
    last: &dyn Fn() -> Json,
    out: &mut Output,
) -> Result<()> {
    let reference = SessionRef::new(found.store.dialect().name(), &found.location.id);
    let head = Json::object()
        .with("v", 1)
        .with("type", "export")
        .with("ref", reference.to_string())
        .with("dialect", reference.dialect.as_str())
        .with("id", reference.id.as_str())
        .with("session", shape.clone());
    let head = json_line(&head);
    out.bytes(head.strip_suffix('}').unwrap_or(&head).as_bytes())?;
    out.bytes(b",\"files\":[\n")?;
    let key = found.location.key.clone().unwrap_or_default();
    let mut file = File::begin(&key, "log", out, watch)?;
    hidden.export(session, &mut |piece| file.add(piece))?;
    file.end()?;
    for side in found.store.side_files(&found.location)? {
        out.bytes(b",\n")?;
        let mut file = File::begin(&side.key, side.kind.word(), out, watch)?;
        let object = found.store.backend().open(&side.key)?;
        let mut at = 0;
        loop {
            let piece = object.read(at, PIECE as u64)?;
            if piece.is_empty() {
                break;
            }
            at += piece.len() as u64;
            file.add(&piece)?;
        }
        file.end()?;
    }
    out.bytes(format!("],\"secrets\":{}}}\n", json_line(&last())).as_bytes())
}

struct File<'o> {
    out: &'o mut Output,
    watch: &'o mut dyn FnMut(&[u8]),
    waiting: Vec<u8>,
    hasher: Hasher,
    pieces: u64,
}

impl<'o> File<'o> {
    fn begin(
        key: &str,
        kind: &str,
        out: &'o mut Output,
        watch: &'o mut dyn FnMut(&[u8]),
    ) -> Result<Self> {
        let head = json_line(&Json::object().with("key", key).with("kind", kind));
        out.bytes(head.strip_suffix('}').unwrap_or(&head).as_bytes())?;
        out.bytes(b",\"content\":[")?;
        Ok(File {
            out,
            watch,
            waiting: Vec::new(),
            hasher: Hasher::default(),
            pieces: 0,
        })
    }

    fn add(&mut self, bytes: &[u8]) -> Result<()> {
        self.hasher.add(bytes);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.waiting.extend_from_slice(line);
            if line.ends_with(b"\n") || self.waiting.len() >= PIECE {
                self.piece()?;
            }
        }
        Ok(())
    }

    fn piece(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.waiting);
        if bytes.is_empty() {
            return Ok(());
        }
        (self.watch)(&bytes);
        let piece = match std::str::from_utf8(&bytes) {
            Ok(text) => Json::from(text),
            Err(_) => Json::object().with("base64", base64::encode(&bytes)),
        };
        if self.pieces > 0 {
            self.out.bytes(b",\n")?;
        }
        self.pieces += 1;
        self.out.bytes(json_line(&piece).as_bytes())
    }

    fn end(mut self) -> Result<()> {
        self.piece()?;
        let tail = format!(
            "],\"bytes\":{},\"sha256\":\"{}\"}}",
            self.hasher.len(),
            self.hasher.finish()
        );
        self.out.bytes(tail.as_bytes())
    }
}
