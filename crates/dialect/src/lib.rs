//! How each coding agent writes its sessions.
//!
//! A dialect is pure in both directions: keys and bytes become the model of `boswell-model`; an
//! intention becomes a plan. It does no I/O and reads no clock or environment: files come
//! through [`Files`], the environment is an argument. One folder per agent family; [`all`]
//! lists what there is.

mod side_files;
mod capabilities;
mod id_source;
mod dialect;
mod draft;
mod environment;
mod files;
mod edit_request;
mod json_layout;
mod orphan;
mod location;
mod infer_parent;
mod plan;
mod reader;
mod registry;
mod repair;
mod resume;
mod text_piece;
mod duplicate_calls;
mod uuid;
mod without_sessions;

pub mod claude;
pub mod clinvoker;
pub mod codex;
pub mod launch;
pub mod myagents;
pub mod oas;
pub mod pi;
pub mod resume_decision;
pub mod unknown;

pub use side_files::{FilesAtEntry, MemoryFile, SideFile, SideKind, Subagent};
pub use boswell_model::ToolLink;
pub use capabilities::{Capabilities, Capability, Support};
pub use id_source::IdSource;
pub use dialect::{Dialect, ContextCoverage, ProviderMessage, tool_paths};
pub use draft::{
    Answer, Surroundings, Body, ForkScope, Draft, ForkStyle, NewLog, NewSession, Parent, Part, EntryStamp,
    Visibility, SessionFacts, one_object, unsupported,
};
pub use environment::Environment;
pub use files::{FileInfo, FileKind, Files, FileIdentity, MemoryFiles, Skipping};
pub use edit_request::{PlanInput, Expected, EditRequest, Planned, StoreRequest};
pub use orphan::Orphan;
pub use location::{Discovered, Match, SessionLocation, Sample};
pub use plan::{Assertion, LockSpec, Modified, Plan, Precondition, ExpectedState, Step};
pub use reader::{Depth, ReadSession, Reader, may_pair};
pub use registry::{all, by_name, recognise};
pub use repair::{Confidence, ForkPlace, KnownReader, Fix, RepairInput, Patch, PatchPiece, Splice};
pub use resume::{
    ActiveProcess, LinkKind, Permissions, ResumeCommand, SessionLink, StoreEnvironment, store_environment,
};
pub use text_piece::TextPiece;
