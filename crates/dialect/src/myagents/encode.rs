//! Encodes new rows of a transcript, with the member order of the app.

use boswell_model::json::{Json, Raw, RawKind};
use boswell_model::{Advice, Error, ErrorKind, Instant, MediaSource, Part, Result, Usage};

use crate::{AssistantMessage, Body, Draft, one_object, refuse_unwritable_parts, unsupported};

use super::{attachment, indent};

/// A new row, with its attachment files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// The row, without a line end.
    pub(crate) row: Vec<u8>,
    /// Key and bytes of each attachment.
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

/// Session, id and time of a new row.
#[derive(Clone, Copy)]
pub(crate) struct MessagePosition<'a> {
    /// Id of the session.
    pub(crate) session: &'a str,
    /// Id of the row.
    pub(crate) id: &'a str,
    /// Time of the message.
    pub(crate) at: Instant,
    /// Creates ids of attachments.
    pub(crate) name: &'a dyn Fn() -> String,
}

/// Encodes a draft.
pub(crate) fn encode(draft: &Draft, place: MessagePosition<'_>) -> Result<Encoded> {
    refuse_unwritable_parts("myagents", &draft.body)?;
    match &draft.body {
        Body::User(parts) => {
            let (attachments, files) = attachments(parts, &draft.file_names, place)?;
            let row = row(place, "user", content(parts)).with_some("attachments", attachments);
            Ok(Encoded {
                row: row.to_bytes(),
                files,
            })
        }
        Body::Assistant(answer) => assistant(answer, &draft.file_names, place),
        Body::Native(bytes) => native(bytes, place),
        Body::ToolResult { .. } => Err(unsupported(
            "myagents",
            "hold the answer of a tool as an entry",
            "append the call and its answer together, as one row in the app's own format",
        )),
        _ => Err(unsupported(
            "myagents",
            "hold such an entry",
            Advice::from("append messages of the user or the model").also(Advice::Rename),
        )),
    }
}

fn row(place: MessagePosition<'_>, role: &str, content: String) -> Json {
    Json::object()
        .with("id", place.id)
        .with("role", role)
        .with("content", content)
        .with("timestamp", place.at.to_rfc3339())
}

fn assistant(
    answer: &AssistantMessage,
    file_names: &[String],
    place: MessagePosition<'_>,
) -> Result<Encoded> {
    let said = match &answer.error {
        Some(error) => format!("Error: {error}"),
        None => content(&answer.content),
    };
    let calls = answer
        .content
        .iter()
        .filter(|part| matches!(part, Part::Call { .. }))
        .count();
    let (attachments, files) = attachments(&answer.content, file_names, place)?;
    let row = row(place, "assistant", said)
        .with_some("attachments", attachments)
        .with_some("usage", usage(answer))
        .with_some("toolCount", (calls > 0).then_some(calls));
    Ok(Encoded {
        row: row.to_bytes(),
        files,
    })
}

fn usage(answer: &AssistantMessage) -> Option<Json> {
    let Usage {
        input,
        output,
        cache_read,
        cache_write,
        ..
    } = answer.usage;
    if answer.usage.is_unknown() && answer.model.is_none() {
        return None;
    }
    let json = Json::object()
        .with("inputTokens", input.unwrap_or(0))
        .with("outputTokens", output.unwrap_or(0));
    let json = json
        .with_some("cacheReadTokens", cache_read)
        .with_some("cacheCreationTokens", cache_write);
    Some(
        json.with_some("providerId", answer.provider.as_deref())
            .with_some("model", answer.model.as_deref()),
    )
}

/// Returns the content string: plain text if there is only text and it cannot be parsed as blocks,
/// else blocks.
fn content(parts: &[Part]) -> String {
    let texts: Option<Vec<&str>> = parts
        .iter()
        .filter(|part| !matches!(part, Part::Media { .. }))
        .map(|part| {
            if let Part::Text(text) = part {
                Some(text.as_str())
            } else {
                None
            }
        })
        .collect();
    if let Some(texts) = texts {
        let text = texts.join("\n");
        if !(text.starts_with('[') && Raw::parse(text.as_bytes()).is_ok()) {
            return text;
        }
    }
    let blocks: Vec<Json> = parts
        .iter()
        .enumerate()
        .filter_map(|(at, part)| block(at, part))
        .collect();
    Json::Array(blocks).to_string()
}

fn block(at: usize, part: &Part) -> Option<Json> {
    Some(match part {
        Part::Text(text) => Json::object().with("type", "text").with("text", text),
        Part::Thinking { text, .. } => Json::object()
            .with("type", "thinking")
            .with("thinking", text)
            .with("isComplete", true),
        Part::Call { id, name, input } => {
            let tool = Json::object()
                .with("id", id)
                .with("name", name)
                .with("input", input.to_object());
            Json::object()
                .with("type", "tool_use")
                .with("tool", tool.with("streamIndex", at))
        }
        _ => return None,
    })
}

type Files = Vec<(String, Vec<u8>)>;

/// Returns the members of a row about its files, and the files. A file is stored under an id; its
/// row keeps the name that the user knows.
fn attachments(
    parts: &[Part],
    names: &[String],
    place: MessagePosition<'_>,
) -> Result<(Option<Vec<Json>>, Files)> {
    let (mut rows, mut files) = (Vec::new(), Files::new());
    for part in parts {
        let Part::Media {
            mime: Some(mime),
            source: MediaSource::Inline(base64),
        } = part
        else {
            continue;
        };
        let id = (place.name)();
        let (path, bytes) = attachment::file(place.session, &id, mime, base64)?;
        let given = names.get(rows.len()).filter(|name| !name.is_empty());
        let name = given.map_or_else(|| path.rsplit('/').next().unwrap_or(&path), String::as_str);
        rows.push(
            Json::object()
                .with("id", id)
                .with("name", name)
                .with("mimeType", mime)
                .with("path", &path),
        );
        files.push((format!("attachments/{path}"), bytes));
    }
    Ok(((!rows.is_empty()).then_some(rows), files))
}

/// Encodes a draft that already is a row of the app: checks it, puts it on one line, and adds id
/// and time.
fn native(bytes: &[u8], place: MessagePosition<'_>) -> Result<Encoded> {
    let raw = one_object(bytes)?;
    check_native(raw)?;
    let mut row = indent::compact(raw.bytes());
    if raw.get("id").is_none() {
        let mut head = Json::object().with("id", place.id).to_bytes();
        head.pop();
        head.push(b',');
        row.splice(..1, head);
    }
    if raw.get("timestamp").is_none() {
        let time = Json::from(place.at.to_rfc3339()).to_bytes();
        row = boswell_model::json::insert_member(&row, "timestamp", &time)
            .map_err(|fault| wrong(&fault.to_string()))?;
    }
    Ok(Encoded {
        row,
        files: Files::new(),
    })
}

fn wrong(why: &str) -> Error {
    Error::new(ErrorKind::Invalid, "this is not a row of a MyAgents transcript").because(why).advising(
        r#"write {"role":"user","content":"…"}, or {"role","text"}; blocks go into `content` as a JSON string"#,
    )
}

/// Refuses a row that the app cannot read.
fn check_native(raw: Raw<'_>) -> Result<()> {
    if !raw
        .get("role")
        .is_some_and(|role| role.is("user") || role.is("assistant"))
    {
        return Err(wrong("its role is neither `user` nor `assistant`"));
    }
    if raw
        .get("content")
        .is_none_or(|content| content.kind() != RawKind::String)
    {
        return Err(wrong("its content is not a string"));
    }
    if raw.get("type").is_some() {
        return Err(wrong("it has a type, which rows have not"));
    }
    if raw.get("id").is_some_and(|id| id.string().is_none()) {
        return Err(wrong("its id is not a string"));
    }
    if raw.get("timestamp").is_some_and(|time| {
        time.text()
            .is_none_or(|text| Instant::parse(&text).is_none())
    }) {
        return Err(wrong("its timestamp is not a valid time"));
    }
    for item in raw.get("attachments").iter().flat_map(|all| all.items()) {
        let path = item
            .get("path")
            .and_then(|path| path.text())
            .unwrap_or_default();
        if !path.is_empty() && !attachment::stays_inside(&path) {
            return Err(wrong(
                "an attachment's path leaves the folder of attachments",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(draft: &Draft) -> Result<String> {
        let place = MessagePosition {
            session: "s",
            id: "7",
            at: Instant::from_millis(0),
            name: &|| "att".to_owned(),
        };
        encode(draft, place).map(|it| String::from_utf8(it.row).unwrap())
    }

    fn native(text: &str) -> Result<String> {
        encoded(&Draft::new(Body::Native(text.as_bytes().to_vec())))
    }

    #[test]
    fn members_stand_in_the_order_of_the_app() {
        let time = "1970-01-01T00:00:00.000Z";
        assert_eq!(
            encoded(&Draft::user("你好")).unwrap(),
            format!(r#"{{"id":"7","role":"user","content":"你好","timestamp":"{time}"}}"#)
        );
        let call = Part::Call {
            id: "t".into(),
            name: "Bash".into(),
            input: Json::object().with("c", 1).into(),
        };
        let usage = Usage {
            input: Some(2),
            output: Some(3),
            ..Usage::default()
        };
        let answer = AssistantMessage {
            content: vec![Part::Text("a".into()), call],
            usage,
            ..AssistantMessage::default()
        };
        assert_eq!(
            encoded(&Draft::answer(answer)).unwrap(),
            format!(
                r#"{{"id":"7","role":"assistant","content":"[{{\"type\":\"text\",\"text\":\"a\"}},{{\"type\":\"tool_use\",\"tool\":{{\"id\":\"t\",\"name\":\"Bash\",\"input\":{{\"c\":1}},\"streamIndex\":1}}}}]","timestamp":"{time}","usage":{{"inputTokens":2,"outputTokens":3}},"toolCount":1}}"#
            )
        );
    }

    #[test]
    fn text_that_looks_like_blocks_stays_text() {
        assert!(
            encoded(&Draft::user("[draft] hi"))
                .unwrap()
                .contains(r#""content":"[draft] hi""#)
        );
        let array = encoded(&Draft::user("[1,2]")).unwrap();
        assert!(
            array.contains(r#""content":"[{\"type\":\"text\",\"text\":\"[1,2]\"}]""#),
            "{array}"
        );
    }

    #[test]
    fn a_native_row_is_checked_and_lacks_nothing_afterwards() {
        let row = native("{ \"role\": \"user\",\n \"content\": \"x\", \"odd\": 1.0 }").unwrap();
        assert_eq!(
            row,
            r#"{"id":"7","role":"user","content":"x","odd":1.0,"timestamp":"1970-01-01T00:00:00.000Z"}"#
        );
        for bad in [
            r#"{"role":"system","content":"x"}"#,
            r#"{"role":"user","content":[]}"#,
            r#"{"role":"user"}"#,
            r#"{"role":"user","content":"x","id":3}"#,
            r#"{"role":"user","content":"x","timestamp":"soon"}"#,
            r#"{"role":"user","content":"x","type":"user"}"#,
            r#"{"role":"user","content":"x","attachments":[{"path":"../../x"}]}"#,
        ] {
            assert_eq!(native(bad).unwrap_err().kind(), ErrorKind::Invalid, "{bad}");
        }
    }

    #[test]
    fn an_image_becomes_a_file_that_stays_in_its_folder() {
        let image = |mime: &str| {
            let part = Part::image("aGk=", mime);
            let place = MessagePosition {
                session: "s",
                id: "7",
                at: Instant::from_millis(0),
                name: &|| "att".to_owned(),
            };
            encode(
                &Draft::new(Body::User(vec![Part::Text("see".into()), part])),
                place,
            )
        };
        let good = image("image/svg+xml").unwrap();
        assert_eq!(
            good.files,
            [("attachments/s/att.svg+xml".to_owned(), b"hi".to_vec())]
        );
        assert!(
            String::from_utf8(good.row)
                .unwrap()
                .contains(r#""path":"s/att.svg+xml""#)
        );
        for bad in ["image/../../x", "image", "image/png/../x", "a/b\\c"] {
            assert_eq!(image(bad).unwrap_err().kind(), ErrorKind::Invalid, "{bad}");
        }
    }
}
