//! Reads many logs for the first time, in steps, so that a face can show how far it is.

use std::time::Duration;

use boswell_find::{ConversationRow, WantedRows};
use boswell_model::Result;

use super::SessionIndex;
use super::conversations::row;
use crate::RequestContext;
use crate::known_sessions::RefreshProgress;
use crate::sessions::notes_overlay::NotesOverlay;
use crate::system::until;

/// Fewer logs than this are read without a word: that takes a moment.
const FEW: usize = 256;
/// The first rows are wanted at once; later steps are longer, because each has a fixed cost.
const FIRST_STEP: Duration = Duration::from_millis(100);
const STEP: Duration = Duration::from_millis(400);
/// How many rows are shown meanwhile: more than a screen has lines.
const ROWS: usize = 200;

impl SessionIndex {
    /// Reads the logs that the catalog does not know, the most recently changed first.
    pub(crate) fn read_in_steps(
        &mut self,
        cx: &RequestContext,
        progress: &mut dyn FnMut(RefreshProgress),
    ) -> Result<()> {
        let mut unread = self.unread();
        if unread < FEW {
            return Ok(());
        }
        let mut step = FIRST_STEP;
        loop {
            let go_on = until(step);
            let go_on = || go_on() && !cx.cancel.is_cancelled();
            let done = self.read(cx, WantedRows::Ends, &go_on)?;
            let left = self.unread();
            progress(RefreshProgress {
                read: self.entries.len() - left,
                total: self.entries.len(),
                rows: self.newest_rows(cx)?,
            });
            // Logs that cannot be read stay unread: they must not be tried for ever.
            if done.complete || left == unread || cx.cancel.is_cancelled() {
                return Ok(());
            }
            unread = left;
            step = STEP;
        }
    }

    fn unread(&self) -> usize {
        self.entries.iter().filter(|it| !it.is_fresh()).count()
    }

    /// Returns the rows of the sessions that changed last, as far as they were read.
    fn newest_rows(&mut self, cx: &RequestContext) -> Result<Vec<ConversationRow>> {
        let known = (self.entries.iter().enumerate()).filter(|(_, it)| it.is_fresh());
        let mut newest: Vec<(Option<_>, usize)> = known
            .map(|(place, it)| (it.location.modified, place))
            .collect();
        newest.sort_by_key(|(modified, _)| std::cmp::Reverse(*modified));
        let mut sessions = Vec::new();
        for (_, place) in newest.into_iter().take(ROWS) {
            sessions.extend(self.summary(cx, place)?);
            // The facts of all sessions would fill the memory.
            if let Some(entry) = self.entries.get_mut(place) {
                entry.let_go();
            }
        }
        let notes = NotesOverlay::read(cx)?;
        let joined = cx.stores.joined(sessions).into_iter();
        let mut rows: Vec<ConversationRow> = joined.map(|it| row(cx, it, &notes)).collect();
        rows.retain(|row| {
            row.hidden.is_none() && row.sides().all(|side| cx.shows(side.project.as_deref()))
        });
        rows.sort_by_key(|row| std::cmp::Reverse(row.last_active));
        Ok(rows)
    }
}
