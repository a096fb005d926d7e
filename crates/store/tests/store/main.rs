//! Tests of the public API of `boswell-store`. One test program, so that it is linked once.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[cfg(feature = "tokio")]
mod async_writer;
mod attachments;
mod blobs;
mod checkpoint;
mod conformance;
mod counting;
mod disk_crash;
mod disk_findings;
mod disk_home;
#[cfg(target_os = "linux")]
mod disk_same_as_real;
mod disk_writer;
mod erase;
mod examples;
mod failed_sync_log;
mod failed_syncs;
mod front;
mod hammer;
mod import_limits;
mod import_side_files;
#[cfg(target_os = "linux")]
mod live_agents;
mod memory;
mod myagents;
mod native_blobs;
mod native_pi;
mod pi_family;
mod pi_lines;
mod picture;
mod plans;
mod prompts;
mod reader_losses;
mod reading;
mod repair;
mod repaired_files;
mod shared_syncs;
mod shared_writer;
mod writer_bad_input;
mod writer_crash;
#[cfg(unix)]
mod writer_processes;
mod writer_properties;
mod writer_races;
#[cfg(target_os = "linux")]
mod writer_strace;
