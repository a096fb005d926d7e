//! Reads a session through its dialect: lines or a document in, log, tree and metadata out.
//!
//! [`Reader`] is a push parser: the caller feeds lines in file order, so it works for files of any
//! size, for the two ends of a large file, and for lines that were appended since an earlier read
//! ([`Reader::resume`]). It does no I/O. Links are computed once, in [`Reader::finish`], because a
//! parent may come later in the file.

use boswell_model::json::Object;
use boswell_model::{
    EntryKind, Flags, Framing, Gap, Head, Interner, Line, Lines, Log, Payloads, SessionMeta,
    SessionView, Slot, SpanKind, SplitRecord, Splitter, Tree, View,
};

use crate::{Dialect, SessionLocation, ToolLink};

/// How much is read of each record. More depth costs more time per record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Heads and links: enough for tree, leaf and context.
    Heads,
    /// Heads, links, tool calls and results, but no metadata.
    Calls,
    /// Heads, links and metadata.
    Facts,
    /// Heads, links, metadata, tool calls and results.
    Pairs,
}

impl Depth {
    /// Whether metadata is collected.
    pub fn has_facts(self) -> bool {
        matches!(self, Depth::Facts | Depth::Pairs)
    }

    /// Whether tool calls and results are collected.
    pub fn has_pairs(self) -> bool {
        matches!(self, Depth::Calls | Depth::Pairs)
    }
}

/// Builds the model of a session from its lines, which must be fed in order.
#[derive(Debug)]
pub struct Reader<'d> {
    dialect: &'d dyn Dialect,
    depth: Depth,
    framing: Framing,
    splitter: Splitter,
    log: Log,
    meta: SessionMeta,
    pairs: Vec<(Slot, ToolLink)>,
    /// Position after the last line. Differs from `log.bytes` if lines were skipped.
    end: u64,
}

/// Receives a record, its head, and the names that the head refers to.
pub type RecordSink<'s> = &'s mut dyn FnMut(&Object<'_>, &Head, &Interner);

/// A session after reading.
#[derive(Debug)]
pub struct ReadSession {
    /// The heads of its records.
    pub log: Log,
    /// The entries linked by parent.
    pub tree: Tree,
    /// The metadata; only that of [`Dialect::begin`] if the depth has no facts.
    pub meta: SessionMeta,
    /// Tool calls and results in file order, if the depth includes them.
    pub pairs: Option<Vec<(Slot, ToolLink)>>,
}

impl ReadSession {
    /// Returns the view that dialects take, with `payloads` as the source for the bytes of records.
    pub fn view<'a>(&'a self, payloads: &'a dyn Payloads) -> SessionView<'a> {
        SessionView {
            log: &self.log,
            tree: &self.tree,
            payloads,
            pairs: self.pairs.as_deref(),
        }
    }
}

impl<'d> Reader<'d> {
    /// Starts to read the session at `location`.
    pub fn new(dialect: &'d dyn Dialect, location: &SessionLocation, depth: Depth) -> Self {
        let log = Log {
            ended: true,
            whole: true,
            ..Log::default()
        };
        let meta = dialect.begin(location);
        Reader {
            dialect,
            depth,
            framing: location.framing,
            splitter: Splitter::default(),
            log,
            meta,
            pairs: Vec::new(),
            end: 0,
        }
    }

    /// Continues an earlier read of a line-framed file, which must have ended with a whole line.
    pub fn resume(dialect: &'d dyn Dialect, depth: Depth, log: Log, meta: SessionMeta) -> Self {
        let end = log.bytes;
        Reader {
            dialect,
            depth,
            framing: Framing::Lines,
            splitter: Splitter::default(),
            log,
            meta,
            pairs: Vec::new(),
            end,
        }
    }

    /// Reads the next line.
    pub fn line(&mut self, line: Line<'_>) {
        self.line_with(line, &mut |_, _, _| {});
    }

    /// As [`Reader::line`]; `seen` gets every record, so that a log need not be read again for
    /// something else.
    pub fn line_with(&mut self, line: Line<'_>, seen: RecordSink<'_>) {
        self.log.lines = line.number;
        self.log.bytes += line.bytes.len() as u64;
        self.end = line.at + line.bytes.len() as u64;
        self.log.ended = line.bytes.last() == Some(&b'\n');
        let dialect = self.dialect;
        // Taken out of `self` because the callback borrows `self` while the splitter runs.
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.line(line, &|object| dialect.is_record(object), &mut |piece| {
            self.piece(piece, seen)
        });
        self.splitter = splitter;
    }

    /// Returns how many bytes were read.
    pub fn bytes(&self) -> u64 {
        self.log.bytes
    }

    /// Reads the next line of a log that this one continues, before the first line of its own. Its
    /// records are at `shift` plus their position there. Metadata describes this log alone, because
    /// the other one is a session of its own. Returns how many parts of the line are not records.
    pub fn inherit(&mut self, base: &str, shift: u64, line: Line<'_>) -> usize {
        let (first, gaps) = (self.log.heads.len(), self.log.gaps.len());
        let dialect = self.dialect;
        let depth = self.depth;
        self.depth = if depth.has_pairs() {
            Depth::Calls
        } else {
            Depth::Heads
        };
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.line(line, &|object| dialect.is_record(object), &mut |piece| {
            self.piece(piece, &mut |_, _, _| {})
        });
        (self.splitter, self.depth) = (splitter, depth);
        let Log { heads, names, .. } = &mut self.log;
        for head in heads.iter_mut().skip(first) {
            let place = match head.nth {
                0 => format!("{base}#{}", head.line),
                nth => format!("{base}#{}.{}", head.line, nth + 1),
            };
            (head.at, head.line, head.id) = (head.at + shift, 0, names.intern(&place));
        }
        self.log.inherited = self.log.heads.len();
        let damaged = self.log.gaps.len() - gaps;
        self.log.gaps.truncate(gaps);
        damaged
    }

    /// Reads a whole document.
    pub fn document(&mut self, bytes: &[u8]) {
        self.log.lines = memchr::memchr_iter(b'\n', bytes).count() as u64 + 1;
        self.log.bytes = bytes.len() as u64;
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.document(bytes, self.framing, &mut |piece| {
            self.piece(piece, &mut |_, _, _| {})
        });
        self.splitter = splitter;
    }

    /// Records that lines were skipped: counts are lower bounds from now on.
    pub fn skipped(&mut self) {
        self.log.whole = false;
    }

    /// Ends the input and links the entries.
    pub fn finish(mut self) -> ReadSession {
        // A last record without a newline is complete JSON, yet the next append must not be glued
        // to it.
        if !self.log.ended
            && let Some(last) = self.log.heads.last_mut()
            && last.at + last.len == self.end
        {
            last.flags.set(Flags::UNENDED);
        }
        let meta = self.depth.has_facts().then_some(&mut self.meta);
        self.dialect.powers().refine.settle(&mut self.log, meta);
        let tree = Tree::build(self.dialect.link(&self.log));
        let pairs = self.depth.has_pairs().then_some(self.pairs);
        ReadSession {
            log: self.log,
            tree,
            meta: self.meta,
            pairs,
        }
    }

    /// Ends the input and returns the heads without links.
    pub fn into_log(self) -> Log {
        self.log
    }

    /// Reads a session whose bytes are in memory.
    pub fn read(
        dialect: &dyn Dialect,
        location: &SessionLocation,
        bytes: &[u8],
        depth: Depth,
    ) -> ReadSession {
        let mut reader = Reader::new(dialect, location, depth);
        if location.framing == Framing::Lines {
            let mut lines = Lines::new(0, 1);
            lines.push(bytes, &mut |line| reader.line(line));
            lines.finish(&mut |line| reader.line(line));
        } else {
            reader.document(bytes);
        }
        reader.finish()
    }

    fn piece(&mut self, piece: SplitRecord<'_>, seen: RecordSink<'_>) {
        match (&piece.object, piece.span.kind) {
            (Some(object), _) => {
                let mut head = Head::of(&piece.span);
                // The head comes first: metadata and tool links depend on its kind and flags.
                self.dialect.head(object, &mut head, &mut self.log.names);
                if self.depth.has_facts() {
                    self.dialect
                        .collect_meta(object, &head, &mut self.log.names, &mut self.meta);
                }
                if self.depth.has_pairs() && may_pair(head.kind) {
                    let slot = Slot(u32::try_from(self.log.heads.len()).unwrap_or(u32::MAX));
                    let pairs = &mut self.pairs;
                    let sink = &mut |pair| pairs.push((slot, pair));
                    let names = &mut self.log.names;
                    head.flags
                        .set(tool_links(self.dialect, object, names, sink));
                }
                seen(object, &head, &self.log.names);
                self.log.heads.push(head);
            }
            (None, SpanKind::Gap(Gap::Newline | Gap::Blank | Gap::Frame)) => {}
            (None, _) => self.log.gaps.push(piece.span),
        }
    }
}

/// Passes the tool calls and results of an entry to `sink`, in the fastest way that its dialect
/// supports, and returns flags that are found on the way.
pub fn tool_links(
    dialect: &dyn Dialect,
    object: &Object<'_>,
    names: &mut Interner,
    sink: &mut dyn FnMut(ToolLink),
) -> Flags {
    match dialect.powers().repair {
        Some(repair) => repair.tool_links(object, names, sink),
        None => tool_links_of_view(&dialect.view(object), names, sink),
    }
}

/// Passes the tool calls and results of a view to `sink`.
pub(crate) fn tool_links_of_view(
    view: &View,
    names: &mut Interner,
    sink: &mut dyn FnMut(ToolLink),
) -> Flags {
    view.calls()
        .filter_map(|(id, _, _)| names.intern(id))
        .map(ToolLink::Call)
        .for_each(&mut *sink);
    view.results()
        .filter_map(|id| names.intern(id))
        .map(ToolLink::Answer)
        .for_each(sink);
    Flags::default()
}

/// Whether entries of this kind can contain tool calls or results.
pub fn may_pair(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::Assistant
            | EntryKind::ToolResult
            | EntryKind::User
            | EntryKind::Meta
            | EntryKind::System
    )
}
