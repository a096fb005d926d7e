//! Dialects: how each coding agent stores its sessions.
//!
//! A dialect is pure in both directions: keys and bytes become the model of `boswell-model`, and an
//! edit request becomes a plan. It does no I/O and reads no clock or environment: files come
//! through [`Files`], database rows through [`RowSource`], and the environment is an argument.
//! There is one folder per agent family; [`all`] lists the dialects.

mod capabilities;
mod chat_agent;
mod chat_lines;
mod chat_message;
mod chat_reader;
mod content_blocks;
pub mod conversion;
mod dialect;
mod draft;
mod duplicate_calls;
mod edit_request;
mod editors;
mod environment;
mod facts;
mod files;
mod folder_files;
mod google_parts;
mod id_source;
mod infer_parent;
mod json_layout;
mod line_edits;
mod location;
mod media_part;
mod members;
mod message_map;
mod orphan;
mod other_root;
mod plan;
mod powers;
mod reader;
mod registry;
mod repair;
mod resume;
mod row_agent;
mod row_layout;
mod row_listing;
mod row_source;
mod side_files;
mod text_piece;
mod uuid;
mod without_sessions;

mod aider;
mod amp;
mod antigravity;
mod auggie;
pub mod claude;
mod cline;
pub mod clinvoker;
pub mod codex;
mod continue_dev;
pub mod copilot;
mod crush;
mod cursor;
mod droid;
pub mod gemini;
pub mod goose;
mod grok;
mod hermes;
mod iflow;
pub mod kimi;
pub mod kimi_cli;
mod kiro;
pub mod launch;
pub mod myagents;
pub mod oas;
mod openclaw;
pub mod opencode;
mod openhands;
pub mod pi;
pub mod qwen;
pub mod resume_decision;
pub mod unknown;
mod vibe;
mod vscode;
mod zed;

pub use boswell_model::ToolLink;
pub use capabilities::{Capabilities, Capability, Support};
pub use chat_message::{ChatMessage, Role};
pub use chat_reader::ChatReader;
pub use conversion::{ImageIntake, Intake, ThinkingIntake};
pub use dialect::Dialect;
pub use draft::{
    AssistantMessage, Body, Draft, EXPIRES, EntryStamp, ForkScope, ForkStyle, NewLog, NewSession,
    Parent, SUBJECT, SessionFacts, Surroundings, Visibility, one_object, refuse_unwritable_parts,
    unsupported,
};
pub use edit_request::{EditRequest, Expected, PlanInput, Planned, StoreRequest};
pub use environment::Environment;
pub use facts::{
    BlobPolicy, DialectFacts, ForkOrigin, HistoryKind, MemoryPolicy, UntiedFile, facts_of,
};
pub use files::{FileIdentity, FileInfo, FileKind, Files, MemoryFiles, Skipping};
pub use id_source::{Clock, IdSource};
pub use location::{Discovered, Match, Sample, SessionLocation};
pub use orphan::Orphan;
pub use plan::{Assertion, ExpectedState, LockSpec, Modified, Plan, Precondition, Step};
pub use powers::{
    Append, ComposeLog, ContextCoverage, FoldLog, HistoryBase, ImportSession, InheritHistory,
    LineSink, LineSource, PlanEdits, Powers, ProviderMessage, Refine, Repairer, Runtime,
    SessionToImport, SharedFiles, SideFiles, composed_info, tool_paths,
};
pub use reader::{Depth, ReadSession, Reader, RecordSink, may_pair, tool_links};
pub use registry::{all, by_name, is_known_agent, recognise};
pub use repair::{
    Confidence, Fix, ForkPlace, KnownReader, Patch, PatchPiece, REPAIRED_TITLE, ReaderLoss,
    Reading, RepairInput, Splice, UnsentReason,
};
pub use resume::{
    ActiveProcess, LinkKind, Permissions, ResumeCommand, SessionLink, StoreEnvironment,
    store_environment,
};
pub use row_layout::{
    DOCUMENT as ROW_DOCUMENT, ITEM as ROW_ITEM, RowChildren, RowDocument, RowFolder, RowFolders,
    RowLayout, RowTable, StampRule, TABLE as ROW_TABLE,
};
pub use row_source::{Cell, Column, RowKey, RowSelect, RowSource, RowStamp};
pub use side_files::{FilesAtEntry, MemoryFile, SideFile, SideKind, Subagent};
pub use text_piece::TextPiece;
