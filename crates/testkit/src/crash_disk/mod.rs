//! A disk in memory that loses unsynced data at a crash.
//!
//! For every file it records the written bytes, the length and the mode separately, and for every
//! folder each change of a name, as changes that are unsynced until a sync covers them. At a crash
//! any of them may be lost while a later one survives, as on a real machine: a file of the right
//! length that is full of NULs, a name whose file is empty, an old name that exists again. Synced
//! data always survives: [`DiskFile::sync`](boswell_store::disk::DiskFile::sync) covers bytes and
//! length of its file but not the name,
//! [`Disk::sync_folder`](boswell_store::disk::Disk::sync_folder) covers names.
//!
//! It is stricter than most file systems, on purpose: a rename from one folder to another is
//! durable only when both were synced, and changes in one folder may survive in any order, except
//! that a rename leaves the file under exactly one of its two names. It has no symbolic links and
//! no permissions beyond storing the mode.
//!
//! [`CrashDisk`] counts the calls that change or sync something, and can crash at any of them;
//! [`everywhere`] runs an action once for each of them, with every kind of crash.

mod calls;
mod disk;
mod everywhere;
mod file;
mod names;
mod node;
mod state;
mod switches;
#[cfg(test)]
mod tests;

pub use disk::{CrashDisk, Keep};
pub use everywhere::{Crash, everywhere};
