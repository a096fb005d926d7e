//! What a caller hands in to be written: intentions in the words of the model,
//! encoded by a dialect.

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Instant, Result, Usage};

/// An entry that is not written yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Its id; none to have one made.
    pub id: Option<String>,
    /// What it hangs below.
    pub parent: Parent,
    /// When it happened; none for now.
    pub at: Option<Instant>,
    /// What it is.
    pub body: Body,
}

/// What a new entry hangs below.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Parent {
    /// Where the conversation stands.
    #[default]
    Tip,
    /// Nothing: it is a root.
    Root,
    /// This entry.
    Entry(String),
}

/// What a new entry is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// Something the user said.
    User(Vec<Part>),
    /// Something the model said, thought or called.
    Assistant(Box<AssistantMessage>),
    /// What a tool answered.
    ToolResult {
        /// Id of the call.
        call: String,
        /// Name of the tool.
        tool: String,
        /// The answer.
        content: Vec<Part>,
        /// Whether the call failed.
        is_error: bool,
    },
    /// State of an extension, not seen by the model.
    Custom {
        /// Whose state it is.
        kind: String,
        /// The state.
        data: Option<Json>,
    },
    /// Text of an extension that the model sees.
    CustomMessage {
        /// Whose text it is.
        kind: String,
        /// The text.
        content: Vec<Part>,
        /// Whether people are shown it.
        display: bool,
    },
    /// From here on this model is used.
    Model {
        /// `provider/model`.
        model: String,
        /// For what; none for the default.
        role: Option<String>,
    },
    /// From here on the model thinks this much.
    ThinkingLevel(String),
    /// From here on the agent is in this mode.
    Mode {
        /// Name of the mode; `none` when it is left.
        mode: String,
        /// What belongs to it.
        data: Option<Json>,
    },
    /// A summary stands for what came before the first kept entry.
    Compaction {
        /// The summary.
        summary: String,
        /// First entry that is still sent.
        first_kept: String,
        /// Tokens before.
        tokens_before: u64,
    },
    /// A summary of the branch that was left.
    BranchSummary {
        /// Where the branch was left; none for the root.
        from: Option<String>,
        /// The summary.
        summary: String,
    },
    /// A name for an entry, or none to take it away.
    Label {
        /// The entry.
        target: String,
        /// The name.
        label: Option<String>,
    },
    /// A name for the session.
    Title(String),
    /// A record in the dialect's own shape: a JSON object. What it lacks of id, parent
    /// and time is filled in.
    Native(Vec<u8>),
}

/// A part of a message, for writing and for reading.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text(String),
    /// Reasoning, with the provider's signature if there is one.
    Thinking {
        /// The reasoning.
        text: String,
        /// Its signature.
        signature: Option<String>,
    },
    /// A call of a tool.
    Call {
        /// Id for the answer.
        id: String,
        /// Name of the tool.
        name: String,
        /// Arguments: a JSON object.
        arguments: Json,
    },
    /// An image.
    Image {
        /// Base64 of its bytes.
        base64: String,
        /// MIME type.
        mime: String,
    },
    /// A part that only its dialect knows, as JSON. It can be read, but not be written: a record
    /// that contains one is written as [`Body::Native`].
    Other(Json),
}

impl Body {
    /// The parts of a message; none for what is not one.
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

/// An answer of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssistantMessage {
    /// Its parts.
    pub content: Vec<Part>,
    /// Provider, such as `anthropic`; none if unknown.
    pub provider: Option<String>,
    /// Model; none if unknown.
    pub model: Option<String>,
    /// What it cost.
    pub usage: Usage,
    /// Why it ended: `stop`, `length`, `toolUse`, `error`, `aborted`; none for `toolUse` when it
    /// calls tools, else `stop`.
    pub stop_reason: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
}

impl Draft {
    /// A draft of that body below the tip.
    pub fn new(body: Body) -> Self {
        Draft {
            id: None,
            parent: Parent::Tip,
            at: None,
            body,
        }
    }

    /// Something the user says.
    pub fn user(text: impl Into<String>) -> Self {
        Draft::new(Body::User(vec![Part::Text(text.into())]))
    }

    /// Something the model says.
    pub fn assistant(text: impl Into<String>) -> Self {
        Draft::answer(AssistantMessage {
            content: vec![Part::Text(text.into())],
            ..AssistantMessage::default()
        })
    }

    /// A whole answer of a model.
    pub fn answer(answer: AssistantMessage) -> Self {
        Draft::new(Body::Assistant(Box::new(answer)))
    }

    /// What a tool answers.
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

    /// State of an extension.
    pub fn custom(kind: impl Into<String>, data: Json) -> Self {
        Draft::new(Body::Custom {
            kind: kind.into(),
            data: Some(data),
        })
    }

    /// Gives it an id of the caller's: writing it twice is then writing it once.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Hangs it below an entry.
    #[must_use]
    pub fn below(mut self, parent: Parent) -> Self {
        self.parent = parent;
        self
    }

    /// Says when it happened.
    #[must_use]
    pub fn at(mut self, at: Instant) -> Self {
        self.at = Some(at);
        self
    }

    /// Whether it is the first answer of a model, which makes a deferred session visible.
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

/// The id, parent and time that a writer settled for a draft.
#[derive(Debug, Clone, Copy)]
pub struct EntryStamp<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its parent; none for a root.
    pub parent: Option<&'a str>,
    /// When.
    pub at: Instant,
}

/// The session that a draft is encoded for.
#[derive(Debug, Clone, Copy)]
pub struct SessionFacts<'a> {
    /// Its id.
    pub id: &'a str,
    /// What its log says of it.
    pub meta: &'a boswell_model::SessionMeta,
}

/// What a new session starts from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewSession {
    /// The folder that it is held in.
    pub project: String,
    /// Its id; none to have one made.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The session that it was forked from: id or path.
    pub parent: Option<String>,
    /// The program that answers, for dialects that drive others; none for the dialect's own choice.
    pub backend: Option<String>,
    /// When it becomes visible.
    pub visible: Visibility,
    /// How a fork is written.
    pub style: ForkStyle,
    /// What a fork takes along.
    pub copies: ForkScope,
    /// Folders that some agents shorten when they name the folder of a project.
    pub around: Surroundings,
}

/// How a fork is written, where an agent has several ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ForkStyle {
    /// As the agent itself does it.
    #[default]
    Client,
    /// As its SDK does it: every entry gets a new id.
    Sdk,
}

/// What a fork takes along.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ForkScope {
    /// The branch that ends where the fork is made.
    #[default]
    Branch,
    /// Every branch, and what lies beside the log.
    Everything,
}

/// Folders of the user and the machine: xcsh names projects by their way from there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The user's home.
    pub home: Option<String>,
    /// The folder for temporary files.
    pub tmp: Option<String>,
}

impl Surroundings {
    /// What an environment says; paths that are not Unicode are left out.
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

/// When a new session becomes visible to its agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Visibility {
    /// At once.
    #[default]
    AtOnce,
    /// With the first answer of a model, as the pi family does it; until then it lies under a
    /// hidden name, just as durable.
    WithFirstAnswer,
}

impl NewSession {
    /// A session held in a folder.
    pub fn in_project(project: impl Into<String>) -> Self {
        NewSession {
            project: project.into(),
            ..NewSession::default()
        }
    }

    /// With an id of the caller's.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// With a title.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

/// The log of a new session: where it goes and its first lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLog {
    /// Key of the log.
    pub key: String,
    /// Its first bytes: whole lines.
    pub bytes: Vec<u8>,
}

/// Where to see what can be done with sessions of each agent.
pub(crate) const SEE_STORES: &str = "see what each store can with `boswell stores`";

/// The error for what a dialect cannot express.
pub fn unsupported(dialect: &str, what: &str, instead: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("a session of the dialect `{dialect}` cannot {what}"),
    )
    .hinting(instead.to_owned())
}

/// Refuses a body with a part that only another dialect may know.
pub fn refuse_unknown_parts(dialect: &str, body: &Body) -> Result<()> {
    if !body
        .parts()
        .iter()
        .any(|part| matches!(part, Part::Other(_)))
    {
        return Ok(());
    }
    Err(unsupported(
        dialect,
        "be given a part of a shape that is not known",
        "write the whole record as `Body::Native`",
    ))
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
