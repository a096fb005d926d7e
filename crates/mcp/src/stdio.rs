//! The server on standard input and output. Nothing but the protocol is written there.

use boswell_app::App;
use boswell_model::{Error, ErrorKind, Result};
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;

use crate::scope::McpOptions;
use crate::server::McpServer;

/// Answers requests on standard input until it ends.
///
/// # Errors
///
/// Unavailable if the streams cannot be used, Invalid if what comes is not the protocol.
pub fn serve_stdio(app: App, options: &McpOptions) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::io("the runtime", "start it", error))?;
    let server = McpServer::for_one_client(app, options);
    let done = runtime.block_on(async {
        let running = match server.serve(stdio_pipes()).await {
            Ok(running) => running,
            // The client went away before it asked anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => {
                let what = "the client does not speak the protocol";
                return Err(Error::new(ErrorKind::Invalid, what).caused_by(error));
            }
        };
        let ended = running.waiting().await;
        ended.map(|_| ()).map_err(|error| {
            Error::new(ErrorKind::Internal, "the server ended early").caused_by(error)
        })
    });
    // Calls that still run have no client to answer.
    runtime.shutdown_background();
    done
}
