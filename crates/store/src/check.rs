//! Finds out what is wrong with a session. Reports only.

use std::collections::HashMap;

use boswell_model::{EntryKind, Flags, Framing, Gap, Problem, ProblemKind, Result, Slot, Span, SpanKind};

use crate::Session;

/// What is wrong with a session, and what that costs.
#[derive(Debug, Default)]
pub struct Report {
    /// Problems in file order; those of the whole file first.
    pub problems: Vec<Problem>,
    /// Conversation entries that the agent reaches when it resumes.
    pub reachable: u64,
    /// Conversation entries in the file.
    pub total: u64,
}

/// Checks one session: its bytes, its links, its tool calls, and what its dialect adds.
pub fn check(session: &Session) -> Result<Report> {
    let mut problems = Vec::new();
    of_file(session, &mut problems);
    of_gaps(session, &mut problems);
    of_heads(session, &mut problems);
    of_links(session, &mut problems);
    of_ids(session, &mut problems)?;
    of_calls(session, &mut problems)?;
    of_blobs(session, &mut problems)?;
    session.dialect().check(&session.view(), session.facts(), &mut problems)?;
    problems.sort_by_key(|problem| (problem.line, problem.kind));
    let conversation = |slot: &Slot| {
        session.log().head(*slot).is_some_and(|h| h.kind.is_conversation() && !h.flags.has(Flags::SIDECHAIN))
    };
    let reachable = session.branch(session.tip()?)?.iter().filter(|slot| conversation(slot)).count() as u64;
    let total = session.log().slots().filter(|slot| conversation(slot)).count() as u64;
    Ok(Report { problems, reachable, total })
}

fn of_file(session: &Session, problems: &mut Vec<Problem>) {
    let log = session.log();
    if session.located().key.is_none() || !log.heads.is_empty() {
        return;
    }
    if log.bytes == 0 {
        problems.push(Problem::of_file(ProblemKind::Empty, "the file is empty"));
    } else if is_document(session) {
        problems.push(Problem::of_file(ProblemKind::NotLines, "the file is one JSON document, not one record a line"));
    } else {
        problems.push(Problem::of_file(ProblemKind::Empty, format!("{} bytes, and no record among them", log.bytes)));
    }
}

fn is_document(session: &Session) -> bool {
    let payload = session.view().payloads.payload(0, session.log().bytes.min(64 << 20));
    payload.is_ok_and(|bytes| {
        boswell_model::json::Raw::parse(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes)).is_ok()
    })
}

fn of_gaps(session: &Session, problems: &mut Vec<Problem>) {
    for Span { len, line, kind, .. } in &session.log().gaps {
        let (kind, detail) = match kind {
            SpanKind::Gap(Gap::Pending) => (
                ProblemKind::TornTail,
                format!("{len} bytes after the last line end are no record; they may still be written"),
            ),
            SpanKind::Gap(Gap::Nul) => (ProblemKind::NulBytes, format!("{len} NUL bytes")),
            SpanKind::Gap(Gap::Garbage) => (ProblemKind::NotJson, format!("{len} bytes are no record")),
            _ => continue,
        };
        problems.push(Problem::at_line(kind, *line, detail));
    }
}

fn of_heads(session: &Session, problems: &mut Vec<Problem>) {
    let lines = session.located().framing == Framing::Lines;
    for (slot, head) in session.log().entries() {
        let mut add = |kind, detail: String| {
            problems.push(Problem { kind, line: Some(head.line.into()), slot: Some(slot), detail })
        };
        if head.flags.has(Flags::GLUED) && lines {
            add(
                ProblemKind::GluedRecords,
                format!("record {} of its line: a line end is missing before it", head.nth + 1),
            );
        }
        if head.flags.has(Flags::BAD_UTF8) {
            add(ProblemKind::InvalidUtf8, "some of its bytes are not UTF-8".to_owned());
        }
    }
}

fn of_links(session: &Session, problems: &mut Vec<Problem>) {
    let log = session.log();
    let by_id = log.by_id();
    for (slot, head) in log.entries() {
        let Some(parent) = head.parent.filter(|parent| by_id.last(*parent).is_none()) else { continue };
        let detail = format!("its parent `{}` is not in the file", log.names.text(parent).escape_debug());
        problems.push(Problem {
            kind: ProblemKind::MissingParent,
            line: Some(head.line.into()),
            slot: Some(slot),
            detail,
        });
    }
    for slot in session.tree().cycles() {
        let line = log.head(*slot).map(|h| h.line.into());
        let detail = "its parents run in a circle back to it".to_owned();
        problems.push(Problem { kind: ProblemKind::ParentCycle, line, slot: Some(*slot), detail });
    }
}

fn of_ids(session: &Session, problems: &mut Vec<Problem>) -> Result<()> {
    if !session.dialect().ids_are_unique() {
        return Ok(());
    }
    let log = session.log();
    let by_id = log.by_id();
    for (slot, head) in log.entries() {
        let Some(first) = head.id.and_then(|id| by_id.first(id)).filter(|first| *first != slot) else { continue };
        let same = session.view().payload(first)? == session.view().payload(slot)?;
        let line = log.head(first).map_or(0, |h| h.line);
        let (kind, detail) = if same {
            (ProblemKind::DuplicateRecord, format!("the same record stands at line {line}"))
        } else {
            (ProblemKind::DuplicateId, format!("another record at line {line} has the same id"))
        };
        problems.push(Problem { kind, line: Some(head.line.into()), slot: Some(slot), detail });
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
                detail,
            });
        }
    }
    Ok(())
}

/// Pairs calls of tools with their answers, over all branches: an answer anywhere in the file is an answer.
fn of_calls(session: &Session, problems: &mut Vec<Problem>) -> Result<()> {
    let mut calls: HashMap<String, Call> = HashMap::new();
    let mut results: Vec<(String, Slot)> = Vec::new();
    for (slot, head) in session.log().entries() {
        if !matches!(
            head.kind,
            EntryKind::Assistant | EntryKind::ToolResult | EntryKind::User | EntryKind::Meta | EntryKind::System
        ) {
            continue;
        }
        let Some(view) = session.entry(slot)?.view else { continue };
        for (id, name, _) in view.calls() {
            match calls.get(id) {
                // One record may stand in the file twice; that is reported as what it is.
                Some(known) if known.slot != slot && known.owner == head.id && head.id.is_some() => {}
                Some(known) => {
                    let detail = format!("the call `{}` stands at line {} already", id.escape_debug(), known.line);
                    problems.push(Problem {
                        kind: ProblemKind::DuplicateCall,
                        line: Some(head.line.into()),
                        slot: Some(slot),
                        detail,
                    });
                }
                None => {
                    let call = Call { slot, line: head.line, owner: head.id, name: name.to_owned(), answered: false };
                    calls.insert(id.to_owned(), call);
                }
            }
        }
        results.extend(view.results().map(|id| (id.to_owned(), slot)));
    }
    for (id, slot) in results {
        match calls.get_mut(&id) {
            Some(call) => call.answered = true,
            None => {
                let line = session.log().head(slot).map(|h| h.line.into());
                let detail = format!("it answers the call `{}`, which is not in the file", id.escape_debug());
                problems.push(Problem { kind: ProblemKind::OrphanResult, line, slot: Some(slot), detail });
            }
        }
    }
    for call in calls.into_values().filter(|call| !call.answered) {
        let detail = format!("the call of {} was never answered", call.name.escape_debug());
        problems.push(Problem {
            kind: ProblemKind::MissingResult,
            line: Some(call.line.into()),
            slot: Some(call.slot),
            detail,
        });
    }
    Ok(())
}

struct Call {
    slot: Slot,
    line: u32,
    owner: Option<boswell_model::Name>,
    name: String,
    answered: bool,
}
