//! The shapes of the eleven operations. A batch is applied only if every one of them fits.

use std::borrow::Cow;

use boswell_model::json::{Raw, RawKind, Str};

use super::fold::Fault;
use super::frame::safe;

/// The members of a message that an update may name, in the order in which versions added them.
const DETAILS: [&str; 15] = [
    "asyncQuestionReply",
    "sdkUuid",
    "runtimeTurnAnchor",
    "attachments",
    "usage",
    "toolCount",
    "durationMs",
    "metadata",
    "turnId",
    "transcriptState",
    "runtimeOperationAnchor",
    "completionState",
    "terminalStatus",
    "desktopQuery",
    "messageKind",
];
/// Characters of a name that a message quotes.
const QUOTED: usize = 60;
const STATUSES: [&str; 5] = ["running", "complete", "stopped", "error", "interrupted"];

/// One operation. Names that are empty where the app takes that for absent are `None`.
#[derive(Debug)]
pub(super) enum Operation<'a> {
    Create {
        id: Cow<'a, str>,
        message: Raw<'a>,
    },
    Update {
        message: Cow<'a, str>,
        details: Raw<'a>,
        clear: Vec<Cow<'a, str>>,
    },
    Confirm {
        message: Cow<'a, str>,
        content: Raw<'a>,
    },
    UpsertBlock {
        message: Cow<'a, str>,
        id: Cow<'a, str>,
        block: Raw<'a>,
    },
    RemoveBlocks {
        message: Cow<'a, str>,
        ids: Vec<Cow<'a, str>>,
    },
    UpdateBlock {
        message: Cow<'a, str>,
        block: Cow<'a, str>,
        on_tool: bool,
        nested: Option<Cow<'a, str>>,
        details: Raw<'a>,
    },
    UpsertCall {
        message: Cow<'a, str>,
        block: Cow<'a, str>,
        id: Cow<'a, str>,
        call: Raw<'a>,
    },
    RemoveCalls {
        message: Cow<'a, str>,
        block: Cow<'a, str>,
        ids: Vec<Cow<'a, str>>,
    },
    Append(Append<'a>),
    RemoveMessages {
        ids: Vec<Cow<'a, str>>,
    },
    Turn {
        id: Cow<'a, str>,
        root: Option<Cow<'a, str>>,
        turn: Raw<'a>,
    },
}

/// Text that is added to a field.
#[derive(Debug)]
pub(super) struct Append<'a> {
    pub(super) message: Cow<'a, str>,
    pub(super) block: Option<Cow<'a, str>>,
    pub(super) nested: Option<Cow<'a, str>>,
    pub(super) field: Field,
    pub(super) offset: u64,
    pub(super) text: Str<'a>,
}

/// The fields that text is added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Text,
    Thinking,
    InputJson,
    Result,
}

impl Field {
    pub(super) fn name(self) -> &'static str {
        match self {
            Field::Text => "text",
            Field::Thinking => "thinking",
            Field::InputJson => "inputJson",
            Field::Result => "result",
        }
    }

    /// Whether the field is one of a call, and not of its block.
    pub(super) fn is_of_call(self) -> bool {
        matches!(self, Field::InputJson | Field::Result)
    }
}

type Checked<T> = Result<T, Fault>;

impl<'a> Operation<'a> {
    /// Checks the shape of an operation.
    pub(super) fn parse(raw: Raw<'a>) -> Checked<Operation<'a>> {
        let kind = text(raw, "kind")?;
        let message = || text(raw, "messageId");
        let block = || text(raw, "blockId");
        Ok(match &*kind {
            "message-create" => message_create(object(raw, "message")?)?,
            "message-update" => message_update(raw)?,
            "content-confirm" => Operation::Confirm {
                message: message()?,
                content: content(raw)?,
            },
            "block-upsert" => {
                let item = object(raw, "block")?;
                text(item, "type")?;
                Operation::UpsertBlock {
                    message: message()?,
                    id: text(item, "id")?,
                    block: item,
                }
            }
            "blocks-remove" => Operation::RemoveBlocks {
                message: message()?,
                ids: texts(raw, "blockIds")?,
            },
            "block-update" => block_update(raw)?,
            "subagent-upsert" => {
                let call = object(raw, "call")?;
                Operation::UpsertCall {
                    message: message()?,
                    block: block()?,
                    id: text(call, "id")?,
                    call,
                }
            }
            "subagents-remove" => Operation::RemoveCalls {
                message: message()?,
                block: block()?,
                ids: texts(raw, "toolIds")?,
            },
            "text-append" => text_append(raw)?,
            "messages-remove" => Operation::RemoveMessages {
                ids: texts(raw, "messageIds")?,
            },
            "turn-update" => turn_update(object(raw, "turn")?)?,
            other => {
                return Err(unknown("an operation of the unknown kind", other).newer());
            }
        })
    }
}

fn message_create(message: Raw<'_>) -> Checked<Operation<'_>> {
    let role = text(message, "role")?;
    if !matches!(&*role, "user" | "assistant") {
        return Err(bad("role"));
    }
    text(message, "timestamp")?;
    content(message)?;
    Ok(Operation::Create {
        id: text(message, "id")?,
        message,
    })
}

fn message_update(raw: Raw<'_>) -> Checked<Operation<'_>> {
    let details = object(raw, "details")?;
    let clear = match raw.get("clear") {
        None => Vec::new(),
        Some(_) => texts(raw, "clear")?,
    };
    let named = details.members().map(|(name, _)| name.to_text());
    for name in named.chain(clear.iter().cloned()) {
        if DETAILS.contains(&&*name) {
            continue;
        }
        let fault = unknown("an update of the member", &name);
        return Err(match &*name {
            "id" | "role" | "content" | "timestamp" => fault,
            _ => fault.newer(),
        });
    }
    Ok(Operation::Update {
        message: text(raw, "messageId")?,
        details,
        clear,
    })
}

fn block_update(raw: Raw<'_>) -> Checked<Operation<'_>> {
    let details = object(raw, "details")?;
    let identity = |name: Str<'_>| ["id", "type", "tool"].iter().any(|key| name.is(key));
    if details.members().any(|(name, _)| identity(name)) {
        return Err(bad("details"));
    }
    let target = text(raw, "target")?;
    let on_tool = &*target == "tool";
    let nested = optional(raw, "subagentToolId")?;
    if !on_tool && (&*target != "block" || nested.is_some()) {
        return Err(bad("target"));
    }
    Ok(Operation::UpdateBlock {
        message: text(raw, "messageId")?,
        block: text(raw, "blockId")?,
        on_tool,
        nested,
        details,
    })
}

fn text_append(raw: Raw<'_>) -> Checked<Operation<'_>> {
    let field = match &*text(raw, "field")? {
        "text" => Field::Text,
        "thinking" => Field::Thinking,
        "inputJson" => Field::InputJson,
        "result" => Field::Result,
        _ => return Err(bad("field")),
    };
    Ok(Operation::Append(Append {
        message: text(raw, "messageId")?,
        block: optional(raw, "blockId")?,
        nested: optional(raw, "subagentToolId")?,
        field,
        offset: safe(raw.get("offset")).ok_or_else(|| bad("offset"))?,
        text: raw
            .get("text")
            .and_then(|it| it.string())
            .ok_or_else(|| bad("text"))?,
    }))
}

fn turn_update(turn: Raw<'_>) -> Checked<Operation<'_>> {
    text(turn, "startedAt")?;
    if !STATUSES.contains(&&*text(turn, "status")?) {
        return Err(bad("status"));
    }
    let root = match turn.get("rootUserMessageId") {
        Some(_) => Some(text(turn, "rootUserMessageId")?),
        None if turn.get("origin").is_some_and(|it| it.is("collaboration")) => None,
        None => return Err(bad("rootUserMessageId")),
    };
    Ok(Operation::Turn {
        id: text(turn, "id")?,
        root,
        turn,
    })
}

/// Returns the content of a message: a string, or blocks with id and type.
fn content(of: Raw<'_>) -> Checked<Raw<'_>> {
    let content = of.get("content").ok_or_else(|| bad("content"))?;
    let named = |item: Raw<'_>, key: &str| item.get(key).is_some_and(|it| it.string().is_some());
    let block =
        |item: Raw<'_>| item.kind() == RawKind::Object && named(item, "id") && named(item, "type");
    match content.kind() {
        RawKind::String => Ok(content),
        RawKind::Array if content.items().all(block) => Ok(content),
        _ => Err(bad("content")),
    }
}

fn object<'a>(of: Raw<'a>, key: &str) -> Checked<Raw<'a>> {
    let value = of.get(key).filter(|it| it.kind() == RawKind::Object);
    value.ok_or_else(|| bad(key))
}

fn text<'a>(of: Raw<'a>, key: &str) -> Checked<Cow<'a, str>> {
    of.get(key).and_then(|it| it.text()).ok_or_else(|| bad(key))
}

fn texts<'a>(of: Raw<'a>, key: &str) -> Checked<Vec<Cow<'a, str>>> {
    let array = of.get(key).filter(|it| it.kind() == RawKind::Array);
    let items = array.ok_or_else(|| bad(key))?.items();
    items.map(|it| it.text().ok_or_else(|| bad(key))).collect()
}

/// Returns a name that may be absent. The app takes an empty one for absent.
fn optional<'a>(of: Raw<'a>, key: &str) -> Checked<Option<Cow<'a, str>>> {
    match of.get(key) {
        None => Ok(None),
        Some(_) => Ok(Some(text(of, key)?).filter(|name| !name.is_empty())),
    }
}

/// Returns a fault that quotes the beginning of a name from the file.
fn unknown(what: &str, name: &str) -> Fault {
    let name: String = name.chars().take(QUOTED).collect();
    Fault::new(format!("{what} `{}`", name.escape_debug()))
}

fn bad(key: &str) -> Fault {
    Fault::new(format!("an operation without a valid `{key}`"))
}
