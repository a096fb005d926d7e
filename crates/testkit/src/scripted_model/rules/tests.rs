use serde_json::json;

use super::*;

const MESSAGES: &str = "/v1/messages";
const RESPONSES: &str = "/v1/responses";
const CHAT: &str = "/v1/chat/completions";
const GOOGLE: &str = "/v1beta/models/m:streamGenerateContent";

fn body(path: &str, history: Value) -> Value {
    match path {
        RESPONSES => json!({"store": false, "input": history}),
        GOOGLE => json!({"contents": history}),
        _ => json!({"messages": history}),
    }
}

fn use_of(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}})
}

fn result_of(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "out"})
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn assistant(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

fn function(id: &str, name: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": name, "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "out"})
}

fn chat_call(id: &str) -> Value {
    let function = json!({"name": "ls", "arguments": "{}"});
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

fn google_call(name: &str) -> Value {
    json!({"role": "model", "parts": [{"functionCall": {"id": "c", "name": name, "args": {}}}]})
}

fn google_result(name: &str) -> Value {
    let response = json!({"id": "c", "name": name, "response": {"output": "out"}});
    json!({"role": "user", "parts": [{"functionResponse": response}]})
}

/// Histories that break one rule each: a name, the path, the history, and a word of the refusal.
fn bad() -> Vec<(&'static str, &'static str, Value, &'static str)> {
    let hi = || user(json!("hi"));
    let said = |text: &str| json!({"role": "user", "parts": [{"text": text}]});
    let image = |kind: &str| json!({"type": "image", "source": {"type": "base64", "media_type": kind, "data": "AA=="}});
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "{\"id\":\"rs_1\"}"});
    let long = "c".repeat(65);
    vec![
        (
            "it begins with an answer",
            MESSAGES,
            json!([assistant(json!("x"))]),
            "first message",
        ),
        (
            "it has a developer message",
            MESSAGES,
            json!([hi(), {"role": "developer", "content": "x"}]),
            "role",
        ),
        (
            "an instruction follows an answer",
            MESSAGES,
            json!([hi(), assistant(json!("x")), {"role": "system", "content": "x"}, hi()]),
            "a system message",
        ),
        (
            "a text is empty",
            MESSAGES,
            json!([hi(), assistant(json!([{"type": "text", "text": ""}])), hi()]),
            "non-whitespace",
        ),
        (
            "a text is blank",
            MESSAGES,
            json!([user(json!(" \n"))]),
            "non-whitespace",
        ),
        (
            "a message is empty",
            MESSAGES,
            json!([hi(), assistant(json!([])), hi()]),
            "non-empty",
        ),
        (
            "a call has no result",
            MESSAGES,
            json!([hi(), assistant(json!([use_of("a")])), hi()]),
            "without `tool_result`",
        ),
        (
            "a result has no call",
            MESSAGES,
            json!([hi(), assistant(json!("x")), user(json!([result_of("a")]))]),
            "unexpected `tool_use_id`",
        ),
        (
            "a result comes too late",
            MESSAGES,
            json!([
                hi(),
                assistant(json!([use_of("a")])),
                assistant(json!("x")),
                user(json!([result_of("a")]))
            ]),
            "without `tool_result`",
        ),
        (
            "a text stands before a result",
            MESSAGES,
            json!([
                hi(),
                assistant(json!([use_of("a")])),
                user(json!([{"type": "text", "text": "x"}, result_of("a")]))
            ]),
            "must come first",
        ),
        (
            "an id is used twice",
            MESSAGES,
            json!([
                hi(),
                assistant(json!([use_of("a")])),
                user(json!([result_of("a")])),
                assistant(json!([use_of("a")])),
                user(json!([result_of("a")]))
            ]),
            "unique",
        ),
        (
            "an id has another alphabet",
            MESSAGES,
            json!([
                hi(),
                assistant(json!([use_of("call:1/2")])),
                user(json!([result_of("call:1/2")]))
            ]),
            "tool_use.id",
        ),
        (
            "reasoning is signed by another",
            MESSAGES,
            json!([hi(), assistant(json!([thought])), hi()]),
            "signature",
        ),
        (
            "an image has another type",
            MESSAGES,
            json!([user(json!([image("image/tiff")]))]),
            "media_type",
        ),
        (
            "an output has no call",
            RESPONSES,
            json!([output("a")]),
            "No tool call found",
        ),
        (
            "a call has no output",
            RESPONSES,
            json!([function("a", "ls")]),
            "No tool output found",
        ),
        (
            "a call id is too long",
            RESPONSES,
            json!([function(&long, "ls"), output(&long)]),
            "call_id",
        ),
        (
            "an answer has the part of a prompt",
            RESPONSES,
            json!([{"type": "message", "role": "assistant", "content": [{"type": "input_text", "text": "x"}]}]),
            "Supported values",
        ),
        (
            "reasoning is not sealed",
            RESPONSES,
            json!([{"type": "reasoning", "id": "rs_1", "summary": []}]),
            "not found",
        ),
        (
            "an image is a file",
            RESPONSES,
            json!([{"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "file:///x.png"}]}]),
            "image",
        ),
        (
            "a tool answers nothing",
            CHAT,
            json!([hi(), {"role": "tool", "tool_call_id": "a", "content": "x"}]),
            "preceding message",
        ),
        (
            "a chat call has no answer",
            CHAT,
            json!([hi(), chat_call("a"), hi()]),
            "must be followed",
        ),
        (
            "a chat id is too long",
            CHAT,
            json!([hi(), chat_call(&long)]),
            ".id",
        ),
        (
            "a function has no response",
            GOOGLE,
            json!([said("hi"), google_call("ls"), said("x")]),
            "function response parts",
        ),
        (
            "a response has no function",
            GOOGLE,
            json!([said("hi"), google_result("ls")]),
            "function response parts",
        ),
        (
            "a function is called after an answer",
            GOOGLE,
            json!([said("hi"), {"role": "model", "parts": [{"text": "x"}]}, google_call("ls"), google_result("ls")]),
            "after a user turn",
        ),
        (
            "a function is named otherwise",
            GOOGLE,
            json!([said("hi"), google_call("9/ls"), google_result("9/ls")]),
            "Invalid function name",
        ),
        (
            "a part is empty",
            GOOGLE,
            json!([{"role": "user", "parts": [{}]}]),
            "oneof",
        ),
        (
            "Google reads no GIF",
            GOOGLE,
            json!([{"role": "user", "parts": [{"inlineData": {"mimeType": "image/gif", "data": "AA=="}}]}]),
            "MIME",
        ),
    ]
}

#[test]
fn planted_bad_histories_are_refused_by_the_rule_that_they_break() {
    let bad = bad();
    assert!(bad.len() >= 20, "{}", bad.len());
    for (name, path, history, word) in bad {
        let why = refusal(path, &body(path, history));
        assert!(
            why.as_deref().is_some_and(|why| why.contains(word)),
            "{name}: {why:?}"
        );
    }
}

#[test]
fn good_histories_are_answered() {
    let good = [
        (
            MESSAGES,
            json!([
                user(json!("hi")),
                {"role": "system", "content": "be brief"},
                assistant(
                    json!([{"type": "thinking", "thinking": "", "signature": "AA=="}, {"type": "text", "text": "I look."}, use_of("a"), use_of("b")])
                ),
                user(json!([result_of("b"), result_of("a"), {"type": "text", "text": "go on"}])),
                assistant(json!("done")),
                user(json!("next")),
            ]),
        ),
        (
            RESPONSES,
            json!([
                {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]},
                {"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA=="}]},
                function("a", "shell"),
                output("a"),
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
            ]),
        ),
        (
            CHAT,
            json!([{"role": "system", "content": "x"}, user(json!("hi")), chat_call("a"), {"role": "tool", "tool_call_id": "a", "content": ""}]),
        ),
        (
            GOOGLE,
            json!([{"role": "user", "parts": [{"text": "hi"}]}, google_call("ls"), google_result("ls"), {"role": "model", "parts": [{"text": "x"}]}]),
        ),
    ];
    for (path, history) in good {
        assert_eq!(refusal(path, &body(path, history)), None, "{path}");
    }
}
