//! A team's sessions: a server that keeps them in PostgreSQL, and its client.
//!
//! A person pushes a session of any agent as it is: its log and its side files, byte for byte, in
//! parts that are named by their SHA-256. A push sends the parts that the server does not have and
//! then publishes all of them at once, so that others see the old state or the new one. A session
//! is its owner's alone until it is shared with a project or with the whole team, and can be taken
//! back.
//!
//! # What it is not
//!
//! It knows no formats of agents and reads no folders: what a session consists of is the business
//! of `boswell-app`. The server has no TLS of its own: a proxy stands before it. Laptops have a
//! token of the server and never an address of the database.

mod manifest;
mod token;

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "server")]
mod server;

pub use manifest::{PART, TeamFile, TeamManifest, TeamSession, part_name};
pub use token::TeamToken;

#[cfg(feature = "client")]
pub use client::{PushReport, TeamClient};
#[cfg(feature = "server")]
pub use server::{TeamIdentity, TeamListener, TeamServer, TeamServerConfig, TeamStop};
