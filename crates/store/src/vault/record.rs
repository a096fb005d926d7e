//! [`VaultRecord`]: why a copy is kept, and where it came from.

use std::path::PathBuf;

use boswell_model::json::{Json, Raw};
use boswell_model::{Instant, SessionRef};

use crate::sha256::Digest;

/// Why a copy is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The user keeps copies of files as they change.
    Kept,
    /// The file was deleted.
    Deleted,
    /// The file was archived.
    Archived,
    /// The file was about to be changed.
    Before,
    /// Nothing is kept: the change was made to leave nothing of the old content.
    Erased,
}

impl Reason {
    /// Returns the word for this reason on disk and in output.
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
    /// Id of the operation that the copy was made for.
    pub op: Option<String>,
    /// Why the copy is kept.
    pub reason: Reason,
    /// The session that the file belongs to.
    pub session: SessionRef,
    /// Root of the store that the file came from.
    pub root: PathBuf,
    /// Key of the file in that store.
    pub key: String,
    /// SHA-256 of the copied bytes.
    pub sha256: Digest,
    /// Length of the copied bytes.
    pub len: u64,
    /// Permission bits of the file.
    pub mode: u32,
    /// Modification time of the file in nanoseconds since 1970.
    pub modified: i64,
    /// When the copy was made.
    pub at: Instant,
    /// Offset of the copied bytes, if only the end of the file was copied.
    pub from: Option<u64>,
    /// Name of the hard link to the file itself in `vault/inodes/`, if it has one.
    pub inode: Option<String>,
    /// Whether the file can be rebuilt from others, such as an index: it is rebuilt, never put
    /// back.
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

/// Returns whether `name` is a plain file name: a damaged log must not lead to other folders.
fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0', ':'])
}

/// Returns whether an unreadable line contains the reference of one of these sessions.
pub(crate) fn names_one(line: &[u8], sessions: &[SessionRef]) -> bool {
    sessions
        .iter()
        .any(|session| memchr::memmem::find(line, session.to_string().as_bytes()).is_some())
}

/// Parses `DIALECT:ID`.
pub(crate) fn session_ref(text: &str) -> Option<SessionRef> {
    text.split_once(':')
        .map(|(dialect, id)| SessionRef::new(dialect, id))
}
