//! Opens a log for writing: checks that it can be appended to, and finds its end.
//!
//! Opening is on the path of every short command, so it reads as little as possible: a first window
//! that proves a header of this dialect's own making, else the header, and the end of the log. The
//! session's metadata is read only for logs with another header.

use boswell_dialect::{Append, Depth, Reader};
use boswell_model::{Result, SessionMeta};

use super::state::State;
use super::tail::Tail;
use crate::backend::{ObjectReader, OpenLog};
use crate::blobs::Blobs;

/// How many bytes are compared with the header that the dialect itself would write.
const BEGINNING: u64 = 64;

/// How many bytes of a log are read for its header at first.
const HEAD: u64 = 4 << 10;

/// The largest prefix in which a header is searched.
const LONGEST_HEADER: u64 = 8 << 20;

impl State {
    /// Makes the state of a writer for a log that the backend has opened.
    pub(super) fn open(
        dialect: &'static dyn Append,
        id: &str,
        log: OpenLog,
        hidden: bool,
        blobs: Option<Blobs>,
    ) -> Result<State> {
        let reader = log.log.reader()?;
        let meta = if dialect.has_plain_header(&reader.read(0, BEGINNING)?) {
            // Such a header proves that the log can be appended to, and its entries repeat nothing
            // of it.
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

/// Returns the metadata in the first lines of a log.
fn head_facts(dialect: &'static dyn Append, log: &dyn ObjectReader) -> Result<SessionMeta> {
    // A title or a path may make the header longer than one window.
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
    let location = crate::store::native::located_at("head", "head", bytes.len() as u64);
    let meta = |bytes| Reader::read(dialect, &location, bytes, Depth::Facts).meta;
    // The header alone is enough, unless entries repeat facts about their session.
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
