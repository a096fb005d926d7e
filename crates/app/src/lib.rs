//! Everything that a face of boswell can ask for: typed requests, typed answers.
//!
//! Boswell finds, reads, repairs and keeps the sessions of coding agents. Its command line, screen,
//! server and bindings are faces of this crate: each turns what its users want into a request, asks
//! an [`App`], and shows the [`Answer`].
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
//! ```
//! use boswell_app::fork::ForkRequest;
//! use boswell_app::list::ListRequest;
//! use boswell_app::{App, AppConfig, Environment};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A home folder with one session of Claude Code.
//! let folder = std::env::temp_dir().join(format!("boswell-example-{}", std::process::id()));
//! let project = folder.join(".claude/projects/-w");
//! std::fs::create_dir_all(&project)?;
//! std::fs::write(
//!     project.join("aaaaaaaa-0001-4001-8001-000000000001.jsonl"),
//!     concat!(
//!         r#"{"type":"user","uuid":"bbbbbbbb-0001-4001-8001-000000000001","parentUuid":null,"#,
//!         r#""sessionId":"aaaaaaaa-0001-4001-8001-000000000001","isSidechain":false,"#,
//!         r#""timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","#,
//!         r#""message":{"role":"user","content":"Why is the build red?"}}"#,
//!         "\n",
//!     ),
//! )?;
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
//! let listed = app.list(&ListRequest::default())?;
//! assert!(listed.notices.is_empty());
//! let row = &listed.value.rows[0];
//! assert_eq!(row.agents, "claude");
//! let (_, summary) = &row.conversation.front;
//! assert_eq!(summary.name(), "Why is the build red?");
//!
//! // Change: a new session from the branch of another one.
//! let forked = app.fork(&ForkRequest {
//!     session: summary.reference.to_string(),
//!     title: Some("A second try".to_owned()),
//!     ..ForkRequest::default()
//! })?;
//! assert_eq!(forked.value.session.title.as_deref(), Some("A second try"));
//! assert_eq!(app.list(&ListRequest::default())?.value.rows.len(), 2);
//!
//! // What is wrong is an error with a reason and a hint, for people.
//! let nothing = ForkRequest {
//!     session: "claude:none".to_owned(),
//!     ..ForkRequest::default()
//! };
//! let refusal = app.fork(&nothing).err().ok_or("it was forked")?;
//! assert_eq!(refusal.error.kind().word(), "not_found");
//! # // Search, read, repair and undo follow here, once this crate answers them.
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```

mod agent_file_history;
mod agent_history;
mod agent_version;
mod answer;
mod app;
mod base64;
mod cancel;
mod checkpointed_files;
mod config;
mod config_edit;
mod exclusion_purge;
mod gaps;
mod git_repository;
mod native_index;
mod outside_links;
mod pass_over;
mod plan_token;
mod profiles;
mod purge_copies;
mod request_context;
mod sessions;
mod summary;

pub mod acknowledgement;
pub mod annotate;
pub mod append;
pub mod archive;
pub mod attachments;
pub mod branch;
pub mod changes;
pub mod check;
pub mod checkout;
pub mod clean;
pub mod context;
pub mod delete;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod files;
pub mod fork;
pub mod import;
pub mod index;
pub mod keep;
pub mod list;
pub mod memory;
pub mod migrate;
pub mod move_project;
pub mod new_session;
pub mod operations;
pub mod plan_text;
pub mod planned_change;
pub mod projects;
pub mod prompts;
pub mod purge;
pub mod repair;
pub mod resume;
pub mod rewind;
pub mod scrub;
pub mod search;
pub mod secrets;
pub mod settings;
pub mod shape;
pub mod show;
pub mod stats;
pub mod store_change;
pub mod stores;
pub mod summarize;
pub mod system;
pub mod text;
pub mod time;
pub mod tree;
pub mod watch;

pub use answer::{Answer, AppResult, Notice, Refusal};
pub use app::{Access, App, AppConfig};
pub use boswell_dialect::Environment;
pub use boswell_store::system_ids::{Clock, SystemIds as SystemClock};
pub use cancel::{Cancel, CancelOnDrop};
pub use config::Config;
pub use plan_token::PlanToken;
pub(crate) use request_context::RequestContext;
