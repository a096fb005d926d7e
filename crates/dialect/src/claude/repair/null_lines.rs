//! Drops lines of `null`: one version of the client stops to read at such a line, and the next one
//! fails on it.

use boswell_model::{Gap, ProblemKind, Repair, Result, Span, SpanKind};

use super::Lines;
use super::readers::FAIL_ON_MALFORMED;
use crate::{Confidence, Fix, Splice};

/// The longest range that can be a line of `null`, with white space around it.
const LONGEST: u64 = 16;

pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    for gap in &lines.view.log.gaps {
        let splice = null_line(lines, gap)?;
        fixes.extend(splice.map(|splice| Fix {
            problem: ProblemKind::NotJson,
            line: Some(gap.line),
            slot: None,
            repair: Repair::Rewrite,
            confidence: Confidence::Certain,
            does: "drop the line `null`, which contains nothing".to_owned(),
            helps: FAIL_ON_MALFORMED,
            stage: 0,
            splices: vec![splice],
        }));
    }
    Ok(())
}

/// Returns the splice that drops a line, if it consists of `null` alone.
fn null_line(lines: &Lines<'_>, gap: &Span) -> Result<Option<Splice>> {
    let may_be = matches!(gap.kind, SpanKind::Gap(Gap::Garbage | Gap::Pending));
    if !may_be || gap.len > LONGEST {
        return Ok(None);
    }
    let payloads = lines.view.payloads;
    if payloads.payload(gap.at, gap.len)?.trim_ascii() != b"null" {
        return Ok(None);
    }
    let starts_line = match gap.at.checked_sub(1) {
        Some(before) => payloads.payload(before, 1)?.first() == Some(&b'\n'),
        None => true,
    };
    let end = gap.at + gap.len;
    let is_ended = end < lines.view.log.bytes && payloads.payload(end, 1)?.first() == Some(&b'\n');
    Ok(starts_line.then(|| Splice {
        at: gap.at,
        len: gap.len + u64::from(is_ended),
        with: Vec::new(),
    }))
}
