//! Sources: the logs and text files that are searched, and the walk over their records.

use boswell_dialect::{Dialect, Reader};
use boswell_model::json::Object;
use boswell_model::{
    Error, ErrorKind, Framing, Head, Instant, Interner, Line, Lines, Result, SessionRef,
    SplitRecord, Splitter,
};

use crate::extract::Field;

/// Number of bytes per read.
const CHUNK: u64 = 1 << 20;
/// A document or plain text larger than this is an error, because it must be read as a whole.
pub(crate) const LARGEST_WHOLE: u64 = 1 << 30;

/// A searchable object: the log of a session, or a file of plain text.
#[derive(Debug, Clone)]
pub struct Source {
    /// The session; for a memory file a unique name.
    pub reference: SessionRef,
    /// Increases when the bytes change other than by appending.
    pub generation: u64,
    /// Current length in bytes.
    pub len: u64,
    /// Time of the last change; used for entries without a time.
    pub modified: Option<Instant>,
    /// How the text is encoded.
    pub form: Form,
    /// Values for filters; `None` if no filter needs them.
    pub about: Option<Box<About>>,
    /// Number by which its reader finds it faster than by the reference.
    pub number: usize,
}

/// Values that filters compare, and a title that is searched in addition to the log.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// The agent of the session.
    pub agent: String,
    /// The project folder.
    pub project: Option<String>,
    /// Tags of the session.
    pub tags: Vec<String>,
    /// Models that answered in the session.
    pub models: Vec<String>,
    /// A title that is stored outside of the log; titles inside the log are found there.
    pub title: Option<String>,
}

/// The encoding of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Records of a dialect.
    Log(Framing),
    /// Records of a dialect that are rows of a database, or a document in one. Positions in rows
    /// are numbers of records, and the length only says whether they changed.
    Rows(Framing),
    /// Plain text, all of one field.
    Text(Field),
}

impl Source {
    /// A log of lines with only a reference and a length.
    pub fn log(reference: SessionRef, generation: u64, len: u64) -> Source {
        Source {
            reference,
            generation,
            len,
            modified: None,
            form: Form::Log(Framing::Lines),
            about: None,
            number: 0,
        }
    }

    /// Returns whether the source can grow at its end while everything before stays unchanged.
    pub(crate) fn grows(&self) -> bool {
        self.form == Form::Log(Framing::Lines)
    }
}

/// Reads the bytes of sources; called from several threads concurrently.
pub trait SourceReader: Sync {
    /// Returns the dialect of a source.
    fn dialect(&self, source: &Source) -> &dyn Dialect;

    /// Replaces the content of `into` by up to `len` bytes from offset `at`; fewer if the source
    /// ends before.
    fn read(&self, source: &Source, at: u64, len: u64, into: &mut Vec<u8>) -> Result<()>;

    /// Passes the records of a source of rows with the numbers `from` to `to` to `sink`, until it
    /// returns false. Numbers begin with 1, and `to` is not passed.
    fn records(
        &self,
        source: &Source,
        range: std::ops::Range<u64>,
        sink: &mut dyn FnMut(Line<'_>) -> bool,
    ) -> Result<()>;

    /// Returns a reader that is to see every line of a log that the index reads from its start, if
    /// something else wants to know them too.
    fn companion(&self, _source: &Source) -> Option<Reader<'_>> {
        None
    }

    /// Receives that reader, once it has seen the whole log.
    fn accompanied(&self, _source: &Source, _reader: Reader<'_>) {}
}

/// A position between two lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TextPosition {
    pub(crate) at: u64,
    /// Number of records before the position.
    pub(crate) slot: u32,
    /// Number of the line that begins here, from 1.
    pub(crate) line: u64,
}

impl TextPosition {
    pub(crate) const START: TextPosition = TextPosition {
        at: 0,
        slot: 0,
        line: 1,
    };
}

/// A record or a piece of plain text that the walk passes.
pub(crate) struct Record<'a> {
    pub(crate) slot: u32,
    pub(crate) head: Head,
    pub(crate) names: &'a Interner,
    pub(crate) body: Body<'a>,
}

pub(crate) enum Body<'a> {
    Object(&'a Object<'a>),
    Text(Field, &'a str),
}

/// An event of a walk: a record, or the end of a part that can be read again on its own. The walk
/// continues while the callback returns true.
pub(crate) enum Step<'a> {
    Record(Record<'a>),
    /// Everything before this position was passed to the callback.
    End(TextPosition),
}

/// Whether a last line without a newline is passed to the callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    Pending,
    Whole,
}

/// Walks a source from `from` to `to` until `sink` returns false.
pub(crate) fn walk(
    source: &Source,
    reader: &dyn SourceReader,
    from: TextPosition,
    to: u64,
    tail: Tail,
    sink: &mut dyn FnMut(Step<'_>) -> bool,
) -> Result<()> {
    let buffers = &mut WalkBuffers::default();
    walk_with((buffers, None), source, reader, (from, to), tail, sink)
}

/// What a walk over many sources uses again.
#[derive(Default)]
pub(crate) struct WalkBuffers {
    bytes: Vec<u8>,
}

/// As [`walk`]; a companion sees every line of a log on the way, and the incomplete last one.
pub(crate) fn walk_with(
    (buffers, companion): (&mut WalkBuffers, Option<&mut Reader<'_>>),
    source: &Source,
    reader: &dyn SourceReader,
    (from, to): (TextPosition, u64),
    tail: Tail,
    sink: &mut dyn FnMut(Step<'_>) -> bool,
) -> Result<()> {
    let mut walker = Walker {
        companion,
        dialect: reader.dialect(source),
        splitter: Splitter::default(),
        names: Interner::default(),
        slot: from.slot,
        go_on: true,
        sink,
    };
    match source.form {
        Form::Log(Framing::Lines) => {
            walker.lines(&mut buffers.bytes, source, reader, (from, to), tail)
        }
        Form::Rows(Framing::Lines) => walker.rows(source, reader, (from, to)),
        Form::Log(framing) | Form::Rows(framing) => {
            walker.document(source, reader, framing, from, to)
        }
        Form::Text(field) => walker.text(source, reader, field),
    }
}

struct Walker<'w, 'd> {
    companion: Option<&'w mut Reader<'d>>,
    dialect: &'w dyn Dialect,
    splitter: Splitter,
    names: Interner,
    slot: u32,
    go_on: bool,
    sink: &'w mut dyn FnMut(Step<'_>) -> bool,
}

impl Walker<'_, '_> {
    fn lines(
        &mut self,
        buffer: &mut Vec<u8>,
        source: &Source,
        reader: &dyn SourceReader,
        (from, to): (TextPosition, u64),
        tail: Tail,
    ) -> Result<()> {
        let mut lines = Lines::new(from.at, from.line);
        let mut at = from.at;
        while at < to && self.go_on {
            reader.read(source, at, CHUNK.min(to - at), buffer)?;
            if buffer.is_empty() {
                break;
            }
            at += buffer.len() as u64;
            lines.push(buffer, &mut |line| self.line(line));
        }
        match &mut self.companion {
            _ if !self.go_on => {}
            None if tail == Tail::Pending => {}
            None => lines.finish(&mut |line| self.line(line)),
            // The end of a log that is still written belongs to its state, and not to its text.
            Some(companion) => lines.finish(&mut |line| companion.line(line)),
        }
        Ok(())
    }

    fn line(&mut self, line: Line<'_>) {
        if !self.go_on {
            return;
        }
        self.pass(line);
        let after = TextPosition {
            at: line.at + line.bytes.len() as u64,
            slot: self.slot,
            line: line.number + 1,
        };
        self.go_on &= (self.sink)(Step::End(after));
    }

    /// Passes the records of a line, through the companion if there is one.
    fn pass(&mut self, line: Line<'_>) {
        if let Some(companion) = &mut self.companion {
            let (sink, slot, go_on) = (&mut self.sink, &mut self.slot, &mut self.go_on);
            companion.line_with(line, &mut |object, head, names| {
                let record = Record {
                    slot: *slot,
                    head: *head,
                    names,
                    body: Body::Object(object),
                };
                *go_on &= sink(Step::Record(record));
                *slot = slot.saturating_add(1);
            });
        } else {
            self.split(line);
        }
    }

    fn split(&mut self, line: Line<'_>) {
        let dialect = self.dialect;
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.line(line, &|object| dialect.is_record(object), &mut |piece| {
            self.piece(&piece)
        });
        self.splitter = splitter;
    }

    /// Passes rows of a database. A position is the number of records before it.
    fn rows(
        &mut self,
        source: &Source,
        reader: &dyn SourceReader,
        (from, to): (TextPosition, u64),
    ) -> Result<()> {
        let mut last = from;
        let range = from.at + 1..to.saturating_add(1);
        reader.records(source, range, &mut |line| {
            self.pass(line);
            last = TextPosition {
                at: line.at,
                slot: self.slot,
                line: line.at + 1,
            };
            self.go_on &= (self.sink)(Step::End(last));
            self.go_on
        })?;
        if self.go_on {
            (self.sink)(Step::End(TextPosition { at: to, ..last }));
        }
        Ok(())
    }

    /// Reads the whole document, even if only a part is requested: a document can only be parsed as
    /// a whole.
    fn document(
        &mut self,
        source: &Source,
        reader: &dyn SourceReader,
        framing: Framing,
        from: TextPosition,
        to: u64,
    ) -> Result<()> {
        let bytes = whole(source, reader)?;
        let mut splitter = Splitter::default();
        self.slot = 0;
        let mut line = 1;
        splitter.document(&bytes, framing, &mut |piece| {
            if !self.go_on || piece.object.is_none() {
                return;
            }
            line = piece.span.line;
            let end = piece.span.at + piece.span.len;
            if piece.span.at >= from.at && end <= to {
                self.piece(&piece);
                self.go_on &= (self.sink)(Step::End(TextPosition {
                    at: end,
                    slot: self.slot,
                    line,
                }));
            } else {
                self.slot += 1;
            }
        });
        if self.go_on {
            (self.sink)(Step::End(TextPosition {
                at: to,
                slot: self.slot,
                line,
            }));
        }
        Ok(())
    }

    fn text(&mut self, source: &Source, reader: &dyn SourceReader, field: Field) -> Result<()> {
        let bytes = whole(source, reader)?;
        let span = boswell_model::Span {
            at: 0,
            len: bytes.len() as u64,
            line: 1,
            kind: boswell_model::SpanKind::Record {
                nth: 0,
                bad_utf8: false,
                salvaged: false,
            },
        };
        let text = String::from_utf8_lossy(&bytes);
        let body = Body::Text(field, &text);
        (self.sink)(Step::Record(Record {
            slot: 0,
            head: Head::of(&span),
            names: &self.names,
            body,
        }));
        (self.sink)(Step::End(TextPosition {
            at: source.len,
            slot: 1,
            line: 1,
        }));
        Ok(())
    }

    fn piece(&mut self, piece: &SplitRecord<'_>) {
        let Some(object) = &piece.object else { return };
        let mut head = Head::of(&piece.span);
        // Ids are needed only for the current record; a table that grew with the log would waste
        // memory.
        if self.names.len() > 1 << 12 {
            self.names = Interner::default();
        }
        self.dialect.head(object, &mut head, &mut self.names);
        let record = Record {
            slot: self.slot,
            head,
            names: &self.names,
            body: Body::Object(object),
        };
        self.go_on &= (self.sink)(Step::Record(record));
        self.slot = self.slot.saturating_add(1);
    }
}

fn whole(source: &Source, reader: &dyn SourceReader) -> Result<Vec<u8>> {
    if source.len > LARGEST_WHOLE {
        let what = format!(
            "{} is a single document of {} bytes",
            source.reference, source.len
        );
        return Err(
            Error::new(ErrorKind::Invalid, what).because("such a file must be read as a whole")
        );
    }
    let mut bytes = Vec::new();
    reader.read(source, 0, source.len, &mut bytes)?;
    Ok(bytes)
}
