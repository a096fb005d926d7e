//! A TCP proxy between a client of PostgreSQL and its server that cuts connections at chosen
//! moments of an append.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What happens to the connection of the next append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It is closed before the statement reaches the server.
    BeforeStatement,
    /// It is closed after the statement and before its `COMMIT` reaches the server.
    BeforeCommit,
    /// It is closed when the server has committed, before the client learns of it.
    AfterCommit,
    /// The same, but only the direction to the client is closed.
    HalfClosed,
    /// The statement is passed on late.
    Late(Duration),
}

/// A proxy on a port of its own.
#[derive(Debug)]
pub struct CuttingProxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    server: u16,
    next: Mutex<Option<Cut>>,
    cuts: AtomicU64,
    closed: AtomicBool,
    paused: AtomicBool,
}

/// One connection.
#[derive(Debug)]
struct Pair {
    client: TcpStream,
    server: TcpStream,
    /// Set while answers are not passed on: a cut waits for the commit.
    swallows: Mutex<Option<Cut>>,
}

impl CuttingProxy {
    /// Starts a proxy to a port of this machine.
    pub fn to(server: u16) -> CuttingProxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its port").port();
        let shared = Arc::new(Shared {
            server,
            next: Mutex::new(None),
            cuts: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            paused: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if accepting.closed.load(Ordering::Acquire) {
                    return;
                }
                accepting.connect(client);
            }
        });
        CuttingProxy { port, shared }
    }

    /// Returns its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Cuts the connection of the next append.
    pub fn cut_next(&self, cut: Cut) {
        *self.shared.next() = Some(cut);
    }

    /// Passes nothing on while it is paused, in both directions, as a network that is gone.
    pub fn pause(&self, paused: bool) {
        self.shared.paused.store(paused, Ordering::Release);
    }

    /// Returns how many connections were cut or slowed down.
    pub fn cuts(&self) -> u64 {
        self.shared.cuts.load(Ordering::Acquire)
    }
}

impl Drop for CuttingProxy {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Shared {
    fn next(&self) -> std::sync::MutexGuard<'_, Option<Cut>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while_paused(&self) {
        while self.paused.load(Ordering::Acquire) && !self.closed.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn connect(self: &Arc<Shared>, client: TcpStream) {
        let Ok(server) = TcpStream::connect(("127.0.0.1", self.server)) else {
            return;
        };
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let pair = Arc::new(Pair {
            client,
            server,
            swallows: Mutex::new(None),
        });
        let (shared, up) = (Arc::clone(self), Arc::clone(&pair));
        std::thread::spawn(move || {
            let _ = shared.to_server(&up);
            up.close();
        });
        let (shared, down) = (Arc::clone(self), pair);
        std::thread::spawn(move || {
            let _ = down.to_client(&shared);
            down.close();
        });
    }

    /// Passes on what the client sends, until a cut ends it.
    fn to_server(&self, pair: &Pair) -> std::io::Result<()> {
        let (mut buffer, mut cut) = (vec![0; 1 << 16], None);
        loop {
            let read = (&pair.client).read(&mut buffer)?;
            self.wait_while_paused();
            let chunk = buffer.get(..read).unwrap_or(b"");
            if chunk.is_empty() {
                return Ok(());
            }
            if cut.is_none() && find(chunk, b"boswell.append").is_some() {
                cut = self.next().take();
                self.cuts
                    .fetch_add(u64::from(cut.is_some()), Ordering::AcqRel);
            }
            let commit = find(chunk, b"COMMIT\0");
            match cut {
                Some(Cut::BeforeStatement) => return Ok(()),
                Some(Cut::BeforeCommit) => {
                    // Five bytes before its text the message begins.
                    let to = commit.map_or(read, |at| at.saturating_sub(5));
                    (&pair.server).write_all(chunk.get(..to).unwrap_or(b""))?;
                    if commit.is_some() {
                        return Ok(());
                    }
                    continue;
                }
                Some(cut @ (Cut::AfterCommit | Cut::HalfClosed)) if commit.is_some() => {
                    *pair.swallows.lock().unwrap_or_else(PoisonError::into_inner) = Some(cut);
                }
                Some(Cut::Late(time)) => {
                    std::thread::sleep(time);
                    cut = None;
                }
                _ => {}
            }
            (&pair.server).write_all(chunk)?;
        }
    }
}

impl Pair {
    /// Passes on what the server sends, until a cut waits for its commit and finds it.
    fn to_client(&self, shared: &Shared) -> std::io::Result<()> {
        let (mut buffer, mut swallowed) = (vec![0; 1 << 16], Vec::new());
        loop {
            let read = (&self.server).read(&mut buffer)?;
            shared.wait_while_paused();
            let chunk = buffer.get(..read).unwrap_or(b"");
            if chunk.is_empty() {
                return Ok(());
            }
            let swallows = *self.swallows.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(cut) = swallows else {
                (&self.client).write_all(chunk)?;
                continue;
            };
            swallowed.extend_from_slice(chunk);
            let done = [&b"COMMIT\0"[..], b"ROLLBACK\0"];
            if done.iter().any(|tag| find(&swallowed, tag).is_some()) {
                if cut == Cut::HalfClosed {
                    self.client.shutdown(Shutdown::Write)?;
                    std::thread::sleep(Duration::from_millis(50));
                }
                return Ok(());
            }
        }
    }

    fn close(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|window| window == word)
}
