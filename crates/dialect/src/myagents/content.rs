//! The content of a row: plain text, or blocks encoded as JSON inside the string.

use std::borrow::Cow;

use boswell_model::Part;
use boswell_model::json::{Json, Raw, RawKind, set_member};

use super::{attachment, indent};

/// The content of a row, decoded.
#[derive(Debug)]
pub(crate) enum Content<'a> {
    /// Plain text.
    Text(Cow<'a, str>),
    /// The JSON text of an array of blocks.
    Blocks(Cow<'a, str>),
    /// Not a string: kept as JSON.
    Other(Raw<'a>),
    /// No content.
    Absent,
}

impl<'a> Content<'a> {
    /// Decodes by the rule of the app's loader: a string that starts with `[` and parses to an
    /// array is blocks, any other is text. A JSON array that a user typed cannot be distinguished
    /// from blocks, neither here nor in the app.
    pub(crate) fn of(value: Option<Raw<'a>>) -> Self {
        let Some(value) = value.filter(|v| !v.is_null()) else {
            return Content::Absent;
        };
        match value.kind() {
            RawKind::String => {
                let text = value.text().unwrap_or_default();
                let is_array = text.starts_with('[') && Raw::parse(text.as_bytes()).is_ok();
                if is_array {
                    Content::Blocks(text)
                } else {
                    Content::Text(text)
                }
            }
            RawKind::Array => Content::Blocks(Cow::Owned(lossy(value.bytes()))),
            _ => Content::Other(value),
        }
    }

    /// Iterates over the blocks as JSON, in order.
    pub(crate) fn items(&self) -> impl Iterator<Item = Raw<'_>> {
        let json = if let Content::Blocks(json) = self {
            json.trim_end()
        } else {
            "[]"
        };
        Raw::trusted(json.as_bytes()).items()
    }

    /// Returns the text of the text blocks.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Content::Text(text) => Cow::Borrowed(text),
            Content::Blocks(_) => {
                let texts: Vec<_> = self
                    .items()
                    .filter(|b| is(b, "text"))
                    .filter_map(|b| b.get("text")?.text())
                    .collect();
                Cow::Owned(texts.join("\n"))
            }
            Content::Other(_) | Content::Absent => Cow::Borrowed(""),
        }
    }

    /// Returns the number of tool calls in the row.
    pub(crate) fn calls(&self) -> u64 {
        self.items()
            .filter(|b| b.get("tool").is_some_and(|t| t.kind() == RawKind::Object))
            .count() as u64
    }

    /// What a person reads.
    pub(crate) fn blocks(&self) -> Vec<Part> {
        match self {
            Content::Text(text) if text.is_empty() => Vec::new(),
            Content::Text(text) => vec![Part::Text(text.clone().into_owned())],
            Content::Other(value) => vec![other("content", *value)],
            Content::Absent => Vec::new(),
            Content::Blocks(_) => self.items().flat_map(block).collect(),
        }
    }
}

fn block(item: Raw<'_>) -> Vec<Part> {
    let text_at = |key: &str| item.get(key).and_then(|t| t.text()).map(Cow::into_owned);
    let word = text_at("type").unwrap_or_default();
    match (
        word.as_str(),
        text_at("text"),
        text_at("thinking"),
        item.get("tool"),
    ) {
        ("text", Some(text), _, _) => vec![Part::Text(text)],
        ("thinking", _, Some(thinking), _) => vec![Part::thinking(thinking)],
        ("tool_use" | "server_tool_use", _, _, Some(tool)) if tool.kind() == RawKind::Object => {
            call(tool)
        }
        _ => vec![other(&word, item)],
    }
}

/// A call with its answer, which the app keeps inside the call, and the calls that a
/// subagent made for it.
fn call(tool: Raw<'_>) -> Vec<Part> {
    let mut out = vec![call_itself(tool)];
    let nested = tool.get("subagentCalls");
    for inner in nested
        .iter()
        .flat_map(|calls| calls.items())
        .filter(|inner| inner.kind() == RawKind::Object)
    {
        out.push(call_itself(inner));
        out.extend(answer(inner));
    }
    out.extend(answer(tool));
    let files = tool.get("attachments");
    out.extend(
        files
            .iter()
            .flat_map(|files| files.items())
            .map(attachment::block),
    );
    out
}

fn call_itself(tool: Raw<'_>) -> Part {
    let text_at = |key: &str| tool.get(key).and_then(|t| t.text()).map(Cow::into_owned);
    // While the arguments are streamed, `input` is empty and `inputJson` contains the text so far.
    // Newer versions leave it so, and state when the text is complete.
    let streamed = || text_at("inputJson").filter(|json| !json.is_empty());
    let stated = || {
        tool.get("input")
            .filter(|input| input.members().next().is_some())
            .map(|input| lossy(input.bytes()))
    };
    let input = streamed_input(tool).or_else(stated).or_else(streamed);
    Part::Call {
        id: text_at("id").unwrap_or_default(),
        name: text_at("name").unwrap_or_default(),
        input: input.unwrap_or_else(|| "{}".to_owned()).into(),
    }
}

/// Returns a block in which a call has its arguments, also where they are only streamed text.
pub(crate) fn with_input(block: Raw<'_>) -> Json {
    let whole = block.get("tool").and_then(streamed_input);
    let input = whole.map(|input| indent::compact(input.as_bytes()));
    let changed =
        input.and_then(|input| set_member(block.bytes(), &["tool", "input"], &input).ok());
    changed.map_or_else(|| Json::from(block), Json::Raw)
}

/// Returns the arguments of a call as they were streamed, once they are complete.
fn streamed_input(tool: Raw<'_>) -> Option<String> {
    let complete = tool.get("inputComplete").and_then(|it| it.bool()) == Some(true);
    let text = tool.get("inputJson").filter(|_| complete)?.text()?;
    Raw::parse(text.trim().as_bytes()).ok()?;
    Some(text.into_owned())
}

fn answer(tool: Raw<'_>) -> Option<Part> {
    let result = tool.get("result").filter(|result| !result.is_null())?;
    let text = result
        .text()
        .map_or_else(|| lossy(result.bytes()), Cow::into_owned);
    let call = tool
        .get("id")
        .and_then(|id| id.text())
        .unwrap_or_default()
        .into_owned();
    Some(Part::Result {
        call,
        text,
        is_error: tool.get("isError").and_then(|e| e.bool()) == Some(true),
    })
}

fn is(block: &Raw<'_>, word: &str) -> bool {
    block.get("type").is_some_and(|t| t.is(word))
}

fn other(word: &str, value: Raw<'_>) -> Part {
    Part::Other {
        word: word.to_owned(),
        json: lossy(value.bytes()),
    }
}

pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use boswell_model::json::Json;

    use super::*;

    fn blocks(content: &str) -> Vec<Part> {
        let json = Json::from(content).to_bytes();
        Content::of(Some(Raw::parse(&json).unwrap())).blocks()
    }

    #[test]
    fn only_a_string_that_parses_to_an_array_is_blocks() {
        assert_eq!(blocks("[草稿] hi"), [Part::Text("[草稿] hi".into())]);
        assert_eq!(blocks(" [1]"), [Part::Text(" [1]".into())]);
        assert_eq!(
            blocks("{\"type\":\"text\"}"),
            [Part::Text("{\"type\":\"text\"}".into())]
        );
        assert_eq!(
            blocks("[{\"type\":\"text\",\"text\":\"a\"}] \n"),
            [Part::Text("a".into())]
        );
        assert_eq!(blocks("[]"), []);
        assert_eq!(blocks(""), []);
    }

    #[test]
    fn a_call_carries_its_answer() {
        let content = r#"[{"type":"thinking","thinking":"hm","isComplete":true},{"type":"tool_use","tool":{"id":"t1","name":"Read","input":{"path":"a"},"streamIndex":1,"result":"ok","isError":true}},{"type":"text","text":"done"}]"#;
        assert_eq!(
            blocks(content),
            [
                Part::thinking("hm"),
                Part::Call {
                    id: "t1".into(),
                    name: "Read".into(),
                    input: "{\"path\":\"a\"}".into()
                },
                Part::Result {
                    call: "t1".into(),
                    text: "ok".into(),
                    is_error: true
                },
                Part::Text("done".into()),
            ]
        );
    }

    #[test]
    fn calls_of_a_subagent_stand_between_call_and_answer() {
        let content = r#"[{"type":"tool_use","tool":{"id":"t","name":"Task","input":{},"inputJson":"{\"a\":1}","result":{"x":[1]},"subagentCalls":[{"id":"s","name":"Bash","input":{"c":1},"result":"y"}]}}]"#;
        let found = blocks(content);
        assert_eq!(
            found[0],
            Part::Call {
                id: "t".into(),
                name: "Task".into(),
                input: "{\"a\":1}".into()
            }
        );
        assert_eq!(
            found[1],
            Part::Call {
                id: "s".into(),
                name: "Bash".into(),
                input: "{\"c\":1}".into()
            }
        );
        assert_eq!(
            found[2],
            Part::Result {
                call: "s".into(),
                text: "y".into(),
                is_error: false
            }
        );
        assert_eq!(
            found[3],
            Part::Result {
                call: "t".into(),
                text: "{\"x\":[1]}".into(),
                is_error: false
            }
        );
    }

    #[test]
    fn blocks_of_unknown_types_and_items_that_are_no_blocks_are_kept() {
        assert_eq!(
            blocks(r#"[{"type":"new","x":1},7]"#),
            [
                Part::Other {
                    word: "new".into(),
                    json: "{\"type\":\"new\",\"x\":1}".into()
                },
                Part::Other {
                    word: String::new(),
                    json: "7".into()
                },
            ]
        );
    }
}
