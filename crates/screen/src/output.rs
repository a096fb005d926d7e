//! Writes to the terminal on a thread of its own, so that a slow terminal delays no key.
//!
//! At most one frame is on its way: while it is written the loop draws nothing, and is told when
//! there is room again. What changed in between is one frame then; the frames between are never
//! made.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How much is written at once: whether a terminal still reads is seen after each part.
const PART: usize = 4096;

/// What the thread tells the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// Everything was written, and the loop had asked to be told.
    All,
    /// The terminal is gone.
    Failed,
}

/// What is written to the terminal. Clones write to the same one.
#[derive(Debug, Clone)]
pub(crate) struct Output(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<u8>,
    is_writing: bool,
    /// Number of parts that were written, to see whether the terminal still reads.
    parts: u64,
    /// Whether the loop wants to be told when everything was written.
    is_awaited: bool,
    has_failed: bool,
}

impl Queue {
    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.is_writing
    }
}

impl Output {
    /// Starts the thread. It ends with the process.
    pub(crate) fn start(
        terminal: Box<dyn Write + Send>,
        tell: impl Fn(Written) + Send + 'static,
    ) -> Output {
        let output = Output(Arc::default());
        let shared = Arc::clone(&output.0);
        std::thread::spawn(move || shared.write(terminal, &tell));
        output
    }

    /// Whether everything was written. If not, the loop is told when it is.
    pub(crate) fn has_room(&self) -> bool {
        let mut queue = self.0.lock();
        queue.is_awaited = !queue.is_idle();
        !queue.is_awaited
    }

    /// Writes after what waits already.
    pub(crate) fn send(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut queue = self.0.lock();
        if !queue.has_failed {
            queue.waiting.extend_from_slice(bytes);
            self.0.changed.notify_all();
        }
    }

    /// Waits until everything is written; returns false if the terminal took nothing for the given
    /// time.
    pub(crate) fn drain(&self, patience: Duration) -> bool {
        let mut queue = self.0.lock();
        while !queue.is_idle() {
            let parts = queue.parts;
            let waited = self.0.changed.wait_timeout(queue, patience);
            let (next, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            queue = next;
            if timeout.timed_out() && queue.parts == parts && !queue.is_idle() {
                return false;
            }
        }
        true
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, mut terminal: Box<dyn Write + Send>, tell: &dyn Fn(Written)) {
        loop {
            let bytes = self.next();
            for part in bytes.chunks(PART) {
                if terminal.write_all(part).is_err() {
                    let mut queue = self.lock();
                    *queue = Queue {
                        has_failed: true,
                        ..Queue::default()
                    };
                    self.changed.notify_all();
                    drop(queue);
                    return tell(Written::Failed);
                }
                self.lock().parts += 1;
                self.changed.notify_all();
            }
            // A failed flush is a failed write of the next part.
            let _ = terminal.flush();
            let mut queue = self.lock();
            queue.is_writing = false;
            let is_awaited = queue.is_idle() && std::mem::take(&mut queue.is_awaited);
            drop(queue);
            self.changed.notify_all();
            if is_awaited {
                tell(Written::All);
            }
        }
    }

    /// Waits for something to write.
    fn next(&self) -> Vec<u8> {
        let mut queue = self.lock();
        while queue.waiting.is_empty() {
            let waited = self.changed.wait(queue);
            queue = waited.unwrap_or_else(PoisonError::into_inner);
        }
        queue.is_writing = true;
        std::mem::take(&mut queue.waiting)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A terminal that takes a part only when it is told to.
    struct Slow {
        go_on: Receiver<()>,
        taken: Sender<usize>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.go_on.recv().map_err(std::io::Error::other)?;
            self.taken
                .send(bytes.len())
                .map_err(std::io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_slow_terminal_is_waited_for_as_long_as_it_reads() {
        let (go_on, waits) = channel();
        let (taken, parts) = channel();
        let (told, events) = channel();
        let slow = Slow {
            go_on: waits,
            taken,
        };
        let output = Output::start(Box::new(slow), move |it| told.send(it).unwrap());
        assert!(output.has_room());
        output.send(&[b'x'; PART + 1]);
        // The loop sees that a frame is on its way, and is told once when it was written.
        assert!(!output.has_room());
        assert!(!output.drain(Duration::from_millis(1)), "nothing was read");
        go_on.send(()).unwrap();
        assert_eq!(parts.recv().unwrap(), PART);
        go_on.send(()).unwrap();
        assert_eq!(parts.recv().unwrap(), 1);
        assert_eq!(events.recv().unwrap(), Written::All);
        assert!(output.has_room());
        assert!(output.drain(Duration::from_secs(60)));
        assert!(events.try_recv().is_err());
    }

    #[test]
    fn a_terminal_that_is_gone_takes_nothing_more() {
        let (go_on, waits) = channel();
        let (taken, _parts) = channel();
        let (told, events) = channel();
        let slow = Slow {
            go_on: waits,
            taken,
        };
        let output = Output::start(Box::new(slow), move |it| told.send(it).unwrap());
        drop(go_on);
        output.send(b"frame");
        assert_eq!(events.recv().unwrap(), Written::Failed);
        output.send(b"another");
        assert!(output.drain(Duration::from_secs(60)), "nothing waits");
    }
}
