//! Reads a session through its dialect, chunk by chunk.

use boswell_model::{
    Facts, Framing, Gap, Head, Line, Lines, Log, Payloads, Piece, SessionView, SpanKind, Splitter, Tree,
};

use crate::{Dialect, Located};

/// How much is wanted of each record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Heads and links: enough for tree, leaf and context.
    Heads,
    /// Also what the records say about the session.
    Facts,
}

/// Takes the bytes of a session in order and builds its model. Holds at most one line of it (or one document).
#[derive(Debug)]
pub struct Reader<'d> {
    dialect: &'d dyn Dialect,
    framing: Framing,
    lines: Lines,
    state: State<'d>,
}

#[derive(Debug)]
struct State<'d> {
    dialect: &'d dyn Dialect,
    depth: Depth,
    splitter: Splitter,
    log: Log,
    facts: Facts,
    document: Vec<u8>,
}

/// A session that has been read.
#[derive(Debug)]
pub struct ReadSession {
    /// Heads of its records.
    pub log: Log,
    /// Their links.
    pub tree: Tree,
    /// What is known of it as a whole.
    pub facts: Facts,
}

impl ReadSession {
    /// What a dialect looks at, with `payloads` for the bytes of records.
    pub fn view<'a>(&'a self, payloads: &'a dyn Payloads) -> SessionView<'a> {
        SessionView { log: &self.log, tree: &self.tree, payloads }
    }
}

impl<'d> Reader<'d> {
    /// Starts to read the session that a listing found.
    pub fn new(dialect: &'d dyn Dialect, located: &Located, depth: Depth) -> Self {
        let log = Log { ended: true, whole: true, ..Log::default() };
        let facts = dialect.begin(located);
        let state = State { dialect, depth, splitter: Splitter::default(), log, facts, document: Vec::new() };
        Reader { dialect, framing: located.framing, lines: Lines::new(0, 1), state }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, chunk: &[u8]) {
        self.state.log.bytes += chunk.len() as u64;
        if let Some(last) = chunk.last() {
            self.state.log.ended = *last == b'\n';
        }
        if self.framing == Framing::Lines {
            let state = &mut self.state;
            self.lines.push(chunk, &mut |line| state.line(line));
        } else {
            self.state.document.extend_from_slice(chunk);
        }
    }

    /// Leaves out the bytes up to `at`, which must be the start of a line: of a large file only the ends are wanted.
    pub fn skip_to(&mut self, at: u64) {
        let state = &mut self.state;
        let next_line = state.log.lines + 1;
        std::mem::replace(&mut self.lines, Lines::new(at, next_line)).finish(&mut |_| {});
        state.log.bytes = at;
        state.log.whole = false;
    }

    /// All bytes were handed over: links the entries.
    pub fn finish(self) -> ReadSession {
        let Reader { dialect, framing, lines, mut state } = self;
        if framing == Framing::Lines {
            lines.finish(&mut |line| state.line(line));
        } else {
            let document = std::mem::take(&mut state.document);
            state.log.lines = document.split(|b| *b == b'\n').count() as u64;
            let mut splitter = std::mem::take(&mut state.splitter);
            splitter.document(&document, framing, &mut |piece| state.piece(piece));
        }
        let tree = Tree::build(dialect.link(&state.log));
        ReadSession { log: state.log, tree, facts: state.facts }
    }

    /// Reads a session that is in memory.
    pub fn read(dialect: &dyn Dialect, located: &Located, bytes: &[u8], depth: Depth) -> ReadSession {
        let mut reader = Reader::new(dialect, located, depth);
        reader.push(bytes);
        reader.finish()
    }
}

impl State<'_> {
    fn line(&mut self, line: Line<'_>) {
        self.log.lines = line.number;
        let dialect = self.dialect;
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.line(line, &|object| dialect.is_record(object), &mut |piece| self.piece(piece));
        self.splitter = splitter;
    }

    fn piece(&mut self, piece: Piece<'_>) {
        match (&piece.object, piece.span.kind) {
            (Some(object), _) => {
                let mut head = Head::of(&piece.span);
                self.dialect.head(object, &mut head, &mut self.log.names);
                if self.depth == Depth::Facts {
                    self.dialect.fold(object, &head, &mut self.log.names, &mut self.facts);
                }
                self.log.heads.push(head);
            }
            (None, SpanKind::Gap(Gap::Newline | Gap::Blank | Gap::Frame)) => {}
            (None, _) => self.log.gaps.push(piece.span),
        }
    }
}
