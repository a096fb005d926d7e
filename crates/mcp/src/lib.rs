//! The MCP server of boswell: agents ask for what was done in past sessions.
//!
//! # What it is
//!
//! * Eight tools that read (`tools.rs`), and two that add notes of boswell's own if the user allows
//!   it; prompts, and templates of resources with completion.
//! * Answers are plain text within a budget of tokens (`budget.rs`), and cite `ref#entry`.
//! * Everything that comes from a session is between two lines with a word that is new for each
//!   answer (`frame.rs`), without credentials and without characters that hide text.
//! * A client on the standard streams may subscribe to sessions (`subscriptions.rs`).
//! * Work is bounded in time, and runs on threads apart from the protocol (`server.rs`).
//!
//! # What it is not
//!
//! No tool deletes, repairs, appends, resumes, exports or takes a path of the machine. It contains
//! no logic of its own about sessions: see `boswell-app`.

mod arguments;
mod budget;
#[cfg(test)]
mod conformance;
mod cursor;
mod frame;
mod http;
mod prompts;
mod registration;
mod resources;
mod scope;
mod server;
mod stdio;
mod subscriptions;
mod threads;
mod tool;
mod tools;

pub use http::{McpEndpoint, McpGrant};
pub use registration::{RegisteringAgent, registration};
pub use scope::McpOptions;
pub use stdio::serve_stdio;
pub use threads::{BlockingJob, CallCost, CallThreads};
