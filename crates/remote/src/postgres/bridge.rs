//! [`Bridge`]: the runtime of a backend, for synchronous callers.
//!
//! Two threads run connections and timers. They end when the last clone is dropped, so a program
//! that drops its backend has no thread of ours left.

use std::future::Future;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Result};
use tokio::runtime::{Builder, Handle, Runtime};

/// How long the end of the last clone waits for tasks that are in a call of the system.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// Runs futures for callers on any thread.
#[derive(Debug, Clone)]
pub(super) struct Bridge {
    owned: Arc<Owned>,
}

#[derive(Debug)]
struct Owned {
    /// None only while it is dropped.
    runtime: Option<Runtime>,
    handle: Handle,
}

impl Bridge {
    pub(super) fn new() -> Result<Bridge> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("boswell-postgres")
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Error::io("the threads of the connections", "start", error))?;
        let handle = runtime.handle().clone();
        let runtime = Some(runtime);
        Ok(Bridge {
            owned: Arc::new(Owned { runtime, handle }),
        })
    }

    /// Runs a future and returns its result. Blocks this thread, also one of another runtime.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        if Handle::try_current().is_err() {
            return self.owned.handle.block_on(future);
        }
        // Blocking inside of a runtime by its own means would panic.
        let (sender, receiver) = mpsc::sync_channel(1);
        self.spawn(async move {
            let _ = sender.send(future.await);
        });
        receiver.recv().unwrap_or_else(|_| {
            Err(Error::new(
                ErrorKind::Unavailable,
                "the connection to the database was closed",
            ))
        })
    }

    /// Runs a future in the background.
    pub(super) fn spawn(
        &self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::AbortHandle {
        self.owned.handle.spawn(future).abort_handle()
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        if Handle::try_current().is_ok() {
            runtime.shutdown_background();
        } else {
            runtime.shutdown_timeout(LAST_WAIT);
        }
    }
}
