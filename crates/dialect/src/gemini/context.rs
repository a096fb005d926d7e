//! What Gemini CLI sends when it resumes a session.
//!
//! It also sends a new `<session_context>` first, which no record contains.

use boswell_model::json::{Json, Object, Raw, RawKind};
use boswell_model::{
    Context, ContextForm, ContextItem, EntryKind, Flags, Message as Rendered, Result, SessionView,
    Slot, Tip,
};

use crate::members::{list, text};
use crate::message_map::Replayed;

use super::message::Message;
use super::record::{self, SILENT};

/// Returns the context for a tip.
pub(super) fn context(view: &SessionView<'_>, tip: Tip) -> Result<Context> {
    let mut context = Context::stored(tip, None);
    let Some(slot) = tip.slot() else {
        return Ok(context);
    };
    let live = up_to(view, slot).live;
    for (at, message) in live.iter().enumerate() {
        let next = live.get(at + 1);
        let is_answered = next.is_some_and(|next| record::is_results(view.log, next));
        let (is_sent, results) = match message.part {
            Some(part) => contained(view, message.slot, part)?,
            None => stored(view, message.slot),
        };
        let has_results = match results {
            Results::Sent => true,
            Results::Recorded => !is_answered,
            Results::None => false,
        };
        let part = message.part.unwrap_or(0);
        let item = |is_results| ContextItem::with_form(message.slot, form(part, is_results));
        context.items.extend(is_sent.then(|| item(false)));
        context
            .items
            .extend((is_sent && has_results).then(|| item(true)));
    }
    context.settings.model = model(view, &context)?;
    Ok(context)
}

/// Replays the log up to a record. Lines behind the tip of the whole log count too: they may have
/// replaced messages.
pub(super) fn up_to(view: &SessionView<'_>, slot: Slot) -> Replayed {
    let whole = record::replayed(view.log, usize::MAX);
    if whole.tip() == Some(slot) {
        return whole;
    }
    let mut replayed = record::replayed(view.log, slot.index() + 1);
    let place = replayed.live.iter().rposition(|it| it.shown == Some(slot));
    if let Some(place) = place {
        replayed.live.truncate(place + 1);
    }
    replayed
}

/// The form of a message of a record, counted from 0, or of the results recorded in it.
fn form(part: u32, is_results: bool) -> ContextForm {
    ContextForm::Part(part.saturating_mul(2).saturating_add(u32::from(is_results)))
}

/// Whether the results in a message of the model are sent as a message after it.
#[derive(Clone, Copy)]
enum Results {
    None,
    /// The content lacks the calls: the program makes both messages, even if the results follow.
    Sent,
    /// The content contains the calls: only if no message with the results follows.
    Recorded,
}

/// Whether a record is sent, and its results.
fn stored(view: &SessionView<'_>, slot: Slot) -> (bool, Results) {
    let Some(head) = view.log.head(slot) else {
        return (false, Results::None);
    };
    let calls = head.group.map(|group| view.log.names.text(group));
    let has = |sign| calls.is_some_and(|calls| calls.split('\n').any(|it| it.starts_with(sign)));
    match head.kind {
        EntryKind::User => (!head.flags.has(Flags::HIDDEN), Results::None),
        EntryKind::ToolResult => (true, Results::None),
        EntryKind::Assistant if head.flags.has(SILENT) => (false, Results::None),
        EntryKind::Assistant if has('+') => (true, Results::Sent),
        EntryKind::Assistant if has('*') => (true, Results::Recorded),
        EntryKind::Assistant => (true, Results::None),
        _ => (false, Results::None),
    }
}

/// The same for a message inside a record.
fn contained(view: &SessionView<'_>, slot: Slot, part: u32) -> Result<(bool, Results)> {
    let found = view.with_object(slot, |object| {
        let messages = Message::all(object);
        let message = *messages.get(part as usize)?;
        Some(match message.kind() {
            EntryKind::User => (!message.is_injected(), Results::None),
            EntryKind::ToolResult => (true, Results::None),
            EntryKind::Assistant => (!message.is_silent(), recorded(message)),
            _ => (false, Results::None),
        })
    })?;
    Ok(found.flatten().unwrap_or((false, Results::None)))
}

fn recorded(message: Message<'_>) -> Results {
    match (has_results(message), message.is_complete()) {
        (false, _) => Results::None,
        (true, false) => Results::Sent,
        (true, true) => Results::Recorded,
    }
}

fn has_results(message: Message<'_>) -> bool {
    let is_there = |call: Raw<'_>| call.get("result").is_some_and(|it| !it.is_null());
    message.calls().any(is_there)
}

/// Renders one message of a context.
pub(super) fn render(item: &ContextItem, records: &[Object<'_>]) -> Rendered {
    let ContextForm::Part(part) = item.form else {
        return Rendered::new("", None);
    };
    let messages = records.first().map(Message::all).unwrap_or_default();
    let Some(message) = messages.get(part as usize / 2) else {
        return Rendered::new("", None);
    };
    match message.kind() {
        EntryKind::Assistant if part % 2 == 1 => Rendered::new("user", results(*message)),
        EntryKind::Assistant => Rendered::new("model", sent_parts(*message)),
        _ => Rendered::new("user", parts(message.content())),
    }
}

/// Returns the parts of a content, texts as objects.
fn parts(content: Option<Raw<'_>>) -> Vec<Json> {
    let part = |part: Raw<'_>| match part.text() {
        Some(text) => Json::object().with("text", text.into_owned()),
        None => Json::from(part),
    };
    match content {
        Some(content) if content.kind() == RawKind::Array => content.items().map(part).collect(),
        Some(content) if content.is_null() || content.is("") => Vec::new(),
        Some(content) => vec![part(content)],
        None => Vec::new(),
    }
}

fn sent_parts(message: Message<'_>) -> Vec<Json> {
    if message.is_complete() {
        return parts(message.content());
    }
    let thought = |said: String| Json::object().with("text", said).with("thought", true);
    let mut sent: Vec<Json> = message.thoughts().map(thought).collect();
    sent.extend(parts(message.content()));
    for call in message.calls() {
        let function = Json::object()
            .with_some("id", text(call, "id"))
            .with_some("name", text(call, "name"))
            .with_some("args", call.get("args").map(Json::from));
        sent.push(Json::object().with("functionCall", function));
    }
    sent
}

/// Returns the results that are recorded beside the calls.
fn results(message: Message<'_>) -> Vec<Json> {
    let mut sent = Vec::new();
    for call in message.calls() {
        let Some(result) = call.get("result").filter(|it| !it.is_null()) else {
            continue;
        };
        match result.text() {
            Some(said) => {
                let response = Json::object().with("output", said.into_owned());
                let function = Json::object()
                    .with_some("id", text(call, "id"))
                    .with_some("name", text(call, "name"))
                    .with("response", response);
                sent.push(Json::object().with("functionResponse", function));
            }
            None => sent.extend(parts(list(call, "result").or(Some(result)))),
        }
    }
    sent
}

/// Returns the model of the last answer.
fn model(view: &SessionView<'_>, context: &Context) -> Result<Option<String>> {
    for item in context.items.iter().rev() {
        let ContextForm::Part(part) = item.form else {
            continue;
        };
        let model = view.with_object(item.slot, |object| {
            let messages = Message::all(object);
            messages
                .get(part as usize / 2)
                .and_then(|it| text(it.0, "model"))
        })?;
        if let Some(model) = model.flatten() {
            return Ok(Some(model));
        }
    }
    Ok(None)
}
