//! The transcript of a session before a change: a line log, or a document of an old version.

use boswell_model::json::Raw;
use boswell_model::{Result, Slot};

use crate::Step;

use super::super::indent;
use super::input::Work;

/// A longer log is not cut in memory.
const LONGEST: u64 = 1 << 30;

/// Where the rows are.
#[derive(Debug)]
pub(super) struct Transcript {
    /// Key of the line log.
    pub(super) key: String,
    /// The rows of a document that is not a line log yet.
    moved: Option<Vec<u8>>,
    /// Key of a document that a line log has replaced.
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
            // An append must not hide what is left of a document behind a log that looks whole.
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

    /// What turns a document into a line log: the log first, so that nothing is ever gone.
    pub(super) fn migrated(&self) -> Vec<Step> {
        let put = self
            .moved
            .as_ref()
            .map(|rows| Step::put(&self.key, rows.clone()));
        put.into_iter().chain(self.retire()).collect()
    }

    /// Adds whole lines.
    pub(super) fn appended(&self, lines: &[u8]) -> Vec<Step> {
        let add = match &self.moved {
            Some(rows) => Step::put(&self.key, [rows.as_slice(), lines].concat()),
            None => Step::append(&self.key, lines),
        };
        std::iter::once(add).chain(self.retire()).collect()
    }

    /// Leaves the rows before `slot` only.
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

/// How many messages a document has, also such as are none.
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

/// Key of a session's line log.
pub(super) fn key_of(id: &str) -> String {
    format!("sessions/{id}.jsonl")
}

/// The first rows of a session, a line each.
pub(super) fn rows(work: &Work<'_>, count: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for slot in work.view().log.slots().take(count) {
        out.extend(indent::compact(&work.view().payload(slot)?));
        out.push(b'\n');
    }
    Ok(out)
}
