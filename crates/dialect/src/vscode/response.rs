//! The answer to a request: pieces of Markdown, thoughts, tools and edits.

use boswell_model::json::{Object, Raw, RawKind};
use boswell_model::{Part, Usage};

use crate::members::{lossy, plain, text};

/// Pieces that show nothing.
const SILENT: [&str; 4] = [
    "undoStop",
    "prepareToolInvocation",
    "mcpServersStarting",
    "codeblockUri",
];

/// Returns the parts of an answer.
pub(super) fn parts(object: &Object<'_>) -> Vec<Part> {
    let mut rounds = rounds(object);
    let mut parts: Vec<Part> = Vec::new();
    for piece in object.get("response").into_iter().flat_map(|it| it.items()) {
        add(piece, &mut rounds, &mut parts);
    }
    // Calls that the answer does not show.
    for (call, result) in rounds {
        parts.push(call);
        parts.extend(result);
    }
    parts.extend(error(object).map(Part::Text));
    parts
}

fn add(piece: Raw<'_>, rounds: &mut Vec<(Part, Option<Part>)>, parts: &mut Vec<Part>) {
    let kind = text(piece, "kind").unwrap_or_default();
    match kind.as_str() {
        "" | "markdownContent" | "markdownVuln" => {
            let value = piece.get("content").or_else(|| piece.get("value"));
            let said = value.map(markdown).unwrap_or_else(|| plain(piece));
            say(said, parts);
        }
        "inlineReference" => {
            let name = text(piece, "name").or_else(|| reference(piece.get("inlineReference")?));
            say(name.unwrap_or_default(), parts);
        }
        "thinking" => {
            let thought = piece.get("value").map(thought).unwrap_or_default();
            if !thought.is_empty() {
                parts.push(Part::thinking(thought));
            }
        }
        "toolInvocationSerialized" | "toolInvocation" => invocation(piece, rounds, parts),
        "progressMessage" | "progressTaskSerialized" | "warning" => {
            say_apart(piece.get("content").map(markdown), parts);
        }
        "confirmation" => {
            let said = [text(piece, "title"), piece.get("message").map(markdown)];
            said.into_iter().for_each(|said| say_apart(said, parts));
        }
        silent if SILENT.contains(&silent) => {}
        _ => parts.push(Part::Other {
            json: lossy(piece),
            word: kind,
        }),
    }
}

/// Pieces of one text follow each other.
fn say(said: String, parts: &mut Vec<Part>) {
    match parts.last_mut() {
        _ if said.is_empty() => {}
        Some(Part::Text(last)) => last.push_str(&said),
        _ => parts.push(Part::Text(said)),
    }
}

fn say_apart(said: Option<String>, parts: &mut Vec<Part>) {
    parts.extend(said.filter(|said| !said.is_empty()).map(Part::Text));
}

/// Markdown is a string, or an object with one.
pub(super) fn markdown(value: Raw<'_>) -> String {
    match value.kind() {
        RawKind::Object => text(value, "value").unwrap_or_default(),
        _ => plain(value),
    }
}

fn thought(value: Raw<'_>) -> String {
    match value.kind() {
        RawKind::Array => value.items().map(plain).collect::<Vec<_>>().join("\n"),
        _ => markdown(value),
    }
}

fn reference(of: Raw<'_>) -> Option<String> {
    let uri = of.get("uri").unwrap_or(of);
    text(of, "name")
        .or_else(|| text(uri, "path"))
        .or_else(|| text(uri, "fsPath"))
}

/// The calls of all rounds with their results, as the model got them.
fn rounds(object: &Object<'_>) -> Vec<(Part, Option<Part>)> {
    let metadata = object.get("result").and_then(|it| it.get("metadata"));
    let Some(metadata) = metadata else {
        return Vec::new();
    };
    let results = metadata.get("toolCallResults");
    let rounds = metadata.get("toolCallRounds").into_iter();
    let calls = rounds
        .flat_map(|it| it.items())
        .flat_map(|round| round.get("toolCalls").into_iter().flat_map(|it| it.items()));
    calls
        .map(|call| {
            let id = text(call, "id").unwrap_or_default();
            let result = results
                .and_then(|it| it.get(&id))
                .map(|result| Part::Result {
                    call: id.clone(),
                    text: result_text(result),
                    is_error: false,
                });
            let call = Part::Call {
                name: text(call, "name").unwrap_or_default(),
                input: call.get("arguments").map(plain).unwrap_or_default().into(),
                id,
            };
            (call, result)
        })
        .collect()
}

/// The texts of a result; other values stay JSON.
fn result_text(result: Raw<'_>) -> String {
    let Some(content) = result.get("content") else {
        return plain(result);
    };
    if content.text().is_some() {
        return plain(content);
    }
    let texts = content.items().map(|item| match item.get("value") {
        Some(value) => plain(value),
        None => plain(item),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A tool that ran. Its input and output are in the rounds, if the model called it.
fn invocation(piece: Raw<'_>, rounds: &mut Vec<(Part, Option<Part>)>, parts: &mut Vec<Part>) {
    let id = text(piece, "toolCallId").unwrap_or_default();
    let is_it = |(call, _): &(Part, Option<Part>)| {
        let of_call = match call {
            Part::Call { id, .. } => id.as_str(),
            _ => "",
        };
        !of_call.is_empty() && id.starts_with(of_call)
    };
    let shown = ["invocationMessage", "pastTenseMessage"]
        .iter()
        .filter_map(|key| piece.get(key).map(markdown))
        .filter(|said| !said.is_empty());
    let shown: Vec<String> = shown.collect();
    if let Some(at) = rounds.iter().position(is_it) {
        let (call, result) = rounds.remove(at);
        parts.push(call);
        parts.extend(result);
        say_apart(shown.last().cloned(), parts);
        return;
    }
    let specific = piece.get("toolSpecificData").filter(|it| !it.is_null());
    let details = piece.get("resultDetails").filter(|it| !it.is_null());
    parts.push(Part::Call {
        id: id.clone(),
        name: text(piece, "toolId").unwrap_or_default(),
        input: specific.map_or_else(|| "{}".to_owned(), lossy).into(),
    });
    let mut said = shown;
    said.extend(details.map(plain));
    parts.push(Part::Result {
        call: id,
        text: said.join("\n"),
        is_error: false,
    });
}

/// What the answer says about its failure.
fn error(object: &Object<'_>) -> Option<String> {
    let details = object.get("result")?.get("errorDetails")?;
    text(details, "message")
}

/// Returns the model and the tokens of an answer.
pub(super) fn spent(object: &Object<'_>) -> (Option<String>, Option<Usage>) {
    let result = object.get("result");
    let metadata = result.and_then(|it| it.get("metadata"));
    let count = |of: Option<Raw<'_>>, key: &str| of.and_then(|it| it.get(key)?.u64());
    let stated = result.and_then(|it| it.get("usage"));
    let usage = Usage {
        input: count(metadata, "promptTokens").or(count(stated, "promptTokens")),
        output: count(metadata, "outputTokens").or(count(stated, "completionTokens")),
        ..Usage::default()
    };
    let model = metadata.and_then(|it| text(it, "resolvedModel"));
    let model = model.or_else(|| text(object.raw(), "modelId"));
    (model, (!usage.is_unknown()).then_some(usage))
}
