//! The vault: copies of session files under the hash of their content (content-addressed storage),
//! each with a reason and its origin.
//!
//! * `vault/objects/` contains the copies (FORMAT.md describes their form).
//! * `vault/log.jsonl` has one record per reason to keep a copy.
//! * `vault/kept.jsonl` has one record per state of a file that is kept as it grows.
//! * `vault/inodes/` contains hard links to files that were replaced while a program may have had
//!   them open.
//!
//! Copies are verified on every read. Several records can refer to one copy; it is removed when the
//! last of them is. An object is durable before the record that names it. It is removed before that
//! record, so that after a crash the record still shows what has to be removed.

mod chunked_copies;
mod copies;
mod keep_batch;
pub(crate) mod keep_policy;
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
