//! Encodes drafts as entries of the pi family.
//!
//! Our own sessions are written so that both pi and xcsh load them: a model change has the two
//! fields of pi and the one of xcsh, and an assistant message always has `usage`, without which
//! xcsh rejects the whole file.

use boswell_model::json::{Json, Printer, Raw, insert_member, print_object, set_member, value_end};
use boswell_model::{
    Advice, EntryId, Error, ErrorDetails, ErrorKind, Instant, MediaSource, Part, RequestInput,
    Result, SessionMeta, Usage,
};
use memchr::{memchr, memchr2, memmem};

use super::project_folder::folder;
use super::{Flavour, Pi};
use crate::{
    AssistantMessage, Body, Draft, EntryStamp, NewLog, NewSession, one_object,
    refuse_unwritable_parts, unsupported,
};

/// Longest entry id that a caller may set.
const LONGEST_ID: usize = 255;

/// Longest id of a new session. The file name, with time stamp, extension and the suffix of a
/// temporary file, must fit into 255 bytes.
const LONGEST_SESSION_ID: usize = 180;

/// Longest header line that every program of the family reads in one piece when it lists sessions.
const SHORT_HEADER: usize = 512;

/// Appends the encoded entry of a draft to `out`.
pub(super) fn entry(
    dialect: Pi,
    draft: &Draft,
    settled: EntryStamp<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    if !is_entry_id(settled.id) {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "`{}` cannot be the id of an entry",
                settled.id.escape_debug()
            ),
        )
        .advising("leave the id out, and one is generated"));
    }
    refuse_unwritable_parts(dialect.word(), &draft.body)?;
    let title = match &draft.body {
        Body::Native(bytes) => {
            out.extend_from_slice(&native(bytes, settled)?);
            return Ok(());
        }
        Body::Title(title) => Some(appended_title(dialect, title)?),
        _ => None,
    };
    let start = out.len();
    print_object(out, |entry| {
        entry
            .with("type", word(&draft.body))
            .with("id", settled.id)
            .with("parentId", settled.parent)
            .with("timestamp", settled.at);
        body(entry, &draft.body, dialect.flavour(), settled.at);
        entry.with_some("name", title);
    });
    if brings_json(&draft.body) {
        one_object(out.get(start..).unwrap_or(b""))?;
        let printed = out.split_off(start);
        out.extend(on_one_line(printed));
    }
    Ok(())
}

/// Returns the entry type for a body.
fn word(body: &Body) -> &'static str {
    match body {
        Body::User(_) | Body::Assistant(_) | Body::ToolResult { .. } | Body::Native(_) => "message",
        Body::Custom { .. } => "custom",
        Body::CustomMessage { .. } => "custom_message",
        Body::Model { .. } => "model_change",
        Body::ThinkingLevel(_) => "thinking_level_change",
        Body::Mode { .. } => "mode_change",
        Body::Compaction { .. } => "compaction",
        Body::BranchSummary { .. } => "branch_summary",
        Body::Label { .. } => "label",
        Body::Title(_) => "session_info",
    }
}

/// Writes the members that are specific to the type. A title is written by the caller, after it was
/// cleaned.
fn body(entry: &mut Printer<'_>, body: &Body, flavour: Flavour, at: Instant) {
    match body {
        Body::User(content) => entry.with_object("message", |message| {
            text_or_parts(message.with("role", "user"), content).with("timestamp", at.millis());
        }),
        Body::Assistant(answer) => {
            entry.with_object("message", |message| assistant(message, answer, at))
        }
        Body::ToolResult {
            call,
            tool,
            content,
            is_error,
        } => entry.with_object("message", |message| {
            message
                .with("role", "toolResult")
                .with("toolCallId", call)
                .with("toolName", tool)
                .with_objects("content", content, part)
                .with("isError", *is_error)
                .with("timestamp", at.millis());
        }),
        Body::Custom { kind, data } => entry
            .with("customType", kind)
            .with_some("data", data.as_ref()),
        Body::CustomMessage {
            kind,
            content,
            display,
        } => text_or_parts(entry.with("customType", kind), content).with("display", *display),
        Body::Model { model, role } => model_change(entry, flavour, model, role.as_deref()),
        Body::ThinkingLevel(level) => entry.with("thinkingLevel", level),
        Body::Mode { mode, data } => entry.with("mode", mode).with_some("data", data.as_ref()),
        Body::Compaction {
            summary,
            first_kept,
            tokens_before,
        } => entry
            .with("summary", summary)
            .with("firstKeptEntryId", first_kept.as_str())
            .with("tokensBefore", *tokens_before),
        Body::BranchSummary { from, summary } => entry
            .with("fromId", from.as_ref().map_or("root", EntryId::as_str))
            .with("summary", summary),
        Body::Label { target, label } => entry
            .with("targetId", target.as_str())
            .with_some("label", label.as_ref()),
        Body::Title(_) | Body::Native(_) => entry,
    };
}

/// Returns a cleaned title for an appended entry; an error for programs that store the title in the
/// header.
fn appended_title(dialect: Pi, title: &str) -> Result<String> {
    match dialect.flavour() {
        Flavour::Pi | Flavour::Boswell => clean_title(title),
        Flavour::Omp | Flavour::Xcsh => Err(unsupported(
            dialect.word(),
            "take a title by appending",
            "its title is in the header, which has to be rewritten",
        )),
    }
}

/// Whether the record contains JSON of the caller, which may have several lines or be invalid.
fn brings_json(body: &Body) -> bool {
    match body {
        Body::Custom { data, .. } | Body::Mode { data, .. } => data.is_some(),
        _ => false,
    }
}

/// Removes line ends. In valid JSON they occur only as white space between tokens, never inside
/// strings.
fn on_one_line(mut record: Vec<u8>) -> Vec<u8> {
    record.retain(|byte| *byte != b'\n' && *byte != b'\r');
    record
}

/// The first bytes of a header of version 3, as every writer of the family prints it.
const BEGINNING: &[u8] = br#"{"type":"session","version":3,"id":""#;

/// Whether a log begins with a header of version 3, which [`can_append`] accepts.
pub(super) fn has_plain_header(bytes: &[u8]) -> bool {
    bytes.starts_with(BEGINNING)
}

/// Returns the id of an entry without parsing its members. Works if the line begins with type and
/// id, as every writer of the family prints them, and contains no other `"id"`.
pub(super) fn fast_entry_id(line: &[u8]) -> Option<&str> {
    let record = line.strip_suffix(b"\n")?;
    let rest = record.strip_prefix(br#"{"type":""#)?;
    let (word, rest) = rest.split_at_checked(memchr(b'"', rest)?)?;
    let rest = rest.strip_prefix(br#"","id":""#)?;
    let (id, rest) = rest.split_at_checked(memchr(b'"', rest)?)?;
    let is_plain = !word.is_empty()
        && word != b"session"
        && !id.is_empty()
        && memchr2(b'\\', b'\n', id).is_none();
    let is_whole =
        || value_end(record, 0) == Ok(record.len()) && std::str::from_utf8(record).is_ok();
    (is_plain && memmem::find(rest, br#""id""#).is_none() && is_whole()).then_some(())?;
    std::str::from_utf8(id).ok()
}

/// Checks that the log can be appended to: only versions 2 and 3. Entries of version 1 have no ids,
/// and newer versions are unknown.
pub(super) fn can_append(meta: &SessionMeta) -> Result<()> {
    match meta.format_version {
        Some(2 | 3) => Ok(()),
        Some(version) if version > 3 => Err(Error::new(
            ErrorKind::TooNew,
            format!("the session is of format version {version}, boswell writes 3"),
        )
        .detailing(ErrorDetails::TooNew {
            version: version.to_string(),
        })
        .advising(Advice::ShowSession { session: None }.or(Advice::Upgrade))),
        _ => Err(Error::new(
            ErrorKind::Unsupported,
            "the session is of format version 1, whose entries have no ids",
        )
        .advising(Advice::Migrate.or(Advice::ShowSession { session: None }))),
    }
}

fn assistant(message: &mut Printer<'_>, answer: &AssistantMessage, at: Instant) {
    let calls = answer
        .content
        .iter()
        .any(|part| matches!(part, Part::Call { .. }));
    let stop = answer
        .stop_reason
        .as_deref()
        .unwrap_or(if calls { "toolUse" } else { "stop" });
    let model = answer.model.as_deref().unwrap_or("unknown");
    // A model in use is stated with its provider.
    let (provider, model) = match answer.provider.as_deref() {
        Some(provider) => (provider, model),
        None => model.split_once('/').unwrap_or(("unknown", model)),
    };
    message
        .with("role", "assistant")
        .with_objects("content", &answer.content, part)
        .with("api", "unknown")
        .with("provider", provider)
        .with("model", model)
        .with_object("usage", |printed| usage(printed, &answer.usage))
        .with("stopReason", stop)
        .with_some("errorMessage", answer.error.as_deref())
        .with("timestamp", at.millis());
}

/// Writes usage. Readers of the family add these numbers up without a check, so each must be
/// present; the member `unknown` records that zeros are not measured values.
fn usage(printed: &mut Printer<'_>, usage: &Usage) {
    let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
    let (read, write) = (
        usage.cache_read.unwrap_or(0),
        usage.cache_write.unwrap_or(0),
    );
    printed
        .with("input", input)
        .with("output", output)
        .with("cacheRead", read)
        .with("cacheWrite", write)
        .with("totalTokens", input + output + read + write)
        .with_some(
            "cttl",
            usage
                .cache_write_1h
                .map(|hour| Json::object().with("ephemeral1h", hour)),
        )
        .with_some("reasoning", usage.reasoning)
        .with_some("premiumRequests", usage.premium_requests)
        .with_object("cost", |cost| {
            for key in ["input", "output", "cacheRead", "cacheWrite"] {
                cost.with(key, 0i64);
            }
            cost.with("total", usage.cost.unwrap_or(0.0));
        })
        .with_some("unknown", usage.is_unknown().then_some(true));
}

fn model_change<'p, 'o>(
    entry: &'p mut Printer<'o>,
    flavour: Flavour,
    model: &str,
    role: Option<&str>,
) -> &'p mut Printer<'o> {
    let (provider, id) = model.split_once('/').unwrap_or(("unknown", model));
    if matches!(flavour, Flavour::Pi | Flavour::Boswell) {
        entry.with("provider", provider).with("modelId", id);
    }
    if flavour != Flavour::Pi {
        entry.with("model", model).with_some("role", role);
    }
    entry
}

fn text_or_parts<'p, 'o>(message: &'p mut Printer<'o>, content: &[Part]) -> &'p mut Printer<'o> {
    match content {
        [Part::Text(text)] => message.with("content", text),
        _ => message.with_objects("content", content, part),
    }
}

fn part(printed: &mut Printer<'_>, part: &Part) {
    match part {
        Part::Text(text) => printed.with("type", "text").with("text", text),
        Part::Thinking { text, signature } => printed
            .with("type", "thinking")
            .with("thinking", text)
            .with_some("thinkingSignature", signature.as_deref()),
        Part::Call { id, name, input } => printed
            .with("type", "toolCall")
            .with("id", id)
            .with("name", name)
            .with("arguments", input.to_object()),
        Part::Media {
            mime: Some(mime),
            source: MediaSource::Inline(base64),
        } => printed
            .with("type", "image")
            .with("data", base64)
            .with("mimeType", mime),
        // Refused before.
        _ => printed,
    };
}

/// Encodes a draft that already is a record of the family, or a bare message: missing members are
/// added, existing ones stay unchanged.
fn native(bytes: &[u8], settled: EntryStamp<'_>) -> Result<Vec<u8>> {
    let raw = one_object(bytes)?;
    check_native(raw)?;
    let mut record = raw.bytes().to_vec();
    for (key, value) in [
        ("id", Json::from(settled.id)),
        ("parentId", Json::from(settled.parent)),
        ("timestamp", Json::from(settled.at.to_rfc3339())),
    ] {
        if raw.get(key).is_none() {
            record = insert_member(&record, key, &value.to_bytes()).map_err(not_an_object)?;
        }
    }
    let is_answer = raw
        .at(&["message", "role"])
        .is_some_and(|role| role.is("assistant"));
    if is_answer && raw.at(&["message", "usage"]).is_none() {
        let mut nothing = Vec::new();
        print_object(&mut nothing, |printed| usage(printed, &Usage::default()));
        record = set_member(&record, &["message", "usage"], &nothing).map_err(not_an_object)?;
    }
    // A record that the caller formatted over several lines must be on one line.
    Ok(on_one_line(record))
}

fn not_an_object(fault: boswell_model::json::SyntaxError) -> Error {
    Error::new(ErrorKind::Invalid, "an entry must be a JSON object").because(fault.to_string())
}

/// Refuses a header, an entry without a type, and links that no reader of the family could follow.
fn check_native(raw: Raw<'_>) -> Result<()> {
    if raw.get("type").is_some_and(|word| word.is("session")) {
        return Err(
            Error::new(ErrorKind::Invalid, "a header cannot be appended")
                .advising(Advice::NewSession),
        );
    }
    let word = raw.get("type").and_then(|word| word.text());
    if word.is_none_or(|word| word.is_empty()) {
        return Err(Error::new(ErrorKind::Invalid, "an entry needs a `type`, or `role` and `text`")
            .advising(r#"write {"role":"user","text":"…"}, or an entry such as {"type":"message","message":{…}}"#));
    }
    let bad = |key: &str, what: &str| {
        Error::new(
            ErrorKind::Invalid,
            format!("the `{key}` of an entry must be {what}"),
        )
    };
    if let Some(id) = raw.get("id")
        && !id.text().is_some_and(|id| is_entry_id(&id))
    {
        return Err(bad("id", "a short text without control characters"));
    }
    if let Some(parent) = raw.get("parentId")
        && parent.text().is_none()
        && parent.bytes() != b"null"
    {
        return Err(bad("parentId", "the id of an entry or null"));
    }
    Ok(())
}

/// Whether `id` is allowed as an entry id.
fn is_entry_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= LONGEST_ID && !id.contains(char::is_control)
}

/// Cleans a title as the family does: control characters become spaces, and runs of spaces one
/// space.
pub(super) fn clean_title(title: &str) -> Result<String> {
    let spaced: String = title
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let clean = spaced
        .split(' ')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    if clean.is_empty() {
        Err(Error::new(ErrorKind::Invalid, "a title must not be empty"))
    } else {
        Ok(clean)
    }
}

/// Returns the key and the header of a new log.
pub(super) fn new_log(dialect: Pi, new: &NewSession, id: &str, now: Instant) -> Result<NewLog> {
    if !super::layout::id_is_valid(id) || id.len() > LONGEST_SESSION_ID {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` cannot be the id of a session", id.escape_debug()),
        )
        .advising(Advice::Omit(RequestInput::SessionId)));
    }
    let stamp: String = now
        .to_rfc3339()
        .chars()
        .map(|c| if matches!(c, ':' | '.') { '-' } else { c })
        .collect();
    let flavour = dialect.flavour();
    let header = Json::object()
        .with("type", "session")
        .with("version", 3)
        .with("id", id)
        .with("timestamp", now.to_rfc3339())
        .with("cwd", &new.project)
        .with_some("parentSession", new.parent.as_deref());
    let titled = match (new.title.as_deref().map(clean_title).transpose()?, flavour) {
        (Some(title), Flavour::Omp | Flavour::Xcsh | Flavour::Boswell) => header
            .clone()
            .with("title", title)
            .with("titleSource", "user"),
        _ => header.clone(),
    };
    // A boswell session also has its title in an entry. In the header it must not make the line too
    // long for [`SHORT_HEADER`].
    let fits = flavour != Flavour::Boswell || titled.to_bytes().len() < SHORT_HEADER;
    let header = if fits { titled } else { header };
    let mut bytes = header.to_bytes();
    bytes.push(b'\n');
    Ok(NewLog {
        key: format!(
            "sessions/{}/{stamp}_{id}.jsonl",
            folder(flavour, &new.project, &new.around)
        ),
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_log_begins_as_is_looked_for_and_other_versions_do_not() {
        let now = Instant::from_millis(1_800_000_000_000);
        let new = NewSession::in_project("/home/dev/proj");
        let log = new_log(
            Pi::BOSWELL,
            &new,
            "01991234-5678-7fff-bfff-ffffffffffff",
            now,
        )
        .unwrap();
        assert!(has_plain_header(log.bytes.get(..64).unwrap()));
        let other = String::from_utf8(log.bytes)
            .unwrap()
            .replace("\"version\":3", "\"version\":4");
        assert!(!has_plain_header(other.as_bytes()));
    }
}
