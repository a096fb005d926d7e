//! How each coding agent writes its sessions.
//!
//! A dialect is pure in both directions: keys and bytes become the model of `boswell-model`; an
//! intention becomes a plan. It does no I/O and reads no clock or environment: files come
//! through [`Files`], the environment is an argument. One folder per agent family; [`all`]
//! lists what there is.

mod beside;
mod capabilities;
mod chance;
mod contract;
mod draft;
mod environment;
mod files;
mod intention;
mod laid_out;
mod leftover;
mod located;
mod neighbour;
mod plan;
mod reader;
mod registry;
mod repair;
mod resuming;
mod spoken;
mod twin_calls;
mod uuid;
mod without;

pub mod claude;
pub mod clinvoker;
pub mod codex;
pub mod launch;
pub mod myagents;
pub mod oas;
pub mod pi;
pub mod resume_decision;
pub mod unknown;

pub use beside::{FilesThen, MemoryFile, SideFile, SideKind, Subagent};
pub use boswell_model::ToolLink;
pub use capabilities::{Capabilities, Operation, Support};
pub use chance::Chance;
pub use contract::{Dialect, Reach, Sent, tool_paths};
pub use draft::{
    Answer, Around, Body, Copies, Draft, ForkStyle, NewLog, NewSession, Parent, Part, Settled,
    Visible, Within, one_object, unsupported,
};
pub use environment::Environment;
pub use files::{FileInfo, FileKind, Files, Identity, MemoryFiles, Skipping};
pub use intention::{Asked, Expected, Intention, Planned, StoreIntention};
pub use leftover::Orphan;
pub use located::{Found, Likeness, Located, Sample};
pub use plan::{Check, LockSpec, Modified, Plan, Precondition, Seen, Step};
pub use reader::{Depth, ReadSession, Reader, may_pair};
pub use registry::{all, by_name, recognise};
pub use repair::{Confidence, ForkPlace, KnownReader, Mend, Mending, Patch, Piece, Splice};
pub use resuming::{
    AtWork, LinkKind, Permissions, ResumeCommand, SessionLink, StoreEnvironment, store_environment,
};
pub use spoken::Spoken;
