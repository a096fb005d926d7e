//! Fills in the head of a record: its kind, id, parent and flags.

use boswell_model::json::{Object, Raw, RawKind};
use boswell_model::{EntryKind, Flags, Head, Instant, Interner, Symbol};

use super::js_values::{pick, truthy};
use super::settings_snapshot;

/// On an entry: it becomes a message for the model, unless a compaction removes it.
pub(super) const SPEAKS: Flags = Flags::OWN;
/// On a header: the file is of version 1, whose entries have no ids and follow one another.
pub(super) const FIRST_VERSION: Flags = Flags::OWN;

/// Fills in the head of a record.
pub(super) fn head(object: &Object<'_>, head: &mut Head, names: &mut Interner) {
    let word = object.text("type");
    let word = word.as_deref().unwrap_or("");
    head.word = names.intern(word);
    head.kind = kind_of(word, object, &mut head.flags);
    head.time = object
        .text("timestamp")
        .and_then(|t| Instant::parse(&t))
        .map(Into::into);
    // Header and title slot are not entries. Their ids must not be found as parents: files of other
    // tools name the session's id as the parent of the first entry, which for pi is a parent that
    // does not exist.
    if head.kind == EntryKind::Header || is_slot(word) {
        return;
    }
    head.flags.set(Flags::CHAIN);
    head.id = object.get("id").and_then(|id| name_of(id, names));
    if let Some(parent) = object.get("parentId") {
        head.flags.set(Flags::LINKED);
        head.parent = name_of(parent, names);
    }
}

/// Interns an id. A number counts by its digits; an empty string is no id, because it is falsy for
/// pi.
fn name_of(id: Raw<'_>, names: &mut Interner) -> Option<Symbol> {
    match id.kind() {
        RawKind::String => id
            .text()
            .filter(|t| !t.is_empty())
            .and_then(|t| names.intern(&t)),
        RawKind::Number => std::str::from_utf8(id.bytes())
            .ok()
            .and_then(|t| names.intern(t)),
        _ => None,
    }
}

/// Whether `word` is the type of the title slot: the fixed line before the header that oh-my-pi
/// overwrites in place when a session is renamed.
pub(super) fn is_slot(word: &str) -> bool {
    word == "title"
}

fn kind_of(word: &str, object: &Object<'_>, flags: &mut Flags) -> EntryKind {
    match word {
        "session" => {
            flags.set_if(version_of(object).is_some_and(|v| v < 2.0), FIRST_VERSION);
            EntryKind::Header
        }
        "message" => match object
            .get("message")
            .filter(|m| m.kind() == RawKind::Object)
        {
            Some(message) => {
                flags.set(SPEAKS);
                message_kind(message, flags)
            }
            None => EntryKind::Unknown,
        },
        "custom_message" => {
            flags.set(SPEAKS);
            flags.set_if(
                object.get("display").and_then(|d| d.bool()) == Some(false),
                Flags::HIDDEN,
            );
            EntryKind::CustomMessage
        }
        "branch_summary" => {
            flags.set(Flags::SUMMARY);
            flags.set_if(truthy(object.get("summary")), SPEAKS);
            EntryKind::BranchSummary
        }
        "compaction" => {
            flags.set(Flags::CUT);
            flags.set(Flags::SUMMARY);
            EntryKind::Compaction
        }
        "thinking_level_change"
        | "model_change"
        | "context_change"
        | "service_tier_change"
        | "mode_change"
        | "mcp_tool_selection"
        | "ttsr_injection" => EntryKind::Setting,
        "custom"
            if object
                .get("customType")
                .is_some_and(|kind| kind.is(settings_snapshot::WORD)) =>
        {
            EntryKind::Setting
        }
        "custom" => EntryKind::Custom,
        "label" => EntryKind::Label,
        "title" | "session_info" | "title_change" => EntryKind::Title,
        "tool_execution_started" | "tool_execution_settled" => EntryKind::Progress,
        "reset_boundary" => {
            flags.set(Flags::CUT);
            EntryKind::Meta
        }
        "session_init" | "model_usage" | "archive" | "credential_pin" => EntryKind::Meta,
        _ => EntryKind::Unknown,
    }
}

fn message_kind(message: Raw<'_>, flags: &mut Flags) -> EntryKind {
    let [role, stop, display] = pick(message, ["role", "stopReason", "display"]);
    let role = role.and_then(|r| r.text());
    match role.as_deref().unwrap_or("") {
        "user" => EntryKind::User,
        "assistant" => {
            flags.set_if(stop.is_some_and(|r| r.is("error")), Flags::ERROR);
            EntryKind::Assistant
        }
        "toolResult" => EntryKind::ToolResult,
        "bashExecution" | "pythonExecution" => EntryKind::Shell,
        "custom" | "hookMessage" => {
            flags.set_if(display.and_then(|d| d.bool()) == Some(false), Flags::HIDDEN);
            EntryKind::CustomMessage
        }
        "fileMention" => EntryKind::Attachment,
        "branchSummary" => EntryKind::BranchSummary,
        // Not flagged as a compaction: pi creates this message from a `compaction` entry and never
        // stores it, so a stored one is only text.
        "compactionSummary" | "developer" | "system" => EntryKind::System,
        _ => EntryKind::Unknown,
    }
}

/// Returns the version as JavaScript would compare it: 1 if it is missing or `null`; `None` if it
/// is not a number, which compares as neither old nor new.
pub(super) fn version_of(header: &Object<'_>) -> Option<f64> {
    match header.get("version") {
        None => Some(1.0),
        Some(version) => match version.kind() {
            RawKind::Null => Some(1.0),
            RawKind::Number => version.f64(),
            RawKind::String => version.text().and_then(|t| t.trim().parse().ok()),
            _ => None,
        },
    }
}

/// Whether an object that follows garbage on its line is an entry. Parts of messages have a `type`
/// too, but no ISO time.
pub(super) fn is_record(object: &Object<'_>) -> bool {
    let word = object.text("type");
    let known = |word: &str| kind_of(word, object, &mut Flags::default()) != EntryKind::Unknown;
    object
        .get("timestamp")
        .is_some_and(|t| t.kind() == RawKind::String)
        && word.is_some_and(|word| object.get("parentId").is_some() || known(&word))
}

#[cfg(test)]
mod tests {
    use boswell_model::EntryKind::*;

    use super::super::fixture::read;
    use super::super::{Pi, fixture};
    use super::*;

    #[test]
    fn every_entry_type_of_the_family_has_a_kind() {
        let kinds = [
            ("session", Header),
            ("title", Title),
            ("thinking_level_change", Setting),
            ("model_change", Setting),
            ("context_change", Setting),
            ("service_tier_change", Setting),
            ("mode_change", Setting),
            ("mcp_tool_selection", Setting),
            ("ttsr_injection", Setting),
            ("compaction", Compaction),
            ("branch_summary", BranchSummary),
            ("custom", Custom),
            ("custom_message", CustomMessage),
            ("label", Label),
            ("session_info", Title),
            ("title_change", Title),
            ("session_init", Meta),
            ("model_usage", Meta),
            ("archive", Meta),
            ("reset_boundary", Meta),
            ("credential_pin", Meta),
            ("tool_execution_started", Progress),
            ("tool_execution_settled", Progress),
            ("turn_ctx_v9", Unknown),
        ];
        for (word, kind) in kinds {
            let read = read(
                Pi::PI,
                &format!(r#"{{"type":"{word}","id":"1","parentId":null,"x":1}}"#),
            );
            assert_eq!(read.log.heads[0].kind, kind, "{word}");
            assert_eq!(read.log.word(boswell_model::Slot(0)), word);
        }
    }

    #[test]
    fn every_role_has_a_kind() {
        let roles = [
            ("user", User),
            ("assistant", Assistant),
            ("toolResult", ToolResult),
            ("bashExecution", Shell),
            ("pythonExecution", Shell),
            ("custom", CustomMessage),
            ("hookMessage", CustomMessage),
            ("fileMention", Attachment),
            ("developer", System),
            ("branchSummary", BranchSummary),
            ("compactionSummary", System),
            ("oracle", Unknown),
        ];
        for (role, kind) in roles {
            let read = read(
                Pi::PI,
                &format!(r#"{{"type":"message","id":"1","message":{{"role":"{role}"}}}}"#),
            );
            assert_eq!(read.log.heads[0].kind, kind, "{role}");
            assert!(read.log.heads[0].flags.has(SPEAKS));
        }
        let none = read(Pi::PI, r#"{"type":"message","id":"1"}"#);
        assert_eq!(
            (none.log.heads[0].kind, none.log.heads[0].flags.has(SPEAKS)),
            (Unknown, false)
        );
    }

    #[test]
    fn a_parent_that_names_the_session_is_no_entry() {
        let read = read(
            Pi::PI,
            concat!(
                r#"{"type":"session","version":3,"id":"S","timestamp":"2026-01-01T00:00:00Z","cwd":"/p"}"#,
                "\n",
                r#"{"type":"message","id":"a","parentId":"S","message":{"role":"user","content":"x"}}"#,
            ),
        );
        assert_eq!(read.tree.parent(boswell_model::Slot(1)), None);
        assert_eq!(read.log.heads[0].id, None);
    }

    #[test]
    fn versions_compare_as_in_javascript() {
        for (json, version) in [
            ("{}", Some(1.0)),
            (r#"{"version":null}"#, Some(1.0)),
            (r#"{"version":3}"#, Some(3.0)),
            (r#"{"version":"2"}"#, Some(2.0)),
            (r#"{"version":"0.1.0"}"#, None),
            (r#"{"version":{}}"#, None),
        ] {
            assert_eq!(fixture::with_object(json, version_of), version, "{json}");
        }
    }

    #[test]
    fn parts_of_messages_are_not_taken_for_records() {
        let torn = concat!(
            r#"{"type":"message","id":"a","message":{"content":[{"type":"text","text":"x"},{"type":"#,
            r#"{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"y"}}"#,
            "\n",
        );
        let read = read(Pi::PI, torn);
        assert_eq!(read.log.heads.len(), 1);
        assert_eq!(read.log.label(boswell_model::Slot(0)), "b");
    }
}
