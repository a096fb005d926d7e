//! `/mcp`: the tools for agents, over the streamable transport of the protocol.
//!
//! The checks of the server come before it. What a token allows decides which tools there are, for
//! each request: nothing is kept about clients. Calls run on the pool, as other requests do.

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::routing::any;
use boswell_mcp::{BlockingJob, CallCost, CallThreads, McpEndpoint, McpGrant};
use tokio::sync::watch;

use crate::access::{Bearer, Scope};
use crate::config::{Changes, ServeConfig};
use crate::pool::{Lane, Pool};
use crate::state::ServerState;

/// The address.
pub(crate) const PATH: &str = "/mcp";

/// Returns the address with all its methods: the protocol says which there are.
pub(crate) fn routes(endpoint: McpEndpoint) -> Router<ServerState> {
    let answer = async move |State(server): State<ServerState>, request: Request| {
        let grant = grant(&server, &request);
        endpoint.answer(request, grant).await.map(Body::new)
    };
    Router::new().route(PATH, any(answer))
}

/// Returns what answers agents, until the server ends.
pub(crate) fn endpoint(
    config: &ServeConfig,
    pool: &Arc<Pool>,
    ending: &watch::Sender<bool>,
) -> McpEndpoint {
    let threads = PoolThreads(Arc::clone(pool));
    McpEndpoint::new(config.app.clone(), Arc::new(threads), ending.subscribe())
}

/// What a request may do: only the token for changes writes, if the server does.
fn grant(server: &ServerState, request: &Request) -> McpGrant {
    let bearer = request.extensions().get::<Bearer>();
    let has_right = bearer.is_some_and(|it| it.scope == Scope::Write);
    McpGrant {
        write: has_right && server.access.changes() == Changes::Always,
    }
}

/// The threads of the server's requests.
#[derive(Debug)]
struct PoolThreads(Arc<Pool>);

impl CallThreads for PoolThreads {
    fn start(
        &self,
        cost: CallCost,
        job: BlockingJob,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        let lane = match cost {
            CallCost::Read => Lane::Read,
            CallCost::Search => Lane::Search,
            CallCost::Change => Lane::Change,
        };
        Box::pin(async move {
            let Ok(permit) = self.0.enter(lane).await else {
                return false;
            };
            let job = move || {
                job();
                drop(permit);
            };
            self.0.run(lane, Box::new(job));
            true
        })
    }
}
