//! The server of a team.
//!
//! Everything is in the database, so that any number of servers can stand side by side on one.
//! `listen.rs` accepts connections, `guard.rs` finds out who asks, `routes.rs` has the table of
//! addresses, and the handlers are in `sessions.rs` and `people.rs`.

mod answer;
mod guard;
mod listen;
mod metrics;
mod people;
mod problem;
mod routes;
mod sessions;
mod state;

pub use listen::{TeamListener, TeamServer, TeamStop};
pub use state::{TeamIdentity, TeamServerConfig};
