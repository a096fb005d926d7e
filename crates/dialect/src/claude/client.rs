//! The versions of the client whose behaviour was measured, and what each makes of a file.
//!
//! A reading is a prediction: which records a version would send if it resumed the session now.
//! Recorded runs of the real clients prove it (`claude_verdicts` in the tests of this crate).

use std::collections::HashSet;

use boswell_model::json::{Object, RawKind};
use boswell_model::{
    Context, ContextForm, EntryKind, Flags, Gap, Result, SessionView, Slot, SpanKind, Tip,
};

use super::chain::{Chain, is_message};
use super::lines::CountedLines;
use super::nearest::nearest;
use super::pairing::{calls_of, results_of};
use super::{context, parallel_calls, tip};
use crate::Reading;

/// A version of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Client {
    V2_1_50,
    V2_1_150,
    V2_1_325,
}

impl Client {
    pub(super) const NEWEST: Client = Client::V2_1_325;
    pub(super) const ALL: [Client; 3] = [Client::V2_1_50, Client::V2_1_150, Client::V2_1_325];

    /// Returns the client with the name of a known reader.
    pub(super) fn named(reader: &str) -> Option<Client> {
        Client::ALL
            .into_iter()
            .find(|client| client.name() == reader)
    }

    /// Returns the name of the known reader.
    pub(super) fn name(self) -> &'static str {
        match self {
            Client::V2_1_50 => "2.1.50",
            Client::V2_1_150 => "2.1.150",
            Client::V2_1_325 => "2.1.325",
        }
    }

    /// Whether it finds results of a message's other calls by the ids of the calls. Others find
    /// those whose parent is a line of the message.
    pub(super) fn finds_by_call(self) -> bool {
        self >= Client::V2_1_325
    }

    /// Whether it continues at the line before where a parent is missing, finds the other calls of
    /// a message, and resumes the branch that was written last.
    pub(super) fn finds_lost(self) -> bool {
        self >= Client::V2_1_150
    }

    /// Whether it reads the first record of a line that has more on it. Others read none of them.
    pub(super) fn reads_first_record(self) -> bool {
        self >= Client::V2_1_150
    }

    /// Whether it skips messages that are not well formed. Others fail on them.
    pub(super) fn skips_malformed(self) -> bool {
        self >= Client::V2_1_325
    }

    /// Whether it finds no conversation in a file without messages.
    pub(super) fn needs_message(self) -> bool {
        self <= Client::V2_1_150
    }

    /// Whether it sends a result of its own for a call that ends the session without one.
    pub(super) fn answers_open_calls(self) -> bool {
        self >= Client::V2_1_325
    }

    /// Whether it leaves out results without a call also before the first answer.
    pub(super) fn drops_orphans(self) -> bool {
        self >= Client::V2_1_150
    }

    /// Whether it leaves out calls whose ids were used before.
    pub(super) fn drops_repeated_calls(self) -> bool {
        self >= Client::V2_1_150
    }

    /// Whether it sends what commands of the user printed.
    pub(super) fn sends_commands(self) -> bool {
        self >= Client::V2_1_150
    }
}

/// Returns what a version makes of a session.
pub(super) fn reading(view: &SessionView<'_>, client: Client) -> Result<Reading> {
    match resume(view, client)? {
        Resumed::From { chain, tip, path } => sent(view, client, &chain, tip, path),
        Resumed::Refused => Ok(Reading::Refused),
        Resumed::Failed => Ok(Reading::Failed),
    }
}

/// How a version begins to resume a session.
pub(super) enum Resumed<'a> {
    /// It continues from a tip, to which a path of lines leads.
    From {
        chain: Box<Chain<'a>>,
        tip: Tip,
        path: Vec<Slot>,
    },
    Refused,
    Failed,
}

/// Returns where a version resumes a session, and what leads there.
pub(super) fn resume<'a>(view: &SessionView<'a>, client: Client) -> Result<Resumed<'a>> {
    let Some(until) = end_of_reading(view, client)? else {
        return Ok(Resumed::Failed);
    };
    let lines = CountedLines::seen_by(client, view.log, until);
    let chain = tip::chain_seen_by(view, client, lines)?;
    let Some(tip) = tip::resumed_at(view, &chain, client)? else {
        return Ok(Resumed::Refused);
    };
    let path = tip.slot().map(|slot| chain.path(slot)).unwrap_or_default();
    if client == Client::V2_1_150 && lacks_message(view, &chain, &path)? {
        return Ok(Resumed::Failed);
    }
    if fails_on(view, client, &path)? {
        return Ok(Resumed::Failed);
    }
    if client == Client::V2_1_150 && leaves_nothing(view, &chain, tip, &path)? {
        return Ok(Resumed::Refused);
    }
    Ok(Resumed::From {
        chain: Box::new(chain),
        tip,
        path,
    })
}

/// Whether 2.1.150 drops every line of a path before it begins: answers of the model that consist
/// of calls without a result, or of thinking. It then finds no conversation.
fn leaves_nothing(
    view: &SessionView<'_>,
    chain: &Chain<'_>,
    tip: Tip,
    path: &[Slot],
) -> Result<bool> {
    let is_answer = |slot: &Slot| view.log.kind(*slot) == EntryKind::Assistant;
    if path.is_empty() || !path.iter().all(is_answer) {
        return Ok(false);
    }
    let path = followed(view, Client::V2_1_150, chain, path.to_vec())?;
    let context = context::along(view, Client::V2_1_150, tip, &path)?;
    Ok(records(&context).is_empty())
}

/// What a version reaches of a session.
pub(super) struct Reached {
    /// The lines that it sends.
    pub(super) slots: HashSet<Slot>,
    /// Why it sends nothing, or nothing after some line.
    pub(super) whole: Option<String>,
}

/// Returns what a version reaches of a session. Messages are read only if `exactly`: where calls
/// and results match, it sends every line of its path that says something.
pub(super) fn reached(view: &SessionView<'_>, client: Client, exactly: bool) -> Result<Reached> {
    let (slots, whole) = match resume(view, client)? {
        Resumed::Refused => (
            Vec::new(),
            Some("finds no conversation in the file".to_owned()),
        ),
        Resumed::Failed => (
            Vec::new(),
            Some("fails when it resumes the file".to_owned()),
        ),
        Resumed::From { chain, tip, path } => {
            let whole = match end_of_reading(view, client)? {
                Some(line) if view.log.heads.iter().any(|it| u64::from(it.line) > line) => {
                    Some(format!("reads nothing after line {line}"))
                }
                _ => None,
            };
            let found = followed(view, client, &chain, path.clone())?;
            let is_odd = !client.finds_by_call() && has_displaced(view, &chain, &path, &found)?;
            let path = found;
            let slots = match exactly || is_odd {
                true => records(&context::along(view, client, tip, &path)?),
                false => path,
            };
            (slots, whole)
        }
    };
    Ok(Reached {
        slots: slots.into_iter().collect(),
        whole,
    })
}

/// Whether a result that was found beside a path follows another line than its call: it is left out
/// behind an answer that does not have the call.
fn has_displaced(
    view: &SessionView<'_>,
    chain: &Chain<'_>,
    path: &[Slot],
    found: &[Slot],
) -> Result<bool> {
    if found.len() == path.len() {
        return Ok(false);
    }
    let on_path: HashSet<Slot> = path.iter().copied().collect();
    let is_found =
        |slot: &&Slot| view.log.kind(**slot) == EntryKind::ToolResult && !on_path.contains(*slot);
    for slot in found.iter().filter(is_found) {
        let results = view.with_object(*slot, results_of)?.unwrap_or_default();
        let calls = match chain.linked(*slot) {
            Some(above) => view.with_object(above, calls_of)?.unwrap_or_default(),
            None => Vec::new(),
        };
        if !results.iter().any(|id| calls.contains(id)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn sent(
    view: &SessionView<'_>,
    client: Client,
    chain: &Chain<'_>,
    tip: Tip,
    path: Vec<Slot>,
) -> Result<Reading> {
    let path = followed(view, client, chain, path)?;
    let context = context::along(view, client, tip, &path)?;
    Ok(Reading::Sent(records(&context)))
}

/// Returns the lines that a version follows on a path: new ones find the other calls of a message.
pub(super) fn followed(
    view: &SessionView<'_>,
    client: Client,
    chain: &Chain<'_>,
    path: Vec<Slot>,
) -> Result<Vec<Slot>> {
    match client.finds_lost() {
        true => parallel_calls::put_back(view, chain, &path),
        false => Ok(path),
    }
}

/// Returns the records whose content a context contains.
pub(super) fn records(context: &Context) -> Vec<Slot> {
    let is_made = |form: &ContextForm| matches!(form, ContextForm::Made { .. });
    let items = context.items.iter().filter(|item| !is_made(&item.form));
    items.flat_map(|item| item.slots()).collect()
}

/// Returns the line at which a version stops to read; `None` if it fails there.
///
/// A line that is JSON, but `null`, ends the reading of the oldest version, and the next one does
/// not survive it.
fn end_of_reading(view: &SessionView<'_>, client: Client) -> Result<Option<u64>> {
    if client > Client::V2_1_150 {
        return Ok(Some(u64::MAX));
    }
    for gap in &view.log.gaps {
        let may_be = matches!(gap.kind, SpanKind::Gap(Gap::Garbage | Gap::Pending));
        if !may_be || gap.len > 16 {
            continue;
        }
        let bytes = view.payloads.payload(gap.at, gap.len)?;
        if bytes.trim_ascii() == b"null" {
            return Ok((client == Client::V2_1_50).then_some(gap.line));
        }
    }
    Ok(Some(u64::MAX))
}

/// Whether a message is missing or null in any line that is kept. If the path contains an answer,
/// 2.1.150 looks for other lines of its message in all of them; a prompt without a parent is not
/// looked at.
fn lacks_message(view: &SessionView<'_>, chain: &Chain<'_>, path: &[Slot]) -> Result<bool> {
    let is_answer = |slot: &Slot| view.log.kind(*slot) == EntryKind::Assistant;
    if !path.iter().any(is_answer) {
        return Ok(false);
    }
    let is_null = |object: &Object<'_>| object.get("message").is_none_or(|it| it.is_null());
    for slot in chain.rows() {
        let head = view.log.head(slot).filter(|it| is_message(it.kind));
        let Some(head) = head.filter(|it| it.flags.has(Flags::MALFORMED)) else {
            continue;
        };
        let is_read = head.kind == EntryKind::Assistant || head.parent.is_some();
        if is_read && view.with_object(slot, is_null)? == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a version fails on a message of the path that is not well formed. For old versions that
/// includes answers whose content is a text.
fn fails_on(view: &SessionView<'_>, client: Client, path: &[Slot]) -> Result<bool> {
    if client.skips_malformed() {
        return Ok(false);
    }
    let is_list = |object: &Object<'_>| {
        let content = object.get("message").and_then(|it| it.get("content"));
        content.is_some_and(|it| it.kind() == RawKind::Array)
    };
    if client == Client::V2_1_150 && joins_text(view, path)? {
        return Ok(true);
    }
    for slot in path {
        let Some(head) = view.log.head(*slot).filter(|head| is_message(head.kind)) else {
            continue;
        };
        if head.kind == EntryKind::Assistant && head.flags.has(Flags::ONE_TEXT) {
            return Ok(true);
        }
        // The oldest version sends lists of anything, the next one only those of the user.
        let may_send = client == Client::V2_1_50 || head.kind != EntryKind::Assistant;
        let sends_list = || Ok(may_send && view.with_object(*slot, is_list)? == Some(true));
        if head.flags.has(Flags::MALFORMED) && !sends_list()? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a hook added one text to the path or below one of its lines, with no message between
/// them: 2.1.150 joins it like a list, and fails.
fn joins_text(view: &SessionView<'_>, path: &[Slot]) -> Result<bool> {
    let path: HashSet<Slot> = path.iter().copied().collect();
    let says = |slot: Slot| match path.contains(&slot) {
        true => Some(true),
        false => is_message(view.log.kind(slot)).then_some(false),
    };
    let is_added = nearest(view.log.heads.len(), |slot| view.tree.parent(slot), says);
    let is_one = |object: &Object<'_>| {
        let added = object.get("attachment")?;
        added
            .get("type")
            .filter(|it| it.is("hook_additional_context"))?;
        Some(added.get("content")?.kind() == RawKind::String)
    };
    for (slot, head) in view.log.entries() {
        let is_added = is_added.get(slot.index()) == Some(&Some(true));
        let may_be = head.kind == EntryKind::Attachment && is_added;
        if may_be && view.with_object(slot, is_one)?.flatten() == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}
