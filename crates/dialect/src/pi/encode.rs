//! Drafts as entries of the pi family.
//!
//! Our own sessions are written so that pi and xcsh both load them: a model change carries pi's two fields and xcsh's one,
//! and an answer always has `usage`, without which xcsh refuses the whole file.

use boswell_model::json::{Json, Raw, insert_member, set_member};
use boswell_model::{Error, ErrorKind, Facts, Instant, Result, Usage};

use super::project_folder::folder;
use super::{Flavour, Pi};
use crate::{Answer, Body, Draft, NewLog, NewSession, Part, Settled, one_object, unsupported};

/// Longest id of an entry that a caller may give.
const LONGEST_ID: usize = 255;

/// Longest id of a new session: with time, endings and the marks of a temp its file name must fit into 255 bytes.
const LONGEST_SESSION_ID: usize = 180;

/// Longest header line that every reader of the family takes in with its first look.
const SHORT_HEADER: usize = 512;

/// The entry that a draft becomes.
pub(super) fn entry(dialect: Pi, draft: &Draft, settled: Settled<'_>) -> Result<Vec<u8>> {
    let flavour = dialect.flavour();
    if !is_entry_id(settled.id) {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` cannot be the id of an entry", settled.id.escape_debug()),
        )
        .hinting("leave the id out to have one made"));
    }
    let base = |word: &str| {
        Json::object()
            .with("type", word)
            .with("id", settled.id)
            .with("parentId", settled.parent)
            .with("timestamp", settled.at.to_rfc3339())
    };
    let made = match &draft.body {
        Body::User(content) => base("message").with("message", user(content, settled.at)),
        Body::Assistant(answer) => base("message").with("message", assistant(answer, settled.at)),
        Body::ToolResult { call, tool, content, is_error } => {
            let message = Json::object()
                .with("role", "toolResult")
                .with("toolCallId", call)
                .with("toolName", tool)
                .with("content", parts(content))
                .with("isError", *is_error)
                .with("timestamp", settled.at.millis());
            base("message").with("message", message)
        }
        Body::Custom { kind, data } => base("custom").with("customType", kind).with_some("data", data.clone()),
        Body::CustomMessage { kind, content, display } => base("custom_message")
            .with("customType", kind)
            .with("content", text_or_parts(content))
            .with("display", *display),
        Body::Model { model, role } => model_change(flavour, base("model_change"), model, role.as_deref()),
        Body::ThinkingLevel(level) => base("thinking_level_change").with("thinkingLevel", level),
        Body::Mode { mode, data } => base("mode_change").with("mode", mode).with_some("data", data.clone()),
        Body::Compaction { summary, first_kept, tokens_before } => base("compaction")
            .with("summary", summary)
            .with("firstKeptEntryId", first_kept)
            .with("tokensBefore", *tokens_before),
        Body::BranchSummary { from, summary } => {
            base("branch_summary").with("fromId", from.as_deref().unwrap_or("root")).with("summary", summary)
        }
        Body::Label { target, label } => base("label").with("targetId", target).with_some("label", label.clone()),
        Body::Title(title) => match flavour {
            Flavour::Pi | Flavour::Boswell => base("session_info").with("name", clean_title(title)?),
            Flavour::Omp | Flavour::Xcsh => {
                return Err(unsupported(
                    dialect.word(),
                    "take a title by appending",
                    "its title stands in the header; that needs a rewrite",
                ));
            }
        },
        Body::Native(bytes) => return native(bytes, settled),
    };
    let bytes = made.to_bytes();
    if brings_json(&draft.body) {
        one_object(&bytes)?;
        return Ok(on_one_line(bytes));
    }
    Ok(bytes)
}

/// Whether a caller's own JSON goes into the record: it is printed as it was given, over several lines or broken.
fn brings_json(body: &Body) -> bool {
    match body {
        Body::Custom { data, .. } | Body::Mode { data, .. } => data.is_some(),
        Body::Assistant(answer) => answer.content.iter().any(|part| matches!(part, Part::Call { .. })),
        _ => false,
    }
}

/// Outside of strings a line end is only space; inside of them there is none in valid JSON.
fn on_one_line(mut record: Vec<u8>) -> Vec<u8> {
    record.retain(|byte| *byte != b'\n' && *byte != b'\r');
    record
}

/// Version 3 and what a title line cannot say; older ones have no ids to hang an entry below, newer ones are unknown.
pub(super) fn can_append(facts: &Facts) -> Result<()> {
    match facts.format_version {
        Some(2 | 3) => Ok(()),
        Some(version) if version > 3 => {
            Err(Error::new(ErrorKind::TooNew, format!("the session is of format version {version}, boswell writes 3"))
                .hinting("read it with `boswell show`, or update boswell"))
        }
        _ => Err(Error::new(ErrorKind::Unsupported, "the session is of format version 1, whose entries have no ids")
            .hinting("bring it to version 3 with `boswell migrate S --apply`, or read it with `boswell show`")),
    }
}

fn user(content: &[Part], at: Instant) -> Json {
    Json::object().with("role", "user").with("content", text_or_parts(content)).with("timestamp", at.millis())
}

fn assistant(answer: &Answer, at: Instant) -> Json {
    let calls = answer.content.iter().any(|part| matches!(part, Part::Call { .. }));
    let stop = answer.stop_reason.as_deref().unwrap_or(if calls { "toolUse" } else { "stop" });
    Json::object()
        .with("role", "assistant")
        .with("content", parts(&answer.content))
        .with("api", "unknown")
        .with("provider", answer.provider.as_deref().unwrap_or("unknown"))
        .with("model", answer.model.as_deref().unwrap_or("unknown"))
        .with("usage", usage(&answer.usage))
        .with("stopReason", stop)
        .with_some("errorMessage", answer.error.as_deref())
        .with("timestamp", at.millis())
}

/// Readers of the family add these numbers up without looking, so all must be there; `unknown` keeps the truth.
fn usage(usage: &Usage) -> Json {
    let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
    let (read, write) = (usage.cache_read.unwrap_or(0), usage.cache_write.unwrap_or(0));
    let cost = Json::object()
        .with("input", 0)
        .with("output", 0)
        .with("cacheRead", 0)
        .with("cacheWrite", 0)
        .with("total", usage.cost.unwrap_or(0.0));
    Json::object()
        .with("input", input)
        .with("output", output)
        .with("cacheRead", read)
        .with("cacheWrite", write)
        .with("totalTokens", input + output + read + write)
        .with_some("cttl", usage.cache_write_1h.map(|hour| Json::object().with("ephemeral1h", hour)))
        .with_some("reasoning", usage.reasoning)
        .with_some("premiumRequests", usage.premium_requests)
        .with("cost", cost)
        .with_some("unknown", usage.is_unknown().then_some(true))
}

fn model_change(flavour: Flavour, base: Json, model: &str, role: Option<&str>) -> Json {
    let (provider, id) = model.split_once('/').unwrap_or(("unknown", model));
    match flavour {
        Flavour::Pi => base.with("provider", provider).with("modelId", id),
        Flavour::Omp | Flavour::Xcsh => base.with("model", model).with_some("role", role),
        Flavour::Boswell => {
            base.with("provider", provider).with("modelId", id).with("model", model).with_some("role", role)
        }
    }
}

fn text_or_parts(content: &[Part]) -> Json {
    match content {
        [Part::Text(text)] => Json::from(text),
        _ => parts(content),
    }
}

fn parts(content: &[Part]) -> Json {
    Json::Array(content.iter().map(part).collect())
}

fn part(part: &Part) -> Json {
    let typed = |word: &str| Json::object().with("type", word);
    match part {
        Part::Text(text) => typed("text").with("text", text),
        Part::Thinking { text, signature } => {
            typed("thinking").with("thinking", text).with_some("thinkingSignature", signature.as_deref())
        }
        Part::Call { id, name, arguments } => {
            typed("toolCall").with("id", id).with("name", name).with("arguments", arguments.clone())
        }
        Part::Image { base64, mime } => typed("image").with("data", base64).with("mimeType", mime),
    }
}

/// A record in the family's own shape, or a bare message; what it lacks is filled in, what it has stays as written.
fn native(bytes: &[u8], settled: Settled<'_>) -> Result<Vec<u8>> {
    let raw = one_object(bytes)?;
    if raw.get("type").is_some_and(|word| word.is("session")) {
        return Err(
            Error::new(ErrorKind::Invalid, "a header cannot be appended").hinting("make a session with `boswell new`")
        );
    }
    if raw.get("type").and_then(|word| word.text()).is_none_or(|word| word.is_empty()) {
        return Err(Error::new(ErrorKind::Invalid, "an entry needs a `type`, or `role` and `text`")
            .hinting(r#"write {"role":"user","text":"…"}, or an entry such as {"type":"message","message":{…}}"#));
    }
    let mut record = raw.bytes().to_vec();
    let quoted = |text: &str| Json::from(text).to_bytes();
    let fault = |fault: boswell_model::json::Fault| {
        Error::new(ErrorKind::Invalid, "an entry must be a JSON object").because(fault.to_string())
    };
    let bad = |key: &str, what: &str| Error::new(ErrorKind::Invalid, format!("the `{key}` of an entry must be {what}"));
    if raw.get("id").is_some_and(|id| !id.text().is_some_and(|id| is_entry_id(&id))) {
        return Err(bad("id", "a short text without control characters"));
    }
    if raw.get("parentId").is_some_and(|parent| parent.text().is_none() && parent.bytes() != b"null") {
        return Err(bad("parentId", "the id of an entry or null"));
    }
    let missing = |record: &[u8], key: &str| Raw::trusted(record).get(key).is_none();
    if missing(&record, "id") {
        record = insert_member(&record, "id", &quoted(settled.id)).map_err(fault)?;
    }
    if missing(&record, "parentId") {
        record = insert_member(&record, "parentId", &Json::from(settled.parent).to_bytes()).map_err(fault)?;
    }
    if missing(&record, "timestamp") {
        record = insert_member(&record, "timestamp", &quoted(&settled.at.to_rfc3339())).map_err(fault)?;
    }
    let is_answer = raw.at(&["message", "role"]).is_some_and(|role| role.is("assistant"));
    if is_answer && raw.at(&["message", "usage"]).is_none() {
        record = set_member(&record, &["message", "usage"], &usage(&Usage::default()).to_bytes()).map_err(fault)?;
    }
    // A record that was typed over several lines must stand on one.
    Ok(on_one_line(record))
}

/// Whether an entry may be called that.
fn is_entry_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= LONGEST_ID && !id.contains(char::is_control)
}

/// A title as the family cleans it: control characters become spaces, runs of spaces one.
pub(super) fn clean_title(title: &str) -> Result<String> {
    let spaced: String = title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let clean = spaced.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if clean.is_empty() { Err(Error::new(ErrorKind::Invalid, "a title must say something")) } else { Ok(clean) }
}

/// Name and header of a new log.
pub(super) fn new_log(dialect: Pi, new: &NewSession, id: &str, now: Instant) -> Result<NewLog> {
    if !super::layout::id_is_valid(id) || id.len() > LONGEST_SESSION_ID {
        return Err(Error::new(ErrorKind::Invalid, format!("`{}` cannot be the id of a session", id.escape_debug()))
            .hinting("leave --id out to have one made"));
    }
    let stamp: String = now.to_rfc3339().chars().map(|c| if matches!(c, ':' | '.') { '-' } else { c }).collect();
    let flavour = dialect.flavour();
    let header = Json::object()
        .with("type", "session")
        .with("version", 3)
        .with("id", id)
        .with("timestamp", now.to_rfc3339())
        .with("cwd", &new.project)
        .with_some("parentSession", new.parent.as_deref());
    let titled = match (new.title.as_deref().map(clean_title).transpose()?, flavour) {
        (Some(title), Flavour::Omp | Flavour::Xcsh | Flavour::Boswell) => {
            header.clone().with("title", title).with("titleSource", "user")
        }
        _ => header.clone(),
    };
    // Ours has its title in an entry as well; in the header it must not push the session out of sight.
    let fits = flavour != Flavour::Boswell || titled.to_bytes().len() < SHORT_HEADER;
    let header = if fits { titled } else { header };
    let mut bytes = header.to_bytes();
    bytes.push(b'\n');
    Ok(NewLog { key: format!("sessions/{}/{stamp}_{id}.jsonl", folder(flavour, &new.project, &new.around)), bytes })
}
