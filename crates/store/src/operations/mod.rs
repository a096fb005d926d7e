//! Work on recorded operations: list, undo, delete, restore, purge and scrub.

mod agent_cleanup;
mod archived;
mod erase;
mod list;
mod overlay;
mod purge;
mod rebuild_derived;
mod restore_from_vault;
mod restore_kept;
mod scrub;
mod undo;

pub use agent_cleanup::RestoredOperation;
pub use erase::ErasedSubject;
pub use list::{LateLines, ListedOperation};
pub use purge::Purging;
pub use scrub::{CopyChange, Scrubbed, Scrubbing};

pub use crate::agents::leftovers::{Leftovers, StaleLock};
pub use crate::conversion::{Conversion, ConversionRequest, ConversionScope, PlannedImport};
pub use crate::import::{ImportLimits, Imported, LeftBehind};
pub use crate::journal::{DamagedLine, LineChange};
pub use crate::runner::execute::Executed;
pub use crate::runner::{
    FileChange, FileFacts, Operation, Recovered, RecoveryOutcome, Runner, Watcher,
};
pub use crate::vault::keep_policy::{KeepProgress, KeepRun, KeepWhich, is_secret};
