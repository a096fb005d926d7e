//! A session as a list shows it.

use std::borrow::Cow;

use boswell_dialect::{Depth, Dialect, Located, ReadSession, Reader};
use boswell_model::{EntryKind, Facts, Framing, Instant, Line, Lines, Payloads, Result, SessionRef};

use crate::backend::{Backend, BackendFiles, ObjectReader};

/// How much of each end of a large log a listing looks at: as much as the agents' own pickers do.
const WINDOW: u64 = 64 << 10;

/// What a list shows of a session, gathered from the ends of its log and the files beside it.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Which session.
    pub reference: SessionRef,
    /// Where a listing found it.
    pub located: Located,
    /// Path of its log.
    pub path: Option<String>,
    /// What is known of it.
    pub facts: Facts,
    /// Whether the whole log was read: only then counts are known.
    pub complete: bool,
    /// Records seen, the header aside; all of them if `complete`.
    pub records: u64,
    /// Entry that the conversation stands at, where the whole log was read.
    pub leaf: Option<String>,
    /// How many stretches of the log are no records, as far as it was read.
    pub gaps: u64,
}

impl Summary {
    /// Looks at a session: the whole log if it is small, else its two ends.
    pub(crate) fn peek(dialect: &'static dyn Dialect, backend: &dyn Backend, located: &Located) -> Result<Summary> {
        let mut reader = Reader::new(dialect, located, Depth::Facts);
        let mut whole = Vec::new();
        if let Some(key) = &located.key {
            let object = backend.open(key)?;
            let end = object.end()?;
            if located.framing != Framing::Lines || end <= 2 * WINDOW {
                whole = object.read(0, end)?;
                read_whole(&whole, located.framing, &mut reader);
            } else {
                read_ends(object.as_ref(), end, &mut reader)?;
            }
        }
        let mut read = reader.finish();
        dialect.fold_side_files(&BackendFiles(backend), located, &mut read.facts)?;
        let leaf = leaf_of(dialect, &read, &whole);
        Ok(Summary {
            reference: SessionRef::new(dialect.name(), &located.id),
            located: located.clone(),
            path: located.key.as_deref().map(|key| backend.describe(key)),
            complete: read.log.whole,
            records: read.log.heads.iter().filter(|head| head.kind != EntryKind::Header).count() as u64,
            gaps: read.log.gaps.len() as u64,
            facts: read.facts,
            leaf,
        })
    }

    /// When something last happened: what the log says, else when the file changed.
    pub fn last_active(&self) -> Option<Instant> {
        self.facts.last_active.or(self.located.modified)
    }

    /// How the session is called: title, else summary, else first prompt, else its short id.
    pub fn name(&self) -> String {
        let facts = &self.facts;
        [&facts.title, &facts.summary, &facts.first_prompt]
            .into_iter()
            .flatten()
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
            .find(|text| !text.is_empty())
            .unwrap_or_else(|| self.reference.id.chars().take(8).collect())
    }

    /// Why lists leave it out unless asked.
    pub fn hidden(&self) -> Option<&'static str> {
        self.located
            .hidden
            .or(self.facts.hidden)
            .or((self.complete && self.records == 0 && self.located.row.is_none()).then_some("empty"))
    }
}

/// The leaf of a log that was read as a whole.
fn leaf_of(dialect: &dyn Dialect, read: &ReadSession, bytes: &[u8]) -> Option<String> {
    if !read.log.whole {
        return None;
    }
    let payloads = Bytes(bytes);
    let view = read.view(&payloads);
    let tip = dialect.tip(&view).ok()?;
    dialect.leaf(&view, tip).map(|slot| read.log.label(slot).into_owned())
}

/// Records of a log that is in memory.
pub(crate) struct Bytes<'b>(pub(crate) &'b [u8]);

impl Payloads for Bytes<'_> {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        self.0.payload(at, len)
    }
}

fn read_whole(bytes: &[u8], framing: Framing, reader: &mut Reader<'_>) {
    if framing == Framing::Lines {
        let mut lines = Lines::new(0, 1);
        lines.push(bytes, &mut |line| reader.line(line));
        lines.finish(&mut |line| reader.line(line));
    } else {
        reader.document(bytes);
    }
}

/// Reads the first and the last window. The cut lines at their inner edges belong to neither.
fn read_ends(object: &dyn ObjectReader, end: u64, reader: &mut Reader<'_>) -> Result<()> {
    let head = object.read(0, WINDOW)?;
    let whole_lines = memchr::memrchr(b'\n', &head).map_or(0, |at| at + 1);
    let mut count = 0;
    let mut lines = Lines::new(0, 1);
    lines.push(head.get(..whole_lines).unwrap_or(b""), &mut |line| {
        count = line.number;
        reader.line(line);
    });
    let from = end - WINDOW;
    let tail = object.read(from, WINDOW)?;
    let first_line = memchr::memchr(b'\n', &tail).map_or(tail.len(), |at| at + 1);
    reader.skipped();
    let mut lines = Lines::new(from + first_line as u64, count + 2);
    let mut take = |line: Line<'_>| reader.line(line);
    lines.push(tail.get(first_line..).unwrap_or(b""), &mut take);
    lines.finish(&mut take);
    Ok(())
}
