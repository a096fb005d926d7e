//! The JSON shapes of the command line's contract.

use std::borrow::Cow;

use boswell_model::json::Json;
use boswell_model::{
    Block, EntryKind, Flags, Framing, Instant, MediaSource, SessionRef, Slot, Usage, View,
};
use boswell_store::{Conversation, NewEntry, Session, Store, Summary, drift};

use crate::app::App;
use crate::command::resume;
use crate::expiry::Fates;

/// The `session` shape of a summary.
pub(crate) fn session(
    summary: &Summary,
    store: Option<&Store>,
    linked: &[&Summary],
    resume: Option<Json>,
) -> Json {
    let meta = &summary.meta;
    let known = |count: u64| summary.complete.then_some(count);
    let total = meta.usage.total();
    let usage = if total.is_unknown() || !summary.complete {
        meta.stated.usage
    } else {
        total
    };
    let kinds = meta
        .kinds
        .iter()
        .map(|(word, count)| (word.clone(), Json::from(*count)))
        .collect();
    let has_log = summary.location.key.is_some();
    let has_messages = summary.location.framing != Framing::Document;
    let live = store
        .map(|store| store.was_live(&summary.reference.id))
        .filter(|pids| !pids.is_empty());
    let live = live.map_or(Json::Null, |pids| {
        Json::Array(pids.into_iter().map(Json::from).collect())
    });
    Json::object()
        .with("v", 1)
        .with("type", "session")
        .with("ref", summary.reference.to_string())
        .with("id", meta.id.as_deref().unwrap_or(&summary.reference.id))
        .with(
            "agent",
            meta.agent
                .as_deref()
                .or(store.map(|s| s.dialect().facts().agent)),
        )
        .with("dialect", summary.reference.dialect.as_str())
        .with("store_label", store.and_then(Store::label))
        .with("name", crate::terminal::cut(&summary.name(), 50))
        .with("title", meta.title.as_deref())
        .with("title_source", meta.title_source.as_deref())
        .with("summary", meta.summary.as_deref())
        .with("first_prompt", meta.first_prompt.as_deref())
        .with("project", meta.project.as_deref().filter(|p| !p.is_empty()))
        .with("status", meta.status.as_deref())
        .with("error", meta.error.as_deref())
        .with("tags", meta.tags.clone())
        .with(
            "metadata",
            Json::Object(
                meta.metadata
                    .iter()
                    .map(|(k, v)| (k.clone(), Json::from(v)))
                    .collect(),
            ),
        )
        .with("created", meta.created.map(|t| t.to_rfc3339()))
        .with("last_active", summary.last_active().map(|t| t.to_rfc3339()))
        .with(
            "revision",
            has_log.then(|| summary.location.size.to_string()),
        )
        .with("leaf", summary.leaf.as_deref())
        .with("messages", crate::command::list::messages(summary))
        .with(
            "turns",
            known(meta.turns)
                .filter(|_| has_log && meta.stated.turns.is_none())
                .or(meta.stated.turns),
        )
        .with("entries", known(summary.records).filter(|_| has_log))
        .with(
            "tool_calls",
            known(meta.tool_calls).filter(|_| has_log && has_messages),
        )
        .with("duration_ms", meta.duration_ms.filter(|_| summary.complete))
        .with(
            "kinds",
            if summary.complete {
                Json::Object(kinds)
            } else {
                Json::Null
            },
        )
        .with("tokens", tokens(&usage))
        .with("cost_usd", usage.cost)
        .with("premium_requests", usage.premium_requests)
        .with("models", meta.models.clone())
        .with("git_branch", meta.git_branch.as_deref())
        .with("permission_mode", meta.permission_mode.as_deref())
        .with("agent_version", meta.agent_version.as_deref())
        .with(
            "parent",
            meta.parent.as_deref().or(summary.location.owner.as_deref()),
        )
        .with(
            "external_ids",
            Json::Object(
                meta.external_ids
                    .iter()
                    .map(|(k, v)| (k.clone(), Json::from(v)))
                    .collect(),
            ),
        )
        .with(
            "links",
            linked
                .iter()
                .map(|other| link(summary, other))
                .collect::<Vec<_>>(),
        )
        .with("path", summary.path.as_deref())
        .with("bytes", summary.location.size)
        .with("problems", summary.complete.then_some(summary.gaps))
        .with("live", live)
        .with("pinned", meta.is_pinned())
        .with("kept", Json::Null)
        .with(
            "archived",
            meta.archived || summary.location.hidden == Some("archived"),
        )
        .with("expires", Json::Null)
        .with("subagents", Json::Null)
        .with("attachments", Json::Null)
        .with("hidden", summary.hidden())
        .with("resume", resume.unwrap_or(Json::Null))
}

/// The `session` shape of a conversation, with its other places.
pub(crate) fn conversation(app: &App, conversation: &Conversation, fates: &Fates) -> Json {
    let stores = &app.stores;
    let (store, front) = &conversation.front;
    let linked: Vec<&Summary> = conversation.linked.iter().map(|(_, s)| s).collect();
    let resume = resume::command_for(app, conversation).map(|(command, env)| {
        Json::object()
            .with("argv", command.argv)
            .with("cwd", command.cwd)
            .with("env", resume::env_shape(&env))
    });
    let shape = session(front, stores.get(*store), &linked, resume);
    let kept = stores
        .get(*store)
        .and_then(|it| fates.is_kept(*store, it, &front.location));
    let expires = fates
        .expires(*store, &front.location)
        .map(|time| time.to_rfc3339());
    filled(
        filled(shape, "kept", kept.into()),
        "expires",
        expires.into(),
    )
}

/// Gives a member of an object its value.
fn filled(mut shape: Json, key: &str, value: Json) -> Json {
    if let Json::Object(members) = &mut shape
        && let Some((_, place)) = members.iter_mut().find(|(name, _)| name == key)
    {
        *place = value;
    }
    shape
}

fn link(front: &Summary, other: &Summary) -> Json {
    // Of a long log only the ends are read here; then nothing is said of what was not counted.
    let compared = front.complete && other.complete;
    let drift = compared.then(|| {
        drift(front, other)
            .into_iter()
            .map(|it| Json::from(it.word()))
            .collect::<Vec<_>>()
    });
    Json::object()
        .with("ref", other.reference.to_string())
        .with("path", other.path.as_deref())
        .with("drift", drift)
}

/// The `op` shape of what was done to a session.
pub(crate) fn op(operation: &str, kind: &str, session: &SessionRef) -> Json {
    Json::object()
        .with("v", 1)
        .with("type", "op")
        .with("op", operation)
        .with("kind", kind)
        .with("session", session.to_string())
}

/// Tokens of a usage.
pub(crate) fn tokens(usage: &Usage) -> Json {
    Json::object()
        .with("input", usage.input)
        .with("output", usage.output)
        .with("cache_read", usage.cache_read)
        .with("cache_write", usage.cache_write)
        .with("cache_write_1h", usage.cache_write_1h)
        .with("reasoning", usage.reasoning)
}

/// The parts of a message, in words that all dialects share.
pub(crate) fn content(view: &View) -> Vec<Json> {
    view.blocks.iter().map(block).collect()
}

fn block(block: &Block) -> Json {
    let typed = |word: &str| Json::object().with("type", word);
    match block {
        Block::Text(text) => typed("text").with("text", text),
        Block::Thinking(text) => typed("thinking").with("text", text),
        Block::Call { id, name, input } => {
            let parsed = boswell_model::json::Raw::parse(input.as_bytes()).map(Json::from);
            typed("tool_call")
                .with("call", id)
                .with("name", name)
                .with("input", parsed.unwrap_or_else(|_| Json::from(input)))
        }
        Block::Result {
            call,
            text,
            is_error,
        } => typed("tool_result")
            .with("call", call)
            .with("text", text)
            .with("is_error", *is_error),
        Block::Media { mime, source } => {
            let (bytes, reference) = match source {
                MediaSource::Inline(base64) => (Some(base64.len() / 4 * 3), None),
                MediaSource::Reference(name) => (None, Some(name.as_str())),
            };
            typed("media")
                .with("mime", mime.as_deref())
                .with("bytes", bytes)
                .with("reference", reference)
        }
        Block::Other { word, json } => {
            let parsed = boswell_model::json::Raw::parse(json.as_bytes()).map(Json::from);
            typed("other")
                .with("word", word)
                .with("json", parsed.unwrap_or_else(|_| Json::from(json)))
        }
        _ => typed("other"),
    }
}

/// What the `entry` shape needs to know beside the record itself.
#[derive(Debug)]
pub(crate) struct EntryPlace {
    pub(crate) on_branch: bool,
    pub(crate) leaf: bool,
}

/// The `entry` shape.
pub(crate) fn entry(
    session: &Session,
    slot: Slot,
    bytes: &[u8],
    view: Option<&View>,
    place: &EntryPlace,
    raw: bool,
) -> Json {
    let reference = session.reference();
    let parts = EntryParts::of_slot(session, &reference, slot, bytes, view, place);
    parts.map_or(Json::Null, |parts| parts.shape(raw))
}

/// What is said of an entry, whether it is one of a session that was read or one that a
/// follower handed out.
#[derive(Debug)]
pub(crate) struct EntryParts<'e> {
    pub(crate) session: &'e SessionRef,
    /// How people name it.
    label: Option<Cow<'e, str>>,
    parent: Option<Cow<'e, str>>,
    pub(crate) kind: EntryKind,
    /// The type word that its agent gave it.
    pub(crate) word: &'e str,
    time: Option<Instant>,
    line: Option<u64>,
    hidden: bool,
    on_branch: bool,
    leaf: bool,
    bytes: &'e [u8],
    pub(crate) view: Option<&'e View>,
}

impl<'e> EntryParts<'e> {
    /// An entry of a session that was read; none if there is no such entry.
    pub(crate) fn of_slot(
        session: &'e Session,
        reference: &'e SessionRef,
        slot: Slot,
        bytes: &'e [u8],
        view: Option<&'e View>,
        place: &EntryPlace,
    ) -> Option<EntryParts<'e>> {
        let log = session.log();
        let head = log.head(slot)?;
        Some(EntryParts {
            session: reference,
            label: Some(log.label(slot)),
            parent: session.tree().parent(slot).map(|parent| log.label(parent)),
            kind: head.kind,
            word: log.word(slot),
            time: head.instant(),
            line: Some(u64::from(head.line)),
            hidden: head.flags.has(Flags::HIDDEN),
            on_branch: place.on_branch,
            leaf: place.leaf,
            bytes,
            view,
        })
    }

    /// An entry that was written just now, and so to the branch that is current.
    pub(crate) fn of_new(session: &'e SessionRef, entry: &'e NewEntry) -> EntryParts<'e> {
        EntryParts {
            session,
            label: entry.label.as_deref().map(Cow::Borrowed),
            parent: entry.parent.as_deref().map(Cow::Borrowed),
            kind: entry.kind,
            word: &entry.word,
            time: entry.time,
            line: entry.line,
            hidden: entry.hidden,
            on_branch: true,
            leaf: entry.leaf,
            bytes: &entry.bytes,
            view: Some(&entry.view),
        }
    }

    /// The `entry` shape, with the record itself if that is asked for.
    pub(crate) fn shape(&self, raw: bool) -> Json {
        let view = self.view;
        let text = view.map(View::text).filter(|text| !text.is_empty());
        let shape = Json::object()
            .with("v", 1)
            .with("type", "entry")
            .with("session", self.session.to_string())
            .with("id", self.label.as_deref())
            .with("parent", self.parent.as_deref())
            .with("kind", self.word)
            .with("role", self.kind.role())
            .with("at", self.time.map(|time| time.to_rfc3339()))
            .with("line", self.line)
            .with(
                "text",
                text.or_else(|| view.and_then(|view| view.remark.clone())),
            )
            .with("content", view.map(content).unwrap_or_default())
            .with("model", view.and_then(|view| view.model.as_deref()))
            .with(
                "usage",
                view.and_then(|view| view.usage.as_ref())
                    .map_or(Json::Null, tokens),
            )
            .with("stop_reason", view.and_then(|view| view.stop.as_deref()))
            .with("tool", view.map_or(Json::Null, tool))
            .with("on_branch", self.on_branch)
            .with("leaf", self.leaf)
            .with(
                "hidden",
                self.hidden || view.is_some_and(|view| view.hidden),
            );
        if !raw {
            return shape;
        }
        match std::str::from_utf8(self.bytes) {
            Ok(text) => shape.with("raw", text),
            Err(_) => shape.with(
                "raw_base64",
                crate::command::attachments::base64(self.bytes),
            ),
        }
    }
}

/// The first call or result of an entry.
fn tool(view: &View) -> Json {
    if let Some((id, name, _)) = view.calls().next() {
        return Json::object()
            .with("name", name)
            .with("call", id)
            .with("is_error", Json::Null);
    }
    let result = view.blocks.iter().find_map(|block| match block {
        Block::Result { call, is_error, .. } => Some((call, *is_error)),
        _ => None,
    });
    result.map_or(Json::Null, |(call, is_error)| {
        Json::object()
            .with("name", view.tool.as_deref())
            .with("call", call)
            .with("is_error", is_error)
    })
}
