//! What Qwen Code sends when it resumes a session: the newest compression on the branch, and every
//! message after it.

use boswell_model::json::{Json, Object, Raw};
use boswell_model::{
    Context, ContextForm, ContextItem, EntryKind, Message, Result, SessionView, Slot, Tip,
};

use super::record;

/// Returns the context for a tip.
pub(super) fn context(view: &SessionView<'_>, tip: Tip) -> Result<Context> {
    let mut context = Context::stored(tip, None);
    let path = tip.slot().map(|slot| view.tree.path(slot));
    let path = path.unwrap_or_default();
    let is_cut = |slot: &Slot| view.log.kind(*slot) == EntryKind::Compaction;
    let cut = path.iter().rposition(is_cut);
    if let Some(slot) = cut.and_then(|cut| path.get(cut)) {
        let count = view.with_object(*slot, |object| record::contents(object).len())?;
        let count = u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX);
        let part = |at| ContextItem::with_form(*slot, ContextForm::Part(at));
        context.items.extend((0..count).map(part));
    }
    for slot in path.iter().skip(cut.map_or(0, |cut| cut + 1)) {
        add(view, *slot, &mut context)?;
    }
    context.settings.model = model(view, &path)?;
    Ok(context)
}

fn add(view: &SessionView<'_>, slot: Slot, context: &mut Context) -> Result<()> {
    use EntryKind::{Assistant, Meta, ToolResult, User};
    let Some(head) = view.log.head(slot) else {
        return Ok(());
    };
    if !matches!(head.kind, User | Assistant | ToolResult | Meta) {
        return Ok(());
    }
    let is_sent = view.with_object(slot, |object| {
        let is_system = object.get("type").is_some_and(|it| it.is("system"));
        !is_system && !parts(object).is_empty()
    })?;
    if is_sent != Some(true) {
        return Ok(());
    }
    // Records with one id are fragments of one message.
    let id = |slot: Slot| view.log.head(slot).and_then(|head| head.id);
    match context.items.last_mut() {
        Some(last) if head.id.is_some() && id(last.slot) == head.id => last.more.push(slot),
        _ => context.items.push(ContextItem::stored(slot)),
    }
    Ok(())
}

fn parts<'a>(object: &Object<'a>) -> Vec<Raw<'a>> {
    object.get("message").map(message_items).unwrap_or_default()
}

fn message_items(message: Raw<'_>) -> Vec<Raw<'_>> {
    let list = message.get("parts").or_else(|| message.get("content"));
    match list {
        Some(list) if list.text().is_some() => vec![list],
        Some(list) => list.items().collect(),
        None => Vec::new(),
    }
}

/// Renders one message of a context.
pub(super) fn render(item: &ContextItem, records: &[Object<'_>]) -> Message {
    let messages: Vec<Raw<'_>> = match item.form {
        ContextForm::Part(at) => {
            let first = records.first().map(record::contents).unwrap_or_default();
            first.get(at as usize).copied().into_iter().collect()
        }
        _ => records.iter().filter_map(|it| it.get("message")).collect(),
    };
    let role = messages.first().and_then(|it| it.get("role")?.text());
    let parts = messages.iter().flat_map(|it| message_items(*it));
    Message::new(
        role.unwrap_or_default(),
        parts.map(|part| match part.text() {
            Some(text) => Json::object().with("text", text.into_owned()),
            None => Json::from(part),
        }),
    )
}

fn model(view: &SessionView<'_>, path: &[Slot]) -> Result<Option<String>> {
    for slot in path.iter().rev() {
        if view.log.kind(*slot) != EntryKind::Assistant {
            continue;
        }
        let model =
            view.with_object(*slot, |object| crate::members::text(object.raw(), "model"))?;
        if let Some(model) = model.flatten() {
            return Ok(Some(model));
        }
    }
    Ok(None)
}
