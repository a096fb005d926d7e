//! What every request needs.

use std::sync::Arc;
use std::time::Duration;

use boswell_remote::{PostgresOptions, TeamDatabase};
use tokio::sync::{Semaphore, watch};

use super::listen::TeamListener;
use super::metrics::Metrics;

/// How many requests are answered at a time: each holds a part of a session in memory.
const REQUESTS: usize = 64;

/// How the server knows who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TeamIdentity {
    /// By a bearer token.
    Token,
    /// By a header that a proxy sets. Only on a Unix socket: whoever can open it is trusted.
    ProxyHeader(String),
}

/// What a server is started with.
#[derive(Debug)]
pub struct TeamServerConfig {
    /// The database, and the tenant.
    pub database: PostgresOptions,
    /// Where it listens.
    pub listener: TeamListener,
    /// How it knows who asks.
    pub identity: TeamIdentity,
    /// The origin of the proxy with TLS that stands before it.
    pub public_origin: Option<String>,
    /// Stop after this time.
    pub limit: Option<Duration>,
}

/// The state that all requests share.
#[derive(Debug, Clone)]
pub(super) struct TeamState(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) database: TeamDatabase,
    pub(super) identity: TeamIdentity,
    pub(super) public_origin: Option<String>,
    pub(super) on_socket: bool,
    pub(super) metrics: Metrics,
    pub(super) requests: Semaphore,
    pub(super) ending: watch::Sender<bool>,
}

impl TeamState {
    pub(super) fn new(
        config: &TeamServerConfig,
        database: TeamDatabase,
        on_socket: bool,
    ) -> TeamState {
        TeamState(Arc::new(Inner {
            database,
            identity: config.identity.clone(),
            public_origin: config.public_origin.clone(),
            on_socket,
            metrics: Metrics::default(),
            requests: Semaphore::new(REQUESTS),
            ending: watch::channel(false).0,
        }))
    }

    pub(super) fn is_ending(&self) -> bool {
        *self.0.ending.borrow()
    }
}

impl std::ops::Deref for TeamState {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
