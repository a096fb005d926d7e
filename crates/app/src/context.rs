//! The context of a session: the messages that would be sent to the model.
//!
//! `--sent` gives them as a provider is sent them (`provider_messages.rs` of the dialect), with
//! merged entries as `joined`. Tokens are only estimated (`tokens_estimate`).

use boswell_dialect::ProviderMessage;
use boswell_model::json::Json;
use boswell_model::{Context, EntryId, Message, Result};
use boswell_store::Session;

use crate::gaps::{is_longest_by_parents, other_branches, require_conversation, warn_about_gaps};
use crate::sessions::linked_transcript;
use crate::shape::{Map, Maybe, Shape as _, shape};
use crate::{App, AppResult, RequestContext};

shape! {
    /// The settings of a context; settings that only one agent has follow as further members.
    ContextShape: "context" {
        /// the session
        session: String,
        /// the entry that it ends with
        leaf: Option<String>,
        /// opaque string that changes with the log
        revision: String,
        /// the model; `provider/model` if the agent has providers
        model: Option<String>,
        /// models by role
        models: Map<String>,
        /// thinking level of the model
        thinking_level: Option<String>,
        /// mode of the agent, such as `plan`
        mode: Option<String>,
        /// data of the mode
        mode_data: Option<Json>,
        /// rules that were added during the session, each once
        rules: Vec<String>,
        /// permission mode of the agent
        permission_mode: Option<String>,
        /// always `null`
        memory: Option<Json>,
        /// how many messages there are
        messages: usize,
        /// estimated number of tokens
        tokens_estimate: u64,
    }

    /// A message that a model would be sent.
    MessageShape: "message" {
        /// role, as the agent calls it
        role: String,
        /// its parts, as the agent writes them
        content: Vec<Json>,
        /// the entry that it comes from; `null` for a placeholder
        entry: Option<String>,
        /// with `--sent`: other entries that were merged into it
        joined: Maybe<Vec<String>>,
        /// the message as the agent stores it, if it has more members
        native: Maybe<Json>,
    }
}

/// A request for the context of a session.
#[derive(Debug, Clone, Default)]
pub struct ContextRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// The entry at which the context is computed; `None` for the current tip.
    pub leaf: Option<String>,
    /// Convert the messages for a provider: roles that it knows, and every call followed by its
    /// result.
    pub sent: bool,
}

/// The parts of a context, in the order in which the sink receives them.
#[derive(Debug)]
pub enum ContextPart {
    /// The settings, once, as the first part.
    Settings(Box<ContextSettings>),
    /// One message.
    Message(MessageShape),
}

/// The settings of a context.
#[derive(Debug)]
pub struct ContextSettings {
    /// The settings that all agents have.
    pub shape: ContextShape,
    /// The settings that only one agent has.
    pub other: Vec<(String, Json)>,
}

impl ContextSettings {
    /// Returns the JSON object, with the settings that only one agent has at its end.
    pub fn object(self) -> Json {
        let other = self.other.into_iter();
        other.fold(self.shape.object(), |object, (name, value)| {
            object.with(&name, value)
        })
    }
}

/// Receives a context part by part; returns false to stop.
pub type ContextSink<'s> = &'s mut dyn FnMut(ContextPart) -> Result<bool>;

impl App {
    /// Passes the settings of a session and the messages that would be sent to the model to `sink`.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or entry, Unsupported if its format has no messages;
    /// and every error of the sink.
    pub fn context(&self, request: &ContextRequest, sink: ContextSink<'_>) -> AppResult<()> {
        self.answer(|cx| context(cx, request, sink))
    }
}

fn context(cx: &RequestContext, request: &ContextRequest, sink: ContextSink<'_>) -> Result<()> {
    let found = linked_transcript::followed(cx, cx.resolve(&request.session)?)?;
    let leaf = request.leaf.as_deref().map(EntryId::from);
    let (session, tip) = found
        .store
        .read_for_context(&found.location, leaf.as_ref())?;
    require_conversation(&session)?;
    let context = session.context(tip)?;
    let settings = Box::new(settings(&session, &context));
    if sink(ContextPart::Settings(settings))? {
        if request.sent {
            sent(&session, &context, sink)?;
        } else {
            kept(&session, &context, sink)?;
        }
    }
    // The branch itself can take a second look at every line of the log.
    if request.leaf.is_none()
        && !is_longest_by_parents(&session, tip)
        && let Some(remark) = other_branches(&session, &session.branch(tip)?)
    {
        cx.remark(remark);
    }
    warn_about_gaps(cx, &session);
    Ok(())
}

/// Passes on the messages as the session contains them.
fn kept(session: &Session, context: &Context, sink: ContextSink<'_>) -> Result<()> {
    for item in &context.items {
        let entry = session.log().label(item.slot).into_owned();
        let rendered = session.render(item)?.message;
        if !sink(message(rendered, Some(entry), Vec::new()))? {
            break;
        }
    }
    Ok(())
}

/// Passes on the messages as they are sent to a provider.
fn sent(session: &Session, context: &Context, sink: ContextSink<'_>) -> Result<()> {
    let items = context.items.iter();
    let messages = items
        .map(|item| Ok(session.render(item)?.message))
        .collect::<Result<Vec<_>>>()?;
    let label = |at: usize| {
        let item = context.items.get(at)?;
        Some(session.log().label(item.slot).into_owned())
    };
    let refine = session.dialect().powers().refine;
    for ProviderMessage {
        from,
        joined,
        message: rendered,
    } in refine.provider_messages(messages)
    {
        let joined = joined.into_iter().filter_map(label).collect();
        if !sink(message(rendered, from.and_then(label), joined))? {
            break;
        }
    }
    Ok(())
}

fn message(message: Message, entry: Option<String>, joined: Vec<String>) -> ContextPart {
    ContextPart::Message(MessageShape {
        role: message.role,
        content: message.content,
        entry,
        joined: Some(joined).filter(|joined| !joined.is_empty()).into(),
        native: message.native.into(),
    })
}

fn settings(session: &Session, context: &Context) -> ContextSettings {
    let settings = &context.settings;
    let raw = |json: &String| Json::Raw(json.clone().into_bytes());
    let view = session.view();
    let leaf = session.dialect().leaf(&view, context.tip);
    let shape = ContextShape {
        session: session.reference().to_string(),
        leaf: leaf.map(|slot| session.log().label(slot).into_owned()),
        revision: session.revision().to_string(),
        model: settings.model.clone(),
        models: settings.models.iter().cloned().collect(),
        thinking_level: settings.thinking_level.clone(),
        mode: settings.mode.clone(),
        mode_data: settings.mode_data.as_ref().map(raw),
        rules: settings.rules.clone(),
        permission_mode: settings.permission_mode.clone(),
        memory: None,
        messages: context.items.len(),
        tokens_estimate: estimate(session, context),
    };
    let other = settings.other.iter();
    ContextSettings {
        shape,
        other: other
            .map(|(name, json)| (name.clone(), raw(json)))
            .collect(),
    }
}

/// Estimates four bytes per token, like the agents themselves; computed from lengths, so that
/// nothing is read for it.
fn estimate(session: &Session, context: &Context) -> u64 {
    let slots = context.items.iter().flat_map(|item| item.slots());
    let heads = slots.filter_map(|slot| session.log().head(slot));
    heads.map(|head| head.len).sum::<u64>() / 4
}
