//! Calls and their answers, as a provider wants them: every call is followed by exactly one answer, at once.
//!
//! A log may hold a call without an answer (the agent died), an answer that comes later (somebody spoke in between) or one without a
//! call (its call was left behind). Storage stays as it is; this is about what is sent.

use std::collections::{HashMap, VecDeque};

use boswell_model::Message;
use boswell_model::json::{Json, Raw};

use crate::Sent;

/// What a model is told about a call that was never answered.
const INTERRUPTED: &str = "Tool execution was interrupted (session recovery).";

/// Puts every answer behind its call, makes up those that are missing, and leaves out those without a call.
pub(super) fn paired(messages: Vec<Message>) -> Vec<Sent> {
    let mut answers: HashMap<String, VecDeque<usize>> = HashMap::new();
    for (at, message) in messages.iter().enumerate().filter(|(_, message)| message.role == "toolResult") {
        answers.entry(member(message, "toolCallId")).or_default().push_back(at);
    }
    let mut sent = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate().filter(|(_, message)| message.role != "toolResult") {
        sent.push(Sent { from: Some(at), message: message.clone() });
        if message.role != "assistant" {
            continue;
        }
        for (call, tool) in calls(message) {
            let later = answers.get_mut(&call).and_then(|places| {
                places.retain(|place| *place > at);
                places.pop_front()
            });
            sent.push(match later.and_then(|place| Some((place, messages.get(place)?))) {
                Some((place, answer)) => Sent { from: Some(place), message: answer.clone() },
                None => Sent { from: None, message: interrupted(message, &call, &tool) },
            });
        }
    }
    sent
}

/// Id and tool of every call in an answer.
fn calls(message: &Message) -> Vec<(String, String)> {
    let call = |part: &Json| {
        let bytes = part.to_bytes();
        let raw = Raw::trusted(&bytes);
        let text = |key: &str| raw.get(key).and_then(|value| value.text()).map(|text| text.into_owned());
        raw.get("type")
            .is_some_and(|word| word.is("toolCall"))
            .then(|| (text("id").unwrap_or_default(), text("name").unwrap_or_default()))
    };
    message.content.iter().filter_map(call).collect()
}

fn interrupted(asked: &Message, call: &str, tool: &str) -> Message {
    let content = vec![Json::object().with("type", "text").with("text", INTERRUPTED)];
    let bytes = asked.native.as_ref().map(Json::to_bytes).unwrap_or_default();
    let native = Json::object()
        .with("role", "toolResult")
        .with("toolCallId", call)
        .with("toolName", tool)
        .with("content", content.clone())
        .with("isError", true)
        .with_some("timestamp", Raw::parse(&bytes).ok().and_then(|raw| raw.get("timestamp")?.i64()));
    Message { role: "toolResult".to_owned(), content, native: Some(native) }
}

fn member(message: &Message, key: &str) -> String {
    let bytes = message.native.as_ref().map(Json::to_bytes).unwrap_or_default();
    Raw::parse(&bytes).ok().and_then(|raw| raw.get(key)?.text().map(|text| text.into_owned())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::Pi;
    use super::super::fixture::{entry, messages, user, v3};
    use super::*;
    use crate::Dialect;

    fn asks(id: &str, parent: &str, calls: &[&str]) -> String {
        let blocks: Vec<_> = calls
            .iter()
            .map(|call| format!(r#"{{"type":"toolCall","id":"{call}","name":"read","arguments":{{}}}}"#))
            .collect();
        let message = format!(r#""message":{{"role":"assistant","content":[{}],"timestamp":7}}"#, blocks.join(","));
        entry("message", id, parent, &message)
    }

    fn answers(id: &str, parent: &str, call: &str, text: &str) -> String {
        let message = format!(
            r#""message":{{"role":"toolResult","toolCallId":"{call}","toolName":"read","content":[{{"type":"text","text":"{text}"}}],"isError":false}}"#
        );
        entry("message", id, parent, &message)
    }

    /// What is sent: the call and text of an answer, the role of everything else; `!` before what was made up.
    fn sent(entries: &[String]) -> Vec<String> {
        let word = |sent: Sent| {
            let text = sent.message.content.first().map(Json::to_bytes).unwrap_or_default();
            let text = Raw::parse(&text).ok().and_then(|raw| raw.get("text")?.text().map(|t| t.into_owned()));
            let made = if sent.from.is_none() { "!" } else { "" };
            match sent.message.role.as_str() {
                "toolResult" => format!("{made}{}={}", member(&sent.message, "toolCallId"), text.unwrap_or_default()),
                role => role.to_owned(),
            }
        };
        Pi::XCSH.sent(messages(Pi::XCSH, &v3(entries), None)).into_iter().map(word).collect()
    }

    #[test]
    fn what_is_paired_stays_as_it_is() {
        let text =
            [user("1", "", "a"), asks("2", "1", &["x", "y"]), answers("3", "2", "x", "1"), answers("4", "3", "y", "2")];
        assert_eq!(sent(&text), ["user", "assistant", "x=1", "y=2"]);
    }

    #[test]
    fn an_answer_that_comes_late_moves_up_to_its_call() {
        let text = [
            asks("1", "", &["x", "y"]),
            user("2", "1", "in between"),
            answers("3", "2", "y", "2"),
            asks("4", "3", &["z"]),
            answers("5", "4", "x", "1"),
            answers("6", "5", "z", "3"),
        ];
        assert_eq!(sent(&text), ["assistant", "x=1", "y=2", "user", "assistant", "z=3"]);
    }

    #[test]
    fn a_call_without_an_answer_gets_one_that_says_so() {
        let text = [asks("1", "", &["x", "y"]), answers("2", "1", "y", "2"), user("3", "2", "go on")];
        assert_eq!(sent(&text), ["assistant", &format!("!x={INTERRUPTED}"), "y=2", "user"]);
        let made = Pi::PI.sent(messages(Pi::PI, &v3(&text), None)).remove(1).message;
        let native = made.native.unwrap().to_bytes();
        let raw = Raw::parse(&native).unwrap();
        assert_eq!((raw.get("isError").unwrap().bool(), raw.get("timestamp").unwrap().i64()), (Some(true), Some(7)));
    }

    #[test]
    fn answers_without_a_call_and_second_answers_are_left_out() {
        let text = [
            answers("0", "", "x", "before its call"),
            asks("1", "0", &["x"]),
            answers("2", "1", "x", "1"),
            answers("3", "2", "x", "again"),
            answers("4", "3", "nobody", "?"),
        ];
        assert_eq!(sent(&text), ["assistant", "x=1"]);
    }

    #[test]
    fn an_id_that_is_used_again_is_answered_again() {
        let text =
            [asks("1", "", &["x"]), answers("2", "1", "x", "1"), asks("3", "2", &["x"]), answers("4", "3", "x", "2")];
        assert_eq!(sent(&text), ["assistant", "x=1", "assistant", "x=2"]);
    }

    #[test]
    fn a_thousand_calls_are_paired_once_each() {
        let mut text = vec![user("u", "", "go")];
        let call = |number: usize| format!("c{number}");
        for number in 0..650 {
            let parent = text.len();
            text.push(asks(&format!("a{parent}"), "", &[&call(number)]).replace(
                "null",
                &format!("\"{}\"", if parent == 1 { "u".to_owned() } else { format!("a{}", parent - 1) }),
            ));
        }
        for number in 0..650 {
            let parent = text.len();
            text.push(answers(&format!("a{parent}"), &format!("a{}", parent - 1), &call(number), "r"));
        }
        let sent = sent(&text);
        assert_eq!(sent.len(), 1301);
        assert!(sent[1..].chunks(2).enumerate().all(|(n, pair)| pair == ["assistant".to_owned(), format!("c{n}=r")]));
    }
}
