//! Fixes that move bytes and change no record; they are the same for every log of lines.
//!
//! Nothing is dropped except further copies of a record. Garbage and NULs get lines of their own,
//! which every reader skips.

use boswell_dialect::{Confidence, Fix, Splice};
use boswell_model::{Flags, Gap, Head, ProblemKind, Repair, Result, Slot, Span, SpanKind};

use crate::Session;

/// Finds records that share a line, have other bytes before or after them, or lack a newline.
pub(super) fn lines(session: &Session) -> Vec<Fix> {
    let mut fixes = Vec::new();
    for (slot, head) in session.log().entries() {
        let glued = head.flags.has(Flags::GLUED);
        if glued || head.flags.has(Flags::SALVAGED) {
            fixes.push(own_line(session, slot, head));
        }
    }
    fixes.extend(
        session
            .log()
            .gaps
            .iter()
            .filter_map(|gap| behind_record(session, gap)),
    );
    fixes.extend(last_line(session));
    fixes
}

fn own_line(session: &Session, slot: Slot, head: &Head) -> Fix {
    let before = gap_before(session, head);
    let (problem, behind) = match before.map(|gap| gap.kind) {
        Some(SpanKind::Gap(Gap::Nul)) => (ProblemKind::NulBytes, "the NULs before it"),
        Some(_) => (
            ProblemKind::NotJson,
            "the bytes before it that are no record",
        ),
        None => (ProblemKind::GluedRecords, "the record before it"),
    };
    // A value inside a torn record can look like a record; then the rest of the torn one follows it
    // on the same line.
    let doubtful = problem == ProblemKind::NotJson && gap_behind(session, head).is_some();
    byte_fix(
        problem,
        Some(slot),
        head.line.into(),
        if doubtful {
            Confidence::Likely
        } else {
            Confidence::Certain
        },
        format!("put it on a line of its own, apart from {behind}"),
        Splice::insert(head.at, *b"\n"),
    )
}

fn behind_record(session: &Session, gap: &Span) -> Option<Fix> {
    let problem = match gap.kind {
        SpanKind::Gap(Gap::Nul) => ProblemKind::NulBytes,
        SpanKind::Gap(Gap::Garbage) => ProblemKind::NotJson,
        SpanKind::Gap(Gap::Pending) => ProblemKind::TornTail,
        _ => return None,
    };
    let heads = &session.log().heads;
    let next = heads.partition_point(|head| head.at < gap.at);
    let (slot, head) = next
        .checked_sub(1)
        .and_then(|at| Some((at, heads.get(at)?)))?;
    let end = head.at + head.len;
    // Only white space may be between the record and the gap. Of several gaps on the line, the
    // first one is separated, and the others with it.
    let between = |other: &Span| other.at >= end && other.at < gap.at;
    if u64::from(head.line) != gap.line || session.log().gaps.iter().any(between) {
        return None;
    }
    Some(byte_fix(
        problem,
        Some(Slot(u32::try_from(slot).unwrap_or(u32::MAX))),
        gap.line,
        Confidence::Certain,
        "put the bytes behind it on a line of their own".to_owned(),
        Splice::insert(end, *b"\n"),
    ))
}

fn last_line(session: &Session) -> Option<Fix> {
    let log = session.log();
    if log.ended || log.bytes == 0 {
        return None;
    }
    // A whole record without a line end is not damage: readers find it.
    let gap = log.gaps.last();
    let gap = gap.filter(|gap| gap.at + gap.len == log.bytes)?;
    let problem = match gap.kind {
        SpanKind::Gap(Gap::Nul) => ProblemKind::NulBytes,
        _ => ProblemKind::TornTail,
    };
    let does = "end the last line, so that nothing is glued to it".to_owned();
    Some(byte_fix(
        problem,
        None,
        log.lines,
        Confidence::Certain,
        does,
        Splice::insert(log.bytes, *b"\n"),
    ))
}

fn gap_before<'a>(session: &'a Session, head: &Head) -> Option<&'a Span> {
    let gaps = &session.log().gaps;
    let at = gaps
        .partition_point(|gap| gap.at < head.at)
        .checked_sub(1)?;
    let gap = gaps
        .get(at)
        .filter(|gap| gap.line == u64::from(head.line))?;
    let heads = &session.log().heads;
    let earlier = heads
        .partition_point(|other| other.at < head.at)
        .checked_sub(1)
        .and_then(|at| heads.get(at));
    (earlier.is_none_or(|other| other.at < gap.at)).then_some(gap)
}

fn gap_behind<'a>(session: &'a Session, head: &Head) -> Option<&'a Span> {
    let gaps = &session.log().gaps;
    let at = gaps.partition_point(|gap| gap.at < head.at + head.len);
    gaps.get(at).filter(|gap| gap.line == u64::from(head.line))
}

/// Which copy of a record is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    First,
    Last,
}

/// Finds further copies of records, to be dropped with their lines.
pub(super) fn copies(session: &Session, keep: Keep) -> Result<Vec<Fix>> {
    let mut fixes = Vec::new();
    if !session.dialect().facts().ids_are_unique {
        return Ok(fixes);
    }
    let log = session.log();
    let by_id = log.by_id();
    for (slot, head) in log.entries() {
        let kept = |id| {
            if keep == Keep::First {
                by_id.first(id)
            } else {
                by_id.last(id)
            }
        };
        let Some(kept) = head.id.and_then(kept).filter(|kept| *kept != slot) else {
            continue;
        };
        if session.view().payload(kept)? != session.view().payload(slot)? {
            continue;
        }
        let end = head.at + head.len;
        let ended = session.view().payloads.payload(end, 1)?.first() == Some(&b'\n');
        let line = log.head(kept).map_or(0, |head| head.line);
        // A check names the later copy.
        let (named, does) = match keep {
            Keep::First => (slot, format!("drop it: the same record is at line {line}")),
            Keep::Last => (kept, format!("drop the same record at line {}", head.line)),
        };
        let line = log.head(named).map_or(0, |head| head.line);
        let splice = Splice {
            at: head.at,
            len: head.len + u64::from(ended),
            with: Vec::new(),
        };
        fixes.push(byte_fix(
            ProblemKind::DuplicateRecord,
            Some(named),
            line.into(),
            Confidence::Certain,
            does,
            splice,
        ));
    }
    Ok(fixes)
}

/// Finds records with bytes that are not UTF-8, and replaces these bytes as every agent but one
/// does when it reads them.
pub(super) fn not_utf8(session: &Session) -> Result<Vec<Fix>> {
    let mut fixes = Vec::new();
    for (slot, head) in session
        .log()
        .entries()
        .filter(|(_, head)| head.flags.has(Flags::BAD_UTF8))
    {
        let record = session.view().payload(slot)?;
        let with = String::from_utf8_lossy(&record).into_owned().into_bytes();
        let does = "write U+FFFD for bytes that are not UTF-8, as readers do".to_owned();
        let splice = Splice {
            at: head.at,
            len: head.len,
            with,
        };
        let kind = ProblemKind::InvalidUtf8;
        let mut fix = byte_fix(
            kind,
            Some(slot),
            head.line.into(),
            Confidence::Certain,
            does,
            splice,
        );
        (fix.repair, fix.helps) = (Repair::Fork, &["sdk-py"]);
        fixes.push(fix);
    }
    Ok(fixes)
}

fn byte_fix(
    problem: ProblemKind,
    slot: Option<Slot>,
    line: u64,
    confidence: Confidence,
    does: String,
    splice: Splice,
) -> Fix {
    Fix {
        problem,
        line: Some(line),
        slot,
        repair: Repair::Rewrite,
        confidence,
        does,
        helps: &[],
        stage: 0,
        splices: vec![splice],
    }
}
