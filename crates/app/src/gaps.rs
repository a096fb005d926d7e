//! Parts of a log that are not valid records.
//!
//! A line that cannot be read is passed over, counted in a warning, and named by `check`. A file of
//! unknown format is an error instead of an empty conversation (exit code 4).

use boswell_dialect::is_known_agent;
use boswell_model::{Advice, EntryKind, Error, ErrorKind, Gap, Result, SpanKind};
use boswell_store::Session;

use crate::RequestContext;

/// Refuses a file of an unknown format: it must not look like an empty conversation. An empty file
/// is accepted.
///
/// # Errors
///
/// [`ErrorKind::Damaged`] if no record is of a known kind.
pub(crate) fn require_known_format(session: &Session) -> Result<()> {
    require_conversation(session)?;
    let heads = &session.log().heads;
    let has_known = heads.iter().any(|head| head.kind != EntryKind::Unknown);
    let is_unknown = !is_known_agent(session.dialect()) || !heads.is_empty();
    if has_known || !is_unknown || session.log().bytes == 0 {
        return Ok(());
    }
    let reference = session.reference().to_string();
    let name = session.path().unwrap_or(&reference);
    let error = Error::new(
        ErrorKind::Damaged,
        format!("the format of `{name}` is not known, so there is no conversation to show"),
    );
    Err(if heads.is_empty() {
        error.because("it has no JSON record of a known agent")
    } else {
        error
            .because("none of its records is of a kind that boswell knows")
            .advising(Advice::show_records(name))
    })
}

/// Refuses a log of operations that is damaged before its first message: it must not look like an
/// empty conversation.
///
/// # Errors
///
/// [`ErrorKind::Damaged`], with the place of the damage.
pub(crate) fn require_conversation(session: &Session) -> Result<()> {
    let mut heads = session.log().heads.iter();
    let is_talk = heads.any(|head| head.kind.is_conversation());
    let Some(why) = shortfall(session).filter(|_| !is_talk) else {
        return Ok(());
    };
    let reference = session.reference().to_string();
    let name = session.path().unwrap_or(&reference);
    let what = format!("`{name}` is damaged before its first message");
    let error = Error::new(ErrorKind::Damaged, what).because(why);
    Err(error.advising(Advice::check(name)))
}

/// Returns a sentence about what of a log of operations is not in its conversation.
fn shortfall(session: &Session) -> Option<String> {
    let fold = session.dialect().powers().fold?;
    let view = session.view();
    let header = view.with_object(session.header()?, |header| fold.shortfall(header));
    header.ok()??
}

/// Adds a notice about the parts of a log that are not records. The answer itself is complete.
pub(crate) fn warn_about_gaps(cx: &RequestContext, session: &Session) {
    if let Some(what) = shortfall(session) {
        let reference = session.reference().to_string();
        let name = session.path().unwrap_or(&reference);
        let error = Error::new(
            ErrorKind::Damaged,
            format!("`{name}` is not read to its end"),
        );
        cx.warn(error.because(what).advising(Advice::check(name)));
    }
    let gaps = session.log().gaps.iter();
    let gaps = gaps
        .filter(|gap| gap.kind != SpanKind::Gap(Gap::Bom))
        .count();
    if gaps == 0 {
        return;
    }
    let reference = session.reference().to_string();
    let name = session.path().unwrap_or(&reference);
    let what = if gaps == 1 {
        format!("1 byte range in `{name}` is not a record")
    } else {
        format!("{gaps} byte ranges in `{name}` are not records")
    };
    cx.warn(Error::new(ErrorKind::Damaged, what).advising(Advice::check(name)));
}
