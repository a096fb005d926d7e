//! The application layer of boswell: typed requests and typed answers for every face.
//!
//! Boswell finds, reads, repairs and keeps the sessions of coding agents. Its command line, screen,
//! server and bindings are faces of this crate: each converts input to a request, calls an [`App`],
//! and shows the [`Answer`].
//!
//! # What it is
//!
//! * An [`App`] is opened once with an [`AppConfig`]. It is cheap to clone, `Send + Sync`, and
//!   looks at the stores again for each request.
//! * A request is a plain struct such as [`list::ListRequest`], with no lifetimes, and is answered
//!   by the method of the same name, here [`App::list`].
//! * An answer holds plain data, and [`Notice`]s: what was noticed on the way. So does a
//!   [`Refusal`].
//! * Long answers are handed out piece by piece to a closure, so that memory does not grow with
//!   them. Long work takes a [`Cancel`].
//! * The [`shape`]s of the JSON contract are defined here, once for all faces.
//!
//! # What it is not
//!
//! It prints nothing, asks nothing, and reads neither environment nor arguments. It has no runtime:
//! calls block, and a server runs them on threads of its own. Formats of agents are the business of
//! `boswell-dialect`, files and operations that of `boswell-store`, and indexes that of
//! `boswell-find`.
//!
//! # Example
//!
//! List, search, repair, read and undo, on a session of Claude Code that a crash left damaged.
//!
//! ```
//! use boswell_app::list::ListRequest;
//! use boswell_app::operations::UndoRequest;
//! use boswell_app::repair::SessionRepairRequest;
//! use boswell_app::search::SearchRequest;
//! use boswell_app::show::{ShowRequest, ShownItem};
//! use boswell_app::{App, AppConfig, Cancel, Environment};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("boswell-example-{}", std::process::id()));
//! # let project = folder.join(".claude/projects/-w");
//! # std::fs::create_dir_all(&project)?;
//! # let log = project.join("aaaaaaaa-0001-4001-8001-000000000001.jsonl");
//! # let record = |id: u32, parent: &str, text: &str| {
//! #     format!(
//! #         concat!(
//! #             r#"{{"type":"user","uuid":"bbbbbbbb-0001-4001-8001-00000000000{}","#,
//! #             r#""parentUuid":{},"sessionId":"aaaaaaaa-0001-4001-8001-000000000001","#,
//! #             r#""isSidechain":false,"timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","#,
//! #             r#""message":{{"role":"user","content":"{}"}}}}"#,
//! #         ),
//! #         id, parent, text
//! #     )
//! # };
//! # let first = record(1, "null", "Why is the build red?");
//! # let second = record(2, r#""bbbbbbbb-0001-4001-8001-000000000001""#, "Look at the log.");
//! // Two records share a line: the line end between them was lost.
//! let damaged = format!("{first}{second}\n");
//! std::fs::write(&log, &damaged)?;
//!
//! // Nothing is read from the process: the face says where to look.
//! let env = Environment {
//!     home: Some(folder.clone()),
//!     cwd: folder.clone(),
//!     tmp: std::env::temp_dir(),
//!     ..Environment::default()
//! };
//! let app = App::open(AppConfig::new(env, Some(folder.join("boswell"))))?;
//!
//! // List.
//! let page = app.list(&ListRequest::default())?.value;
//! let (_, summary) = &page.rows[0].conversation.front;
//! assert_eq!(summary.name(), "Why is the build red?");
//! let session = summary.reference.to_string();
//!
//! // Search: any part of any word.
//! let query = SearchRequest {
//!     query: "uild re".to_owned(),
//!     ..SearchRequest::default()
//! };
//! let found = app.search(&query, &Cancel::new())?.value;
//! assert_eq!(found.hits[0].session, session);
//!
//! // Repair: first the plan, then the change. Claude Code would not see the second record. The vault keeps the bytes as they were.
//! let request = SessionRepairRequest {
//!     session: session.clone(),
//!     ..SessionRepairRequest::default()
//! };
//! let plan = app.plan_repair(&request)?.value;
//! assert!(!plan.steps.is_empty());
//! let _ = app.repair(&request)?;
//! assert_eq!(std::fs::read_to_string(&log)?, format!("{first}\n{second}\n"));
//!
//! // Read: entries come one by one, however long the session is.
//! let mut texts = Vec::new();
//! let request = ShowRequest {
//!     session,
//!     ..ShowRequest::default()
//! };
//! let shown = app.show(&request, &mut |item| {
//!     if let ShownItem::Entry { entry, .. } = item {
//!         texts.extend(entry.view.map(|view| view.text()));
//!     }
//!     Ok(true)
//! });
//! let _ = shown?;
//! assert_eq!(texts, ["Why is the build red?", "Look at the log."]);
//!
//! // Undo.
//! let undone = app.undo(&UndoRequest::default(), &mut |_| Ok(()));
//! let _ = undone?;
//! assert_eq!(std::fs::read_to_string(&log)?, damaged);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```

mod agent_file_history;
mod agent_history;
mod agent_version;
mod answer;
mod app;
pub mod base64;
mod cancel;
mod checkpointed_files;
mod config;
mod config_edit;
mod exclusion_purge;
mod gaps;
mod git_command;
mod git_log;
mod git_repository;
mod known_places;
mod last_list;
mod native_index;
mod open_sessions;
mod outside_links;
mod pass_over;
mod plan_token;
mod profiles;
mod provider_change;
mod purge_copies;
mod real_folders;
mod request_context;
mod sessions;
mod summary;
mod work_log;

pub mod acknowledgement;
pub mod annotate;
pub mod append;
pub mod archive;
pub mod attachments;
pub mod blame;
pub mod branch;
pub mod changes;
pub mod check;
pub mod checkout;
pub mod clean;
pub mod context;
pub mod convert;
pub mod delete;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod file_history;
pub mod files;
pub mod fork;
pub mod handoff;
pub mod heads;
pub mod hosts;
pub mod import;
pub mod index;
pub mod keep;
pub mod known_sessions;
pub mod list;
pub mod memory;
pub mod migrate;
pub mod move_project;
pub mod new_session;
pub mod offers;
pub mod operations;
pub mod outline;
pub mod planned_change;
pub mod projects;
pub mod prompts;
pub mod purge;
pub mod reach;
pub mod redaction;
pub mod repair;
pub mod resume;
pub mod rewind;
pub mod scrub;
pub mod search;
pub mod secrets;
pub mod session_info;
pub mod session_note;
pub mod settings;
pub mod shape;
pub mod sharing;
pub mod show;
pub mod stats;
pub mod statusline;
pub mod store_change;
mod stored_blobs;
pub mod stores;
pub mod summarize;
pub mod system;
pub mod text;
pub mod time;
pub mod today;
pub mod tool_line;
pub mod tree;
pub mod watch;

pub use answer::{Answer, AppResult, Notice, Refusal};
pub use app::{Access, App, AppConfig};
pub use boswell_dialect::Environment;
pub use boswell_store::disk::{Clock, SystemIds as SystemClock};
pub use cancel::{Cancel, CancelOnDrop};
pub use config::Config;
pub use git_log::CommitShape;
pub use plan_token::PlanToken;
pub(crate) use request_context::RequestContext;
