//! Everything that a face of boswell can ask for: typed requests, typed answers.
#![expect(
    missing_docs,
    reason = "modules are being moved here; their fields get docs as they settle"
)]

mod answer;
mod app;
mod cancel;
mod request_context;

pub mod agent_history;
pub mod agent_version;
pub mod base64;
pub mod config;
pub mod config_edit;
pub mod demo;
pub mod exclusion_purge;
pub mod fork;
pub mod git_repository;
pub mod json_shape;
pub mod keep;
pub mod list;
pub mod memory;
pub mod planned_change;
pub mod profiles;
pub mod purge_copies;
pub mod resume;
pub mod sessions;
pub mod shape;
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
pub use request_context::RequestContext;
