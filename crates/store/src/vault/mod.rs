//! The vault: copies of session files under the hash of their content, each with a reason
//! and where it came from.
//!
//! `vault/objects/` holds the copies (FORMAT.md has their form), `vault/log.jsonl` one record per
//! reason why a copy is kept, `vault/kept.jsonl` one per state of a file that is kept as it grows,
//! `vault/inodes/` second names of files that were replaced while a program may have had them
//! open. Copies are verified whenever they are read. Several records may speak of one copy; it
//! goes when none does any more.

mod chunked_copies;
mod copies;
mod object;
mod record;
mod replaced_files;
mod retention;
mod rewrite;

pub use chunked_copies::{ChunkedCopies, ChunkedCopy, Keeping};
pub(crate) use copies::Copied;
pub use copies::Vault;
pub use record::{Reason, VaultRecord};
pub(crate) use record::{names_one, session_ref};
pub(crate) use replaced_files::FailedSyncCopy;
pub(crate) use retention::Theirs;
pub use retention::{Expired, Purged, Retention};

pub use crate::sha256::{Digest, Hasher};
pub(crate) use rewrite::{Replaced, RewrittenCopy};
