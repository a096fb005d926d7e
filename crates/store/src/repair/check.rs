//! Checks a session for problems. Reports only.
//!
//! These are the problems that every format can have: `torn_tail`, `not_json`, `glued_records`,
//! `nul_bytes`, `invalid_utf8`, `empty`, `not_lines`, `missing_parent`, `parent_cycle`,
//! `duplicate_id`, `duplicate_record`, `missing_result`, `orphan_result`, `duplicate_call`. Those
//! of one format come from its dialect.

use std::collections::{BTreeMap, HashMap};

use boswell_dialect::{ReaderLoss, ToolLink};
use boswell_model::{
    Flags, Framing, Gap, Interner, Log, Problem, ProblemKind, Repair, Result, Slot, Span, SpanKind,
    Symbol,
};

use crate::Session;

/// The problems of a session, and how much of it the agent still reaches.
#[derive(Debug, Default)]
pub struct Report {
    /// Problems in file order; those of the whole file first.
    pub problems: Vec<Problem>,
    /// Conversation entries that the agent reaches when it resumes.
    pub reachable: u64,
    /// Conversation entries in the file.
    pub total: u64,
    /// What the readers whose behaviour is known lose of the session.
    pub losses: Vec<ReaderLoss>,
}

/// Checks one session: its bytes, its links, its tool calls, and what its dialect adds.
pub fn check(session: &Session) -> Result<Report> {
    let mut problems = Vec::new();
    of_file(session, &mut problems);
    of_history(session, &mut problems);
    of_gaps(session, &mut problems);
    of_heads(session, &mut problems);
    of_links(session, &mut problems);
    of_ids(session, &mut problems)?;
    of_calls(session, &mut problems)?;
    of_blobs(session, &mut problems)?;
    let mut losses = Vec::new();
    if let Some(repair) = session.dialect().powers().repair {
        repair.check(&session.view(), session.meta(), &mut problems)?;
        losses = repair.losses(&session.view(), &problems)?;
    }
    problems.extend(of_losses(session, &losses, &problems));
    // Calls are gathered in a map: without the detail, two of one line would come in any order.
    problems.sort_by(|a, b| {
        (a.line, a.kind, a.slot, &a.detail).cmp(&(b.line, b.kind, b.slot, &b.detail))
    });
    let (mut reachable, total) = crate::repair::reach(session)?;
    // A plan of a repair counts what is on the path; it is of no use if nothing of it is sent.
    let lost = losses_of_newest(session, &losses);
    if let Some(lost) = lost.filter(|it| it.whole.is_some()) {
        reachable = crate::repair::reach_without(session, &lost.entries)?;
    }
    Ok(Report {
        problems,
        reachable,
        total,
        losses,
    })
}

/// Returns what the newest version of the agent loses.
fn losses_of_newest<'l>(session: &Session, losses: &'l [ReaderLoss]) -> Option<&'l ReaderLoss> {
    let mut readers = session.dialect().facts().readers.iter();
    let newest = readers.rfind(|reader| reader.version.is_some())?;
    losses.iter().find(|loss| loss.reader == newest.name)
}

/// Reports losses that no other problem explains, and readers that send nothing, in one problem.
fn of_losses(session: &Session, losses: &[ReaderLoss], known: &[Problem]) -> Option<Problem> {
    let is_explained = |loss: &ReaderLoss| {
        let mut known = known.iter();
        known.any(|problem| hurt(session, losses, problem).contains(&loss.reader))
    };
    let words = |loss: &ReaderLoss| match &loss.whole {
        Some(words) => format!("{} {words}", loss.reader),
        None => {
            let number = loss.entries.len();
            let first = loss.entries.first().and_then(|it| session.log().head(*it));
            format!(
                "{} does not send {number} {} (line {})",
                loss.reader,
                if number == 1 {
                    "message"
                } else {
                    "messages, the first"
                },
                first.map_or(0, |head| head.line)
            )
        }
    };
    let new = losses
        .iter()
        .filter(|loss| loss.whole.is_some() || !is_explained(loss));
    let losses: Vec<String> = new.map(words).collect();
    let detail = format!("{} {}", session.dialect().facts().title, losses.join("; "));
    (!losses.is_empty()).then(|| Problem::of_file(ProblemKind::Unsent, detail))
}

fn of_file(session: &Session, problems: &mut Vec<Problem>) {
    let log = session.log();
    if session.location().key.is_none() || !log.heads.is_empty() {
        return;
    }
    if log.bytes == 0 {
        problems.push(Problem::of_file(ProblemKind::Empty, "the file is empty"));
    } else if is_document(session) {
        problems.push(Problem::of_file(
            ProblemKind::NotLines,
            "the file is one JSON document, not one record a line",
        ));
    } else {
        problems.push(Problem::of_file(
            ProblemKind::Empty,
            format!("{} bytes, and no record among them", log.bytes),
        ));
    }
}

/// The history that a fork inherits: without it, its agent refuses to resume the session.
fn of_history(session: &Session, problems: &mut Vec<Problem>) {
    if let Some(missing) = session.missing_history() {
        problems.push(Problem::of_file(
            ProblemKind::MissingHistory,
            format!("an earlier part of the conversation is missing: {missing}"),
        ));
    }
}

fn is_document(session: &Session) -> bool {
    let payload = session
        .view()
        .payloads
        .payload(0, session.log().bytes.min(64 << 20));
    payload.is_ok_and(|bytes| {
        boswell_model::json::Raw::parse(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes))
            .is_ok()
    })
}

fn of_gaps(session: &Session, problems: &mut Vec<Problem>) {
    for Span {
        len, line, kind, ..
    } in &session.log().gaps
    {
        let (kind, detail) = match kind {
            SpanKind::Gap(Gap::Pending) => (
                ProblemKind::TornTail,
                format!(
                    "{len} bytes after the last line end are no record; they may still be written"
                ),
            ),
            SpanKind::Gap(Gap::Nul) => (ProblemKind::NulBytes, format!("{len} NUL bytes")),
            SpanKind::Gap(Gap::Garbage) => {
                (ProblemKind::NotJson, format!("{len} bytes are no record"))
            }
            _ => continue,
        };
        problems.push(Problem::at_line(kind, *line, detail));
    }
}

fn of_heads(session: &Session, problems: &mut Vec<Problem>) {
    let lines = session.location().framing == Framing::Lines;
    for (slot, head) in session.log().entries() {
        let mut add = |kind, detail: String| {
            problems.push(Problem {
                kind,
                line: Some(head.line.into()),
                slot: Some(slot),
                advice: None,
                detail,
            })
        };
        if head.flags.has(Flags::GLUED) && lines {
            add(
                ProblemKind::GluedRecords,
                format!(
                    "record {} of its line: a line end is missing before it",
                    head.nth + 1
                ),
            );
        }
        if head.flags.has(Flags::BAD_UTF8) {
            add(
                ProblemKind::InvalidUtf8,
                "some of its bytes are not UTF-8".to_owned(),
            );
        }
    }
}

fn of_links(session: &Session, problems: &mut Vec<Problem>) {
    let log = session.log();
    let by_id = log.by_id();
    for (slot, head) in log.entries() {
        let Some(parent) = head.parent else { continue };
        let name = || log.names.text(parent).escape_debug();
        let detail = match by_id.last(parent).and_then(|slot| log.head(slot)) {
            None => format!("its parent `{}` is not in the file", name()),
            Some(above) if head.flags.has(Flags::CHAIN) && !above.flags.has(Flags::CHAIN) => {
                format!("its parent `{}` is not part of the conversation", name())
            }
            Some(_) => continue,
        };
        problems.push(Problem {
            kind: ProblemKind::MissingParent,
            line: Some(head.line.into()),
            slot: Some(slot),
            advice: None,
            detail,
        });
    }
    for slot in session.tree().cycles() {
        let line = log.head(*slot).map(|h| h.line.into());
        let detail = "its parents run in a circle back to it".to_owned();
        problems.push(Problem {
            kind: ProblemKind::ParentCycle,
            line,
            slot: Some(*slot),
            advice: None,
            detail,
        });
    }
}

fn of_ids(session: &Session, problems: &mut Vec<Problem>) -> Result<()> {
    if !session.dialect().facts().ids_are_unique {
        return Ok(());
    }
    let log = session.log();
    let by_id = log.by_id();
    for (slot, head) in log.entries() {
        let Some(first) = head
            .id
            .and_then(|id| by_id.first(id))
            .filter(|first| *first != slot)
        else {
            continue;
        };
        let same = session.view().payload(first)? == session.view().payload(slot)?;
        let line = log.head(first).map_or(0, |h| h.line);
        let (kind, detail) = if same {
            (
                ProblemKind::DuplicateRecord,
                format!("the same record is at line {line}"),
            )
        } else {
            (
                ProblemKind::DuplicateId,
                format!("another record at line {line} has the same id"),
            )
        };
        problems.push(Problem {
            kind,
            line: Some(head.line.into()),
            slot: Some(slot),
            advice: None,
            detail,
        });
    }
    Ok(())
}

fn of_blobs(session: &Session, problems: &mut Vec<Problem>) -> Result<()> {
    for (slot, head) in session.log().entries() {
        for (blob, error) in session.unreadable_blobs(slot)? {
            let detail = format!("the blob {} cannot be read: {error}", blob.reference());
            problems.push(Problem {
                kind: ProblemKind::MissingFile,
                line: Some(head.line.into()),
                slot: Some(slot),
                advice: None,
                detail,
            });
        }
    }
    Ok(())
}

/// Pairs calls of tools with their answers, over all branches: an answer anywhere in
/// the file is an answer.
fn of_calls(session: &Session, problems: &mut Vec<Problem>) -> Result<()> {
    let gathered;
    let log = session.log();
    let (names, pairs) = match session.pairs() {
        Some(pairs) => (&log.names, pairs),
        None => {
            gathered = gather_pairs(session)?;
            (&gathered.0, gathered.1.as_slice())
        }
    };
    let mut calls = unique_calls(log, names, pairs, problems);
    for (slot, pair) in pairs {
        let ToolLink::Answer(call) = pair else {
            continue;
        };
        match calls.get_mut(call) {
            Some((_, answered)) => *answered = true,
            None => {
                let name = names.text(*call).escape_debug();
                let detail = format!("it answers the call `{name}`, which is not in the file");
                problems.push(at_entry(log, ProblemKind::OrphanResult, *slot, detail));
            }
        }
    }
    let mut open: BTreeMap<Slot, Vec<Symbol>> = BTreeMap::new();
    for (call, (slot, _)) in calls.into_iter().filter(|(_, (_, answered))| !answered) {
        open.entry(slot).or_default().push(call);
    }
    for (slot, calls) in open {
        of_open_calls(
            session,
            slot,
            calls.iter().map(|call| names.text(*call)),
            problems,
        )?;
    }
    Ok(())
}

/// Reports the calls of one entry that were never answered. An entry can contain thousands of
/// calls, so it is read once for all of them.
fn of_open_calls<'n>(
    session: &Session,
    slot: Slot,
    calls: impl Iterator<Item = &'n str>,
    problems: &mut Vec<Problem>,
) -> Result<()> {
    let view = session.entry(slot)?.view.unwrap_or_default();
    let mut tools: HashMap<&str, &str> = HashMap::new();
    for (id, name, _) in view.calls() {
        tools.entry(id).or_insert(name);
    }
    for call in calls {
        let name = tools.get(call).copied().unwrap_or("a tool");
        let detail = format!("the call of {} was never answered", name.escape_debug());
        let problem = at_entry(session.log(), ProblemKind::MissingResult, slot, detail);
        problems.push(problem);
    }
    Ok(())
}

fn at_entry(log: &Log, kind: ProblemKind, slot: Slot, detail: String) -> Problem {
    Problem {
        kind,
        line: log.head(slot).map(|head| head.line.into()),
        slot: Some(slot),
        advice: None,
        detail,
    }
}

/// The calls of a session, each with its entry and that it is not answered yet. A call whose id
/// another call has already is a problem.
fn unique_calls(
    log: &Log,
    names: &Interner,
    pairs: &[(Slot, ToolLink)],
    problems: &mut Vec<Problem>,
) -> HashMap<Symbol, (Slot, bool)> {
    let id = |slot: Slot| log.head(slot).and_then(|head| head.id);
    let mut calls: HashMap<Symbol, (Slot, bool)> = HashMap::new();
    for (slot, pair) in pairs {
        let ToolLink::Call(call) = pair else { continue };
        match calls.get(call) {
            // A record that is in the file twice is reported as a duplicate, not here.
            Some((known, _)) if known != slot && id(*known) == id(*slot) && id(*slot).is_some() => {
            }
            Some((known, _)) => {
                let name = names.text(*call).escape_debug();
                let line = log.head(*known).map_or(0, |head| head.line);
                let detail = format!("the call `{name}` is already at line {line}");
                problems.push(at_entry(log, ProblemKind::DuplicateCall, *slot, detail));
            }
            None => drop(calls.insert(*call, (*slot, false))),
        }
    }
    calls
}

/// For a session that was read without its calls: reads every record again that can contain one.
fn gather_pairs(session: &Session) -> Result<(Interner, Vec<(Slot, ToolLink)>)> {
    let mut pairs = Vec::new();
    let mut names = session.log().names.clone();
    for (slot, head) in session.log().entries() {
        if !boswell_dialect::may_pair(head.kind) {
            continue;
        }
        session.view().with_object(slot, |object| {
            let sink = &mut |pair| pairs.push((slot, pair));
            boswell_dialect::tool_links(session.dialect(), object, &mut names, sink);
        })?;
    }
    Ok((names, pairs))
}

/// Returns the class of repair that fixes a problem of this session. Garbage on a line of its own
/// needs none.
pub fn repair_of(session: &Session, problem: &Problem) -> Repair {
    let repair = problem.kind.repair();
    let is_document = session.location().framing != Framing::Lines;
    // Bytes are moved only in logs of lines.
    if is_apart(session, problem) || (is_document && repair == Repair::Rewrite) {
        Repair::None
    } else {
        repair
    }
}

/// The reader that is named where boswell itself cannot read something.
const BOSWELL: &str = "boswell";

/// Returns the names of the known readers that lose or refuse something because of a problem of
/// this session. A problem without such a reader is worth knowing, and not damage.
pub fn hurt(session: &Session, losses: &[ReaderLoss], problem: &Problem) -> Vec<&'static str> {
    let facts = session.dialect().facts();
    // Known readers skip such a line. What other agents do was never measured.
    if is_apart(session, problem) && !facts.readers.is_empty() {
        return Vec::new();
    }
    let hurt = match session.dialect().powers().repair {
        Some(repair) => repair.hurt(&session.view(), losses, problem),
        None => Vec::new(),
    };
    if !hurt.is_empty()
        || facts
            .readers
            .iter()
            .any(|it| it.loss(problem.kind).is_some())
    {
        return hurt;
    }
    match problem.kind {
        ProblemKind::Unreadable
        | ProblemKind::OutsideLink
        | ProblemKind::NewerVersion
        | ProblemKind::NotLines
        | ProblemKind::MissingFile
        | ProblemKind::PendingChange => vec![BOSWELL],
        // The agent itself: its list, its refusal to resume, or lines that are not in its file.
        ProblemKind::StaleIndex
        | ProblemKind::MissingHistory
        | ProblemKind::LateLines
        | ProblemKind::Drift
        | ProblemKind::OtherProvider
        | ProblemKind::BadHeader => vec![facts.name],
        ProblemKind::TornTail | ProblemKind::NotJson | ProblemKind::NulBytes
            if facts.readers.is_empty() =>
        {
            vec![BOSWELL]
        }
        // A program that reads a line as one record loses what shares it with another.
        ProblemKind::GluedRecords if facts.readers.is_empty() => vec![facts.name],
        _ => Vec::new(),
    }
}

fn is_apart(session: &Session, problem: &Problem) -> bool {
    if !matches!(problem.kind, ProblemKind::NotJson | ProblemKind::NulBytes) {
        return false;
    }
    let Some(line) = problem.line else {
        return false;
    };
    let log = session.log();
    let first = log
        .heads
        .partition_point(|head| u64::from(head.line) < line);
    let shares = log
        .heads
        .get(first)
        .is_some_and(|head| u64::from(head.line) == line);
    !shares && (log.ended || line < log.lines)
}
