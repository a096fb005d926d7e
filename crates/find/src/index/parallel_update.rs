//! Updates the index on several threads.
//!
//! Each thread takes the next source from a shared list, and reads and tokenizes it into a builder
//! of its own. The calling thread is the only writer: it writes the segments that the threads
//! finish, one at a time. While one is written, at most one more waits per thread, so memory is
//! bounded by the number of threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Result};

use super::Index;
use super::builder::SEGMENT_TEXT;
use super::update::{Built, Progress, Work, start_of};
use super::writer::Writer;
use crate::source::{Source, SourceReader, TextPosition};

/// How often progress is reported and `go_on` is asked while no segment is finished.
const TICK: Duration = Duration::from_millis(20);
/// Below this much text per thread, one thread is as fast.
const WORTH: u64 = 4 << 20;

/// A source, and where to begin to read it.
type Job = (Source, Option<TextPosition>);

/// What the threads share.
struct Shared<'s> {
    jobs: &'s [Job],
    next: AtomicUsize,
    /// Number of blocks that were read and not reported yet.
    blocks: AtomicUsize,
    stop: AtomicBool,
    reader: &'s dyn SourceReader,
    /// The size of text at which a thread finishes its segment.
    most: u64,
}

impl Index {
    /// As [`update`](Index::update), on up to `workers` threads. `go_on` is called for each block,
    /// on the calling thread, and a little later than there.
    pub fn update_in_parallel(
        &self,
        sources: Vec<Source>,
        reader: &dyn SourceReader,
        workers: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Progress> {
        let bytes: u64 = sources.iter().map(|source| source.len).sum();
        let workers = workers.min(usize::try_from(bytes / WORTH).unwrap_or(usize::MAX));
        if workers < 2 {
            return self.update(&mut sources.into_iter(), reader, go_on);
        }
        let mut writer = self.writer()?;
        if !go_on() {
            return self.finish(writer, Ok(Progress::default()));
        }
        let mut next = 0;
        let jobs: Vec<Job> = sources
            .into_iter()
            .map(|source| {
                let from = start_of(&source, &writer.snapshot, &mut next);
                (source, from)
            })
            .collect();
        let shared = Shared {
            jobs: &jobs,
            next: AtomicUsize::new(0),
            blocks: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            reader,
            // All threads together have about as much text in memory as one alone would have.
            most: SEGMENT_TEXT / workers as u64,
        };
        let done = shared.run(workers, &mut writer, go_on);
        self.finish(writer, done)
    }
}

impl Shared<'_> {
    /// Reads on `workers` threads and writes on this one; returns what was done.
    fn run(
        &self,
        workers: usize,
        writer: &mut Writer<'_>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Progress> {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(1);
            let threads: Vec<_> = (0..workers)
                .map(|_| {
                    let sender = sender.clone();
                    scope.spawn(|| self.work(sender))
                })
                .collect();
            // The channel ends when the threads have dropped their senders.
            drop(sender);
            let written = self.write(&receiver, writer, go_on);
            // A thread that waits to pass on a segment must not wait for ever.
            drop(receiver);
            let parts = threads.into_iter().map(|thread| {
                let panicked = || Error::new(ErrorKind::Internal, "a thread of the index panicked");
                thread.join().map_err(|_| panicked())
            });
            let parts = parts.collect::<Result<Vec<Progress>>>()?;
            written.map(|()| sum_of(&parts))
        })
    }

    /// Reads sources until none is left.
    fn work(&self, sender: SyncSender<Built>) -> Progress {
        let mut work = Work::new(self.most);
        let mut go_on = || {
            self.blocks.fetch_add(1, Ordering::Relaxed);
            !self.stop.load(Ordering::Relaxed)
        };
        let mut pass_on = |built| {
            // The receiver is gone only after a failure, which the calling thread returns.
            sender.send(built).map_err(|_| stopped())
        };
        while let Some((source, from)) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if !go_on() {
                work.progress.complete = false;
                break;
            }
            let taken = work.take((source, *from), self.reader, &mut go_on, &mut pass_on);
            if taken.is_err() {
                work.progress.complete = false;
                break;
            }
        }
        if work.flush(&mut pass_on).is_err() {
            work.progress.complete = false;
        }
        work.progress
    }

    /// Writes the segments that the threads finish, and reports their progress.
    fn write(
        &self,
        receiver: &Receiver<Built>,
        writer: &mut Writer<'_>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        let mut report = || {
            for _ in 0..self.blocks.swap(0, Ordering::Relaxed) {
                if !go_on() {
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        };
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(built) => {
                    let added = writer.add(built);
                    if added.is_err() {
                        self.stop.store(true, Ordering::Relaxed);
                    }
                    added?;
                    report();
                }
                Err(RecvTimeoutError::Timeout) => report(),
                Err(RecvTimeoutError::Disconnected) => {
                    report();
                    return Ok(());
                }
            }
        }
    }
}

fn stopped() -> Error {
    Error::new(ErrorKind::Internal, "the writer of the index has stopped")
}

fn sum_of(parts: &[Progress]) -> Progress {
    let start = Progress {
        complete: true,
        ..Progress::default()
    };
    parts.iter().fold(start, |sum, part| Progress {
        sources: sum.sources + part.sources,
        bytes: sum.bytes + part.bytes,
        failed: sum.failed + part.failed,
        complete: sum.complete && part.complete,
    })
}
