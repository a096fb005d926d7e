//! Checks whether the client still finds the title that the user gave a session.
//!
//! The client reads 64 KiB at either end of the log, and writes the title again regularly so that
//! it stays there. A client that was killed, or another program, may not have done so.

use boswell_model::json::Raw;
use boswell_model::{EntryKind, Result, SessionView, Slot};

/// How much of either end of a log the client looks at.
const WINDOW: u64 = 64 << 10;

/// The user's newest title and the line that states it, if that line is out of the client's sight.
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
