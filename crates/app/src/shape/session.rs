//! The JSON shape of a session in lists.

use boswell_model::{Framing, Instant, Usage};
use boswell_store::Store;
use boswell_store::links::{Conversation, drift};
use boswell_store::store::Summary;

use super::{Map, Maybe, shape};
use crate::sessions::expiry::Expiries;
use crate::sessions::list::messages;
use crate::{RequestContext, resume};

shape! {
    /// A session. `list` reads only the beginning and the end of a long log; then the counts are
    /// `null`.
    SessionShape: "session" {
        /// reference for other commands: DIALECT:ID
        reference as "ref": String,
        /// the agent's id of the session
        id: String,
        /// the agent that wrote it
        agent: Option<String>,
        /// the format of its store
        dialect: String,
        /// label of its store in the settings
        store_label: Option<String>,
        /// title, else summary, else first prompt, cut to 50 columns, else the short id
        name: String,
        /// title, if it has one
        title: Option<String>,
        /// who set the title
        title_source: Option<String>,
        /// summary, if there is one
        summary: Option<String>,
        /// text of the first prompt
        first_prompt: Option<String>,
        /// project folder
        project: Option<String>,
        /// status, such as `active`, `paused`, `completed` or `error`
        status: Option<String>,
        /// error message, if it failed
        error: Option<String>,
        /// tags from the log and from notes
        tags: Vec<String>,
        /// metadata of the agent
        metadata: Map<String>,
        /// when it was created
        created: Option<Instant>,
        /// time of the last entry
        last_active: Option<Instant>,
        /// opaque string that changes with the log
        revision: Option<String>,
        /// id of the current leaf
        leaf: Option<String>,
        /// messages of user and model, on all branches
        messages: Option<u64>,
        /// prompts of the user
        turns: Option<u64>,
        /// number of entries, as in `show --records`
        entries: Option<u64>,
        /// tool calls
        tool_calls: Option<u64>,
        /// time that the agent worked on it
        duration_ms: Option<u64>,
        /// records by kind
        kinds: Option<Map<u64>>,
        /// tokens of all messages
        tokens: TokensShape,
        /// cost that the agent recorded
        cost_usd: Option<f64>,
        /// premium requests of a subscription; may be a fraction
        premium_requests: Option<f64>,
        /// models that were used
        models: Vec<String>,
        /// git branch of the project
        git_branch: Option<String>,
        /// last permission mode
        permission_mode: Option<String>,
        /// version of the agent that last wrote it
        agent_version: Option<String>,
        /// the session that it was forked from, or that started it
        parent: Option<String>,
        /// refs of sessions of other agents that `convert` made from it
        converted_to: Vec<String>,
        /// ids in other systems
        external_ids: Map<String>,
        /// the same conversation in other stores
        links: Vec<LinkShape>,
        /// path of the log
        path: Option<String>,
        /// size of its log
        bytes: u64,
        /// how many parts of the log are not valid records
        problems: Option<u64>,
        /// ids of agent processes that have it open, as far as the agent records them
        live: Option<Vec<u32>>,
        /// whether it is pinned
        pinned: bool,
        /// whether the vault has an up-to-date copy from `keep`
        kept: Option<bool>,
        /// whether it is archived
        archived: bool,
        /// when its agent will delete it, if it is not used
        expires: Option<Instant>,
        /// always `null` in a list
        subagents: Option<u64>,
        /// always `null` in a list
        attachments: Option<u64>,
        /// why `list` hides it
        hidden: Option<&'static str>,
        /// the repaired fork that replaces it, if that is on the same page
        superseded_by: Maybe<String>,
        /// the command that resumes it
        resume: Option<ResumeShape>,
        /// from `import`: side files that were imported
        brought: Maybe<Vec<ImportedFile>>,
        /// from `import`: side files that were not imported
        left: Maybe<Vec<LeftFile>>,
    }

    /// A side file that was imported with its session.
    ImportedFile {
        /// kind of content
        kind: &'static str,
        /// original path
        path: String,
    }

    /// A side file that was not imported with its session.
    LeftFile {
        /// kind of content
        kind: &'static str,
        /// path
        path: String,
        /// the reason
        why: String,
    }

    /// Tokens of a message or of several.
    TokensShape {
        /// input tokens
        input: Option<u64>,
        /// output tokens
        output: Option<u64>,
        /// tokens read from the cache
        cache_read: Option<u64>,
        /// tokens written to the cache, in all
        cache_write: Option<u64>,
        /// of these, tokens cached for one hour, if known
        cache_write_1h: Option<u64>,
        /// tokens of reasoning
        reasoning: Option<u64>,
    }

    /// The same conversation in another store.
    LinkShape {
        /// ref of the session there
        reference as "ref": String,
        /// path of the log
        path: Option<String>,
        /// in what the two differ: `turns`, `last_active`, `tokens`; `null` if not compared
        drift: Option<Vec<&'static str>>,
    }

    /// The command that resumes a session.
    ResumeShape {
        /// the command
        argv: Vec<String>,
        /// working folder of the command
        cwd: Option<String>,
        /// environment variables to set; `null` for one to unset
        env: Map<Option<String>>,
    }
}

impl From<&Usage> for TokensShape {
    fn from(usage: &Usage) -> TokensShape {
        TokensShape {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cache_write_1h: usage.cache_write_1h,
            reasoning: usage.reasoning,
        }
    }
}

impl From<resume::Starting> for ResumeShape {
    fn from((command, env): resume::Starting) -> ResumeShape {
        let text = |path: std::path::PathBuf| path.display().to_string();
        ResumeShape {
            argv: command.argv,
            cwd: command.cwd,
            env: env
                .into_iter()
                .map(|(name, path)| (name.to_owned(), path.map(text)))
                .collect(),
        }
    }
}

/// Returns the shape of a session from its summary alone.
pub fn session(summary: &Summary, store: Option<&Store>) -> SessionShape {
    let meta = &summary.meta;
    let usage = usage_of(summary);
    let has_log = summary.location.key.is_some();
    let is_counted = summary.complete && has_log;
    let has_messages = summary.location.framing != Framing::Document;
    let counted_turns = is_counted.then_some(meta.turns);
    let live = store.map(|store| store.was_live(&summary.reference.id));
    let agent = meta.agent.as_deref();
    SessionShape {
        reference: summary.reference.to_string(),
        id: meta.id.as_ref().unwrap_or(&summary.reference.id).clone(),
        agent: agent
            .or(store.map(|store| store.dialect().facts().agent))
            .map(str::to_owned),
        dialect: summary.reference.dialect.clone(),
        store_label: store.and_then(Store::label).map(str::to_owned),
        name: crate::text::cut(&summary.name(), 50),
        title: meta.title.clone(),
        title_source: meta.title_source.clone(),
        summary: meta.summary.clone(),
        first_prompt: meta.first_prompt.clone(),
        project: meta.project.clone().filter(|project| !project.is_empty()),
        status: meta.status.clone(),
        error: meta.error.clone(),
        tags: meta.tags.clone(),
        metadata: meta.metadata.clone().into_iter().collect(),
        created: meta.created,
        last_active: summary.last_active(),
        revision: has_log.then(|| summary.location.revision().to_string()),
        leaf: summary.leaf.clone(),
        messages: messages(summary),
        turns: meta.stated.turns.or(counted_turns),
        entries: is_counted.then_some(summary.records),
        tool_calls: (is_counted && has_messages).then_some(meta.tool_calls),
        duration_ms: meta.duration_ms.filter(|_| summary.complete),
        kinds: summary
            .complete
            .then(|| meta.kinds.clone().into_iter().collect()),
        tokens: TokensShape::from(&usage),
        cost_usd: usage.cost,
        premium_requests: usage.premium_requests,
        models: meta.models.clone(),
        git_branch: meta.git_branch.clone(),
        permission_mode: meta.permission_mode.clone(),
        agent_version: meta.agent_version.clone(),
        parent: meta
            .parent
            .clone()
            .or_else(|| summary.location.owner.clone()),
        converted_to: meta.converted_to.clone(),
        external_ids: meta.external_ids.clone().into_iter().collect(),
        links: Vec::new(),
        path: summary.path.clone(),
        bytes: summary.location.size,
        problems: summary.complete.then_some(summary.gaps),
        live: live.filter(|pids| !pids.is_empty()),
        pinned: meta.is_pinned(),
        kept: None,
        archived: meta.archived || summary.location.hidden == Some("archived"),
        expires: None,
        subagents: None,
        attachments: None,
        superseded_by: Maybe::Absent,
        hidden: summary.hidden(),
        resume: None,
        brought: Maybe::Absent,
        left: Maybe::Absent,
    }
}

/// Returns the counted usage, else what the agent states.
pub(crate) fn usage_of(summary: &Summary) -> Usage {
    let total = summary.meta.usage.total();
    if total.is_unknown() || !summary.complete {
        summary.meta.stated.usage
    } else {
        total
    }
}

/// Returns the shape of a conversation, with its other sides, its resume command and its expiry.
pub(crate) fn conversation(
    cx: &RequestContext,
    conversation: &Conversation,
    expiries: &Expiries,
) -> SessionShape {
    let (id, front) = &conversation.front;
    let store = cx.stores.get(*id);
    let links = conversation.linked.iter();
    SessionShape {
        links: links.map(|(_, other)| link(front, other)).collect(),
        resume: resume::command_for(cx, conversation).map(ResumeShape::from),
        kept: store.and_then(|store| expiries.is_kept(*id, store, &front.location)),
        expires: expiries.expires(*id, &front.location),
        ..session(front, store)
    }
}

fn link(front: &Summary, other: &Summary) -> LinkShape {
    // Only the ends of a long log are read here; then the sides are not compared.
    let compared = front.complete && other.complete;
    let words = || drift(front, other).into_iter().map(|it| it.word());
    LinkShape {
        reference: other.reference.to_string(),
        path: other.path.clone(),
        drift: compared.then(|| words().collect()),
    }
}
