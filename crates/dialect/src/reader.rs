//! Reads a session through its dialect, line by line.

use boswell_model::json::Object;
use boswell_model::{
    EntryKind, Flags, Framing, Gap, Head, Interner, Line, Lines, Log, Payloads, SessionMeta,
    SessionView, Slot, SpanKind, SplitRecord, Splitter, Tree, View,
};

use crate::{Dialect, SessionLocation, ToolLink};

/// How much is wanted of each record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Heads and links: enough for tree, leaf and context.
    Heads,
    /// Also which calls of tools they hold, and which answers; nothing about
    /// the session as a whole.
    Calls,
    /// Also what the records say about the session.
    Facts,
    /// Also which calls of tools they hold, and which answers.
    Pairs,
}

impl Depth {
    /// Whether it is asked what the records say about the session.
    pub fn has_facts(self) -> bool {
        matches!(self, Depth::Facts | Depth::Pairs)
    }

    /// Whether calls and answers are gathered.
    pub fn has_pairs(self) -> bool {
        matches!(self, Depth::Calls | Depth::Pairs)
    }
}

/// Takes the lines of a session in order and builds its model.
#[derive(Debug)]
pub struct Reader<'d> {
    dialect: &'d dyn Dialect,
    depth: Depth,
    framing: Framing,
    splitter: Splitter,
    log: Log,
    meta: SessionMeta,
    pairs: Vec<(Slot, ToolLink)>,
    /// Where the last line ends.
    end: u64,
}

/// A session that has been read.
#[derive(Debug)]
pub struct ReadSession {
    /// Heads of its records.
    pub log: Log,
    /// Their links.
    pub tree: Tree,
    /// What is known of it as a whole.
    pub meta: SessionMeta,
    /// Calls and answers in file order, if they were asked for.
    pub pairs: Option<Vec<(Slot, ToolLink)>>,
}

impl ReadSession {
    /// What a dialect looks at, with `payloads` for the bytes of records.
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
    /// Starts to read the session that a listing found.
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

    /// Goes on where a file of whole lines ended when it was read before.
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

    /// Takes the next line.
    pub fn line(&mut self, line: Line<'_>) {
        self.log.lines = line.number;
        self.log.bytes += line.bytes.len() as u64;
        self.end = line.at + line.bytes.len() as u64;
        self.log.ended = line.bytes.last() == Some(&b'\n');
        let dialect = self.dialect;
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.line(line, &|object| dialect.is_record(object), &mut |piece| {
            self.piece(piece)
        });
        self.splitter = splitter;
    }

    /// Takes a whole document.
    pub fn document(&mut self, bytes: &[u8]) {
        self.log.lines = memchr::memchr_iter(b'\n', bytes).count() as u64 + 1;
        self.log.bytes = bytes.len() as u64;
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.document(bytes, self.framing, &mut |piece| self.piece(piece));
        self.splitter = splitter;
    }

    /// Notes that lines were left out: counts are lower bounds now.
    pub fn skipped(&mut self) {
        self.log.whole = false;
    }

    /// Everything was handed over: links the entries.
    pub fn finish(mut self) -> ReadSession {
        if !self.log.ended
            && let Some(last) = self.log.heads.last_mut()
            && last.at + last.len == self.end
        {
            last.flags.set(Flags::UNENDED);
        }
        let tree = Tree::build(self.dialect.link(&self.log));
        let pairs = self.depth.has_pairs().then_some(self.pairs);
        ReadSession {
            log: self.log,
            tree,
            meta: self.meta,
            pairs,
        }
    }

    /// The heads alone, not linked.
    pub fn into_log(self) -> Log {
        self.log
    }

    /// Reads a session that is in memory.
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

    fn piece(&mut self, piece: SplitRecord<'_>) {
        match (&piece.object, piece.span.kind) {
            (Some(object), _) => {
                let mut head = Head::of(&piece.span);
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
                self.log.heads.push(head);
            }
            (None, SpanKind::Gap(Gap::Newline | Gap::Blank | Gap::Frame)) => {}
            (None, _) => self.log.gaps.push(piece.span),
        }
    }
}

/// Calls and answers that an entry holds, by the ids of the calls, in the fastest way that its
/// dialect knows. Gives what else is seen in passing.
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

/// Calls and answers that a view shows, by the ids of the calls.
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

/// Whether entries of that kind can hold calls or answers.
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
