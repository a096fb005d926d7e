//! Why a copy is kept, and where it came from.

use std::path::PathBuf;

use boswell_model::json::{Json, Raw};
use boswell_model::{Instant, SessionRef};

use crate::sha256::Digest;

/// Why a copy is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The user wants copies of what changes.
    Kept,
    /// It was deleted.
    Deleted,
    /// It was archived.
    Archived,
    /// It was about to be changed.
    Before,
    /// Nothing is kept: the change was made so that nothing is left of what was before.
    Erased,
}

impl Reason {
    /// Its word on disk and in output.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Kept => "kept",
            Reason::Deleted => "deleted",
            Reason::Archived => "archived",
            Reason::Before => "before",
            Reason::Erased => "erased",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let all = [
            Reason::Kept,
            Reason::Deleted,
            Reason::Archived,
            Reason::Before,
            Reason::Erased,
        ];
        all.into_iter().find(|reason| reason.word() == word)
    }
}

/// One reason to keep a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultRecord {
    /// The operation that it was made for.
    pub op: Option<String>,
    /// Why it is kept.
    pub reason: Reason,
    /// The session that it belongs to.
    pub session: SessionRef,
    /// Root of the store that it came from.
    pub root: PathBuf,
    /// Its key there.
    pub key: String,
    /// What it holds.
    pub sha256: Digest,
    /// Its length.
    pub len: u64,
    /// Its permission bits.
    pub mode: u32,
    /// Nanoseconds since 1970 of its last change.
    pub modified: i64,
    /// When the copy was made.
    pub at: Instant,
    /// Where in the file the copy belongs, if it is the end of the file only.
    pub from: Option<u64>,
    /// The second name of the file itself, if it got one.
    pub inode: Option<String>,
    /// Whether the file follows from others, such as an index: it is made anew, never put back.
    pub derived: bool,
}

impl VaultRecord {
    pub(super) fn to_json(&self) -> Json {
        Json::object()
            .with_some("op", self.op.as_deref())
            .with("reason", self.reason.word())
            .with("ref", self.session.to_string())
            .with("dialect", self.session.dialect.as_str())
            .with("root", self.root.to_string_lossy())
            .with("key", self.key.as_str())
            .with("sha256", self.sha256.to_string())
            .with("len", self.len)
            .with("mode", self.mode)
            .with("mtime", self.modified)
            .with("at", self.at.to_rfc3339())
            .with_some("from", self.from)
            .with_some("inode", self.inode.as_deref())
            .with_some("derived", self.derived.then_some(true))
    }

    pub(super) fn from_json(raw: Raw<'_>) -> Option<Self> {
        let text = |key: &str| raw.get(key)?.text().map(std::borrow::Cow::into_owned);
        Some(VaultRecord {
            op: text("op"),
            reason: Reason::from_word(&text("reason")?)?,
            session: session_ref(&text("ref")?)?,
            root: text("root")?.into(),
            key: text("key")?,
            sha256: Digest::parse(&text("sha256")?)?,
            len: raw.get("len")?.u64()?,
            mode: u32::try_from(raw.get("mode")?.u64()?).ok()?,
            modified: raw.get("mtime")?.i64()?,
            at: Instant::parse(&text("at")?)?,
            from: raw.get("from").and_then(|from| from.u64()),
            inode: text("inode").filter(|name| is_file_name(name)),
            derived: raw
                .get("derived")
                .and_then(|derived| derived.bool())
                .unwrap_or(false),
        })
    }
}

/// A name in our own folders: what a damaged log says must not lead elsewhere.
fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0', ':'])
}

/// Whether a line that cannot be read names one of these sessions.
pub(crate) fn names_one(line: &[u8], sessions: &[SessionRef]) -> bool {
    sessions
        .iter()
        .any(|session| memchr::memmem::find(line, session.to_string().as_bytes()).is_some())
}

/// Reads `DIALECT:ID`.
pub(crate) fn session_ref(text: &str) -> Option<SessionRef> {
    text.split_once(':')
        .map(|(dialect, id)| SessionRef::new(dialect, id))
}
