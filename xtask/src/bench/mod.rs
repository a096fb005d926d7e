//! `cargo xtask bench`: the cost of boswell, compared with the minimum cost of the same work.
//!
//! Machines are shared and noisy, so a figure only counts next to its baseline from the same run:
//! cases alternate, each is repeated, CPU seconds are compared instead of wall time (except for
//! syncs, which are waiting), and the median is used. Each group has its own file and is listed in
//! `group`; each owns one part of `docs/BENCHMARKS.md`.

mod append;
mod bindings;
mod blame;
mod check_1gb;
mod command;
mod context_1gb;
mod context_native_1gb;
mod counting_disk;
mod data;
mod find;
mod fsyncs;
mod group;
mod in_turn;
mod lab;
mod machine;
mod mcp;
mod measure;
mod page;
mod read_all;
mod records_1gb;
mod remote;
mod screen;
mod serve;
mod startup;
mod table;

pub(crate) use command::run;
pub(crate) use find::known_page;
