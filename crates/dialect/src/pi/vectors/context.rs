//! Test vectors of the programs: the context at a leaf (`build-context`, 20 cases), the cost of a
//! session (`usage-statistics`), and the data that a reload drops (`messages-sanitize`).

use boswell_model::{Settings, Tip};

use super::super::Pi;
use super::super::fixture::{
    Bytes, HEADER, assistant, compaction, context, entry, messages, read, texts, user, v3,
};
use crate::Dialect;

const HEIRS: &[Pi] = &[Pi::XCSH, Pi::OMP];
const ALL: &[Pi] = &[Pi::PI, Pi::BOSWELL, Pi::XCSH, Pi::OMP];

/// A case: the upstream test, the flavours, the session, the leaf, and the texts that are sent.
type Case = (
    &'static str,
    &'static [Pi],
    Vec<String>,
    Option<&'static str>,
    &'static [&'static str],
);

#[test]
fn context_vectors() {
    for (name, whom, entries, leaf, expected) in cases() {
        for pi in whom {
            assert_eq!(
                texts(*pi, &v3(&entries), leaf),
                expected,
                "{name} in {}",
                pi.name()
            );
        }
    }
}

fn cases() -> Vec<Case> {
    [
        conversations(),
        compactions(),
        branches(),
        branches_with_a_compaction(),
        leaves(),
    ]
    .concat()
}

fn conversations() -> Vec<Case> {
    vec![
        ("build-context:66 no entries", ALL, vec![], None, &[]),
        (
            "build-context:73 one user message",
            ALL,
            vec![user("1", "", "hello")],
            None,
            &["hello"],
        ),
        (
            "build-context:119 a simple conversation",
            ALL,
            vec![
                user("1", "", "hello"),
                assistant("2", "1", "hi"),
                user("3", "2", "how are you"),
                assistant("4", "3", "great"),
            ],
            None,
            &["hello", "hi", "how are you", "great"],
        ),
        (
            "build-context:131 a thinking level says nothing",
            ALL,
            vec![
                user("1", "", "hello"),
                entry(
                    "thinking_level_change",
                    "2",
                    "1",
                    r#""thinkingLevel":"high""#,
                ),
                assistant("3", "2", "thinking hard"),
            ],
            None,
            &["hello", "thinking hard"],
        ),
    ]
}

fn compactions() -> Vec<Case> {
    vec![
        (
            "build-context:161 the summary comes before what is kept",
            ALL,
            vec![
                user("1", "", "first"),
                assistant("2", "1", "response1"),
                user("3", "2", "second"),
                assistant("4", "3", "response2"),
                compaction("5", "4", "Summary", "3"),
                user("6", "5", "third"),
                assistant("7", "6", "response3"),
            ],
            Some("7"),
            &["Summary", "second", "response2", "third", "response3"],
        ),
        (
            "build-context:182 all is kept from the first message on",
            ALL,
            vec![
                user("1", "", "first"),
                assistant("2", "1", "response"),
                compaction("3", "2", "Empty summary", "1"),
                user("4", "3", "second"),
            ],
            Some("4"),
            &["Empty summary", "first", "response", "second"],
        ),
        (
            "build-context:231 of several compactions the last",
            ALL,
            vec![
                user("1", "", "a"),
                assistant("2", "1", "b"),
                compaction("3", "2", "First summary", "1"),
                user("4", "3", "c"),
                assistant("5", "4", "d"),
                compaction("6", "5", "Second summary", "4"),
                user("7", "6", "e"),
            ],
            Some("7"),
            &["Second summary", "c", "d", "e"],
        ),
    ]
}

fn branches() -> Vec<Case> {
    let branches = vec![
        user("1", "", "start"),
        assistant("2", "1", "response"),
        user("3", "2", "branch A"),
        user("4", "2", "branch B"),
    ];
    vec![
        (
            "build-context:250 one branch",
            ALL,
            branches.clone(),
            Some("3"),
            &["start", "response", "branch A"],
        ),
        (
            "build-context:250 the other branch",
            ALL,
            branches,
            Some("4"),
            &["start", "response", "branch B"],
        ),
        (
            "build-context:270 the summary of a branch on the path",
            ALL,
            vec![
                user("1", "", "start"),
                assistant("2", "1", "response"),
                user("3", "2", "abandoned"),
                entry(
                    "branch_summary",
                    "4",
                    "2",
                    r#""summary":"Summary of it","fromId":"3""#,
                ),
                user("5", "4", "new direction"),
            ],
            Some("5"),
            &["start", "response", "Summary of it", "new direction"],
        ),
    ]
}

fn branches_with_a_compaction() -> Vec<Case> {
    let complex = vec![
        user("1", "", "start"),
        assistant("2", "1", "r1"),
        user("3", "2", "q2"),
        assistant("4", "3", "r2"),
        compaction("5", "4", "Compacted history", "3"),
        user("6", "5", "q3"),
        assistant("7", "6", "r3"),
        user("8", "3", "wrong path"),
        assistant("9", "8", "wrong response"),
        entry(
            "branch_summary",
            "10",
            "3",
            r#""summary":"Tried wrong approach","fromId":"9""#,
        ),
        user("11", "10", "better"),
    ];
    vec![
        (
            "build-context:285 branches and a compaction, the compacted path",
            ALL,
            complex.clone(),
            Some("7"),
            &["Compacted history", "q2", "r2", "q3", "r3"],
        ),
        (
            "build-context:285 branches and a compaction, the other path",
            ALL,
            complex,
            Some("11"),
            &["start", "r1", "q2", "Tried wrong approach", "better"],
        ),
    ]
}

fn leaves() -> Vec<Case> {
    let two = || vec![user("1", "", "hello"), assistant("2", "1", "hi")];
    vec![
        (
            "build-context:327 without a leaf it is the last entry",
            ALL,
            two(),
            None,
            &["hello", "hi"],
        ),
        (
            "build-context:333 an orphan begins its own path",
            ALL,
            vec![user("1", "", "hello"), assistant("2", "missing", "orphan")],
            Some("2"),
            &["orphan"],
        ),
    ]
}

/// build-context:66, :131, :142, :148, :366: the settings in force, as far as an entry states them.
#[test]
fn settings_vectors() {
    let settings = |pi: Pi, entries: &[String]| context(pi, &v3(entries), None).settings;
    for pi in ALL {
        let name = pi.name();
        assert_eq!(
            settings(*pi, &[]),
            Settings::default(),
            "build-context:66 in {name}"
        );
        let level = entry(
            "thinking_level_change",
            "2",
            "1",
            r#""thinkingLevel":"high""#,
        );
        let thinking = settings(*pi, &[user("1", "", "a"), level, assistant("3", "2", "b")]);
        assert_eq!(
            thinking.thinking_level.as_deref(),
            Some("high"),
            "build-context:131 in {name}"
        );
        let answered = settings(*pi, &[user("1", "", "a"), assistant("2", "1", "b")]);
        assert_eq!(
            answered.model.as_deref(),
            Some("anthropic/claude-test"),
            "build-context:142 in {name}"
        );
        let change = r#""model":"openai/gpt-4","provider":"openai","modelId":"gpt-4""#;
        let changed = [
            user("1", "", "a"),
            entry("model_change", "2", "1", change),
            assistant("3", "2", "b"),
        ];
        let overridden = settings(*pi, &changed);
        assert_eq!(
            overridden.model.as_deref(),
            Some("anthropic/claude-test"),
            "build-context:148 in {name}"
        );
        assert_eq!(answered.other, [], "build-context:366 in {name}");
    }
}

/// build-context:345 and :355, context-change:5: the platform of a session is the last one named.
#[test]
fn context_change_vectors() {
    let bound = |id: &str, parent: &str, name: &str| {
        entry(
            "context_change",
            id,
            parent,
            &format!(r#""contextName":"{name}","tenant":"of-{name}","namespace":"n""#),
        )
    };
    let one = vec![bound("1", "", "dev")];
    let two = vec![bound("1", "", "dev"), bound("2", "1", "prod")];
    for (name, entries, expected) in [
        ("build-context:345", one, "dev"),
        ("build-context:355", two, "prod"),
    ] {
        let other = context(Pi::XCSH, &v3(&entries), None).settings.other;
        let json =
            format!(r#"{{"contextName":"{expected}","tenant":"of-{expected}","namespace":"n"}}"#);
        assert_eq!(other, [("context".to_owned(), json)], "{name}");
    }
}

/// build-context:80 and :100: the author of a custom message is passed on if it is known, and never
/// invented.
#[test]
fn custom_messages_keep_who_is_behind_them() {
    for pi in HEIRS {
        let native = |rest: &str| {
            let custom = format!(r#""customType":"t","content":"c","display":true{rest}"#);
            let text = v3(&[entry("custom_message", "1", "", &custom)]);
            messages(*pi, &text, None)
                .remove(0)
                .native
                .unwrap()
                .to_string()
        };
        assert!(
            native(r#","attribution":"user""#).contains(r#""attribution":"user""#),
            "build-context:80"
        );
        assert!(
            native(r#","attribution":"agent""#).contains(r#""attribution":"agent""#),
            "build-context:80"
        );
        assert!(!native("").contains("attribution"), "build-context:100");
    }
}

/// build-context:196: the history that a provider compacted replaces the preserved entries.
#[test]
fn a_remote_compaction_stands_alone() {
    let data = r#""summary":"sum","firstKeptEntryId":"1","tokensBefore":1,"preserveData":{"openaiRemoteCompaction":{"provider":"openai","replacementHistory":[{"a":1},{"b":2}],"compactionItem":{"c":3}}}"#;
    let text = v3(&[
        user("1", "", "a"),
        assistant("2", "1", "b"),
        entry("compaction", "3", "2", data),
        user("4", "3", "c"),
    ]);
    for pi in HEIRS {
        let sent = messages(*pi, &text, None);
        let roles: Vec<_> = sent.iter().map(|message| message.role.as_str()).collect();
        assert_eq!(roles, ["compactionSummary", "user"], "build-context:196");
        let native = sent[0].native.as_ref().unwrap().to_string();
        let payload = r#""providerPayload":{"type":"openaiResponsesHistory","provider":"openai","items":[{"a":1},{"b":2}]}"#;
        assert!(native.contains(payload), "build-context:196: {native}");
    }
}

/// build-context:66 with a null leaf: before the first entry the context is empty, also if the
/// session has entries.
#[test]
fn a_leaf_of_nothing_is_empty() {
    let text = v3(&[user("1", "", "a")]);
    for pi in ALL {
        let context = pi
            .context(&read(*pi, &text).view(&Bytes(&text)), Tip::Root)
            .unwrap();
        assert!(context.items.is_empty());
    }
    assert_eq!(texts(Pi::XCSH, HEADER, None), [] as [&str; 0]);
}

/// usage-statistics:5, :53, :98: usage of subagents and of every branch, premium requests, and
/// usage that is not stated.
#[test]
fn usage_vectors() {
    let said = |id: &str, requests: &str| {
        let usage = format!(
            r#""usage":{{"input":10,"output":5,"cacheRead":0,"cacheWrite":0{requests},"cost":{{"total":0}}}}"#
        );
        entry(
            "message",
            id,
            "",
            &format!(r#""message":{{"role":"assistant","content":[],{usage}}}"#),
        )
    };
    let task = |requests: &str| {
        let usage = format!(r#"{{"input":2,"output":3{requests}}}"#);
        let message = format!(
            r#"{{"role":"toolResult","toolName":"task","content":[],"details":{{"usage":{usage}}}}}"#
        );
        entry("message", "t", "", &format!("\"message\":{message}"))
    };
    for (name, first, second, expected) in [
        (
            "usage-statistics:5",
            r#","premiumRequests":1"#,
            r#","premiumRequests":2"#,
            Some(3.0),
        ),
        (
            "usage-statistics:53",
            r#","premiumRequests":0.33"#,
            r#","premiumRequests":3"#,
            Some(3.33),
        ),
        // xcsh reports 0; we report usage that is not stated as unknown.
        ("usage-statistics:98", "", "", None),
        (
            "usage-statistics:98 in one of two",
            "",
            r#","premiumRequests":2"#,
            Some(2.0),
        ),
    ] {
        let total = read(Pi::XCSH, &v3(&[said("1", first), task(second)]))
            .meta
            .usage
            .total();
        assert_eq!((total.input, total.output), (Some(12), Some(8)), "{name}");
        match (total.premium_requests, expected) {
            (Some(sum), Some(expected)) => assert!((sum - expected).abs() < 1e-8, "{name}: {sum}"),
            (sum, expected) => assert_eq!(sum, expected, "{name}"),
        }
    }
}

/// messages-sanitize:45–:99: a reload drops the data that OpenAI expects back, and nothing of other
/// providers.
#[test]
fn sanitize_vectors() {
    let native = |blocks: &str, payload: &str| {
        let message = format!(r#""message":{{"role":"assistant","content":[{blocks}]{payload}}}"#);
        messages(Pi::XCSH, &v3(&[entry("message", "1", "", &message)]), None)
            .remove(0)
            .native
            .unwrap()
            .to_string()
    };
    let openai = r#","providerPayload":{"type":"openaiResponsesHistory","items":[1]}"#;
    let (signed, unsigned) = (
        r#"{"type":"thinking","thinking":"a","thinkingSignature":"s"}"#,
        r#"{"type":"thinking","thinking":"a"}"#,
    );
    let text = r#"{"type":"text","text":"t","textSignature":"k"}"#;
    for (name, blocks, payload, expected) in [
        ("messages-sanitize:45 others", signed, "", signed.to_owned()),
        (
            "messages-sanitize:67 and :78 payload and signature go",
            signed,
            openai,
            unsigned.to_owned(),
        ),
        (
            "messages-sanitize:90 no signatures of thinking",
            text,
            openai,
            text.to_owned(),
        ),
        (
            "messages-sanitize:99 some of them",
            &format!("{signed},{unsigned},{text}"),
            openai,
            format!("{unsigned},{unsigned},{text}"),
        ),
    ] {
        let expected = format!(r#"{{"role":"assistant","content":[{expected}]}}"#);
        assert_eq!(native(blocks, payload), expected, "{name}");
    }
    let other = r#","providerPayload":{"type":"else"}"#;
    assert!(
        native(signed, other).contains(r#""thinkingSignature":"s"}],"providerPayload""#),
        "messages-sanitize:45"
    );
}
