//! The messages that are sent to a provider (`messages-repair`): 41 cases of xcsh, and the
//! differences of pi.

mod cases;

use crate::Refine;
use boswell_model::json::{Json, Raw};

use super::super::Pi;
use super::super::fixture::{entry, messages, v3};
use crate::{Dialect, ProviderMessage};

use cases::{KINDS, ORDER};

#[test]
fn pairing_vectors() {
    assert_eq!(ORDER.len() + KINDS.len() + SIZES, 41);
    for (name, said, expected) in ORDER.iter().chain(KINDS) {
        for pi in [Pi::XCSH, Pi::OMP] {
            assert_eq!(words(&sent(pi, said)), *expected, "{name} in {}", pi.name());
        }
    }
}

/// Number of cases in tests of their own: `messages-repair:713`.
const SIZES: usize = 1;

/// messages-repair:713 conversations of more than 1300 messages, in which every call is separated
/// from its results.
#[test]
fn a_thousand_calls_are_paired_once_each() {
    let mut said = vec!["u:go".to_owned()];
    said.extend((0..650).map(|n| format!("a:c{n}=read")));
    said.extend((0..650).map(|n| format!("r:c{n}=r")));
    let said: Vec<_> = said.iter().map(String::as_str).collect();
    let sent = words(&sent(Pi::XCSH, &said));
    assert_eq!(sent.len(), 1301);
    for (n, pair) in sent[1..].chunks(2).enumerate() {
        assert_eq!(pair, ["assistant".to_owned(), format!("c{n}@agent=r")]);
    }
}

#[test]
fn answers_come_in_their_own_order_and_those_made_up_behind_them() {
    let said = ["a:x=read,y=read,z=read", "r:z=3", "r:x=1"];
    assert_eq!(
        words(&sent(Pi::XCSH, &said)),
        ["assistant", "z@agent=3", "x@agent=1", "!y read"]
    );
}

#[test]
fn a_call_without_an_answer_gets_one_that_says_so_in_the_words_of_its_agent() {
    for (pi, text) in [
        (
            Pi::XCSH,
            "Tool execution was interrupted (session recovery).",
        ),
        (
            Pi::OMP,
            "Tool execution was interrupted (session recovery).",
        ),
        (Pi::PI, "No result provided"),
        (Pi::BOSWELL, "No result provided"),
    ] {
        let made = sent(pi, &["a:x=read"]).remove(1);
        let native = made.message.native.unwrap().to_string();
        let expected = format!(
            r#"{{"role":"toolResult","toolCallId":"x","toolName":"read","content":[{{"type":"text","text":"{text}"}}],"isError":true,"timestamp":7}}"#
        );
        assert_eq!((made.from, native), (None, expected), "{}", pi.name());
    }
}

#[test]
fn answers_before_their_call_and_second_answers_are_left_out() {
    let said = ["r:x=before", "a:x=read", "r:x=1", "r:x=again", "r:nobody=?"];
    assert_eq!(words(&sent(Pi::XCSH, &said)), ["assistant", "x@agent=1"]);
}

#[test]
fn an_id_that_is_used_again_is_answered_by_what_follows_it() {
    let said = ["a:x=read", "r:x=1", "a:x=read", "r:x=2"];
    assert_eq!(
        words(&sent(Pi::XCSH, &said)),
        ["assistant", "x@agent=1", "assistant", "x@agent=2"]
    );
    let broken_off = ["a:x=read", "a:x=read", "r:x=2"];
    assert_eq!(
        words(&sent(Pi::XCSH, &broken_off)),
        ["assistant", "!x read", "assistant", "x@agent=2"]
    );
    assert_eq!(
        words(&sent(Pi::XCSH, &["a:x=read,x=read", "r:x=1"])),
        ["assistant", "x@agent=1"]
    );
}

/// messages-sanitize:124–230: a command and Python with and without output, cancelled, failed.
#[test]
fn commands_say_how_they_ended() {
    let said = [
        r#"{"role":"bashExecution","command":"a","output":""}"#,
        "s:-",
        r#"{"role":"bashExecution","command":"b","output":"o","cancelled":true,"exitCode":1}"#,
        "s:-",
        r#"{"role":"bashExecution","command":"c","output":"o","exitCode":127}"#,
        "s:-",
        r#"{"role":"pythonExecution","code":"d","output":"","cancelled":true}"#,
        "s:-",
        r#"{"role":"pythonExecution","code":"e","output":"","exitCode":1}"#,
    ];
    let expected = [
        "user@user:Ran `a`\n(no output)",
        "user@user:Ran `b`\n```\no\n```\n\n(command cancelled)",
        "user@user:Ran `c`\n```\no\n```\n\nCommand exited with code 127",
        "user@user:Ran Python:\n```python\nd\n```\n(no output)\n\n(execution cancelled)",
        "user@user:Ran Python:\n```python\ne\n```\n(no output)\n\nExecution failed with code 1",
    ];
    let sent = words(&sent(Pi::XCSH, &said));
    assert_eq!(
        sent.iter()
            .filter(|word| word.starts_with("user"))
            .collect::<Vec<_>>(),
        expected.iter().collect::<Vec<_>>()
    );
}

/// pi states no author, merges nothing, does not send failed messages again, and has no Python and
/// no mentioned files.
#[test]
fn pi_sends_in_its_own_way() {
    let said = [
        "u:one",
        "u:two",
        r#"{"role":"assistant","content":[{"type":"toolCall","id":"f","name":"read","arguments":{}}],"stopReason":"error"}"#,
        "r:f=left over",
        r#"{"role":"bashExecution","command":"ls","output":"o","truncated":true,"fullOutputPath":"/t/o.log"}"#,
        r#"{"role":"pythonExecution","code":"e","output":""}"#,
        r#"{"role":"fileMention","files":[{"path":"a","content":"1"}]}"#,
        r#"{"role":"hookMessage","customType":"old","content":"hook","display":true}"#,
        "c:custom",
        r#"branch_summary "summary":"left","fromId":"x""#,
        "a:x=read",
        "r:x=1",
    ];
    for pi in [Pi::PI, Pi::BOSWELL] {
        let sent = words(&sent(pi, &said));
        assert_eq!(
            sent,
            [
                "user:one",
                "user:two",
                "user:Ran `ls`\n```\no\n```\n\n[Output truncated. Full output: /t/o.log]",
                "user:custom",
                "user:<summary>\nleft\n</summary>",
                "assistant",
                "x=1"
            ],
            "{}",
            pi.name()
        );
    }
}

#[test]
fn messages_that_were_joined_say_which_they_were() {
    let sent = sent(Pi::XCSH, &["u:one", "c:two", "u:three", "s:ok"]);
    let places: Vec<_> = sent
        .iter()
        .map(|sent| (sent.from, sent.joined.clone()))
        .collect();
    assert_eq!(places, [(Some(0), vec![1, 2]), (Some(3), vec![])]);
    let native = sent[0].message.native.as_ref().unwrap().to_string();
    assert!(
        native.starts_with(r#"{"role":"user","content":[{"type":"text","text":"one"},{"#),
        "{native}"
    );
    assert!(
        native.ends_with(r#""timestamp":1,"attribution":"user"}"#),
        "the first gives everything but the text: {native}"
    );
}

#[test]
fn a_text_that_is_no_list_is_not_joined() {
    let said = ["u:one", r#"{"role":"user","content":"two"}"#, "u:three"];
    assert_eq!(
        words(&sent(Pi::XCSH, &said)),
        ["user@user:one", "user@user:two", "user@user:three"]
    );
}

fn sent(pi: Pi, said: &[&str]) -> Vec<ProviderMessage> {
    let entries: Vec<_> = said
        .iter()
        .enumerate()
        .map(|(at, said)| line(at + 1, said))
        .collect();
    pi.provider_messages(messages(pi, &v3(&entries), None))
}

/// Returns an entry that is the child of the one before it.
fn line(at: usize, said: &str) -> String {
    let (id, parent) = (
        at.to_string(),
        if at == 1 {
            String::new()
        } else {
            (at - 1).to_string()
        },
    );
    let message = |message: &str| entry("message", &id, &parent, &format!("\"message\":{message}"));
    if said.starts_with('{') {
        return message(said);
    }
    if let Some((kind, rest)) = said
        .split_once(' ')
        .filter(|(_, rest)| rest.starts_with('"'))
    {
        return entry(kind, &id, &parent, rest);
    }
    match said.split_at(2) {
        ("u:", text) => message(&format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}],"timestamp":1}}"#
        )),
        ("c:", text) => entry(
            "custom_message",
            &id,
            &parent,
            &format!(r#""customType":"t","content":"{text}","display":false"#),
        ),
        ("s:", text) => message(&format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}"#
        )),
        ("a:", calls) => {
            let call = |call: &str| {
                let (id, tool) = call.split_once('=').unwrap();
                format!(r#"{{"type":"toolCall","id":"{id}","name":"{tool}","arguments":{{}}}}"#)
            };
            let calls: Vec<_> = calls.split(',').map(call).collect();
            message(&format!(
                r#"{{"role":"assistant","content":[{}],"timestamp":7}}"#,
                calls.join(",")
            ))
        }
        ("r:", result) => {
            let (call, text) = result.split_once('=').unwrap();
            message(&format!(
                r#"{{"role":"toolResult","toolCallId":"{call}","content":[{{"type":"text","text":"{text}"}}],"isError":false}}"#
            ))
        }
        other => panic!("{other:?}"),
    }
}

fn words(sent: &[ProviderMessage]) -> Vec<String> {
    sent.iter().map(word).collect()
}

fn word(sent: &ProviderMessage) -> String {
    let native = sent.message.native.as_ref().unwrap().to_bytes();
    let native = Raw::parse(&native).unwrap();
    let text = |raw: Raw<'_>, key: &str| {
        raw.get(key)
            .and_then(|value| value.text())
            .map(|text| text.into_owned())
    };
    assert_eq!(
        text(native, "role").as_ref(),
        Some(&sent.message.role),
        "both shapes say the same"
    );
    let part = |part: &Json| {
        let bytes = part.to_bytes();
        let raw = Raw::trusted(&bytes);
        text(raw, "text").or_else(|| text(raw, "type").filter(|kind| kind == "image"))
    };
    let parts: Vec<_> = sent.message.content.iter().filter_map(part).collect();
    let by = text(native, "attribution")
        .map(|by| format!("@{by}"))
        .unwrap_or_default();
    if sent.message.role == "toolResult" {
        let call = text(native, "toolCallId").unwrap();
        return match sent.from {
            Some(_) => format!("{call}{by}={}", parts.join("|")),
            None => {
                assert_eq!(native.get("isError").unwrap().bool(), Some(true));
                format!("!{call} {}", text(native, "toolName").unwrap())
            }
        };
    }
    let payload = native
        .get("providerPayload")
        .map(|payload| format!(" {}", Json::from(payload)))
        .unwrap_or_default();
    let colon = if parts.is_empty() { "" } else { ":" };
    format!(
        "{}{by}{colon}{}{payload}",
        sent.message.role,
        parts.join("|")
    )
}
