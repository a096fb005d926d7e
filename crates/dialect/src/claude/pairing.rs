//! Pairs tool calls with results: finds duplicate ids and orphan results, and computes what the
//! client sends for calls without a result.

use std::collections::{HashMap, HashSet};

use boswell_model::json::{Object, Raw};
use boswell_model::{Flags, Interner, Slot, Symbol, ToolLink};

use super::client::Client;
use super::invalid_blocks::{Block, is_of_claude};

/// Sent for a call of the last assistant message that has no result.
pub(super) const INTERRUPTED: &str = "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown. Check whether it took effect before relying on it or running it again.]";
/// Sent for a call that has no result while another call of the same line has one.
pub(super) const MISSING: &str = "[Tool result missing due to internal error]";
/// Sent for the first message if it contained only results without a call.
pub(super) const ORPHANED: &str = "[Orphaned tool result removed due to conversation resume]";
/// Sent for any other user message that has no content left.
pub(super) const NO_CONTENT: &str = "(no content)";
/// Sent for an assistant message that contained only calls whose ids were used before.
pub(super) const TOOL_USE_INTERRUPTED: &str = "[Tool use interrupted]";
/// Sent as the assistant message if the session ended before one was recorded.
pub(super) const NO_RESPONSE: &str = "No response requested.";

/// The role of a line in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Assistant,
    User,
    /// An attachment, sent with this role.
    Attached(&'static str),
}

/// A line while the context is computed.
#[derive(Debug)]
pub(super) struct Line {
    pub slot: Slot,
    pub voice: Voice,
    pub group: Option<Symbol>,
    pub calls: Vec<String>,
    /// Whether the provider runs all tools that the line calls: the client does not wait for their
    /// results.
    pub is_provided: bool,
    pub results: Vec<String>,
    /// Whether it contains more than calls and results.
    pub speaks: bool,
    /// Whether that content is only thinking or blank text.
    pub is_idle: bool,
    pub is_summary: bool,
    /// The model of the thinking, for lines that contain nothing else.
    pub thinker: Option<String>,
    pub fate: CallOutcome,
}

/// The decision about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallOutcome {
    /// The line is sent.
    Sent,
    /// The line is not sent.
    Dropped,
    /// No content of the line can be sent, but it may be the only line of its message.
    Void,
}

/// Returns the ids of the calls in a line, including those of tools that the provider runs.
pub(super) fn calls_of(object: &Object<'_>) -> Vec<String> {
    ids(object, is_call, "id")
}

/// Whether a line contains a call of a tool that the client itself runs.
pub(super) fn calls_client(object: &Object<'_>) -> bool {
    !ids(object, |word| word == "tool_use", "id").is_empty()
}

/// Returns the ids of the calls that a line answers. Tools of the provider are answered inside the
/// same message, by blocks of their own.
pub(super) fn results_of(object: &Object<'_>) -> Vec<String> {
    ids(object, is_result, "tool_use_id")
}

fn ids(object: &Object<'_>, is_wanted: impl Fn(&str) -> bool, key: &str) -> Vec<String> {
    let content = object
        .get("message")
        .and_then(|message| message.get("content"));
    let blocks = content.into_iter().flat_map(|content| content.items());
    blocks
        .filter(|block| {
            block
                .get("type")
                .and_then(|word| word.text())
                .is_some_and(|word| is_wanted(&word))
        })
        .filter_map(|block| block.get(key)?.text().map(|id| id.into_owned()))
        .collect()
}

/// Returns the calls and results of a line. Runs for every message of a file that is checked, so
/// each part is examined once.
pub(super) fn pairs(
    object: &Object<'_>,
    names: &mut Interner,
    sink: &mut dyn FnMut(ToolLink),
) -> Flags {
    let mut flags = Flags::default();
    let Some(message) = object.get("message") else {
        return flags;
    };
    // The client's record of a request (`api-request-blob`) repeats messages.
    let is_said = |word: &Raw<'_>| word.is("user") || word.is("assistant");
    if !object.get("type").as_ref().is_some_and(is_said) {
        return flags;
    }
    let content = message.get("content");
    for block in content.into_iter().flat_map(|content| content.items()) {
        let (mut read, mut id, mut answered) = (Block::default(), None, None);
        for (key, value) in block.members() {
            match key.to_wtf8().as_ref() {
                b"id" => id = Some(value),
                b"tool_use_id" => answered = Some(value),
                key => read.take(key, value),
            }
        }
        flags.set_if(read.is_refused(|| is_of_claude(&message)), Flags::REFUSED);
        let word = read.word.and_then(|word| word.text()).unwrap_or_default();
        let (of, pair): (Option<Raw<'_>>, fn(Symbol) -> ToolLink) = match () {
            () if is_call(&word) => (id, ToolLink::Call),
            () if is_result(&word) => (answered, ToolLink::Answer),
            () => continue,
        };
        if let Some(name) = of.and_then(|id| id.text()).and_then(|id| names.intern(&id)) {
            sink(pair(name));
        }
    }
    flags
}

fn is_call(word: &str) -> bool {
    matches!(word, "tool_use" | "server_tool_use")
}

fn is_result(word: &str) -> bool {
    word == "tool_result" || word.ends_with("_tool_result")
}

/// What must be sent in addition to the lines.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// Indexes of lines of the last assistant message with calls that were never answered.
    pub interrupted: Vec<usize>,
    /// Indexes of earlier lines with both a call that was answered and one that never was.
    pub missing: Vec<usize>,
}

/// Decides about every line with calls or results. `open_end` is whether the last assistant message
/// may still wait for results.
pub(super) fn pair(lines: &mut [Line], client: Client, open_end: bool) -> Gaps {
    let answered = lines
        .iter()
        .flat_map(|line| line.results.iter().cloned())
        .collect();
    let last = if open_end { last_answer(lines) } else { None };
    let called = match client.finds_by_call() {
        true => lines
            .iter()
            .flat_map(|line| line.calls.iter().cloned())
            .collect(),
        false => HashSet::new(),
    };
    let mut ledger = CallPairs {
        client,
        answered,
        called,
        early: HashSet::new(),
        calls: HashMap::new(),
        last: LastAnswer::default(),
        gaps: Gaps::default(),
    };
    // The oldest version looks for the calls of results behind the first answer only.
    let mut looks = client.drops_orphans();
    for (index, line) in lines.iter_mut().enumerate() {
        if !line.calls.is_empty() {
            let is_last = last.is_some_and(|(start, group)| {
                index >= start && (line.group == group || group.is_none())
            });
            ledger.settle_calls(index, line, is_last);
        } else if !line.results.is_empty() && looks {
            ledger.settle_results(line);
        }
        let is_answer = line.voice == Voice::Assistant && !line.is_idle;
        looks |= is_answer && line.fate == CallOutcome::Sent;
        ledger.last.pass(line);
    }
    ledger.gaps
}

/// The calls of the last answer of the model. Before 2.1.325 only results that follow it count for
/// them.
#[derive(Debug, Default)]
struct LastAnswer {
    group: Option<Symbol>,
    calls: HashSet<String>,
    /// The answers since the last prompt: a further line of one of them is joined to it, although
    /// others are between.
    since_prompt: HashSet<Symbol>,
}

impl LastAnswer {
    fn pass(&mut self, line: &Line) {
        let is_sent = line.fate != CallOutcome::Dropped;
        match line.voice {
            Voice::Assistant if is_sent && !line.is_idle => {
                let is_same = line.group.is_some() && line.group == self.group;
                let is_earlier = line.group.is_some_and(|it| self.since_prompt.contains(&it));
                if !is_same && is_earlier {
                    return;
                }
                if !is_same {
                    self.calls.clear();
                    self.group = line.group;
                    self.since_prompt.extend(line.group);
                }
                self.calls.extend(line.calls.iter().cloned());
            }
            Voice::User if is_sent && line.results.is_empty() => self.since_prompt.clear(),
            _ => {}
        }
    }
}

/// The state of calls during the pass over the lines.
struct CallPairs {
    client: Client,
    /// Calls that have a result anywhere.
    answered: HashSet<String>,
    /// All calls, if results are found also before them.
    called: HashSet<String>,
    /// Calls whose result was found before them.
    early: HashSet<String>,
    /// Calls so far, and whether their result was already found.
    calls: HashMap<String, bool>,
    last: LastAnswer,
    gaps: Gaps,
}

impl CallPairs {
    fn settle_calls(&mut self, index: usize, line: &mut Line, is_last: bool) {
        let open = line
            .calls
            .iter()
            .filter(|id| !self.answered.contains(*id))
            .count();
        if open > 0 && is_last && !line.is_provided {
            self.gaps.interrupted.push(index);
        } else if open == line.calls.len() {
            // The client drops the whole line, including any text in it.
            line.fate = CallOutcome::Dropped;
            return;
        } else if open > 0 {
            self.gaps.missing.push(index);
        }
        let is_repeated = || line.calls.iter().all(|id| self.calls.contains_key(id));
        if !line.speaks && self.client.drops_repeated_calls() && is_repeated() {
            line.fate = CallOutcome::Void;
        }
        for id in &line.calls {
            let has_result = self.early.contains(id);
            self.calls.entry(id.clone()).or_insert(has_result);
        }
    }

    /// The first result of a call counts; a result before its call, or behind another answer, only
    /// for the newest version.
    fn settle_results(&mut self, line: &mut Line) {
        let mut counts = false;
        for id in &line.results {
            if !self.client.finds_by_call() && !self.last.calls.contains(id) {
                continue;
            }
            match self.calls.get_mut(id) {
                Some(has_result) => counts |= !std::mem::replace(has_result, true),
                None => counts |= self.called.contains(id) && self.early.insert(id.clone()),
            }
        }
        if !counts && !line.speaks {
            line.fate = CallOutcome::Void;
        }
    }
}

/// Returns where the last assistant message begins, if only its results and attachments follow it.
fn last_answer(lines: &[Line]) -> Option<(usize, Option<Symbol>)> {
    let end = lines
        .iter()
        .rposition(|line| line.voice == Voice::Assistant)?;
    let group = lines.get(end)?.group;
    let after = lines.get(end + 1..)?;
    let waits = after
        .iter()
        .all(|line| line.voice != Voice::User || (!line.results.is_empty() && !line.speaks));
    let start = lines
        .iter()
        .position(|line| group.is_some() && line.group == group)
        .unwrap_or(end);
    waits.then_some((start, group))
}
