//! `PostgresBackend` against a real server: the promises of every backend, and bad weather.
#![cfg(all(unix, feature = "postgres"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bed;
mod conformance;
mod distributed;
mod following;
mod grants;
mod leases;
mod refusals;
mod schema;
mod surroundings;
mod team;
mod tenants;
mod weather;
