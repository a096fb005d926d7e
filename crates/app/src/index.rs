//! Updates catalog and search index.

use boswell_find::WantedRows;
use boswell_model::{Error, Result};
use boswell_store::disk::{Disk, RealDisk};

use crate::sessions::index::{LogsRead, SessionIndex};
use crate::shape::shape;
use crate::{App, AppResult, Cancel, RequestContext};

/// A request to update the index.
#[derive(Debug, Clone, Copy, Default)]
pub struct IndexRequest {
    /// Whether catalog and index are deleted first.
    pub rebuild: bool,
}

/// Progress of the index, in blocks of 16 KB.
#[derive(Debug, Clone, Copy)]
pub struct IndexProgress {
    /// Blocks that were read.
    pub done: usize,
    /// All blocks, including those that the index already covers.
    pub total: usize,
}

shape! {
    /// State of the catalog and the search index.
    IndexShape: "index" {
        /// sessions that can be read
        sessions: usize,
        /// sessions and memory files in the index
        sources: u64,
        /// bytes read by this command
        read_bytes: u64,
        /// bytes of text that the index was made from
        text_bytes: u64,
        /// size of the index
        index_bytes: u64,
        /// sessions and memory files that could not be read
        failed: u64,
        /// whether everything is indexed
        complete: bool,
    }
}

impl App {
    /// Updates catalog and search index. `progress` is called for each block of text.
    ///
    /// A cancelled request keeps the indexed blocks, and its answer is not complete.
    ///
    /// # Errors
    ///
    /// Denied if nothing may be written, and every error of writing catalog or index.
    pub fn index(
        &self,
        request: &IndexRequest,
        cancel: &Cancel,
        progress: &mut dyn FnMut(IndexProgress),
    ) -> AppResult<IndexShape> {
        self.answer_with(cancel.clone(), |cx| index(cx, *request, progress))
    }
}

fn index(
    cx: &RequestContext,
    request: IndexRequest,
    progress: &mut dyn FnMut(IndexProgress),
) -> Result<IndexShape> {
    cx.may_write()?;
    if request.rebuild {
        throw_away(cx)?;
    }
    let mut session_index = SessionIndex::create(cx)?;
    if let Some(error) = session_index.unkept.take() {
        return Err(error);
    }
    let go_on = || !cx.cancel.is_cancelled();
    let mut sources = session_index.indexed_sources(cx)?;
    let index = session_index.index();
    let blocks: u64 = sources
        .sources()
        .iter()
        .map(|source| source.len >> 14)
        .sum();
    let mut state = IndexProgress {
        done: 0,
        total: usize::try_from(blocks).unwrap_or(0),
    };
    let done = session_index.read_with_index(cx, &index, &mut sources, &mut || {
        state.done += 1;
        progress(state);
        go_on()
    })?;
    // What the index knew already, and what it does not read as the catalog does.
    session_index.read(cx, WantedRows::Whole, &go_on)?;
    session_index.keep_conversations(cx, LogsRead::now(cx));
    let size = index.size();
    let shape = IndexShape {
        sessions: session_index.readable(),
        sources: size.sources,
        read_bytes: done.bytes,
        text_bytes: size.text,
        index_bytes: size.bytes,
        failed: done.failed,
        complete: done.complete,
    };
    crate::list::warn_about(cx, session_index.rest());
    Ok(shape)
}

fn throw_away(cx: &RequestContext) -> Result<()> {
    let home = cx.home()?;
    let remove = |path: &std::path::Path| match RealDisk.remove(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io(path.display(), "remove", error))
        }
        _ => Ok(()),
    };
    for name in ["catalog.db", "catalog.db-journal", "catalog.db-seal"] {
        remove(&home.join(name))?;
    }
    let folder = home.join("index");
    for (name, _) in RealDisk.list(&folder).unwrap_or_default() {
        remove(&folder.join(name))?;
    }
    Ok(())
}
