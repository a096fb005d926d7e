//! Reads a log backwards from its end, only as far as a context needs.
//!
//! The result is a partial log: its first line, and everything from some line to its end. The
//! dialect guarantees that its context equals that of the whole log. Otherwise there is no result
//! and the caller reads the whole log: something is damaged, settings may be anywhere, or too much
//! was read without success.

use boswell_dialect::{ContextCoverage, Depth, Dialect, ReadSession, Reader, SessionLocation};
use boswell_model::{Framing, Head, Interner, Line, Log, Result, SessionMeta, Tip, Tree};

use crate::backend::ObjectReader;
use crate::store::summary::Open;

/// How much is read, in bytes.
#[derive(Debug, Clone, Copy)]
struct Measure {
    /// Logs up to this length are read as a whole: that costs as little.
    small: u64,
    /// Size of the first block, in bytes.
    block: u64,
    /// How much is read before the whole log is, unless that is so long that an
    /// eighth of it is more.
    in_vain: u64,
}

const MEASURE: Measure = Measure {
    small: 512 << 10,
    block: 256 << 10,
    in_vain: 32 << 20,
};

/// How much of the beginning is looked at for the first line.
const HEAD: u64 = 4 << 10;

/// The end of a log that is enough for a context.
#[derive(Debug)]
pub(crate) struct EnoughRead {
    /// The first line, and everything from some line to the end.
    pub(crate) read: ReadSession,
    /// The tip of the context.
    pub(crate) tip: Tip,
    /// The position of its end.
    pub(crate) end: u64,
}

/// Reads what the context of the tip needs, or of the entry `at`; `None` if that is the whole log.
pub(crate) fn enough_of(
    dialect: &dyn Dialect,
    object: &dyn ObjectReader,
    location: &SessionLocation,
    at: Option<&str>,
) -> Result<Option<EnoughRead>> {
    enough_in_steps(dialect, object, location, at, MEASURE)
}

fn enough_in_steps(
    dialect: &dyn Dialect,
    object: &dyn ObjectReader,
    location: &SessionLocation,
    at: Option<&str>,
    measure: Measure,
) -> Result<Option<EnoughRead>> {
    // An entry that is named after its line is found by counting lines.
    let by_line = at.is_some_and(|name| name.starts_with('#'));
    if location.framing != Framing::Lines || location.size <= measure.small || by_line {
        return Ok(None);
    }
    let end = object.end()?;
    let mut back = BackReader::new(dialect);
    let Some(first) = back.first_line(object)? else {
        return Ok(None);
    };
    let mut to = end;
    while back.bytes <= measure.in_vain.max(location.size / 8) {
        // Blocks grow, so that a long search does not need many reads.
        let Some(from) = back.block(object, to, measure.block.max(back.bytes / 8))? else {
            return Ok(None);
        };
        if from <= first {
            return Ok(None);
        }
        let read = back.linked();
        let payloads = Open(object);
        let view = read.view(&payloads);
        let tip = match at {
            None => dialect.tip(&view)?,
            Some(name) => read.log.find(name).map_or(Tip::Root, Tip::At),
        };
        match dialect.powers().refine.context_coverage(&view, tip)? {
            ContextCoverage::Enough => return Ok(Some(EnoughRead { read, tip, end })),
            ContextCoverage::More => back.names = read.log.names,
            ContextCoverage::Whole => return Ok(None),
        }
        to = from;
    }
    Ok(None)
}

/// Most bytes that are read for the last entries of a log.
const MOST_OF_END: u64 = 16 << 20;

/// Reads the end of a log, as far back as its branch has more than `count` entries there; `None`
/// for a short log, and for one that is damaged near its end.
///
/// What the end alone shows can differ from what the whole log does: a statement before it may name
/// another tip.
pub(crate) fn end_of(
    dialect: &dyn Dialect,
    object: &dyn ObjectReader,
    location: &SessionLocation,
    count: usize,
) -> Result<Option<EnoughRead>> {
    let is_folded = dialect.powers().fold.is_some();
    if location.framing != Framing::Lines || location.size <= MEASURE.small || is_folded {
        return Ok(None);
    }
    let end = object.end()?;
    let mut back = BackReader::new(dialect);
    let Some(first) = back.first_line(object)? else {
        return Ok(None);
    };
    let mut to = end;
    loop {
        let Some(from) = back.block(object, to, MEASURE.block.max(back.bytes))? else {
            return Ok(None);
        };
        if from <= first {
            return Ok(None);
        }
        let read = back.linked();
        let payloads = Open(object);
        let view = read.view(&payloads);
        let tip = dialect.tip(&view)?;
        let branch = dialect.branch(&view, tip)?;
        if branch.len() > count || back.bytes > MOST_OF_END {
            return Ok(Some(EnoughRead { read, tip, end }));
        }
        back.names = read.log.names;
        to = from;
    }
}

/// The end of a log, as far as it was read.
struct BackReader<'d> {
    dialect: &'d dyn Dialect,
    names: Interner,
    first: Vec<Head>,
    /// Heads of the blocks, the last one of the log first.
    blocks: Vec<Vec<Head>>,
    bytes: u64,
}

impl<'d> BackReader<'d> {
    fn new(dialect: &'d dyn Dialect) -> Self {
        BackReader {
            dialect,
            names: Interner::default(),
            first: Vec::new(),
            blocks: Vec::new(),
            bytes: 0,
        }
    }

    /// Reads the first line and returns its position; `None` if it is damaged.
    fn first_line(&mut self, object: &dyn ObjectReader) -> Result<Option<u64>> {
        let mut first = None;
        let heads = self.heads(&mut |reader| {
            object.ends(HEAD, &mut |line| {
                if first.is_none() {
                    first = Some(line.at);
                    reader(line);
                }
            })?;
            Ok(())
        })?;
        Ok(heads.and_then(|heads| {
            self.first = heads;
            first
        }))
    }

    /// Reads about `window` bytes before `to` and returns where they begin; `None` if something in
    /// them is damaged.
    fn block(&mut self, object: &dyn ObjectReader, to: u64, window: u64) -> Result<Option<u64>> {
        let (mut from, mut bytes) = (to, 0);
        let heads = self.heads(&mut |reader| {
            from = object.lines_before(to, window, &mut |line| {
                bytes += line.bytes.len() as u64;
                reader(line);
            })?;
            Ok(())
        })?;
        self.bytes += bytes;
        Ok(heads.filter(|_| bytes > 0).map(|heads| {
            self.blocks.push(heads);
            from
        }))
    }

    /// Returns the heads of some lines; `None` if one of them is incomplete.
    #[expect(
        clippy::type_complexity,
        reason = "a sink that is handed to a source of lines"
    )]
    fn heads(
        &mut self,
        feed: &mut dyn FnMut(&mut dyn FnMut(Line<'_>)) -> Result<()>,
    ) -> Result<Option<Vec<Head>>> {
        let log = Log {
            names: std::mem::take(&mut self.names),
            ended: true,
            ..Log::default()
        };
        let mut reader = Reader::resume(self.dialect, Depth::Heads, log, SessionMeta::default());
        feed(&mut |line| reader.line(line))?;
        let log = reader.into_log();
        self.names = log.names;
        Ok((log.gaps.is_empty() && log.ended).then_some(log.heads))
    }

    /// Links what was read so far. The interned names move into the result; a caller that reads on
    /// gives them back.
    fn linked(&mut self) -> ReadSession {
        let heads = self
            .first
            .iter()
            .chain(self.blocks.iter().rev().flatten())
            .copied()
            .collect();
        let names = std::mem::take(&mut self.names);
        let log = Log {
            heads,
            names,
            bytes: self.bytes,
            ended: true,
            ..Log::default()
        };
        let tree = Tree::build(self.dialect.link(&log));
        ReadSession {
            log,
            tree,
            meta: SessionMeta::default(),
            pairs: Default::default(),
        }
    }
}

#[cfg(test)]
mod tests;
