//! What a server is started with.

use std::net::IpAddr;
use std::time::Duration;

use boswell_app::App;
use boswell_model::Advice;

/// Phrases the next step of an error: only the face that starts the server knows its commands.
pub type Phrase = fn(&Advice) -> String;

/// Returns the command of the next step of an error, for findings of a check.
pub type CommandPhrase = fn(&Advice) -> Option<String>;

/// The configuration of a server.
#[derive(Debug, Clone)]
pub struct ServeConfig {
    /// What answers requests.
    pub app: App,
    /// Phrases the next step of an error.
    pub phrase: Phrase,
    /// Returns the command of a next step.
    pub command: CommandPhrase,
    /// The version that `/v1` reports.
    pub version: &'static str,
    /// The address to listen on: a loopback address, unless there is a public origin.
    pub address: IpAddr,
    /// The port to listen on; `None` for the one that the home remembers.
    pub port: Option<u16>,
    /// `https://host` of a proxy in front of the server.
    pub public_origin: Option<String>,
    /// Whether sessions may be changed.
    pub changes: Changes,
    /// Whether the session interface of clinvoker's server is answered too.
    pub clinvoker: bool,
    /// Whether agents are answered at `/mcp`.
    pub mcp: bool,
    /// When the server ends.
    pub lifetime: Lifetime,
    /// How long it runs at most.
    pub limit: Option<Duration>,
}

/// Whether sessions may be changed over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// Never.
    Never,
    /// Once the user allowed it in the page.
    OnceAllowed,
    /// With the write token.
    Always,
}

/// When a server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// At a signal.
    UntilStopped,
    /// A minute after the last page was closed, or at a signal.
    WhilePagesAreOpen,
}
