//! Reads the end of a log: its position, whether the last line is complete, and the tip.
//!
//! A writer must know the id of the last entry (the parent of the next one) without reading the
//! whole log. [`Tail::read`] reads backwards in growing windows until it finds an entry;
//! [`Tail::advance`] then reads only what was appended since.
//!
//! A last line without a newline is a torn append, or a record whose newline has not arrived yet.
//! It is remembered by its start, so that the line is read again as a whole when the rest arrives.

use boswell_dialect::Append;
use boswell_model::{EntryId, EntryKind, Head, Interner, Line, Result, Splitter};

use crate::backend::ObjectReader;

/// Size of the first window in bytes; most last entries are shorter.
const WINDOW: u64 = 2 << 10;

/// What is known about the end of a log.
#[derive(Debug, Default, Clone)]
pub(super) struct Tail {
    /// The position up to which the log was read.
    pub(super) end: u64,
    /// The last line, if it lacks its newline. [`Tail::advance`] starts there, because the rest of
    /// a torn line may still arrive.
    unended: Option<Unended>,
    /// The last entry of the log, in the order of lines.
    pub(super) tip: Option<EntryId>,
}

/// A last line without a newline.
#[derive(Debug, Clone, Copy)]
struct Unended {
    at: u64,
    /// Whether the line is a complete record.
    is_record: bool,
}

impl Tail {
    /// Reads the end of a log backwards; reads more than one window only if no entry fits into it.
    pub(super) fn read(dialect: &dyn Append, log: &dyn ObjectReader, end: u64) -> Result<Tail> {
        let mut tail = Tail {
            end,
            ..Tail::default()
        };
        let mut entries = Entries::of(dialect);
        let (mut window, mut to) = (WINDOW, end);
        while tail.tip.is_none() {
            let (mut bytes, mut lines) = (Vec::new(), Vec::new());
            let from = log.lines_before(to, window, &mut |line| {
                let start = bytes.len();
                bytes.extend_from_slice(line.bytes);
                lines.push((line.at, start..bytes.len()));
            })?;
            // From the last line upwards: the first line that contains an entry has the tip.
            for (nth, (at, line)) in lines.iter().rev().enumerate() {
                let line = Line {
                    at: *at,
                    number: 1,
                    bytes: bytes.get(line.clone()).unwrap_or(b""),
                };
                tail.tip = entries.last_id(line);
                // Only the very last line of the log can lack its newline.
                if to == end && nth == 0 {
                    tail.unended = Unended::of(&line, tail.tip.is_some());
                }
                if tail.tip.is_some() {
                    break;
                }
            }
            if from >= to {
                // The beginning of the log: it has no entries.
                break;
            }
            (to, window) = (from, window.saturating_mul(8));
        }
        Ok(tail)
    }

    /// Reads what was added since the last call, and passes id, position and length of every new
    /// entry to `seen`.
    pub(super) fn advance(
        &mut self,
        dialect: &dyn Append,
        log: &dyn ObjectReader,
        seen: &mut dyn FnMut(&str, u64, u64),
    ) -> Result<()> {
        let mut entries = Entries::of(dialect);
        // An incomplete last line is read again: its rest may have been appended.
        let from = self.unended.map_or(self.end, |last| last.at);
        self.end = log.lines(from, 1, &mut |line| {
            let mut is_record = false;
            entries.each_id(line, &mut |id, at, len| {
                is_record = true;
                self.tip = Some(id.into());
                seen(id, at, len);
            });
            self.unended = Unended::of(&line, is_record);
        })?;
        Ok(())
    }

    /// Returns whether the last line has its newline.
    pub(super) fn ended(&self) -> bool {
        self.unended.is_none()
    }

    /// Returns whether the last line is a complete record that lacks only its newline.
    pub(super) fn ends_with_record(&self) -> bool {
        self.unended.is_some_and(|last| last.is_record)
    }

    /// Records that this writer appended complete lines up to `end`.
    pub(super) fn wrote(&mut self, end: u64) {
        (self.end, self.unended) = (end, None);
    }
}

impl Unended {
    fn of(line: &Line<'_>, is_record: bool) -> Option<Unended> {
        (line.bytes.last() != Some(&b'\n')).then_some(Unended {
            at: line.at,
            is_record,
        })
    }
}

/// Finds the entries in lines, as the dialect defines them.
#[derive(Debug)]
pub(super) struct Entries<'d> {
    dialect: &'d dyn Append,
    splitter: Splitter,
    names: Interner,
}

impl<'d> Entries<'d> {
    pub(super) fn of(dialect: &'d dyn Append) -> Entries<'d> {
        Entries {
            dialect,
            splitter: Splitter::default(),
            names: Interner::default(),
        }
    }

    /// Passes id, position and length of every entry that has an id to `sink`.
    pub(super) fn each_id(&mut self, line: Line<'_>, sink: &mut dyn FnMut(&str, u64, u64)) {
        self.each(line, &mut |head, names| {
            if let Some(id) = head.id {
                sink(names.text(id), head.at, head.len);
            }
        });
    }

    fn last_id(&mut self, line: Line<'_>) -> Option<EntryId> {
        match self.dialect.fast_entry_id(line.bytes) {
            Some(id) => Some(id.into()),
            None => self.last_id_by_all(line),
        }
    }

    fn last_id_by_all(&mut self, line: Line<'_>) -> Option<EntryId> {
        let mut last = None;
        self.each_id(line, &mut |id, _, _| last = Some(id.into()));
        last
    }

    fn each(&mut self, line: Line<'_>, sink: &mut dyn FnMut(&Head, &Interner)) {
        let Entries {
            dialect,
            splitter,
            names,
        } = self;
        splitter.line(line, &|object| dialect.is_record(object), &mut |piece| {
            let Some(object) = &piece.object else { return };
            let mut head = Head::of(&piece.span);
            dialect.head(object, &mut head, names);
            if head.kind != EntryKind::Header {
                sink(&head, names);
            }
        });
    }
}

/// Returns the id and the parent that a record contains.
pub(super) fn stated(dialect: &dyn Append, record: &[u8]) -> (Option<String>, Option<String>) {
    let mut found = (None, None);
    Entries::of(dialect).each(
        Line {
            at: 0,
            number: 1,
            bytes: record,
        },
        &mut |head, names| {
            let text = |name| names.text(name).to_owned();
            found = (head.id.map(text), head.parent.map(text));
        },
    );
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINES: [&str; 6] = [
        r#"{"type":"message","id":"0123456789abcdef","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"会话 \"id\" \n"}}"#,
        r#"{"type":"message","id":"a","parentId":"b","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n"}]}}"#,
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}"#,
        r#"{"type":"session","id":"s","cwd":"/p"}"#,
        r#"{"type":"custom","id":"d","parentId":null,"customType":"x","data":{"x":[1,2.5e3,true]}}"#,
        r#"{"type":"future_kind","id":"\u0061","id":"e"}"#,
    ];

    proptest! {
        #[test]
        fn sort_and_filter_keys_say_what_whole_rows_say(
            which in 0..LINES.len(),
            cuts in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 0..3),
            ended in any::<bool>(),
        ) {
            let mut line = LINES[which].as_bytes().to_vec();
            for (at, byte, how) in cuts {
                let at = at.index(line.len());
                match how {
                    0 => line[at] = byte,
                    1 => line.insert(at, byte),
                    2 => { line.remove(at); }
                    _ => line.truncate(at.max(1)),
                }
            }
            if ended {
                line.push(b'\n');
            }
            let dialect = boswell_dialect::by_name("boswell").unwrap().appender().unwrap();
            let (line, mut entries) = (Line { at: 0, number: 1, bytes: &line }, Entries::of(dialect));
            if let Some(id) = dialect.fast_entry_id(line.bytes) {
                prop_assert_eq!(entries.last_id_by_all(line), Some(EntryId::from(id)));
            }
        }
    }

    #[test]
    fn a_plain_line_is_recognised_without_parsing() {
        let dialect = boswell_dialect::by_name("boswell")
            .unwrap()
            .appender()
            .unwrap();
        let sort_keys = |line: &str| {
            dialect
                .fast_entry_id(format!("{line}\n").as_bytes())
                .map(str::to_owned)
        };
        assert_eq!(
            LINES.map(sort_keys),
            [
                Some("0123456789abcdef".to_owned()),
                None,
                None,
                None,
                Some("d".to_owned()),
                None
            ]
        );
    }
}
