//! The end of a log: where it ends, whether with a whole line, and the last entry in it.

use std::io;

use boswell_dialect::Dialect;
use boswell_model::{EntryKind, Head, Line, Lines, Names, Splitter};

use crate::disk::{DiskFile, read_full};

/// How much is read first; most last entries are shorter.
const WINDOW: u64 = 4 << 10;

/// What is known of the end of a log.
#[derive(Debug, Default, Clone)]
pub(super) struct Tail {
    pub(super) end: u64,
    /// Where the last line begins; the end of the log if that line is whole. Who reads on starts here, because the rest of
    /// a torn line may still come.
    line: u64,
    pub(super) tip: Option<String>,
}

impl Tail {
    /// Looks at the end of a log. Reads more only when the last entry does not fit.
    pub(super) fn read(dialect: &dyn Dialect, file: &dyn DiskFile, end: u64) -> io::Result<Tail> {
        let mut window = WINDOW;
        loop {
            let from = end.saturating_sub(window);
            let bytes = read_range(file, from, end)?;
            // The first line may be cut; unless it is the first of the file, it belongs to nobody.
            let skip = if from == 0 { 0 } else { memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1) };
            let tip = last_id(dialect, bytes.get(skip..).unwrap_or(b""));
            if tip.is_some() || from == 0 {
                let end = from + bytes.len() as u64;
                return Ok(Tail { end, line: from + after_last_newline(&bytes), tip });
            }
            window = window.saturating_mul(8);
        }
    }

    /// Goes on from what was known: reads only what was added since.
    pub(super) fn advance(
        &mut self,
        dialect: &dyn Dialect,
        file: &dyn DiskFile,
        end: u64,
        seen: &mut dyn FnMut(&str, u64, u64),
    ) -> io::Result<()> {
        let from = self.line;
        let bytes = read_range(file, from, end)?;
        each_id(dialect, &bytes, from, &mut |id, at, len| {
            self.tip = Some(id.to_owned());
            seen(id, at, len);
        });
        self.line = from + after_last_newline(&bytes);
        self.end = end;
        Ok(())
    }

    /// Whether the last line is whole.
    pub(super) fn ended(&self) -> bool {
        self.line == self.end
    }

    /// Whether what stands behind the last line end is a whole record.
    pub(super) fn is_record(&self, dialect: &dyn Dialect, file: &dyn DiskFile) -> io::Result<bool> {
        let bytes = read_range(file, self.line, self.end)?;
        Ok(last_id(dialect, &bytes).is_some())
    }

    /// Takes note of whole lines that we wrote ourselves.
    pub(super) fn wrote(&mut self, end: u64) {
        (self.end, self.line) = (end, end);
    }
}

fn after_last_newline(bytes: &[u8]) -> u64 {
    memchr::memrchr(b'\n', bytes).map_or(0, |at| at as u64 + 1)
}

fn read_range(file: &dyn DiskFile, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX)];
    let done = read_full(file, &mut bytes, from)?;
    bytes.truncate(done);
    Ok(bytes)
}

/// The id of the last entry that has one, looked for line by line from the end.
fn last_id(dialect: &dyn Dialect, bytes: &[u8]) -> Option<String> {
    let mut rest = bytes;
    let mut last = None;
    while last.is_none() && !rest.is_empty() {
        let whole = rest.len() - usize::from(rest.ends_with(b"\n"));
        let start = after_last_newline(rest.get(..whole)?) as usize;
        let (before, line) = rest.split_at_checked(start)?;
        // Not the first line of a file for the reader: nothing of it depends on where it stands.
        each_id(dialect, line, 1, &mut |id, _, _| last = Some(id.to_owned()));
        rest = before;
    }
    last
}

/// Every entry with an id: id, position, length.
pub(super) fn each_id(dialect: &dyn Dialect, bytes: &[u8], at: u64, sink: &mut dyn FnMut(&str, u64, u64)) {
    each_entry(dialect, bytes, at, &mut |head, names| {
        if let Some(id) = head.id {
            sink(names.text(id), head.at, head.len);
        }
    });
}

/// The id and the parent that a record states itself.
pub(super) fn stated(dialect: &dyn Dialect, record: &[u8]) -> (Option<String>, Option<String>) {
    let mut found = (None, None);
    each_entry(dialect, record, 0, &mut |head, names| {
        let text = |name| names.text(name).to_owned();
        found = (head.id.map(text), head.parent.map(text));
    });
    found
}

fn each_entry(dialect: &dyn Dialect, bytes: &[u8], at: u64, sink: &mut dyn FnMut(&Head, &Names)) {
    let mut splitter = Splitter::default();
    let mut names = Names::default();
    let mut take = |line: Line<'_>| {
        splitter.line(line, &|object| dialect.is_record(object), &mut |piece| {
            let Some(object) = &piece.object else { return };
            let mut head = Head::of(&piece.span);
            dialect.head(object, &mut head, &mut names);
            if head.kind != EntryKind::Header {
                sink(&head, &names);
            }
        });
    };
    let mut lines = Lines::new(at, 1);
    lines.push(bytes, &mut take);
    lines.finish(&mut take);
}
