//! Generators, damage and proofs for boswell's own tests; never published.
//!
//! Everything here is deterministic per seed: the same call gives the same bytes on every machine.
//! The generators write what the agents write, down to key order and file names, so that a test
//! never needs a real home folder. The generators and the oracle do not read sessions the way
//! boswell does: a test that compares the two would otherwise compare a thing with itself.
//!
//! * [`make`] builds session files of each dialect; [`home`] plants all of them below one folder.
//! * [`damage`] breaks a log in one named way and keeps every other byte.
//! * [`crash_disk`] is a disk in memory that loses data which was not synced; [`fault_disk`] one
//!   that does less than it is asked, and counts; [`hooked_disk`] asks a hook of the test before
//!   every call; [`oracle`] knows what was acknowledged; [`ids`] gives time and ids from a seed.
//! * [`credential`] makes keys and passwords of every kind, and texts around them.
//! * `faults` injects faults into the real program with a preloaded C shim.
//! * [`peer`] is a program of another agent that works concurrently with ours.
//! * [`rows`] is a backend whose positions are no byte offsets and whose leases run out;
//!   [`memory_rows`] is a database that is only read; [`conformance`] is what every backend, every
//!   source of rows and every dialect must do, those of strangers too.
//! * [`toys`] are four small agents, one for each way in which agents keep their sessions.
//! * [`fuzz`] contains the functions that must return for any bytes.
//! * [`snapshot`] proves that reading never writes.
//! * [`bench_corpus`] writes large corpora with known markers.
//! * [`claude_client`] runs the real client, if the environment names one; [`scripted_model`] is
//!   the model that it talks to.
//! * [`corpus`] finds the real files, when the environment names them.
#![expect(
    clippy::expect_used,
    reason = "a generator that cannot do its work has to stop the test that called it"
)]

pub mod base64;
pub mod bench_corpus;
pub mod claude_client;
pub mod clock;
pub mod conformance;
pub mod corpus;
pub mod crash_disk;
pub mod credential;
pub mod damage;
pub mod disk;
pub mod fault_disk;
#[cfg(unix)]
pub mod faults;
pub mod files;
pub mod fuzz;
pub mod home;
pub mod hooked_disk;
pub mod ids;
pub mod jsonl;
pub mod make;
pub mod memory_rows;
pub mod oracle;
pub mod peer;
pub mod phrase;
pub mod rng;
pub mod rows;
pub mod scanner;
pub mod scripted_model;
pub mod sha256;
pub mod snapshot;
pub mod toys;

pub use files::{Batch, FileList, FileSpec, Made};
pub use home::{Planted, TestHome};
pub use rng::Rng;
pub use snapshot::TreeSnapshot;
