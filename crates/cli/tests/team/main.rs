//! `serve --database`, `share` and `fetch` as a team uses them: a real PostgreSQL, a real server,
//! and two homes.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bed;
mod interrupted;
mod resumed;
mod sharing;
