//! Encodes drafts as lines of the client, and the first lines of a new session.
//!
//! A line has the fields that the client writes: its link, its session, and the folder, version and
//! branch that the session stated last. An assistant message becomes one line with all its parts;
//! the client writes one line per part and reads both forms.

use boswell_model::json::{Json, Raw, RawKind, insert_member};
use boswell_model::{
    Advice, Error, ErrorKind, Instant, MediaSource, Part, RequestInput, Result, SessionMeta, Usage,
};

use super::head::is_chain_word;
use super::project_key::project_key;
use crate::uuid::is_uuid;
use crate::{
    AssistantMessage, Body, Draft, EntryStamp, NewLog, NewSession, SessionFacts, one_object,
    refuse_unwritable_parts, unsupported,
};

/// The version that we write on lines of a session that states none.
const VERSION: &str = "2.1.325";

/// Longest entry id that a caller may set.
const LONGEST_ID: usize = 255;

/// Encodes a draft as one line.
pub(super) fn line(
    draft: &Draft,
    settled: EntryStamp<'_>,
    session: SessionFacts<'_>,
) -> Result<Vec<u8>> {
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
    refuse_unwritable_parts("claude", &draft.body)?;
    let (word, message) = match &draft.body {
        Body::User(content) => (
            "user",
            Json::object()
                .with("role", "user")
                .with("content", text_or_parts(content)),
        ),
        Body::Assistant(answer) => ("assistant", assistant(answer, settled.id, session.meta)),
        Body::ToolResult {
            call,
            content,
            is_error,
            ..
        } => ("user", tool_result(call, content, *is_error)),
        Body::Native(bytes) => return native(bytes, settled, session),
        _ => {
            return Err(unsupported(
                "claude",
                "hold such an entry",
                Advice::from("append messages of the user or the model, or results of tools")
                    .also(Advice::Rename.or(Advice::Tag)),
            ));
        }
    };
    let begun = Json::object()
        .with("parentUuid", settled.parent)
        .with("isSidechain", false)
        .with("type", word)
        .with("message", message)
        .with("uuid", settled.id)
        .with("timestamp", settled.at.to_rfc3339());
    Ok(envelope(begun, session).to_bytes())
}

fn envelope(line: Json, session: SessionFacts<'_>) -> Json {
    let meta = session.meta;
    line.with("userType", "external")
        .with("entrypoint", "cli")
        .with_some("cwd", meta.project.as_deref())
        .with("sessionId", session.id)
        .with("version", meta.agent_version.as_deref().unwrap_or(VERSION))
        .with("gitBranch", meta.git_branch.as_deref().unwrap_or("HEAD"))
}

fn assistant(answer: &AssistantMessage, id: &str, meta: &SessionMeta) -> Json {
    let calls = answer
        .content
        .iter()
        .any(|part| matches!(part, Part::Call { .. }));
    let stop = match answer.stop_reason.as_deref() {
        None if calls => "tool_use",
        None | Some("stop") => "end_turn",
        Some("toolUse") => "tool_use",
        Some("length") => "max_tokens",
        Some(other) => other,
    };
    let model = answer
        .model
        .as_deref()
        .or(meta.models.last().map(String::as_str))
        // The client's own word for an answer that no model gave: it restores no model from it.
        .unwrap_or("<synthetic>");
    Json::object()
        .with("id", format!("msg_{id}"))
        .with("type", "message")
        .with("role", "assistant")
        .with("model", model)
        .with("content", parts(&answer.content))
        .with("stop_reason", stop)
        .with("stop_sequence", Json::Null)
        .with("usage", usage(&answer.usage))
}

/// Encodes usage. The client adds these numbers up without a check, so each must be present; the
/// member `unknown` records that zeros are not measured values.
fn usage(usage: &Usage) -> Json {
    let by_span = usage.cache_write_1h.map(|hour| {
        let rest = usage.cache_write.unwrap_or(0).saturating_sub(hour);
        Json::object()
            .with("ephemeral_5m_input_tokens", rest)
            .with("ephemeral_1h_input_tokens", hour)
    });
    Json::object()
        .with("input_tokens", usage.input.unwrap_or(0))
        .with(
            "cache_creation_input_tokens",
            usage.cache_write.unwrap_or(0),
        )
        .with("cache_read_input_tokens", usage.cache_read.unwrap_or(0))
        .with_some("cache_creation", by_span)
        .with("output_tokens", usage.output.unwrap_or(0))
        .with_some("unknown", usage.is_unknown().then_some(true))
}

fn tool_result(call: &str, content: &[Part], is_error: bool) -> Json {
    let result = Json::object()
        .with("tool_use_id", call)
        .with("type", "tool_result")
        .with("content", text_or_parts(content))
        .with_some("is_error", is_error.then_some(true));
    Json::object()
        .with("role", "user")
        .with("content", vec![result])
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
        Part::Thinking { text, signature } => typed("thinking")
            .with("thinking", text)
            .with("signature", signature.as_deref().unwrap_or_default()),
        Part::Call { id, name, input } => typed("tool_use")
            .with("id", id)
            .with("name", name)
            .with("input", input.to_object()),
        Part::Media {
            mime: Some(mime),
            source: MediaSource::Inline(base64),
        } => {
            let source = Json::object()
                .with("type", "base64")
                .with("media_type", mime)
                .with("data", base64);
            typed("image").with("source", source)
        }
        // Refused before.
        _ => Json::Null,
    }
}

/// Encodes a draft that already is a line of the client: missing members of the envelope are added,
/// existing ones stay unchanged.
fn native(bytes: &[u8], settled: EntryStamp<'_>, session: SessionFacts<'_>) -> Result<Vec<u8>> {
    let raw = one_object(bytes)?;
    let word = raw
        .get("type")
        .and_then(|word| word.text())
        .unwrap_or_default();
    let wrong = |what: String| {
        Error::new(ErrorKind::Invalid, what).advising(
            r#"write {"role":"user","text":"…"}, or a line such as {"type":"user","message":{"role":"user","content":"…"}}"#,
        )
    };
    if !is_chain_word(&word) || word == "progress" {
        return Err(wrong(format!(
            "a line of the type `{}` is not part of a conversation",
            word.escape_debug()
        )));
    }
    if matches!(word.as_ref(), "user" | "assistant") && !is_message(raw, &word) {
        return Err(wrong(format!(
            "a line of the type `{word}` needs a `message` with its `role` and a `content`"
        )));
    }
    if raw
        .get("isSidechain")
        .is_some_and(|side| side.bool() != Some(false))
    {
        return Err(wrong(
            "a line of a side chain belongs into the log of its subagent".to_owned(),
        ));
    }
    if raw
        .get("uuid")
        .is_some_and(|id| !id.text().is_some_and(|id| is_entry_id(&id)))
    {
        return Err(wrong(
            "the `uuid` of a line must be a short text without control characters".to_owned(),
        ));
    }
    if raw
        .get("parentUuid")
        .is_some_and(|parent| parent.text().is_none() && !parent.is_null())
    {
        return Err(wrong(
            "the `parentUuid` of a line must be the uuid of another one or null".to_owned(),
        ));
    }
    let own = Json::object()
        .with("parentUuid", settled.parent)
        .with("isSidechain", false)
        .with("uuid", settled.id)
        .with("timestamp", settled.at.to_rfc3339());
    let Json::Object(members) = envelope(own, session) else {
        return Ok(bytes.to_vec());
    };
    let mut line = raw.bytes().to_vec();
    for (key, value) in members.iter().filter(|(key, _)| raw.get(key).is_none()) {
        line = insert_member(&line, key, &value.to_bytes()).map_err(|fault| {
            wrong("an entry must be a JSON object".to_owned()).because(fault.to_string())
        })?;
    }
    Ok(on_one_line(line))
}

/// Whether the client accepts the line as a message: it skips messages whose content is neither a
/// string nor a list of blocks.
fn is_message(line: Raw<'_>, word: &str) -> bool {
    let content = line.at(&["message", "content"]);
    let proper = content.is_some_and(|content| match content.kind() {
        RawKind::String => true,
        RawKind::Array => content.items().all(|block| block.kind() == RawKind::Object),
        _ => false,
    });
    proper
        && line
            .at(&["message", "role"])
            .is_some_and(|role| role.is(word))
}

/// Removes line ends. In valid JSON they occur only as white space between tokens, never inside
/// strings.
fn on_one_line(mut record: Vec<u8>) -> Vec<u8> {
    record.retain(|byte| *byte != b'\n' && *byte != b'\r');
    record
}

fn is_entry_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= LONGEST_ID && !id.contains(char::is_control)
}

/// Checks that a log can be appended to. Only the session itself writes the log of its subagent.
pub(super) fn can_append(meta: &SessionMeta) -> Result<()> {
    if meta.hidden == Some("subagent") {
        return Err(unsupported(
            "claude",
            "be continued on its own: it is a subagent's",
            "continue the session that started it",
        ));
    }
    Ok(())
}

/// Returns the key of a new session's log, and first lines that state its id and folder.
///
/// The client writes the folder on lines of the conversation, and there are none yet, so the first
/// line states it.
pub(super) fn new_log(new: &NewSession, id: &str, _now: Instant) -> Result<NewLog> {
    if !is_uuid(id) {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` cannot be the id of a session", id.escape_debug()),
        )
        .because("Claude Code knows its sessions by UUIDs")
        .advising(Advice::Omit(RequestInput::SessionId)));
    }
    let first = Json::object()
        .with("type", "mode")
        .with("mode", "normal")
        .with("sessionId", id)
        .with("cwd", &new.project);
    let mut bytes = first.to_bytes();
    bytes.push(b'\n');
    if let Some(title) = &new.title {
        bytes.extend(super::metadata::title_lines(
            &super::metadata::clean_title(title)?,
            id,
        ));
    }
    Ok(NewLog {
        key: format!("projects/{}/{id}.jsonl", project_key(&new.project)),
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::read;
    use super::*;
    use crate::Append;
    use crate::claude::Claude;

    const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";

    fn meta() -> SessionMeta {
        SessionMeta {
            project: Some("/proj/项目".into()),
            models: vec!["opus".into()],
            ..SessionMeta::default()
        }
    }

    fn written(body: Body) -> Result<String> {
        let (meta, draft) = (meta(), Draft::new(body));
        let settled = EntryStamp {
            id: "e1",
            parent: Some("p1"),
            at: Instant::from_millis(0),
        };
        line(
            &draft,
            settled,
            SessionFacts {
                id: ID,
                meta: &meta,
            },
        )
        .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn what_the_user_says_is_a_line_as_the_client_writes_it() {
        assert_eq!(
            written(Body::User(vec![Part::Text("你\u{2028}好".into())])).unwrap(),
            format!(
                r#"{{"parentUuid":"p1","isSidechain":false,"type":"user","message":{{"role":"user","content":"你{}好"}},"uuid":"e1","timestamp":"1970-01-01T00:00:00.000Z","userType":"external","entrypoint":"cli","cwd":"/proj/项目","sessionId":"{ID}","version":"2.1.325","gitBranch":"HEAD"}}"#,
                '\u{2028}'
            )
        );
    }

    #[test]
    fn answers_and_results_are_read_back_as_what_they_are() {
        let call = Part::Call {
            id: "c1".into(),
            name: "Bash".into(),
            input: "{\n\"a\":1}".into(),
        };
        let answer = written(Body::Assistant(Box::new(AssistantMessage {
            content: vec![call],
            ..AssistantMessage::default()
        })))
        .unwrap();
        let content = vec![Part::Text("out".into())];
        let result = written(Body::ToolResult {
            call: "c1".into(),
            tool: "Bash".into(),
            content,
            is_error: true,
        })
        .unwrap();
        assert!(
            answer.contains(r#""stop_reason":"tool_use""#) && answer.contains(r#""model":"opus""#),
            "{answer}"
        );
        let meta = read(&format!("{answer}\n{result}\n")).meta;
        assert_eq!((meta.messages, meta.tool_calls), (1, 1));
        assert!(
            meta.usage.total().is_unknown(),
            "what nobody knows is not counted as zero"
        );
        assert!(result.contains(
            r#"[{"tool_use_id":"c1","type":"tool_result","content":"out","is_error":true}]"#
        ));
    }

    #[test]
    fn a_native_line_keeps_what_it_has_and_gets_what_it_lacks() {
        let given = "{\"type\":\"user\",\n\"message\":{\"role\":\"user\",\"content\":\"x\"},\"odd\":1.0,\"uuid\":\"mine\"}";
        let line = written(Body::Native(given.into())).unwrap();
        assert!(line.starts_with(
            r#"{"type":"user","message":{"role":"user","content":"x"},"odd":1.0,"uuid":"mine""#
        ));
        assert!(
            line.contains(r#""parentUuid":"p1""#) && line.contains(ID) && !line.contains('\n'),
            "{line}"
        );
    }

    #[test]
    fn what_the_client_would_not_take_for_a_message_is_refused_with_what_to_write() {
        for bad in [
            r#"{"type":"custom-title","customTitle":"x"}"#,
            r#"{"type":"progress"}"#,
            r#"{"message":{}}"#,
            r#"{"type":"user"}"#,
            r#"{"type":"user","message":{"role":"assistant","content":"x"}}"#,
            r#"{"type":"user","message":{"role":"user","content":[1]}}"#,
            r#"{"type":"user","isSidechain":true,"message":{"role":"user","content":"x"}}"#,
            r#"{"type":"user","uuid":7,"message":{"role":"user","content":"x"}}"#,
            r#"{"type":"user","parentUuid":7,"message":{"role":"user","content":"x"}}"#,
            "[]",
        ] {
            assert!(written(Body::Native(bad.into())).is_err(), "{bad}");
        }
        let error = written(Body::ThinkingLevel("high".into())).unwrap_err();
        assert!(
            matches!(error.advice(), Some(Advice::AllOf(steps)) if steps.contains(&Advice::Rename.or(Advice::Tag)))
        );
    }

    #[test]
    fn a_new_log_says_where_it_is_held_and_how_it_is_called() {
        let log = new_log(
            &NewSession::in_project("/w/a b").titled(" t\n2 "),
            ID,
            Instant::from_millis(0),
        )
        .unwrap();
        assert_eq!(log.key, format!("projects/-w-a-b/{ID}.jsonl"));
        let meta = read(&String::from_utf8(log.bytes).unwrap()).meta;
        assert_eq!(
            (meta.project.as_deref(), meta.title.as_deref()),
            (Some("/w/a b"), Some("t 2"))
        );
        for id in ["-x", "s1", "--resume"] {
            assert!(
                Claude
                    .new_log(&NewSession::in_project("/w"), id, Instant::from_millis(0))
                    .is_err(),
                "{id}"
            );
        }
    }
}
