//! Checks whether the client still finds the title that the user gave a session.
//!
//! The client reads 64 KiB at either end of the log, and writes the title again regularly so that
//! it stays there. A client that was killed, or another program, may not have done so.
//!
//! Such a title is reported as `lost_title`; `repair/title.rs` writes it again.

use boswell_model::json::Raw;
use boswell_model::{EntryKind, Result, SessionView, Slot};

/// How much of either end of a log the client reads.
const WINDOW: u64 = 64 << 10;

/// Returns the user's newest title and its line, if that line is outside both windows.
pub(super) fn lost(view: &SessionView<'_>) -> Result<Option<(Slot, String)>> {
    if view.log.bytes <= 2 * WINDOW || !view.log.whole {
        return Ok(None);
    }
    let mut titles = view
        .log
        .entries()
        .filter(|(_, head)| head.kind == EntryKind::Title);
    while let Some((slot, head)) = titles.next_back() {
        let record = view.payload(slot)?;
        let Some(title) = Raw::trusted(&record)
            .get("customTitle")
            .and_then(|it| it.text())
        else {
            continue;
        };
        let in_sight = head.at + head.len <= WINDOW || head.at + WINDOW >= view.log.bytes;
        return Ok((!in_sight && !title.is_empty()).then(|| (slot, title.into_owned())));
    }
    Ok(None)
}
