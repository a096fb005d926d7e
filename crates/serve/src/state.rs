//! What all requests of a server share.

use std::sync::Arc;

use boswell_app::App;
use boswell_app::system::{Stopwatch, workers};
use boswell_mcp::McpEndpoint;
use tokio::sync::{Semaphore, watch};

use crate::access::Access;
use crate::config::{CommandPhrase, Phrase, ServeConfig};
use crate::folder::ProgramTokens;
use crate::mcp;
use crate::pool::Pool;
use crate::shared::SharedAnswers;

/// How many clients may follow changes at a time.
pub(crate) const LISTENERS: usize = 32;

/// The state of a server.
#[derive(Debug, Clone)]
pub(crate) struct ServerState(Arc<Shared>);

/// The state behind the pointer.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) app: App,
    pub(crate) phrase: Phrase,
    pub(crate) command: CommandPhrase,
    pub(crate) version: &'static str,
    pub(crate) public_origin: Option<String>,
    pub(crate) clinvoker: bool,
    pub(crate) started: Stopwatch,
    pub(crate) pool: Arc<Pool>,
    /// What answers agents at `/mcp`.
    pub(crate) mcp: Option<McpEndpoint>,
    /// Answers that requests for the same address share.
    pub(crate) shared: SharedAnswers,
    pub(crate) access: Access,
    pub(crate) listeners: Arc<Semaphore>,
    /// How many polls of change feeds run at a time.
    pub(crate) polls: Arc<Semaphore>,
    /// Becomes true when the server ends.
    pub(crate) ending: watch::Sender<bool>,
    /// How many pages follow changes.
    pub(crate) pages: watch::Sender<usize>,
}

impl std::ops::Deref for ServerState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl ServerState {
    pub(crate) fn new(config: &ServeConfig, tokens: &ProgramTokens) -> ServerState {
        let pool = Arc::new(Pool::new(workers()));
        let ending = watch::Sender::new(false);
        let mcp = config.mcp.then(|| mcp::endpoint(config, &pool, &ending));
        ServerState(Arc::new(Shared {
            app: config.app.clone(),
            phrase: config.phrase,
            command: config.command,
            version: config.version,
            public_origin: config.public_origin.clone(),
            clinvoker: config.clinvoker,
            started: Stopwatch::start(),
            pool,
            mcp,
            shared: SharedAnswers::default(),
            access: Access::new(tokens, config.changes),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            polls: Arc::new(Semaphore::new(2)),
            ending,
            pages: watch::Sender::new(0),
        }))
    }
}
