//! The calls that a hook decides about.

use std::path::Path;

use boswell_store::disk::OpenMode;

/// One call to a disk, or to a file that was opened at `path`.
#[derive(Debug, Clone, Copy)]
#[expect(
    missing_docs,
    reason = "the calls are documented at `Disk` and `DiskFile`"
)]
pub enum DiskCall<'c> {
    Open {
        path: &'c Path,
        how: OpenMode,
    },
    Stat {
        path: &'c Path,
    },
    List {
        path: &'c Path,
    },
    MakeFolder {
        path: &'c Path,
    },
    Rename {
        from: &'c Path,
        to: &'c Path,
    },
    Link {
        from: &'c Path,
        to: &'c Path,
    },
    Remove {
        path: &'c Path,
    },
    RemoveFolder {
        path: &'c Path,
    },
    SyncFolder {
        path: &'c Path,
    },
    WriteAgain {
        path: &'c Path,
        bytes: &'c [u8],
        at: u64,
    },
    FileStat {
        path: &'c Path,
    },
    Read {
        path: &'c Path,
        at: u64,
        len: usize,
    },
    Append {
        path: &'c Path,
        bytes: &'c [u8],
    },
    Truncate {
        path: &'c Path,
        len: u64,
    },
    Sync {
        path: &'c Path,
    },
    SetModeAndTime {
        path: &'c Path,
    },
    TryLock {
        path: &'c Path,
    },
    Unlock {
        path: &'c Path,
    },
}

impl<'c> DiskCall<'c> {
    /// Returns the path that is read or changed; for a rename or a link the new name.
    pub fn path(&self) -> &'c Path {
        match *self {
            DiskCall::Open { path, .. }
            | DiskCall::Stat { path }
            | DiskCall::List { path }
            | DiskCall::MakeFolder { path }
            | DiskCall::Rename { to: path, .. }
            | DiskCall::Link { to: path, .. }
            | DiskCall::Remove { path }
            | DiskCall::RemoveFolder { path }
            | DiskCall::SyncFolder { path }
            | DiskCall::WriteAgain { path, .. }
            | DiskCall::FileStat { path }
            | DiskCall::Read { path, .. }
            | DiskCall::Append { path, .. }
            | DiskCall::Truncate { path, .. }
            | DiskCall::Sync { path }
            | DiskCall::SetModeAndTime { path }
            | DiskCall::TryLock { path }
            | DiskCall::Unlock { path } => path,
        }
    }

    /// Whether the call changes or syncs something. Opening a lock may create its file.
    pub fn changes(&self) -> bool {
        match self {
            DiskCall::Open { how, .. } => matches!(how, OpenMode::CreateNew | OpenMode::Lock),
            DiskCall::Stat { .. }
            | DiskCall::List { .. }
            | DiskCall::FileStat { .. }
            | DiskCall::Read { .. }
            | DiskCall::TryLock { .. }
            | DiskCall::Unlock { .. } => false,
            _ => true,
        }
    }

    /// Whether the call makes data or names durable.
    pub fn syncs(&self) -> bool {
        matches!(self, DiskCall::Sync { .. } | DiskCall::SyncFolder { .. })
    }
}
