//! A session as one JSON document that contains every byte of its files.
//!
//! It is written while the files are read: memory is bounded by the longest piece.

use boswell_find::SecretCount;
use boswell_model::json::Json;
use boswell_model::{Result, SessionRef};
use boswell_store::Session;
use boswell_store::backend::ObjectReader;
use boswell_store::store::Resolved;
use boswell_store::vault::Hasher;

use super::Redactor;
use super::output::ExportOutput;
use super::secret_watch::SecretWatch;
use crate::base64;
use crate::shape::{self, Map, SessionShape, Shape as _, shape};
use crate::text::json_line;

shape! {
    /// A session as one document that contains every byte of its files.
    ExportShape: "export" {
        /// the session: DIALECT:ID
        reference as "ref": String,
        /// the format of its store
        dialect: String,
        /// the agent's id of the session
        id: String,
        /// the session as `list` shows it
        session: SessionShape,
        /// its log, then the files that belong to it
        files: Vec<ExportedFile>,
        /// keys and passwords that were removed, and those that are left in
        secrets: ExportedSecrets,
    }

    /// A file of an export.
    ExportedFile {
        /// its path below the store's folder
        key: String,
        /// `log`, or the kind of side file
        kind: String,
        /// its parts in order: a string, or `{"base64"}` where the bytes are not UTF-8
        content: Vec<Json>,
        /// size in bytes
        bytes: u64,
        /// SHA-256 of the content
        sha256: String,
    }

    /// Keys and passwords of an export.
    ExportedSecrets {
        /// how many were removed
        removed: u64,
        /// how many are left in
        left: u64,
        /// how many are left in, by kind
        kinds: Map<u64>,
    }
}

/// Length at which a file without line ends is split.
const PIECE: usize = 1 << 20;

fn copy(object: &dyn ObjectReader, mut file: File<'_, '_>) -> Result<()> {
    let mut at = 0;
    loop {
        let piece = object.read(at, PIECE as u64)?;
        if piece.is_empty() {
            return file.end();
        }
        at += piece.len() as u64;
        file.add(&piece)?;
    }
}

/// Writes the document; every piece is passed to `watch`.
pub(super) fn write(
    found: &Resolved,
    (session, hidden): (&Session, &Redactor),
    watch: &mut SecretWatch,
    out: &mut ExportOutput<'_>,
) -> Result<()> {
    let reference = SessionRef::new(found.store.dialect().name(), &found.location.id);
    let summary = found.store.summary(&found.location)?;
    let document = ExportShape {
        reference: reference.to_string(),
        dialect: reference.dialect,
        id: reference.id,
        session: shape::session(&summary, Some(&found.store)),
        files: Vec::new(),
        secrets: secrets(&hidden.count(), &SecretCount::default()),
    };
    out.bytes(up_to("files", document.object()).as_bytes())?;
    out.bytes(b"\n")?;
    let key = found.location.key.clone().unwrap_or_default();
    let mut file = File::begin(&key, "log", out, watch)?;
    hidden.export(session, &mut |piece| file.add(piece))?;
    file.end()?;
    for side in found.store.side_files(&found.location)? {
        if out.is_cancelled() {
            return Ok(());
        }
        out.bytes(b",\n")?;
        let file = File::begin(&side.key, side.kind.word(), out, watch)?;
        copy(found.store.backend().open(&side.key)?.as_ref(), file)?;
    }
    let last = secrets(&hidden.count(), &watch.count).object();
    out.bytes(format!("],\"secrets\":{}}}\n", json_line(&last)).as_bytes())
}

/// Returns the beginning of an object, up to the opening bracket of a list in it that is written
/// piece by piece.
fn up_to(list: &str, object: Json) -> String {
    let Json::Object(mut members) = object else {
        return String::new();
    };
    let at = members.iter().position(|(name, _)| name == list);
    members.truncate(at.unwrap_or(members.len()));
    let head = json_line(&Json::Object(members));
    let head = head.strip_suffix('}').unwrap_or(&head);
    format!("{head},\"{list}\":[")
}

/// Returns the remark about secrets that are redacted, and that the document contains.
fn secrets(removed: &SecretCount, left: &SecretCount) -> ExportedSecrets {
    let kinds = left.kinds();
    ExportedSecrets {
        removed: removed.total() as u64,
        left: left.total() as u64,
        kinds: kinds
            .map(|(kind, count)| (kind.to_owned(), count as u64))
            .collect(),
    }
}

struct File<'o, 's> {
    out: &'o mut ExportOutput<'s>,
    watch: &'o mut SecretWatch,
    waiting: Vec<u8>,
    hasher: Hasher,
    pieces: u64,
}

impl<'o, 's> File<'o, 's> {
    fn begin(
        key: &str,
        kind: &str,
        out: &'o mut ExportOutput<'s>,
        watch: &'o mut SecretWatch,
    ) -> Result<Self> {
        let file = ExportedFile {
            key: key.to_owned(),
            kind: kind.to_owned(),
            content: Vec::new(),
            bytes: 0,
            sha256: String::new(),
        };
        out.bytes(up_to("content", file.object()).as_bytes())?;
        Ok(File {
            out,
            watch,
            waiting: Vec::new(),
            hasher: Hasher::default(),
            pieces: 0,
        })
    }

    fn add(&mut self, bytes: &[u8]) -> Result<()> {
        if self.out.is_cancelled() {
            return Ok(());
        }
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
        self.watch.look(&bytes);
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
