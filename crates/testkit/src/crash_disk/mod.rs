//! A disk in memory that loses data which was not synced.
//!
//! Of every file it keeps the written bytes, the length and the mode apart, and of every folder
//! each change of a name, as facts that are unsynced until a sync covers them. At a crash any
//! of them may be lost while a later one is kept, as on a real machine: a file as long as it
//! should be but full of NULs, a name whose file is empty, an old name that came back. What was
//! synced always stays: [`DiskFile::sync`](boswell_store::disk::DiskFile::sync) covers bytes
//! and length of its file but not the name,
//! [`Disk::sync_folder`](boswell_store::disk::Disk::sync_folder) covers names.
//!
//! It is stricter than most file systems, on purpose: a rename from one folder to another is
//! durable only when both were synced, and changes in one folder may be kept in any order, save
//! that a rename keeps the file under exactly one of its two names. It knows no symbolic links and
//! no permissions beyond storing the mode.
//!
//! [`CrashDisk`] counts the calls that change or sync something, and can die at any of them;
//! [`everywhere`] runs an act once for each of them, in every flavour of crash.

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
