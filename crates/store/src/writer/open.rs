//! A log is opened for writing: whose it is, where it ends, whether it can be added to.

use boswell_dialect::{Append, Depth, Reader};
use boswell_model::{Result, SessionMeta};

use super::state::State;
use super::tail::Tail;
use crate::backend::{ObjectReader, OpenLog};
use crate::blobs::Blobs;

/// How much of a log tells whether it begins as its dialect would have begun it.
const BEGINNING: u64 = 64;

/// How much of a log is read for its header at first.
const HEAD: u64 = 4 << 10;

/// A header longer than this is not looked for.
const LONGEST_HEADER: u64 = 8 << 20;

impl State {
    pub(super) fn open(
        dialect: &'static dyn Append,
        id: &str,
        log: OpenLog,
        hidden: bool,
        blobs: Option<Blobs>,
    ) -> Result<State> {
        let reader = log.log.reader()?;
        let meta = if dialect.has_plain_header(&reader.read(0, BEGINNING)?) {
            None
        } else {
            let meta = head_facts(dialect, reader.as_ref())?;
            dialect.can_append(&meta)?;
            Some(Box::new(meta))
        };
        let tail = Tail::read(dialect, reader.as_ref(), log.end)?;
        Ok(State::new((log.log, hidden), id, meta, blobs, tail))
    }
}

/// What the first lines say of the session.
fn head_facts(dialect: &'static dyn Append, log: &dyn ObjectReader) -> Result<SessionMeta> {
    // A title or a path may make the header long.
    let mut size = HEAD;
    let bytes = loop {
        let bytes = log.read(0, size)?;
        if (bytes.len() as u64) < size
            || memchr::memchr(b'\n', &bytes).is_some()
            || size >= LONGEST_HEADER
        {
            break bytes;
        }
        size *= 8;
    };
    let location = crate::native_store::located_at("head", "head", bytes.len() as u64);
    let meta = |bytes| Reader::read(dialect, &location, bytes, Depth::Facts).meta;
    // What stands in the header is enough, unless entries repeat what their session is.
    let first = memchr::memchr(b'\n', &bytes).and_then(|end| bytes.get(..=end));
    if let Some(header) = first
        .filter(|_| !dialect.facts().parent_needs_full_log)
        .map(meta)
        && dialect.can_append(&header).is_ok()
    {
        return Ok(header);
    }
    Ok(meta(&bytes))
}
