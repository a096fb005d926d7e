//! The newer transcripts of MyAgents: a log of operations in `sessions-v2/ID.jsonl`.
//!
//! The first line is a header, each further line a batch of operations with its checksum. The
//! conversation is what the operations leave ([`fold`]), and it is handed on as the rows of the
//! older format ([`document`]). Nothing behind the first bad line counts, as in the app.

mod check;
mod document;
mod fold;
mod frame;
mod members;
mod operation;
mod state;
mod text;
mod transcript_format;

use boswell_model::json::Object;

pub(crate) use check::{header_view, problems, refused, shortfall};
pub(crate) use document::document;
pub(crate) use fold::{Folded, Tail, fold};
pub(crate) use frame::batch_line;
pub(crate) use transcript_format::{TranscriptFiles, TranscriptFormat};

/// The folder of these transcripts.
pub(crate) const FOLDER: &str = "sessions-v2";
/// The `kind` of the header, and of the first record that the fold hands on.
pub(crate) const KIND: &str = "session-transcript";

/// Whether a record is the header of a log, or the one about a folded log.
pub(crate) fn is_header(object: &Object<'_>) -> bool {
    object.get("kind").is_some_and(|kind| kind.is(KIND)) && object.get("version").is_some()
}

/// Whether a file begins like a log that the app wrote.
pub(crate) fn begins_log(first: &[u8]) -> bool {
    first.starts_with(br#"{"kind":"session-transcript","#)
}

/// Returns the key of a session's transcript.
pub(crate) fn key_of(id: &str) -> String {
    format!("{FOLDER}/{id}.jsonl")
}

/// Returns the session of the transcript at a key, if that is one in its folder.
pub(crate) fn session_of(key: &str) -> Option<&str> {
    key.strip_prefix(FOLDER)?
        .strip_prefix('/')?
        .strip_suffix(".jsonl")
}

#[cfg(test)]
mod tests;
