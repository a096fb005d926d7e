//! Parts of a log that are not valid records.

use boswell_model::{Error, ErrorKind, Gap, SpanKind, shell_quote};
use boswell_store::Session;

use crate::RequestContext;

/// Notes how much of a log could not be read as records. The answer itself is whole.
pub(crate) fn warn_about_gaps(cx: &RequestContext, session: &Session) {
    let gaps = session.log().gaps.iter();
    let gaps = gaps
        .filter(|gap| gap.kind != SpanKind::Gap(Gap::Bom))
        .count();
    if gaps == 0 {
        return;
    }
    let reference = session.reference().to_string();
    let name = session.path().unwrap_or(&reference);
    let plural = if gaps == 1 {
        "1 stretch is"
    } else {
        &format!("{gaps} stretches are")
    };
    cx.warn(
        Error::new(
            ErrorKind::Damaged,
            format!("{plural} no record in `{name}`"),
        )
        .hinting(format!(
            "see what and where with `boswell check {}`",
            shell_quote(name)
        )),
    );
}
