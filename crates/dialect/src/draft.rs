//! Drafts: new entries and sessions in common terms, before a dialect encodes them.
//!
//! A [`Draft`] contains no bytes of any format; [`Append::encode`](crate::Append::encode) turns it
//! into a record. The exception is [`Body::Native`], a record that the caller has already written
//! in the dialect's form.

use std::collections::BTreeMap;

use boswell_model::json::Json;
use boswell_model::{
    Advice, EntryId, Error, ErrorKind, Instant, MediaSource, Part, Result, SessionId, Usage,
};

/// An entry that is not written yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Id of the entry; `None` to have one created.
    pub id: Option<EntryId>,
    /// The parent of the entry.
    pub parent: Parent,
    /// Time of the entry; `None` for now.
    pub at: Option<Instant>,
    /// The content of the entry.
    pub body: Body,
    /// Names of the files whose bytes are in the body, in order; for agents that keep them.
    pub file_names: Vec<String>,
}

/// The parent of a new entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Parent {
    /// The current tip of the session.
    #[default]
    Tip,
    /// No parent: the entry becomes a root.
    Root,
    /// The entry with this id.
    Entry(EntryId),
}

/// The content of a new entry.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// A message of the user.
    User(Vec<Part>),
    /// A message of the model: text, reasoning, tool calls.
    Assistant(Box<AssistantMessage>),
    /// The result of a tool call.
    ToolResult {
        /// Id of the tool call.
        call: String,
        /// Name of the tool.
        tool: String,
        /// The parts of the result.
        content: Vec<Part>,
        /// Whether the call failed.
        is_error: bool,
    },
    /// State of an extension, which the model does not see.
    Custom {
        /// Name of the extension.
        kind: String,
        /// The state as JSON.
        data: Option<Json>,
    },
    /// Text of an extension, which the model sees.
    CustomMessage {
        /// Name of the extension.
        kind: String,
        /// The parts of the text.
        content: Vec<Part>,
        /// Whether the agent shows it to the user.
        display: bool,
    },
    /// A change of the model.
    Model {
        /// `provider/model`.
        model: String,
        /// The role that the model is for; `None` for the default.
        role: Option<String>,
    },
    /// A change of the thinking level.
    ThinkingLevel(String),
    /// A change of the agent's mode.
    Mode {
        /// Name of the mode; `none` when the mode ends.
        mode: String,
        /// Data of the mode as JSON.
        data: Option<Json>,
    },
    /// A compaction: a summary replaces everything before the first kept entry.
    Compaction {
        /// Text of the summary.
        summary: String,
        /// Id of the first entry that is still sent.
        first_kept: EntryId,
        /// Number of tokens of the context before the compaction.
        tokens_before: u64,
    },
    /// A summary of the branch that was abandoned.
    BranchSummary {
        /// Id of the entry where the branch was abandoned; `None` for the root.
        from: Option<EntryId>,
        /// Text of the summary.
        summary: String,
    },
    /// Sets or removes the label of an entry.
    Label {
        /// Id of the entry.
        target: EntryId,
        /// The label; `None` removes it.
        label: Option<String>,
    },
    /// A title for the session.
    Title(String),
    /// A record in the dialect's own form: a JSON object. A missing id, parent or time is added.
    Native(Vec<u8>),
}

impl Body {
    /// Returns the parts of a message; empty if the body is not a message.
    pub fn parts(&self) -> &[Part] {
        match self {
            Body::User(content)
            | Body::ToolResult { content, .. }
            | Body::CustomMessage { content, .. } => content,
            Body::Assistant(answer) => &answer.content,
            _ => &[],
        }
    }
}

/// A complete message of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssistantMessage {
    /// The parts of the message.
    pub content: Vec<Part>,
    /// Provider, such as `anthropic`; `None` if unknown.
    pub provider: Option<String>,
    /// Model; `None` if unknown.
    pub model: Option<String>,
    /// Tokens and cost of the message.
    pub usage: Usage,
    /// The stop reason: `stop`, `length`, `toolUse`, `error`, `aborted`. `None` means `toolUse` if
    /// the message contains calls, else `stop`.
    pub stop_reason: Option<String>,
    /// The error message, if the request failed.
    pub error: Option<String>,
}

impl Draft {
    /// Creates a draft with this body as a child of the tip.
    pub fn new(body: Body) -> Self {
        Draft {
            id: None,
            parent: Parent::Tip,
            at: None,
            body,
            file_names: Vec::new(),
        }
    }

    /// Creates a message of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Draft::new(Body::User(vec![Part::Text(text.into())]))
    }

    /// Creates a message of the model with one text part.
    pub fn assistant(text: impl Into<String>) -> Self {
        Draft::answer(AssistantMessage {
            content: vec![Part::Text(text.into())],
            ..AssistantMessage::default()
        })
    }

    /// Creates a complete message of the model.
    pub fn answer(answer: AssistantMessage) -> Self {
        Draft::new(Body::Assistant(Box::new(answer)))
    }

    /// Creates the result of a tool call.
    pub fn tool_result(
        call: impl Into<String>,
        tool: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let content = vec![Part::Text(text.into())];
        Draft::new(Body::ToolResult {
            call: call.into(),
            tool: tool.into(),
            content,
            is_error: false,
        })
    }

    /// Creates state of an extension.
    pub fn custom(kind: impl Into<String>, data: Json) -> Self {
        Draft::new(Body::Custom {
            kind: kind.into(),
            data: Some(data),
        })
    }

    /// Sets the id. Writing a draft with the same id again is idempotent.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<EntryId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the parent.
    #[must_use]
    pub fn below(mut self, parent: Parent) -> Self {
        self.parent = parent;
        self
    }

    /// Sets the time.
    #[must_use]
    pub fn at(mut self, at: Instant) -> Self {
        self.at = Some(at);
        self
    }

    /// Whether the draft is a message of the model; the first one makes a deferred session visible.
    pub fn is_answer(&self) -> bool {
        match &self.body {
            Body::Assistant(_) => true,
            Body::Native(bytes) => boswell_model::json::Raw::trusted(bytes)
                .at(&["message", "role"])
                .is_some_and(|role| role.is("assistant")),
            _ => false,
        }
    }
}

/// The id, parent and time that the writer has chosen for a draft.
#[derive(Debug, Clone, Copy)]
pub struct EntryStamp<'a> {
    /// Id of the entry.
    pub id: &'a str,
    /// Id of the parent; `None` for a root.
    pub parent: Option<&'a str>,
    /// Time of the entry.
    pub at: Instant,
}

/// The session that a draft is encoded for.
#[derive(Debug, Clone, Copy)]
pub struct SessionFacts<'a> {
    /// Id of the session.
    pub id: &'a str,
    /// The metadata from the session's log.
    pub meta: &'a boswell_model::SessionMeta,
}

/// The properties of a new session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewSession {
    /// The project folder that the session runs in.
    pub project: String,
    /// Id of the session; `None` to have one created.
    pub id: Option<SessionId>,
    /// Title of the session.
    pub title: Option<String>,
    /// The session that it is forked from: id or path.
    pub parent: Option<String>,
    /// The program that answers, for dialects that run other agents; `None` for the dialect's
    /// default.
    pub backend: Option<String>,
    /// When the agent sees the session.
    pub visible: Visibility,
    /// How a fork is written.
    pub style: ForkStyle,
    /// Which entries and files a fork copies.
    pub copies: ForkScope,
    /// Folders that some agents abbreviate in the name of a project's folder.
    pub around: Surroundings,
    /// Free pairs of key and value, for boswell's own sessions.
    pub metadata: BTreeMap<String, String>,
}

/// The member of a session's metadata that names the person whom it is about.
pub const SUBJECT: &str = "boswell.subject";
/// The member of a session's metadata that says when it expires, as RFC 3339.
pub const EXPIRES: &str = "boswell.expires";

/// How a fork is written, if an agent has several ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ForkStyle {
    /// As the agent itself writes it.
    #[default]
    Client,
    /// As the agent's SDK writes it: every entry gets a new id.
    Sdk,
}

/// Which entries and files a fork copies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ForkScope {
    /// The branch that ends at the fork point.
    #[default]
    Branch,
    /// Every branch, and the side files.
    Everything,
}

/// Folders of the user and the machine: xcsh names project folders by their paths relative to
/// these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The user's home folder.
    pub home: Option<String>,
    /// The folder for temporary files.
    pub tmp: Option<String>,
}

impl Surroundings {
    /// Takes the folders from an environment; paths that are not Unicode are left out.
    pub fn of(env: &crate::Environment) -> Self {
        let text = |path: &std::path::Path| {
            path.to_str()
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        Surroundings {
            home: env.home.as_deref().and_then(text),
            tmp: text(&env.tmp),
        }
    }
}

/// When the agent sees a new session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Visibility {
    /// Immediately.
    #[default]
    AtOnce,
    /// With the first message of a model, as in the pi family; until then the log has a hidden name
    /// and is equally durable.
    WithFirstAnswer,
}

impl NewSession {
    /// Creates the properties of a session in a project folder.
    pub fn in_project(project: impl Into<String>) -> Self {
        NewSession {
            project: project.into(),
            ..NewSession::default()
        }
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<SessionId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the title.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the person whom the session is about, so that everything about one can be erased.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.metadata.insert(SUBJECT.to_owned(), subject.into());
        self
    }

    /// Sets when the session expires.
    #[must_use]
    pub fn expiring(mut self, at: Instant) -> Self {
        self.metadata.insert(EXPIRES.to_owned(), at.to_rfc3339());
        self
    }
}

/// The log of a new session: its key and first lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLog {
    /// Key of the log.
    pub key: String,
    /// The first bytes of the log: complete lines.
    pub bytes: Vec<u8>,
}

/// Creates the error for an operation that a dialect does not support.
pub fn unsupported(dialect: &str, what: &str, instead: impl Into<Advice>) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("a session of the dialect `{dialect}` cannot {what}"),
    )
    .advising(instead)
}

/// Refuses a body with a part that can be read but not be written.
pub fn refuse_unwritable_parts(dialect: &str, body: &Body) -> Result<()> {
    for part in body.parts() {
        let (what, instead) = match part {
            Part::Text(_)
            | Part::Thinking { .. }
            | Part::Call { .. }
            | Part::Media {
                mime: Some(_),
                source: MediaSource::Inline(_),
            } => continue,
            Part::Media { .. } => (
                "be given a file without its bytes and its type",
                "give the bytes as base64 and a type such as image/png",
            ),
            Part::Result { .. } => (
                "be given the result of a tool as a part of a message",
                "write it as `Body::ToolResult`",
            ),
            _ => (
                "contain a part of a type that is not known",
                "write the whole record as `Body::Native`",
            ),
        };
        return Err(unsupported(dialect, what, instead));
    }
    Ok(())
}

/// Checks that bytes are one JSON object.
pub fn one_object(bytes: &[u8]) -> Result<boswell_model::json::Raw<'_>> {
    match boswell_model::json::Raw::parse(bytes) {
        Ok(raw) if raw.kind() == boswell_model::json::RawKind::Object => Ok(raw),
        Ok(_) => Err(Error::new(
            ErrorKind::Invalid,
            "an entry must be a JSON object",
        )),
        Err(fault) => Err(
            Error::new(ErrorKind::Invalid, "an entry must be a JSON object")
                .because(fault.to_string()),
        ),
    }
}
