//! The screen of boswell: type to search, see, Enter resumes.
//!
//! # What it is
//!
//! A face of [`boswell_app::App`], as the command line is. [`run`] owns the terminal until the user
//! leaves, and returns what is to be done then ([`ScreenExit`]): the caller starts the agent.
//!
//! All state is plain data (`state`). One pure function changes it (`update`), pure functions draw
//! it (`view`), and threads do what takes time (`worker`), so that input never waits for a disk.
//! Keys are in one table (`keys`), from which help, footer and documentation are made.
//!
//! # What it is not
//!
//! It reads no session file itself, starts no agent, and writes nothing except through requests
//! that the user confirmed.

mod ask;
mod keys;
mod layout;
mod line;
mod output;
mod rows;
mod rows_ask;
mod run;
mod state;
mod terminal;
mod theme;
mod transcript;
mod update;
mod view;
mod words;
mod worker;

#[cfg(test)]
mod tests;

pub use keys::key_table;
pub use run::{ScreenExit, ScreenOptions, run};
