//! [`TeamServer`]: it listens, accepts connections within bounds, and ends in order.
//!
//! At a signal nothing new is accepted, `/healthz` says so on connections that are open, requests
//! get some seconds, and the process ends. What was not published by then is sent again by its
//! client, to this server or to another one.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use boswell_model::{Error, ErrorKind, Result};
use boswell_remote::TeamDatabase;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::metrics::Metrics;
use super::people::STAGED_HOURS;
use super::routes;
use super::state::{TeamIdentity, TeamServerConfig, TeamState};

/// How many connections may be open.
const CONNECTIONS: usize = 512;
/// Maximum size of the first line and the headers of a request.
const HEADERS: usize = 24 << 10;
/// How long a client may take to send its headers.
const SLOWEST: Duration = Duration::from_secs(10);
/// How long requests may take after the signal to end.
const LAST: Duration = Duration::from_secs(10);
/// How often what is past its retention is deleted.
const SWEEPS: Duration = Duration::from_secs(3600);

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TeamListener {
    /// At an address.
    Tcp(SocketAddr),
    /// At a Unix socket, which is made, and removed at the end.
    Socket(PathBuf),
}

/// A server that listens, but answers nothing yet.
#[derive(Debug)]
pub struct TeamServer {
    runtime: Runtime,
    listener: Listening,
    state: TeamState,
    limit: Option<Duration>,
}

#[derive(Debug)]
enum Listening {
    Tcp(tokio::net::TcpListener),
    #[cfg(unix)]
    Socket(tokio::net::UnixListener, PathBuf),
}

/// Ends a server.
#[derive(Debug, Clone)]
pub struct TeamStop(watch::Sender<bool>);

impl TeamStop {
    /// Ends the server, as a signal does.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl TeamServer {
    /// Connects to the database and listens.
    ///
    /// # Errors
    ///
    /// `Invalid` for an address that other machines reach without a proxy, or a header of a proxy
    /// on something else than a socket; `Unavailable` if the place is taken or the database does
    /// not answer; and what the database refuses.
    pub fn bind(config: &TeamServerConfig) -> Result<TeamServer> {
        check_exposure(config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| Error::io("the server", "start threads for", error))?;
        let database = TeamDatabase::new(&config.database)?;
        let checked = database.clone();
        // Nobody has this token: whether the database answers is what counts.
        match runtime.block_on(async move { checked.enter([0; 32]).await }) {
            Err(error) if error.kind() != ErrorKind::Denied || error.advice().is_some() => {
                return Err(error);
            }
            _ => {}
        }
        let on_socket = matches!(config.listener, TeamListener::Socket(_));
        let listener = {
            let _inside = runtime.enter();
            listen(&config.listener)?
        };
        Ok(TeamServer {
            runtime,
            listener,
            state: TeamState::new(config, database, on_socket),
            limit: config.limit,
        })
    }

    /// Returns the address that it listens at; `None` for a socket.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.listener {
            Listening::Tcp(listener) => listener.local_addr().ok(),
            #[cfg(unix)]
            Listening::Socket(..) => None,
        }
    }

    /// Returns what ends the server.
    pub fn stop(&self) -> TeamStop {
        TeamStop(self.state.ending.clone())
    }

    /// Answers requests until a signal, or until [`TeamStop::stop`] is called.
    ///
    /// # Errors
    ///
    /// None today.
    pub fn run(self) -> Result<()> {
        let TeamServer {
            runtime,
            listener,
            state,
            limit,
        } = self;
        runtime.block_on(serve(listener, &state, limit));
        runtime.shutdown_timeout(Duration::from_secs(1));
        Ok(())
    }
}

/// Accepts connections until the end, and then waits for their requests.
async fn serve(listener: Listening, state: &TeamState, limit: Option<Duration>) {
    let router = routes::all(state.clone());
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let sweeps = tokio::spawn(sweep(state.clone()));
    let mut end = pin!(ended(state.clone(), limit));
    loop {
        tokio::select! {
            accepted = accept(&listener) => {
                // A connection over the limit is closed at once, and one that failed is none.
                if let (Some(stream), Ok(permit)) =
                    (accepted, Arc::clone(&connections).try_acquire_owned())
                {
                    connect(stream, permit, router.clone(), &graceful);
                }
            }
            () = &mut end => break,
        }
    }
    sweeps.abort();
    state.ending.send_replace(true);
    let _ = tokio::time::timeout(LAST, graceful.shutdown()).await;
    #[cfg(unix)]
    if let Listening::Socket(_, path) = &listener {
        let _ = std::fs::remove_file(path);
    }
}

/// A connection of either kind.
trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

async fn accept(listener: &Listening) -> Option<Box<dyn Connection>> {
    let accepted: std::io::Result<Box<dyn Connection>> = match listener {
        Listening::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
            let _ = stream.set_nodelay(true);
            Box::new(stream) as Box<dyn Connection>
        }),
        #[cfg(unix)]
        Listening::Socket(listener, _) => listener
            .accept()
            .await
            .map(|(stream, _)| Box::new(stream) as Box<dyn Connection>),
    };
    if accepted.is_err() {
        // Out of descriptors, say: not in a loop that takes a whole core.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    accepted.ok()
}

fn connect(
    stream: Box<dyn Connection>,
    permit: OwnedSemaphorePermit,
    router: Router,
    graceful: &GracefulShutdown,
) {
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(SLOWEST)
        .max_buf_size(HEADERS)
        .max_headers(100);
    let service = TowerToHyperService::new(router);
    let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
    tokio::spawn(async move {
        // A client that goes away is not an error.
        let _ = connection.await;
        drop(permit);
    });
}

/// Deletes what is past its retention. Of several servers each does so; what one deleted, another
/// does not find.
async fn sweep(state: TeamState) {
    loop {
        if let Ok(count) = state.database.sweep(STAGED_HOURS).await {
            Metrics::add(&state.metrics.swept, count.sessions);
        }
        tokio::time::sleep(SWEEPS).await;
    }
}

async fn ended(state: TeamState, limit: Option<Duration>) {
    let mut ending = state.ending.subscribe();
    tokio::select! {
        _ = ending.wait_for(|it| *it) => {}
        () = signalled() => {}
        () = tokio::time::sleep(limit.unwrap_or_default()), if limit.is_some() => {}
    }
}

#[cfg(unix)]
async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut one), Ok(mut other)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

#[cfg(not(unix))]
async fn signalled() {
    let _ = tokio::signal::ctrl_c().await;
}

fn listen(at: &TeamListener) -> Result<Listening> {
    let failed = |what: String, error: std::io::Error| {
        Error::new(ErrorKind::Unavailable, format!("cannot listen at {what}"))
            .caused_by(error)
            .advising("give another place with `--listen` and `--port`, or `--socket`")
    };
    match at {
        TeamListener::Tcp(address) => {
            let bound = std::net::TcpListener::bind(address)
                .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
                .and_then(tokio::net::TcpListener::from_std);
            let bound = bound.map_err(|error| failed(address.to_string(), error))?;
            Ok(Listening::Tcp(bound))
        }
        #[cfg(unix)]
        TeamListener::Socket(path) => {
            let bound = tokio::net::UnixListener::bind(path);
            let bound = bound.map_err(|error| failed(path.display().to_string(), error))?;
            Ok(Listening::Socket(bound, path.clone()))
        }
        #[cfg(not(unix))]
        TeamListener::Socket(_) => Err(Error::new(
            ErrorKind::Unsupported,
            "sockets in the file system are for Unix",
        )),
    }
}

/// Refuses what would let anybody in: an open address without TLS, or a header that anybody can
/// set.
fn check_exposure(config: &TeamServerConfig) -> Result<()> {
    let is_socket = matches!(config.listener, TeamListener::Socket(_));
    if config.identity != TeamIdentity::Token && !is_socket {
        let what = "a header of a proxy is trusted on a Unix socket alone";
        return Err(Error::new(ErrorKind::Invalid, what)
            .because("at an address, every program of this machine could send it")
            .advising("give `--socket PATH`, in a folder that only the proxy can enter"));
    }
    if let Some(origin) = &config.public_origin {
        let host = origin.strip_prefix("https://").unwrap_or_default();
        let is_host = !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']);
        if is_host && host.is_ascii() && *origin == origin.to_ascii_lowercase() {
            return Ok(());
        }
        let what = format!("`{}` is not a public origin", origin.escape_debug());
        return Err(Error::new(ErrorKind::Invalid, what)
            .advising("write `--public-origin https://host`, in lower case and without a path"));
    }
    match &config.listener {
        TeamListener::Tcp(address) if !address.ip().is_loopback() => {
            let what = format!("`{}` can be reached from other machines", address.ip());
            Err(Error::new(ErrorKind::Invalid, what)
                .because("the server has no TLS of its own")
                .advising("put a proxy with TLS before it, and `--public-origin https://host`"))
        }
        _ => Ok(()),
    }
}
