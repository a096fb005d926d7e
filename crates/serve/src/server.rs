//! The server: it listens, accepts connections within bounds, and ends in order.
//!
//! Two threads handle the network; requests run on the pool (`pool.rs`). At a signal nothing new is
//! accepted, streams of events say `bye`, requests get five seconds, and the process ends.

use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use boswell_app::system::workers;
use boswell_model::{Error, ErrorKind, Result};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::config::{Lifetime, ServeConfig};
use crate::folder::{RunningNote, ServeFolder};
use crate::pool::Pool;
use crate::routes;
use crate::state::ServerState;

/// The port that is tried first.
const PORT: u16 = 17400;
/// How many connections may be open.
const CONNECTIONS: usize = 256;
/// Maximum size of the first line and the headers of a request.
const HEADERS: usize = 24 << 10;
/// How long a client may take to send its headers.
const SLOWEST: Duration = Duration::from_secs(10);
/// How long requests may take after the signal to end.
const LAST: Duration = Duration::from_secs(5);
/// How long a server stays without a page.
const ALONE: Duration = Duration::from_secs(60);

/// A server that listens, but answers nothing yet. Signals that would end it are noticed already.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    signals: Signals,
    listener: std::net::TcpListener,
    address: SocketAddr,
    state: ServerState,
    folder: ServeFolder,
    lifetime: Lifetime,
    limit: Option<Duration>,
    _note: RunningNote,
}

/// Ends a server.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Ends the server, as a signal does.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Listens at an address.
    ///
    /// # Errors
    ///
    /// Invalid for an address that other machines reach without a proxy, or a public origin that is
    /// not one; Unavailable if the port is taken; an error of the disk.
    pub fn bind(config: &ServeConfig) -> Result<Server> {
        check_exposure(config)?;
        let home = config.app.home().ok_or_else(|| {
            Error::new(
                ErrorKind::Invalid,
                "a server needs boswell's home for its tokens",
            )
        })?;
        let folder = ServeFolder::open(home)?;
        let tokens = folder.tokens()?;
        let listener = listen(config.address, config.port, folder.port())?;
        let cannot = |error| Error::io("the network", "listen at it", error);
        let address = listener.local_addr().map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        folder.remember_port(address.port());
        folder.remove_redirects();
        let url = config
            .public_origin
            .clone()
            .unwrap_or_else(|| format!("http://{address}"));
        let runtime = runtime()?;
        let signals = {
            let _inside = runtime.enter();
            Signals::listen()
        };
        Ok(Server {
            runtime,
            signals,
            _note: folder.note_running(address, &url),
            listener,
            address,
            state: ServerState::new(config, &tokens),
            folder,
            lifetime: config.lifetime,
            limit: config.limit,
        })
    }

    /// Returns the address that the server listens at.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the files of the server.
    pub fn folder(&self) -> &ServeFolder {
        &self.folder
    }

    /// Returns an address that lets a page in, once, within ten minutes.
    ///
    /// # Errors
    ///
    /// Unavailable if the system has no random numbers.
    pub fn page_url(&self) -> Result<String> {
        let code = self.state.access.code()?;
        Ok(format!("http://{}/#k={code}", self.address))
    }

    /// Returns what ends the server.
    pub fn stop(&self) -> Stop {
        Stop(self.state.ending.clone())
    }

    /// Answers requests until a signal, or until [`Stop::stop`] is called.
    ///
    /// # Errors
    ///
    /// An error of the system at the start.
    pub fn run(self) -> Result<()> {
        let Server {
            runtime,
            signals,
            listener,
            state,
            lifetime,
            limit,
            ..
        } = self;
        let end = ended(state.clone(), signals, (lifetime, limit));
        let done = runtime.block_on(serve(listener, &state, end));
        // Requests that still read are abandoned; changes are done by then, or recovered later.
        runtime.shutdown_timeout(Duration::from_secs(1));
        done
    }
}

/// Returns the threads of the network, and room for those of requests.
fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(Pool::threads(workers()) + 4)
        .enable_all()
        .build()
        .map_err(|error| Error::io("the server", "start threads for", error))
}

/// Accepts connections until the end, and then waits for their requests.
async fn serve(
    listener: std::net::TcpListener,
    state: &ServerState,
    end: impl Future<Output = ()>,
) -> Result<()> {
    let listener = TcpListener::from_std(listener)
        .map_err(|error| Error::io("the network", "listen at it", error))?;
    let router = routes::all(state.clone());
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let mut end = pin!(end);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut end => break,
        };
        // A connection that failed before it was accepted is no error of the server.
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        match Arc::clone(&connections).try_acquire_owned() {
            Ok(permit) => connect(stream, permit, router.clone(), &graceful),
            Err(_) => {
                tokio::spawn(refuse(stream));
            }
        }
    }
    state.ending.send_replace(true);
    let _ = tokio::time::timeout(LAST, graceful.shutdown()).await;
    Ok(())
}

/// Answers the requests of one connection.
fn connect(
    stream: TcpStream,
    permit: OwnedSemaphorePermit,
    router: Router,
    graceful: &GracefulShutdown,
) {
    let _ = stream.set_nodelay(true);
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

/// Refuses a connection over the limit.
async fn refuse(mut stream: TcpStream) {
    let answer = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n\
        content-length: 0\r\nconnection: close\r\n\r\n";
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(answer)).await;
}

/// Waits until the server must end.
async fn ended(
    state: ServerState,
    mut signals: Signals,
    (lifetime, limit): (Lifetime, Option<Duration>),
) {
    let mut ending = state.ending.subscribe();
    tokio::select! {
        _ = ending.wait_for(|it| *it) => {}
        () = signals.wait() => {}
        () = tokio::time::sleep(limit.unwrap_or_default()), if limit.is_some() => {}
        () = without_pages(&state), if lifetime == Lifetime::WhilePagesAreOpen => {}
    }
}

/// Waits until no page was open for a minute.
async fn without_pages(state: &ServerState) {
    let mut pages = state.pages.subscribe();
    loop {
        if *pages.borrow_and_update() > 0 {
            if pages.changed().await.is_err() {
                return;
            }
            continue;
        }
        // A page that comes within the minute keeps the server.
        if tokio::time::timeout(ALONE, pages.changed()).await.is_err() {
            return;
        }
    }
}

/// The signals that end a server.
#[derive(Debug)]
struct Signals {
    #[cfg(unix)]
    listened: Vec<tokio::signal::unix::Signal>,
}

impl Signals {
    /// Listens for signals; from now on they do not end the process at once.
    #[cfg(unix)]
    fn listen() -> Signals {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        Signals {
            listened: kinds.into_iter().filter_map(|it| signal(it).ok()).collect(),
        }
    }

    #[cfg(unix)]
    async fn wait(&mut self) {
        let mut all = self.listened.iter_mut();
        let (Some(one), Some(other)) = (all.next(), all.next()) else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = one.recv() => {}
            _ = other.recv() => {}
        }
    }

    #[cfg(not(unix))]
    fn listen() -> Signals {
        Signals {}
    }

    #[cfg(not(unix))]
    async fn wait(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// Refuses an address that other machines reach without a proxy: there is no TLS of ours.
fn check_exposure(config: &ServeConfig) -> Result<()> {
    if let Some(origin) = &config.public_origin {
        let host = origin.strip_prefix("https://");
        let is_origin = host.is_some_and(|host| {
            !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']) && host.is_ascii()
        });
        if !is_origin || origin.to_ascii_lowercase() != *origin {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("`{}` is not a public origin", origin.escape_debug()),
            )
            .advising("write `--public-origin https://host`, in lower case and without a path"));
        }
        return Ok(());
    }
    if config.address.is_loopback() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Invalid,
        format!("`{}` can be reached from other machines", config.address),
    )
    .because("the server has no TLS of its own")
    .advising("use `ssh -L`, or a proxy with TLS and `--public-origin https://host`"))
}

/// Listens at the wanted port; else at the remembered or usual one, and if that is taken at any.
fn listen(
    address: IpAddr,
    wanted: Option<u16>,
    remembered: Option<u16>,
) -> Result<std::net::TcpListener> {
    let at = |port: u16| std::net::TcpListener::bind(SocketAddr::new(address, port));
    let failed = |port: u16, error: std::io::Error| {
        let what = format!("cannot listen at {}", SocketAddr::new(address, port));
        Error::new(ErrorKind::Unavailable, what)
            .caused_by(error)
            .advising("give another port with `--port`, or none to have a free one chosen")
    };
    match wanted {
        Some(port) => at(port).map_err(|error| failed(port, error)),
        None => {
            let usual = remembered.unwrap_or(PORT);
            at(usual)
                .or_else(|_| at(0))
                .map_err(|error| failed(usual, error))
        }
    }
}
