//! The context for a tip: what the newest client would send.
//!
//! Items have the order of the chain, one per line of the user and one per API message of the
//! model. In a request the client also merges adjacent lines of the user and moves attachments to
//! the edges of the merged message; this changes no content and is left out here.

use std::collections::{BTreeSet, HashMap, HashSet};

use boswell_model::json::{Object, Raw, RawKind};
use boswell_model::{
    Context, ContextForm, ContextItem, EntryKind, Flags, Head, Result, SessionView, Settings, Slot,
    Tip,
};

use super::chain::{Chain, is_message};
use super::client::Client;
use super::lines::CountedLines;
use super::pairing::{
    CallOutcome, Gaps, INTERRUPTED, Line, MISSING, NO_CONTENT, NO_RESPONSE, ORPHANED,
    TOOL_USE_INTERRUPTED, Voice, calls_client, calls_of, pair, results_of,
};
use super::{attachment, compaction, parallel_calls, tip};

/// Computes the context for a tip, as the newest client sends it.
pub(super) fn context(view: &SessionView<'_>, tip: Tip) -> Result<Context> {
    let path = match tip.slot() {
        Some(slot) => {
            let chain = chain_for(view, slot)?;
            parallel_calls::put_back(view, &chain, &path_to(view, &chain, slot))?
        }
        None => Vec::new(),
    };
    along(view, Client::NEWEST, tip, &path)
}

/// Computes the context that a version of the client sends for a path.
pub(super) fn along(
    view: &SessionView<'_>,
    client: Client,
    tip: Tip,
    path: &[Slot],
) -> Result<Context> {
    let mut context = Context {
        tip,
        ..Context::default()
    };
    let mut lines = Vec::with_capacity(path.len());
    for slot in path {
        if let Some(head) = view.log.head(*slot) {
            let line = view.with_object(*slot, |object| {
                note_settings(object, head, &mut context.settings);
                line(client, *slot, head, object)
            })?;
            lines.extend(line.flatten());
        }
    }
    let last = path
        .iter()
        .rev()
        .find(|slot| is_message(view.log.kind(**slot)));
    let failed = last
        .and_then(|slot| view.log.head(*slot))
        .is_some_and(|h| h.flags.has(Flags::ERROR));
    let gaps = pair(&mut lines, client, !failed && client.answers_open_calls());
    drop_foreign_thinking(&mut lines, context.settings.model.as_deref());
    drop_idle(&mut lines);
    let is_cut = path.iter().any(|slot| {
        view.log
            .head(*slot)
            .is_some_and(|h| h.flags.has(Flags::CUT))
    });
    context.items = items(&lines, &gaps, is_cut);
    global_settings(view, &mut context.settings)?;
    Ok(context)
}

/// Returns the chain in which `slot` can be reached: the client's own, else the one that was in
/// force while `slot` was the tip.
fn chain_for<'a>(view: &SessionView<'a>, slot: Slot) -> Result<Chain<'a>> {
    let current = tip::chain_of(view)?;
    if current.is_alive(slot) {
        return Ok(current);
    }
    let cuts = |slot: &Slot| {
        view.log
            .head(*slot)
            .is_some_and(|h| h.flags.has(Flags::CUT))
    };
    let kept = match view.tree.ancestors(slot).find(cuts) {
        Some(boundary) => compaction::kept(view, boundary, &CountedLines::of(view.log))?,
        None => None,
    };
    Ok(Chain::of(view.log, kept.as_ref()))
}

/// Returns the path to an entry. An entry that the client does not see follows the nearest ancestor
/// that it does.
fn path_to(view: &SessionView<'_>, chain: &Chain<'_>, slot: Slot) -> Vec<Slot> {
    let mut unseen: Vec<Slot> = view
        .tree
        .ancestors(slot)
        .take_while(|slot| !chain.is_alive(*slot))
        .collect();
    let seen = view.tree.ancestors(slot).find(|slot| chain.is_alive(*slot));
    let mut path = seen.map(|slot| chain.path(slot)).unwrap_or_default();
    unseen.reverse();
    path.append(&mut unseen);
    path
}

/// Returns the line as the model would get it; `None` if it is not sent.
fn line(client: Client, slot: Slot, head: &Head, object: &Object<'_>) -> Option<Line> {
    let voice = match head.kind {
        // API errors, which the client itself words, are shown to the user only.
        EntryKind::Assistant if head.flags.has(Flags::ERROR) && is_of_client(object) => {
            return None;
        }
        EntryKind::Assistant => Voice::Assistant,
        EntryKind::User | EntryKind::ToolResult => Voice::User,
        EntryKind::System
            if client.sends_commands()
                && object.get("subtype").is_some_and(|s| s.is("local_command")) =>
        {
            Voice::User
        }
        EntryKind::Attachment => Voice::Attached(attachment::role(object)?),
        _ => return None,
    };
    let calls = calls_of(object);
    let is_provided = !calls.is_empty() && !calls_client(object);
    let results = results_of(object);
    let (speaks, is_idle) = match object.get("message").and_then(|m| m.get("content")) {
        Some(content) if matches!(voice, Voice::Assistant | Voice::User) => weigh(content),
        _ => (true, false),
    };
    let is_summary = head.flags.has(Flags::SUMMARY);
    let thinker = if speaks && is_idle && voice == Voice::Assistant {
        model(object)
    } else {
        None
    };
    Some(Line {
        slot,
        voice,
        group: head.group,
        calls,
        is_provided,
        results,
        speaks,
        is_idle,
        is_summary,
        thinker,
        fate: CallOutcome::Sent,
    })
}

/// Whether a content contains more than calls and results, and whether that is only thinking and
/// blank text.
fn weigh(content: Raw<'_>) -> (bool, bool) {
    if content.kind() == RawKind::String {
        return (
            true,
            content.text().is_some_and(|text| text.trim().is_empty()),
        );
    }
    let (mut speaks, mut is_idle) = (false, true);
    for block in content.items() {
        let word = block
            .get("type")
            .and_then(|word| word.text())
            .unwrap_or_default();
        let is_blank = || {
            block
                .get("text")
                .and_then(|t| t.text())
                .is_none_or(|t| t.trim().is_empty())
        };
        match word.as_ref() {
            "tool_use" | "server_tool_use" | "tool_result" => is_idle = false,
            "thinking" | "redacted_thinking" => speaks = true,
            "text" if is_blank() => {}
            _ => (speaks, is_idle) = (true, false),
        }
    }
    (speaks, is_idle)
}

/// Whether a message contains more than thinking and blank text.
pub(super) fn is_spoken(object: &Object<'_>) -> bool {
    let content = object.get("message").and_then(|it| it.get("content"));
    content.is_some_and(|content| !weigh(content).1)
}

/// Drops lines that are only thinking of other models: it is signed for the model that wrote it,
/// and is not sent after a change of model.
fn drop_foreign_thinking(lines: &mut [Line], model: Option<&str>) {
    for line in lines
        .iter_mut()
        .filter(|line| line.thinker.is_some() && line.thinker.as_deref() != model)
    {
        line.fate = CallOutcome::Dropped;
    }
}

/// Returns the model of an assistant message; messages that the client itself wrote have none.
fn model(object: &Object<'_>) -> Option<String> {
    let model = object.get("message")?.get("model")?.text()?;
    (!model.is_empty() && model != "<synthetic>").then(|| model.into_owned())
}

/// Whether the client worded an answer itself.
fn is_of_client(object: &Object<'_>) -> bool {
    let model = object.get("message").and_then(|it| it.get("model"));
    model.is_some_and(|it| it.is("<synthetic>"))
}

/// Drops assistant messages that contain only thinking or blank text.
fn drop_idle(lines: &mut [Line]) {
    let busy: HashSet<_> = lines
        .iter()
        .filter(|line| {
            line.voice == Voice::Assistant && !line.is_idle && line.fate != CallOutcome::Dropped
        })
        .filter_map(|line| line.group)
        .collect();
    for line in lines
        .iter_mut()
        .filter(|line| line.voice == Voice::Assistant && line.is_idle)
    {
        if !line.group.is_some_and(|group| busy.contains(&group)) {
            line.fate = CallOutcome::Dropped;
        }
    }
}

fn items(lines: &[Line], gaps: &Gaps, is_cut: bool) -> Vec<ContextItem> {
    let mut out: Vec<ContextItem> = Vec::with_capacity(lines.len());
    let mut run: Vec<&Line> = Vec::new();
    let mut answer: Option<(usize, Option<boswell_model::Symbol>)> = None;
    let mut made: Vec<ContextItem> = Vec::new();
    let missing: HashSet<usize> = gaps.missing.iter().copied().collect();
    let answers = answers_by_call(lines);
    for (index, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.fate != CallOutcome::Dropped)
    {
        if line.voice != Voice::Assistant {
            if line.voice == Voice::User && line.results.is_empty() {
                // A message of the user was between: a later line of the same API message becomes a
                // message of its own.
                answer = answer.map(|(at, _)| (at, None));
            }
            run.push(line);
            continue;
        }
        let open = answer.filter(|(_, group)| group.is_some() && *group == line.group);
        if let Some((at, _)) = open {
            add_to_answer(&mut out, at, line);
        } else {
            out.append(&mut made);
            flush(&mut out, &mut run, is_cut);
            answer = Some((out.len(), line.group));
            out.push(answer_item(line));
        }
        if missing.contains(&index) {
            made.push(unanswered(&answers, line, MISSING));
        }
    }
    out.append(&mut made);
    flush(&mut out, &mut run, is_cut);
    out.extend(
        gaps.interrupted
            .iter()
            .filter_map(|index| lines.get(*index))
            .map(|line| unanswered(&answers, line, INTERRUPTED)),
    );
    if let Some(line) = gaps.interrupted.last().and_then(|index| lines.get(*index)) {
        let form = ContextForm::Made {
            role: "assistant",
            text: NO_RESPONSE.to_owned(),
        };
        out.push(ContextItem::with_form(line.slot, form));
    }
    out
}

fn add_to_answer(out: &mut [ContextItem], at: usize, line: &Line) {
    let Some(item) = out.get_mut(at).filter(|_| line.fate == CallOutcome::Sent) else {
        return;
    };
    if item.form == ContextForm::Stored {
        item.more.push(line.slot);
    } else {
        *item = ContextItem::stored(line.slot);
    }
}

fn answer_item(line: &Line) -> ContextItem {
    if line.fate == CallOutcome::Sent {
        return ContextItem::stored(line.slot);
    }
    let form = ContextForm::Made {
        role: "assistant",
        text: TOOL_USE_INTERRUPTED.to_owned(),
    };
    ContextItem::with_form(line.slot, form)
}

/// Returns the results that the client invents for the calls of a line. The recorded results follow
/// separately, so that the two can be distinguished.
fn unanswered(answers: &Answers<'_>, line: &Line, text: &str) -> ContextItem {
    let form = ContextForm::Made {
        role: "user",
        text: text.to_owned(),
    };
    let mut item = ContextItem::with_form(line.slot, form);
    let of_calls = line.calls.iter().filter_map(|id| answers.get(id.as_str()));
    let found: BTreeSet<(usize, Slot)> = of_calls.flatten().copied().collect();
    item.more = found.into_iter().map(|(_, slot)| slot).collect();
    item
}

/// The lines with a result of each call, by position.
type Answers<'l> = HashMap<&'l str, Vec<(usize, Slot)>>;

/// Collected once: a session that ends with thousands of open calls asks for each of them.
fn answers_by_call(lines: &[Line]) -> Answers<'_> {
    let mut answers = Answers::new();
    for (at, line) in lines.iter().enumerate() {
        for id in &line.results {
            answers.entry(id).or_default().push((at, line.slot));
        }
    }
    answers
}

/// Adds the user's messages between two assistant messages. Results without a call are dropped,
/// unless nothing else is left.
fn flush(out: &mut Vec<ContextItem>, run: &mut Vec<&Line>, is_cut: bool) {
    let is_first = out.is_empty();
    let speaks = run
        .iter()
        .any(|line| line.fate == CallOutcome::Sent && line.voice != Voice::Attached("system"));
    let mut stands_in = !speaks;
    for line in run.drain(..) {
        match line.fate {
            CallOutcome::Sent if line.is_summary && is_cut => {
                out.push(ContextItem::with_form(
                    line.slot,
                    ContextForm::CompactionSummary,
                ));
            }
            CallOutcome::Sent => out.push(ContextItem::stored(line.slot)),
            CallOutcome::Void if stands_in => {
                let text = if is_first { ORPHANED } else { NO_CONTENT };
                out.push(ContextItem::with_form(
                    line.slot,
                    ContextForm::Made {
                        role: "user",
                        text: text.to_owned(),
                    },
                ));
                stands_in = false;
            }
            _ => {}
        }
    }
}

fn note_settings(object: &Object<'_>, head: &Head, settings: &mut Settings) {
    match head.kind {
        EntryKind::Assistant => {
            settings.model = model(object).or(settings.model.take());
            if let Some(effort) = object.text("effort") {
                settings.thinking_level = Some(effort.into_owned());
            }
        }
        EntryKind::User => {
            if let Some(mode) = object.text("permissionMode") {
                settings.permission_mode = Some(mode.into_owned());
            }
        }
        _ => {}
    }
}

/// Adds settings that are stored outside the chain: the last line of each kind counts.
fn global_settings(view: &SessionView<'_>, settings: &mut Settings) -> Result<()> {
    let last = |word: &str| {
        let name = view.log.names.find(word)?;
        view.log
            .entries()
            .rev()
            .find(|(_, h)| h.word == Some(name))
            .map(|(slot, _)| slot)
    };
    let text = |slot: Slot, key: &str| {
        view.with_object(slot, |object| {
            object.text(key).map(|text| text.into_owned())
        })
        .map(Option::flatten)
    };
    if let Some(slot) = last("mode") {
        settings.mode = text(slot, "mode")?;
    }
    if let Some(slot) = last("permission-mode") {
        settings.permission_mode =
            text(slot, "permissionMode")?.or(settings.permission_mode.take());
    }
    Ok(())
}
