//! The server over HTTP: the streamable transport, as a part of another server.
//!
//! Nothing is kept between requests: each one says who asks, and what it may do. Host, origin and
//! token are checked by the server that this one is a part of.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use boswell_app::App;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::watch;

use crate::scope::McpOptions;
use crate::server::McpServer;
use crate::threads::CallThreads;

/// The longest request: arguments are short.
const LONGEST: usize = 256 << 10;

/// What the client of a request may do, as the server that it came through decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpGrant {
    /// Whether it may add tags and notes.
    pub write: bool,
}

/// The transport without sessions of clients.
pub(crate) type Transport<S> = StreamableHttpService<S, NeverSessionManager>;

/// Answers of the protocol, for requests that were admitted.
#[derive(Clone)]
pub struct McpEndpoint(Transport<McpServer>);

impl std::fmt::Debug for McpEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("McpEndpoint")
    }
}

impl McpEndpoint {
    /// Creates the endpoint. It shows every project that the settings do not exclude. Requests that
    /// last end when `ending` becomes true.
    pub fn new(
        app: App,
        threads: Arc<dyn CallThreads>,
        ending: watch::Receiver<bool>,
    ) -> McpEndpoint {
        let server = McpServer::new(app, &McpOptions::default(), threads, ending);
        McpEndpoint(transport(server))
    }

    /// Answers a request of a client that was admitted.
    pub async fn answer<B>(
        &self,
        mut request: Request<B>,
        grant: McpGrant,
    ) -> Response<BoxBody<Bytes, Infallible>>
    where
        B: Body + Send + 'static,
        B::Error: Display,
    {
        request.extensions_mut().insert(grant);
        self.0.handle(request).await
    }
}

/// Returns the transport for a server.
pub(crate) fn transport<S: ServerHandler + Clone + Send + Sync + 'static>(
    server: S,
) -> Transport<S> {
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_legacy_session_mode(false)
        .with_max_request_body_bytes(LONGEST)
        // Both are checked before: the host may be that of a proxy.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let sessions = Arc::new(NeverSessionManager::default());
    StreamableHttpService::new(move || Ok(server.clone()), sessions, config)
}
