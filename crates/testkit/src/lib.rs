//! Generators, damage and fault injection for boswell's own tests; never published.
//!
//! Everything here is deterministic per seed: the same call gives the same bytes on every machine.
//! The generators write what the agents write, down to key order and file names, so that a test
//! never needs a real home folder. The generators and the oracle do not read sessions the way
//! boswell does: a test that compares the two would otherwise compare a thing with itself.
//!
//! * [`make`] builds session files of each dialect; [`home`] plants all of them below one folder.
//! * [`damage`] breaks a log in one named way and keeps every other byte.
//! * [`crash_disk`] is a disk in memory that loses unsynced data at a crash; [`fault_disk`] has
//!   short and interrupted calls, and counts them; [`hooked_disk`] calls a hook of the test before
//!   every call; [`oracle`] records acknowledged entries; [`ids`] is a clock and ids from a seed.
//! * [`credential`] generates fake keys and passwords of every kind, and texts around them.
//! * `faults` injects faults into the real program with a preloaded C shim.
//! * [`peer`] is a program of another agent that runs concurrently with ours.
//! * [`rows`] is a backend whose positions are not byte offsets and whose leases expire;
//!   [`memory_rows`] is a read-only database; [`conformance`] contains the suites that every
//!   backend, row source and dialect must pass, including those of other crates.
//! * [`toys`] are four small agents, one per way in which agents store their sessions.
//! * [`fuzz`] contains the functions that must return for any bytes.
//! * [`snapshot`] proves that reading never writes.
//! * [`bench_corpus`] writes large corpora with known markers.
//! * [`claude_client`], [`codex_client`] and [`agent_client`] run the real clients, if the
//!   environment names them; [`scripted_model`] is the model that they call.
//! * [`mcp_runner`] runs the conformance runner and the official client of the Model Context
//!   Protocol.
//! * `postgres_server` starts a private PostgreSQL; [`cutting_proxy`] cuts connections to it.
//! * [`conversions`] is the matrix of sessions that are carried over between agents.
//! * [`corpus`] finds the real files, if the environment names them.
#![expect(
    clippy::expect_used,
    reason = "a generator that cannot do its work has to stop the test that called it"
)]

pub mod agent_client;
pub mod base64;
pub mod bench_corpus;
pub mod claude_client;
pub mod claude_trials;
pub mod clock;
pub mod codex_client;
pub mod conformance;
pub mod conversions;
pub mod corpus;
pub mod crash_disk;
pub mod credential;
pub mod cutting_proxy;
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
pub mod mcp_runner;
pub mod memory_rows;
#[cfg(unix)]
pub mod moto_server;
pub mod object_proxy;
pub mod oracle;
pub mod peer;
pub mod phrase;
#[cfg(unix)]
pub mod postgres_server;
#[cfg(unix)]
pub mod postgres_surroundings;
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
