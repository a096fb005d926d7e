//! `serve --database`, `share` and `fetch` as a team uses them: a real PostgreSQL, a real server,
//! and two homes.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod bed;
mod interrupted;
mod resumed;
mod sharing;
