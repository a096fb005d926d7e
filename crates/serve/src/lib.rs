//! The HTTP server of boswell: the JSON contract of `--json` over HTTP, live updates, and a page.
//!
//! # What it is
//!
//! * Every answer is a shape of `boswell-app`, unchanged. With `Accept: application/x-ndjson` an
//!   answer is byte for byte what the command prints with `--json`.
//! * Requests run on a bounded pool of threads ([`Server`]), and end when their client goes away.
//! * The checks of `guard.rs` come before everything: host, origin, token, scope.
//!
//! # What it is not
//!
//! It has no TLS, no accounts, no cookies and no CORS, starts no program, and takes no path of the
//! machine. It contains no logic of its own about sessions: see `boswell-app`.

#![expect(
    clippy::result_large_err,
    reason = "a refusal is the answer itself, made once for each request"
)]

mod access;
mod answer;
mod assets;
mod body;
mod call;
mod compat;
mod conditions;
mod config;
mod endpoint;
mod entity;
mod events;
mod folder;
mod guard;
mod lines;
mod mcp;
mod openapi;
mod params;
mod pool;
mod problem;
mod random;
mod read;
mod routes;
mod server;
mod session_name;
mod shared;
mod state;
mod write;

pub use access::Scope;
pub use config::{Changes, CommandPhrase, Lifetime, Phrase, ServeConfig};
pub use folder::{RunningServer, ServeFolder};
pub use openapi::{openapi, typescript_client};
pub use server::{Server, Stop};
