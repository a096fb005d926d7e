//! The server of a team and its client, over real connections and a real PostgreSQL.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bed;
mod http;
mod pushing;
