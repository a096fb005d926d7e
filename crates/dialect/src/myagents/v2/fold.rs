//! Folds a log of operations into the conversation that it leaves.
//!
//! The log is read once, line by line, and only the conversation is in memory. If a batch fails in
//! the middle, the log is read a second time up to that batch: nothing behind it counts, so that
//! happens at most once.

use boswell_model::Line;
use boswell_model::json::RawKind;

use crate::LineSource;

use super::frame::{Batch, Header};
use super::operation::Operation;
use super::state::State;

/// The longest line that the app reads, without its line end.
const LONGEST: usize = 8 << 20;

/// Why a line, or the whole file, cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The reason, without a full stop.
    pub(crate) why: String,
    /// Whether a newer version of the app would explain it.
    pub(crate) newer: bool,
    /// Number of the line, from 1.
    pub(crate) line: u64,
    /// Number of the operation in its batch, from 1; 0 if the fault is in the line itself.
    pub(crate) operation: usize,
}

impl Fault {
    pub(super) fn new(why: String) -> Self {
        Fault {
            why,
            newer: false,
            line: 1,
            operation: 0,
        }
    }

    pub(super) fn newer(mut self) -> Self {
        self.newer = true;
        self
    }

    fn at(mut self, operation: usize) -> Self {
        self.operation = operation;
        self
    }
}

/// How a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// With a whole batch, or with the header.
    Clean,
    /// With a line that has no end. The app cuts it off with its next write.
    Incomplete,
    /// With lines that do not count, from the first bad one on.
    Invalid,
}

impl Tail {
    /// The word for it in the record that the fold hands on.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Tail::Clean => "clean",
            Tail::Incomplete => "incomplete",
            Tail::Invalid => "invalid",
        }
    }
}

/// A log after it was folded.
#[derive(Debug)]
pub(crate) struct Folded {
    /// Its first line.
    pub(crate) header: Header,
    /// Messages and turns.
    pub(crate) state: State,
    /// The revision after the last batch that counts.
    pub(crate) revision: u64,
    /// The id of that batch.
    pub(crate) last_batch: Option<String>,
    /// Bytes of the header and of the batches that count.
    pub(crate) valid_bytes: u64,
    /// Bytes of the file.
    pub(crate) bytes: u64,
    /// Lines behind those that count.
    pub(crate) lines_behind: u64,
    /// How it ends.
    pub(crate) tail: Tail,
    /// The first bad line, if the tail is invalid.
    pub(crate) fault: Option<Fault>,
}

/// Folds a log. `session` is the id that the header must name; `read` passes every line of the file
/// to its sink, and is called once or twice.
///
/// # Errors
///
/// Those of `read`. The inner error is the reason why the app refuses the whole file.
pub(crate) fn fold(
    session: Option<&str>,
    read: LineSource<'_>,
) -> boswell_model::Result<Result<Folded, Fault>> {
    let mut fold = Fold::new(session, u64::MAX);
    read(&mut |line| fold.line(line))?;
    if fold.is_spoiled {
        let mut again = Fold::new(session, fold.lines);
        read(&mut |line| again.line(line))?;
        fold.state = again.state;
    }
    Ok(fold.finish())
}

struct Fold<'s> {
    session: Option<&'s str>,
    /// Lines to apply.
    most: u64,
    header: Option<Header>,
    state: State,
    /// Whether a batch was applied in part.
    is_spoiled: bool,
    in_baseline: bool,
    revision: u64,
    last_batch: Option<String>,
    /// Lines that count.
    lines: u64,
    valid_bytes: u64,
    bytes: u64,
    lines_behind: u64,
    is_torn: bool,
    fault: Option<Fault>,
}

impl<'s> Fold<'s> {
    fn new(session: Option<&'s str>, most: u64) -> Self {
        Fold {
            session,
            most,
            header: None,
            state: State::default(),
            is_spoiled: false,
            in_baseline: false,
            revision: 0,
            last_batch: None,
            lines: 0,
            valid_bytes: 0,
            bytes: 0,
            lines_behind: 0,
            is_torn: false,
            fault: None,
        }
    }

    fn line(&mut self, line: Line<'_>) {
        self.bytes += line.bytes.len() as u64;
        if self.fault.is_some() || self.lines >= self.most {
            self.lines_behind += 1;
            return;
        }
        let Some(body) = line.bytes.strip_suffix(b"\n") else {
            self.is_torn = true;
            self.lines_behind += 1;
            return;
        };
        let read = if self.header.is_none() {
            self.first(body)
        } else {
            self.batch(body)
        };
        match read {
            Ok(()) => {
                self.lines += 1;
                self.valid_bytes = self.bytes;
            }
            Err(fault) => {
                self.lines_behind += 1;
                self.fault = Some(Fault {
                    line: line.number,
                    ..fault
                });
            }
        }
    }

    fn first(&mut self, line: &[u8]) -> Result<(), Fault> {
        let header = Header::parse(line, self.session)?;
        self.revision = header.base;
        self.in_baseline = header.baseline;
        self.header = Some(header);
        Ok(())
    }

    fn batch(&mut self, line: &[u8]) -> Result<(), Fault> {
        if line.len() > LONGEST {
            return Err(Fault::new("it is longer than 8 MiB".to_owned()));
        }
        let batch = Batch::parse(line)?;
        if !self.is_next(&batch) {
            let why = "its revision does not follow that of the line before";
            return Err(Fault::new(why.to_owned()));
        }
        let checked = checked_operations(&batch)?;
        for (at, operation) in checked.iter().enumerate() {
            if let Err(why) = self.state.apply(operation) {
                self.is_spoiled = true;
                return Err(Fault::new(why.to_owned()).at(at + 1));
            }
        }
        if !batch.baseline {
            self.revision = batch.revision;
        } else if batch.ends_baseline() {
            self.in_baseline = false;
        }
        self.last_batch = batch
            .body
            .get("id")
            .and_then(|id| id.text())
            .map(Into::into);
        Ok(())
    }

    /// Returns whether the revisions of a batch follow those of the line before.
    fn is_next(&self, batch: &Batch<'_>) -> bool {
        let base = self.header.as_ref().map_or(0, |header| header.base);
        if batch.baseline {
            self.in_baseline && batch.from == 0 && batch.revision == base
        } else {
            !self.in_baseline && batch.from == self.revision + 1 && batch.revision >= batch.from
        }
    }

    fn finish(self) -> Result<Folded, Fault> {
        let whole = |why: &str| Fault::new(why.to_owned());
        let Some(header) = self.header else {
            return Err(self.fault.unwrap_or_else(|| {
                whole(if self.bytes == 0 {
                    "it is empty"
                } else {
                    "its first line has no end"
                })
            }));
        };
        if self.in_baseline {
            let fault = self.fault.unwrap_or_else(|| Fault {
                line: self.lines + 1,
                ..whole("the file ends")
            });
            let why = format!(
                "the snapshot at its beginning is not complete: {}",
                fault.why
            );
            return Err(Fault { why, ..fault });
        }
        let tail = match (&self.fault, self.is_torn) {
            (Some(_), _) => Tail::Invalid,
            (None, true) => Tail::Incomplete,
            (None, false) => Tail::Clean,
        };
        Ok(Folded {
            header,
            state: self.state,
            revision: self.revision,
            last_batch: self.last_batch,
            valid_bytes: self.valid_bytes,
            bytes: self.bytes,
            lines_behind: self.lines_behind,
            tail,
            fault: self.fault,
        })
    }
}

/// Returns the operations of a batch, or the fault of the first bad one.
fn checked_operations<'a>(batch: &Batch<'a>) -> Result<Vec<Operation<'a>>, Fault> {
    let operations = batch.body.get("operations");
    let Some(operations) = operations.filter(|it| it.kind() == RawKind::Array) else {
        return Err(Fault::new("its batch has no valid `operations`".to_owned()));
    };
    let numbered = operations.items().enumerate();
    numbered
        .map(|(at, raw)| Operation::parse(raw).map_err(|fault| fault.at(at + 1)))
        .collect()
}
