//! Object storage against a real server, and large values of sessions in it.
#![cfg(all(unix, feature = "objects"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bed;
mod calls;
mod weather;

#[cfg(feature = "postgres")]
#[expect(dead_code, reason = "the tests of rows alone use all of it")]
#[path = "../remote/bed.rs"]
mod postgres_bed;
#[cfg(feature = "postgres")]
mod sessions;
#[cfg(feature = "postgres")]
mod sweep;
