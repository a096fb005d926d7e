//! Pairs tool calls with their results, as providers demand it of what they are sent.
//!
//! A turn that was interrupted leaves a call without a result, and a provider refuses every later
//! turn of that conversation. The log does not change: this is only about what is handed out.

use std::collections::HashMap;

use boswell_model::{Part, Result};
use boswell_store::{ChatMessage, Role, Session};

use crate::entry_range::branch_tip;

/// What the result says that stands in for a missing one.
const INTERRUPTED: &str = "No result: the call was interrupted.";

/// A message as it is handed out.
#[derive(Debug, Clone, PartialEq)]
pub struct HandedMessage {
    /// The message.
    pub message: ChatMessage,
    /// Whether it stands in for a result that was never written, and is not in the log.
    pub interrupted: bool,
}

/// Returns the messages of a conversation, at the leaf or at another entry. `paired` is what a
/// model would be sent: results behind their calls, each once, and one that says so in the place
/// of each that is missing. Without it, they are as they were written.
///
/// # Errors
///
/// `NotFound` if there is no such entry; an I/O error if the session cannot be read.
pub fn handed_messages(
    session: &Session,
    at: Option<&str>,
    paired: bool,
) -> Result<Vec<HandedMessage>> {
    let messages = session.messages_at(branch_tip(session, at)?)?;
    Ok(if paired {
        paired_messages(messages)
    } else {
        messages.into_iter().map(written).collect()
    })
}

fn paired_messages(messages: Vec<ChatMessage>) -> Vec<HandedMessage> {
    let mut answers = answers(&messages);
    let mut held: Vec<Option<ChatMessage>> = messages.into_iter().map(Some).collect();
    let mut handed = Vec::with_capacity(held.len());
    for at in 0..held.len() {
        let place = held.get_mut(at);
        let Some(message) = place.and_then(|it| it.take_if(|it| answered(it).is_none())) else {
            continue;
        };
        let mut open = calls(&message);
        handed.push(written(message));
        for answer in answers.remove(&at).into_iter().flatten() {
            let Some(answer) = held.get_mut(answer).and_then(Option::take) else {
                continue;
            };
            open.retain(|(call, _)| Some(call.as_str()) != answered(&answer));
            handed.push(written(answer));
        }
        handed.extend(open.into_iter().map(interrupted));
    }
    handed
}

/// Returns for each message with calls the indexes of their results, in the order of the log. If
/// an id is used again, a result belongs to the last call before it.
fn answers(messages: &[ChatMessage]) -> HashMap<usize, Vec<usize>> {
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut answers: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        if let Some(call) = answered(message) {
            if let Some(asked) = open.remove(call) {
                answers.entry(asked).or_default().push(at);
            }
            continue;
        }
        open.extend(message.calls().map(|(id, ..)| (id, at)));
    }
    answers
}

/// Returns the call that a message answers. A result without an id cannot be paired, and stays
/// where it is.
fn answered(message: &ChatMessage) -> Option<&str> {
    match &message.role {
        Role::Tool { call, .. } if !call.is_empty() => Some(call),
        _ => None,
    }
}

/// Returns id and tool of every call that can be answered, each id once.
fn calls(message: &ChatMessage) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String)> = Vec::new();
    for (id, tool, _) in message.calls() {
        if !id.is_empty() && calls.iter().all(|(call, _)| call != id) {
            calls.push((id.to_owned(), tool.to_owned()));
        }
    }
    calls
}

fn written(message: ChatMessage) -> HandedMessage {
    HandedMessage {
        message,
        interrupted: false,
    }
}

fn interrupted((call, tool): (String, String)) -> HandedMessage {
    let role = Role::Tool {
        call,
        tool,
        is_error: true,
    };
    HandedMessage {
        message: ChatMessage::new(role, vec![Part::Text(INTERRUPTED.to_owned())]),
        interrupted: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> ChatMessage {
        ChatMessage::new(Role::User, vec![Part::Text(text.to_owned())])
    }

    fn asks(ids: &[&str]) -> ChatMessage {
        let part = |id: &&str| Part::Call {
            id: (*id).to_owned(),
            name: "read".to_owned(),
            input: Default::default(),
        };
        ChatMessage::new(Role::Assistant, ids.iter().map(part).collect())
    }

    fn result(call: &str, text: &str) -> ChatMessage {
        let role = Role::Tool {
            call: call.to_owned(),
            tool: "read".to_owned(),
            is_error: false,
        };
        ChatMessage::new(role, vec![Part::Text(text.to_owned())])
    }

    /// `user`, `calls`, `x=text` for a result, `!x` for one that was made.
    fn words(messages: Vec<ChatMessage>) -> Vec<String> {
        let word = |handed: HandedMessage| match (&handed.message.role, handed.interrupted) {
            (Role::Tool { call, is_error, .. }, true) if *is_error => format!("!{call}"),
            (Role::Tool { call, .. }, false) => format!("{call}={}", handed.message.text()),
            (Role::Assistant, false) => "calls".to_owned(),
            (_, is_made) => format!("{}{}", handed.message.text(), u8::from(is_made)),
        };
        paired_messages(messages).into_iter().map(word).collect()
    }

    #[test]
    fn a_call_that_was_interrupted_is_answered_with_a_result_that_says_so() {
        assert_eq!(
            words(vec![asks(&["x", "y"]), result("y", "1"), user("go on")]),
            ["calls", "y=1", "!x", "go on0"]
        );
        assert_eq!(words(vec![asks(&["x"])]), ["calls", "!x"]);
    }

    #[test]
    fn a_result_follows_its_call_once_and_one_without_a_call_is_left_out() {
        let said = vec![
            result("x", "before"),
            asks(&["x"]),
            user("a word between"),
            result("x", "1"),
            result("x", "again"),
            result("nobody", "?"),
        ];
        assert_eq!(words(said), ["calls", "x=1", "a word between0"]);
    }

    #[test]
    fn an_id_that_is_used_again_is_answered_for_each_call() {
        let said = vec![asks(&["x"]), asks(&["x"]), result("x", "2")];
        assert_eq!(words(said), ["calls", "!x", "calls", "x=2"]);
    }

    #[test]
    fn calls_and_results_without_an_id_stay_where_they_are() {
        let said = vec![asks(&[""]), user("between"), result("", "1")];
        assert_eq!(words(said), ["calls", "between0", "=1"]);
    }
}
