//! Everything that a face of boswell can ask for: typed requests, typed answers.
#![expect(
    missing_docs,
    reason = "modules are being moved here; their fields get docs as they settle"
)]

mod answer;
mod app;
mod cancel;
mod pass_over;
mod plan_token;
mod request_context;

pub mod agent_file_history;
pub mod agent_history;
pub mod agent_version;
pub mod archive;
pub mod base64;
pub mod checkpointed_files;
pub mod config;
pub mod config_edit;
pub mod delete;
pub mod exclusion_purge;
pub mod files;
pub mod fork;
pub mod git_repository;
pub mod import;
pub mod index;
pub mod index_native;
pub mod json_shape;
pub mod keep_config;
pub mod list;
pub mod move_project;
pub mod plan_text;
pub mod planned_change;
pub mod profiles;
pub mod projects;
pub mod prompts;
pub mod purge;
pub mod purge_copies;
pub mod resume;
pub mod scrub;
pub mod search;
pub mod secrets;
pub mod sessions;
pub mod shape;
pub mod stats;
pub mod store_change;
pub mod stores;
pub mod system;
pub mod text;
pub mod time;
pub mod watch;

pub use answer::{Answer, AppResult, Notice, Refusal};
pub use app::{Access, App, AppConfig};
pub use boswell_dialect::Environment;
pub use boswell_store::{Clock, SystemIds as SystemClock};
pub use cancel::{Cancel, CancelOnDrop};
pub use config::Config;
pub use plan_token::PlanToken;
pub use request_context::RequestContext;
