//! Fills in the head of a line: its kind, id, parent and flags.

use std::borrow::Cow;

use boswell_model::json::{Object, Raw, RawKind};
use boswell_model::{EntryKind, Flags, Head, Instant, Interner, Symbol};

/// The members that decide a head, collected in one pass: this runs for every line of every file.
#[derive(Default)]
struct Fields<'a> {
    word: Option<Raw<'a>>,
    uuid: Option<Raw<'a>>,
    parent: Option<Raw<'a>>,
    logical_parent: Option<Raw<'a>>,
    subtype: Option<Raw<'a>>,
    message: Option<Message<'a>>,
    timestamp: Option<Raw<'a>>,
    sidechain: bool,
    meta: bool,
    summary: bool,
    transcript_only: bool,
    api_error: bool,
}

impl<'a> Fields<'a> {
    fn of(object: &Object<'a>) -> Self {
        let mut fields = Fields::default();
        for (key, value) in object.members() {
            if !fields.take(key.escaped(), value) && !key.is_plain() {
                fields.take(&key.to_wtf8(), value);
            }
        }
        fields
    }

    /// Records a member; returns false if it is none of these.
    fn take(&mut self, key: &[u8], value: Raw<'a>) -> bool {
        match key {
            b"type" => self.word = Some(value),
            b"uuid" => self.uuid = Some(value),
            b"parentUuid" => self.parent = Some(value),
            b"logicalParentUuid" => self.logical_parent = Some(value),
            b"subtype" => self.subtype = Some(value),
            b"message" => self.message = Some(Message::of(value)),
            b"timestamp" => self.timestamp = Some(value),
            b"isSidechain" => self.sidechain = value.bool() == Some(true),
            b"isMeta" => self.meta = value.bool() == Some(true),
            b"isCompactSummary" => self.summary = value.bool() == Some(true),
            b"isVisibleInTranscriptOnly" => self.transcript_only = value.bool() == Some(true),
            b"isApiErrorMessage" => self.api_error = value.bool() == Some(true),
            _ => return false,
        }
        true
    }
}

/// The members of a message that a head needs, collected in one pass: a message is most of its
/// line.
#[derive(Clone, Copy, Default)]
struct Message<'a> {
    id: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
}

impl<'a> Message<'a> {
    fn of(message: Raw<'a>) -> Self {
        let mut found = Message::default();
        for (key, value) in message.members() {
            if key.is("id") {
                found.id = Some(value);
            } else if key.is("content") {
                found.content = Some(value);
            }
        }
        found
    }

    /// Whether the client accepts the content. It skips messages whose content is neither a string
    /// nor a list of blocks, and links their children to their parent.
    fn is_well_formed(self) -> bool {
        self.content.is_some_and(|content| match content.kind() {
            RawKind::String => true,
            RawKind::Array => content.items().all(|block| block.kind() == RawKind::Object),
            _ => false,
        })
    }

    fn holds_result(self) -> bool {
        self.content.is_some_and(|content| {
            content
                .items()
                .any(|item| item.get("type").is_some_and(|t| t.is("tool_result")))
        })
    }
}

/// Fills in the head of a line.
pub(super) fn fill(object: &Object<'_>, head: &mut Head, names: &mut Interner) {
    let fields = Fields::of(object);
    head.word = name_of(fields.word, names);
    let word = match head.word {
        Some(word) => Cow::Borrowed(names.text(word)),
        None => fields.word.and_then(|w| w.text()).unwrap_or_default(),
    };
    let is_of_chain = is_chain_word(&word);
    head.time = fields
        .timestamp
        .and_then(|t| t.text())
        .and_then(|t| Instant::parse(&t))
        .map(Into::into);
    head.kind = kind(&word, &fields);
    head.flags.set_if(fields.sidechain, Flags::SIDECHAIN);
    head.flags.set_if(fields.summary, Flags::SUMMARY);
    // The client's normal view hides the summary of a compaction only because it shows another line
    // instead.
    head.flags.set_if(
        fields.meta || (fields.transcript_only && !fields.summary),
        Flags::HIDDEN,
    );
    head.flags.set_if(fields.api_error, Flags::ERROR);
    head.flags
        .set_if(head.kind == EntryKind::Compaction, Flags::CUT);
    head.flags.set_if(fields.parent.is_some(), Flags::LINKED);
    if head.kind == EntryKind::Assistant {
        group(&fields, head, names);
    }
    let is_message = matches!(
        head.kind,
        EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult
    );
    let is_whole = !is_message || fields.message.is_some_and(Message::is_well_formed);
    head.flags.set_if(!is_whole, Flags::MALFORMED);
    let content = fields.message.and_then(|message| message.content);
    let is_text = content.is_some_and(|content| content.kind() == RawKind::String);
    head.flags.set_if(is_text, Flags::ONE_TEXT);
    if fields.uuid.is_some_and(says_something) {
        head.id = name_of(fields.uuid, names);
        head.flags.set_if(is_of_chain && is_whole, Flags::CHAIN);
    }
    let parent = fields.parent.filter(|p| !p.is_null());
    // A compaction starts a new root on disk; its logical parent is the line before it. In a fork
    // that the client wrote, the compaction has a real parent, and the logical one may come after
    // it.
    let parent = if head.kind == EntryKind::Compaction {
        parent.or(fields.logical_parent)
    } else {
        parent
    };
    head.parent = parent
        .and_then(|p| p.string())
        .and_then(|p| names.intern_token(p));
}

/// Interns a string value that is not empty.
fn name_of(value: Option<Raw<'_>>, names: &mut Interner) -> Option<Symbol> {
    value
        .filter(|value| says_something(*value))
        .and_then(|value| value.string())
        .and_then(|s| names.intern_token(s))
}

/// Whether `value` is a string that is not empty.
fn says_something(value: Raw<'_>) -> bool {
    value
        .string()
        .is_some_and(|text| !text.escaped().is_empty())
}

/// Whether lines of this type link into the chain in every version of the client.
pub(super) fn is_chain_word(word: &str) -> bool {
    matches!(
        word,
        "user" | "assistant" | "attachment" | "system" | "progress"
    )
}

/// Sets the group of a line: its API message. The first line of a group is flagged, because
/// messages are counted there.
fn group(fields: &Fields<'_>, head: &mut Head, names: &mut Interner) {
    let known = names.len();
    head.group = name_of(fields.message.and_then(|m| m.id), names);
    let seen = head.group.is_some() && names.len() == known;
    head.flags.set_if(!seen, Flags::OWN);
}

fn kind(word: &str, fields: &Fields<'_>) -> EntryKind {
    match word {
        "user" if fields.message.is_some_and(Message::holds_result) => EntryKind::ToolResult,
        "user" => EntryKind::User,
        "assistant" => EntryKind::Assistant,
        "system" if fields.subtype.is_some_and(|s| s.is("compact_boundary")) => {
            EntryKind::Compaction
        }
        "system" => EntryKind::System,
        "attachment" => EntryKind::Attachment,
        "progress" => EntryKind::Progress,
        "last-prompt" => EntryKind::Leaf,
        "custom-title" | "ai-title" | "agent-name" | "summary" => EntryKind::Title,
        "tag" => EntryKind::Tag,
        "file-history-snapshot" | "file-history-delta" => EntryKind::FileSnapshot,
        "mode" | "permission-mode" | "agent-setting" | "agent-color" => EntryKind::Setting,
        _ if is_known_meta(word) => EntryKind::Meta,
        _ => EntryKind::Unknown,
    }
}

/// Whether `word` is the type of a bookkeeping line that the client is known to write.
pub(super) fn is_known_meta(word: &str) -> bool {
    matches!(
        word,
        "queue-operation"
            | "cost-state"
            | "tools-used"
            | "atis-latch"
            | "api-request-shape"
            | "api-request-blob"
            | "api-request"
            | "worktree-state"
            | "pr-link"
            | "relocated"
            | "bridge-session"
            | "frame-link"
            | "content-replacement"
            | "agent_metadata"
            | "started"
            | "result"
    )
}

#[cfg(test)]
mod tests {
    use boswell_model::{Log, Slot};

    use super::super::fixture::read;
    use super::*;

    fn one(line: &str) -> Log {
        read(&format!("{line}\n")).log
    }

    #[test]
    fn kinds_follow_the_type_word_and_what_the_message_holds() {
        for (line, kind) in [
            (
                r#"{"type":"user","message":{"content":"x"}}"#,
                EntryKind::User,
            ),
            (
                r#"{"type":"user","message":{"content":[{"type":"tool_result"}]}}"#,
                EntryKind::ToolResult,
            ),
            (r#"{"type":"user","message":"error"}"#, EntryKind::User),
            (r#"{"type":"assistant","message":{}}"#, EntryKind::Assistant),
            (
                r#"{"type":"system","subtype":"turn_duration"}"#,
                EntryKind::System,
            ),
            (
                r#"{"type":"system","subtype":"compact_boundary"}"#,
                EntryKind::Compaction,
            ),
            (r#"{"type":"attachment"}"#, EntryKind::Attachment),
            (r#"{"type":"last-prompt"}"#, EntryKind::Leaf),
            (r#"{"type":"ai-title"}"#, EntryKind::Title),
            (r#"{"type":"tag"}"#, EntryKind::Tag),
            (r#"{"type":"file-history-delta"}"#, EntryKind::FileSnapshot),
            (r#"{"type":"permission-mode"}"#, EntryKind::Setting),
            (r#"{"type":"queue-operation"}"#, EntryKind::Meta),
            (r#"{"type":"brand-new"}"#, EntryKind::Unknown),
            (r#"{"silly":"this"}"#, EntryKind::Unknown),
        ] {
            assert_eq!(one(line).kind(Slot(0)), kind, "{line}");
        }
    }

    #[test]
    fn flags_and_links_are_taken_from_the_envelope() {
        let log = one(
            r#"{"parentUuid":"p","isSidechain":true,"type":"user","uuid":"u","isMeta":true,"timestamp":"2026-01-01T00:00:00.000Z","message":{"content":"x"}}"#,
        );
        let head = log.head(Slot(0)).unwrap();
        for flag in [Flags::CHAIN, Flags::LINKED, Flags::SIDECHAIN, Flags::HIDDEN] {
            assert!(head.flags.has(flag));
        }
        assert_eq!(log.names.text(head.id.unwrap()), "u");
        assert_eq!(log.names.text(head.parent.unwrap()), "p");
        assert!(head.time.is_some());
    }

    #[test]
    fn a_compaction_hangs_below_its_logical_parent_and_cuts() {
        let log = one(
            r#"{"parentUuid":null,"logicalParentUuid":"p","type":"system","subtype":"compact_boundary","uuid":"b"}"#,
        );
        let head = log.head(Slot(0)).unwrap();
        assert!(head.flags.has(Flags::CUT));
        assert_eq!(head.parent.map(|p| log.names.text(p)), Some("p"));
    }

    #[test]
    fn only_the_first_line_of_an_api_message_is_marked() {
        let line = |uuid: &str| {
            format!(
                r#"{{"type":"assistant","uuid":"{uuid}","parentUuid":null,"message":{{"id":"m1"}}}}"#
            ) + "\n"
        };
        let log = read(&(line("m1") + &line("b"))).log;
        let own: Vec<_> = log.heads.iter().map(|h| h.flags.has(Flags::OWN)).collect();
        assert_eq!(own, [true, false]);
        assert_eq!(log.heads[0].group, log.heads[1].group);
    }
}
