//! The transcript of a session before a change: a line log, or a document of an old version.

use boswell_model::json::Raw;
use boswell_model::{Result, Slot};

use crate::Step;

use super::super::indent;
use super::input::Work;

/// A larger log is not truncated in memory.
const LONGEST: u64 = 1 << 30;

/// The place and format of the rows.
#[derive(Debug)]
pub(super) struct Transcript {
    /// Key of the line log.
    pub(super) key: String,
    /// The rows of a document that was not migrated to a line log yet.
    moved: Option<Vec<u8>>,
    /// Key of a document that a line log replaced.
    retired: Option<String>,
}

impl Transcript {
    pub(super) fn of(work: &Work<'_>) -> Result<Self> {
        let (key, document) = (key_of(work.id()), format!("sessions/{}.json", work.id()));
        let retired = work
            .asked
            .files
            .stat(&document)?
            .filter(crate::FileInfo::is_file)
            .map(|info| info.key);
        let moved = if work.is_document() {
            // An append must not replace a partly unreadable document by a log that looks complete.
            work.refuse_malformed()?;
            if messages(work)? != work.view().log.heads.len() {
                return Err(work.malformed());
            }
            Some(rows(work, work.view().log.heads.len())?)
        } else {
            None
        };
        Ok(Transcript {
            key,
            moved,
            retired,
        })
    }

    /// Returns the steps that migrate a document to a line log. The log is written first, so that
    /// the rows always exist.
    pub(super) fn migrated(&self) -> Vec<Step> {
        let put = self
            .moved
            .as_ref()
            .map(|rows| Step::put(&self.key, rows.clone()));
        put.into_iter().chain(self.retire()).collect()
    }

    /// Returns the steps that append complete lines.
    pub(super) fn appended(&self, lines: &[u8]) -> Vec<Step> {
        let add = match &self.moved {
            Some(rows) => Step::put(&self.key, [rows.as_slice(), lines].concat()),
            None => Step::append(&self.key, lines),
        };
        std::iter::once(add).chain(self.retire()).collect()
    }

    /// Returns the steps that remove the rows from `slot` on.
    pub(super) fn cut(&self, work: &Work<'_>, slot: Slot) -> Result<Vec<Step>> {
        let kept = if self.moved.is_some() {
            rows(work, slot.index())?
        } else {
            let bytes = work
                .asked
                .files
                .read_whole(&self.key, LONGEST)?
                .unwrap_or_default();
            let at = work
                .view()
                .log
                .head(slot)
                .map_or(0, |head| usize::try_from(head.at).unwrap_or(usize::MAX));
            let before = bytes.get(..at).unwrap_or(&bytes);
            let end = before
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(0, |newline| newline + 1);
            before.get(..end).unwrap_or_default().to_vec()
        };
        Ok(std::iter::once(Step::put(&self.key, kept))
            .chain(self.retire())
            .collect())
    }

    fn retire(&self) -> Option<Step> {
        self.retired.as_ref().map(Step::remove)
    }
}

/// Counts the items of a document's `messages`, including those that are not messages.
fn messages(work: &Work<'_>) -> Result<usize> {
    let Some(key) = &work.asked.location.key else {
        return Ok(0);
    };
    let bytes = work
        .asked
        .files
        .read_whole(key, LONGEST)?
        .unwrap_or_default();
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let document = Raw::parse(text.trim_ascii()).ok();
    Ok(document
        .and_then(|document| document.get("messages"))
        .map_or(0, |messages| messages.items().count()))
}

/// Returns the key of a session's line log.
pub(super) fn key_of(id: &str) -> String {
    format!("sessions/{id}.jsonl")
}

/// Returns the first rows of a session, one per line.
pub(super) fn rows(work: &Work<'_>, count: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for slot in work.view().log.slots().take(count) {
        out.extend(indent::compact(&work.view().payload(slot)?));
        out.push(b'\n');
    }
    Ok(out)
}
