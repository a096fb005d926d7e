//! Sessions for the comparison with pi: one per rule, and random ones.

/// A name, a session, and the leaves to compare besides the tip and the root.
pub(crate) type TreeCase = (&'static str, String, &'static [&'static str]);

/// Returns at least one tree per rule.
pub(crate) fn trees() -> Vec<TreeCase> {
    let mut all = conversations();
    all.extend(compactions());
    all.extend(odd_links());
    all.extend(damaged());
    all.extend(first_versions());
    all.extend(other_versions());
    all
}

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"S","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}"#;
const TIME: &str = r#""timestamp":"2025-01-01T00:00:00Z""#;

fn v3(entries: &[String]) -> String {
    format!("{HEADER}\n{}\n", entries.join("\n"))
}

fn entry(kind: &str, id: &str, parent: &str, rest: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{parent}\"")
    };
    let rest = if rest.is_empty() {
        String::new()
    } else {
        format!(",{rest}")
    };
    format!(r#"{{"type":"{kind}","id":"{id}","parentId":{parent},{TIME}{rest}}}"#)
}

fn message(id: &str, parent: &str, body: &str) -> String {
    entry("message", id, parent, &format!(r#""message":{{{body}}}"#))
}

fn user(id: &str, parent: &str) -> String {
    message(
        id,
        parent,
        &format!(r#""role":"user","content":"says {id}","timestamp":1"#),
    )
}

fn answer(id: &str, parent: &str) -> String {
    let call =
        format!(r#"{{"type":"toolCall","id":"c{id}","name":"read","arguments":{{"path":"x"}}}}"#);
    let text = format!(r#"{{"type":"text","text":"answers {id} 会\ud83d"}}"#);
    let rest = r#""usage":{"input":0.50,"cost":{"total":5e-7}},"stopReason":"stop","timestamp":2"#;
    let body = format!(
        r#""role":"assistant","content":[{text},{call}],"provider":"p","model":"m{id}",{rest}"#
    );
    message(id, parent, &body)
}

fn compaction(id: &str, parent: &str, kept: &str) -> String {
    let rest = format!(
        r#""summary":"sum {id}","shortSummary":"no","firstKeptEntryId":"{kept}","tokensBefore":1000"#
    );
    entry("compaction", id, parent, &rest)
}

fn change(kind: &str, id: &str, parent: &str, to: &str) -> String {
    match kind {
        "model_change" => entry(
            kind,
            id,
            parent,
            &format!(r#""provider":"q","modelId":"{to}""#),
        ),
        _ => entry(kind, id, parent, &format!(r#""thinkingLevel":"{to}""#)),
    }
}

fn conversations() -> Vec<TreeCase> {
    let branches = [
        user("1", ""),
        answer("2", "1"),
        user("3", "2"),
        answer("4", "3"),
        user("5", "2"),
        answer("6", "5"),
    ];
    let summaries = [
        user("1", ""),
        answer("2", "1"),
        user("3", "2"),
        entry(
            "branch_summary",
            "4",
            "2",
            r#""summary":"tried","fromId":"2","details":{"readFiles":[]}"#,
        ),
        user("5", "4"),
        entry("branch_summary", "6", "5", r#""summary":"","fromId":"5""#),
        entry(
            "branch_summary",
            "7",
            "",
            r#""summary":"anew","fromId":"root""#,
        ),
    ];
    let metadata = [
        user("1", ""),
        entry("label", "2", "1", r#""targetId":"1","label":"here""#),
        entry("session_info", "3", "2", r#""name":"n""#),
        entry("custom", "4", "3", r#""customType":"t","data":{"a":1}"#),
        entry(
            "from_the_future",
            "5",
            "4",
            r#""message":{"role":"user","content":"no"}"#,
        ),
    ];
    let moved = [
        user("1", ""),
        answer("2", "1"),
        user("3", "2"),
        entry("custom", "4", "1", r#""customType":"boswell.leaf""#),
    ];
    let custom = [
        entry(
            "custom_message",
            "1",
            "",
            r#""customType":"a","content":"text","display":true"#,
        ),
        entry(
            "custom_message",
            "2",
            "1",
            r#""customType":"b","content":[{"type":"text","text":"x"}],"display":false,"details":{"k":null},"attribution":"user""#,
        ),
        message(
            "3",
            "2",
            r#""role":"custom","customType":"c","content":"y","display":true"#,
        ),
    ];
    let settings = [
        change("model_change", "1", "", "n"),
        change("thinking_level_change", "2", "1", "high"),
        user("3", "2"),
        answer("4", "3"),
        change("model_change", "5", "4", "late"),
        change("thinking_level_change", "6", "5", "low"),
    ];
    let roles = [
        message(
            "1",
            "",
            r#""role":"bashExecution","command":"ls","output":"","exitCode":0"#,
        ),
        message(
            "2",
            "1",
            r#""role":"toolResult","toolCallId":"c","toolName":"t","content":[],"isError":true,"prunedAt":5"#,
        ),
        message(
            "3",
            "2",
            r#""role":"fileMention","files":[{"path":"a","content":"b"}]"#,
        ),
        message(
            "4",
            "3",
            r#""role":"hookMessage","content":"stays in version 3""#,
        ),
        message("5", "4", r#""role":"of tomorrow","x":[1.0,1e2]"#),
    ];
    vec![
        (
            "one line",
            v3(&[user("1", ""), answer("2", "1"), user("3", "2")]),
            &["1", "2"],
        ),
        ("branches", v3(&branches), &["4", "6", "2"]),
        ("branch summaries", v3(&summaries), &["5", "6", "3"]),
        ("labels, names and state", v3(&metadata), &["2", "4"]),
        ("a custom entry that moves the leaf", v3(&moved), &["3"]),
        ("custom messages", v3(&custom), &["1", "2"]),
        ("models and thinking", v3(&settings), &["1", "2", "4", "5"]),
        ("other roles", v3(&roles), &["2"]),
    ]
}

fn compactions() -> Vec<TreeCase> {
    let one = [
        user("1", ""),
        answer("2", "1"),
        user("3", "2"),
        answer("4", "3"),
        compaction("5", "4", "3"),
        user("6", "5"),
    ];
    let two = [
        user("1", ""),
        answer("2", "1"),
        compaction("3", "2", "1"),
        user("4", "3"),
        answer("5", "4"),
        compaction("6", "5", "2"),
        user("7", "6"),
        answer("8", "7"),
    ];
    let empty = [
        user("1", ""),
        user("aside", ""),
        compaction("2", "1", "aside"),
        user("3", "2"),
        entry(
            "compaction",
            "4",
            "3",
            r#""summary":"no target","tokensBefore":null"#,
        ),
        compaction("5", "4", "5"),
        compaction("6", "5", "7"),
        user("7", "6"),
    ];
    let branch = [
        user("1", ""),
        answer("2", "1"),
        compaction("3", "2", "2"),
        user("4", "3"),
        user("5", "2"),
        answer("6", "5"),
    ];
    vec![
        ("a compaction", v3(&one), &["4", "5"]),
        (
            "two compactions with overlapping rows",
            v3(&two),
            &["3", "5", "6"],
        ),
        (
            "compactions that keep nothing",
            v3(&empty),
            &["2", "3", "4", "5", "6"],
        ),
        ("a compaction on one branch", v3(&branch), &["4", "6"]),
    ]
}

fn odd_links() -> Vec<TreeCase> {
    let twice = [
        user("1", ""),
        answer("2", "1"),
        answer("2", "1"),
        user("3", "2"),
        user("1", ""),
        user("4", "3"),
    ];
    let two_contents = [
        user("1", ""),
        message("1", "", r#""role":"user","content":"second""#),
        user("2", "1"),
    ];
    let unlinked = v3(&[user("1", ""), answer("2", "1")])
        .replace("\"parentId\":null,", "")
        .replace("\"parentId\":\"1\",", "");
    let nameless = |text: &str| {
        format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#)
    };
    vec![
        (
            "forward parents",
            v3(&[user("2", "3"), user("3", ""), answer("4", "2")]),
            &["2"],
        ),
        (
            "two roots",
            v3(&[
                user("1", ""),
                answer("2", "1"),
                user("3", ""),
                answer("4", "3"),
            ]),
            &["2", "4"],
        ),
        (
            "orphans",
            v3(&[user("1", ""), answer("2", "gone"), user("3", "2")]),
            &["2"],
        ),
        (
            "parents that name the session",
            v3(&[user("1", "S"), answer("2", "1")]),
            &["1"],
        ),
        ("lines that stand there twice", v3(&twice), &["1", "2"]),
        ("one id with two contents", v3(&two_contents), &["1"]),
        ("entries without parent fields", unlinked, &["1"]),
        (
            "entries without ids",
            v3(&[nameless("a"), nameless("b")]),
            &[],
        ),
    ]
}

fn damaged() -> Vec<TreeCase> {
    let lines = [
        format!("\u{feff}{HEADER}\r"),
        "\r".to_owned(),
        format!("{}\r", user("1", "")),
        "not json".to_owned(),
        r#"{"type":"mess"#.to_owned(),
        answer("2", "1"),
        r#"{"type":"torn"#.to_owned(),
    ];
    let doubled = r#"{"type":"label","type":"message","id":"0","id":"1","parentId":"9","parentId":null,"message":{"role":"assistant","role":"user","content":"x"}}"#;
    let custom = |id: &str, parent: &str, rest: &str| {
        format!(r#"{{"type":"custom_message","id":"{id}","parentId":"{parent}"{rest}}}"#)
    };
    let times = [
        custom("1", "", r#","customType":"t","content":"c""#),
        custom(
            "2",
            "1",
            r#","timestamp":17,"customType":"t","content":"c""#,
        ),
        custom("3", "2", r#","timestamp":null,"content":7"#),
        custom(
            "4",
            "3",
            r#","timestamp":"2025-06-01T10:00:00.123+02:00","content":null"#,
        ),
    ];
    vec![
        (
            "damaged lines, empty lines and carriage returns",
            lines.join("\n"),
            &["1"],
        ),
        (
            "doubled keys",
            v3(&[doubled.to_owned(), user("2", "1")]),
            &["1"],
        ),
        ("odd times", v3(&times), &["1"]),
    ]
}

/// Returns entries of version 1, with an index that counts them and no ids.
fn v1(kept: &str) -> String {
    let said = |text: &str| {
        format!(r#"{{"type":"message",{TIME},"message":{{"role":"user","content":"{text}"}}}}"#)
    };
    let compaction = format!(
        r#"{{"type":"compaction",{TIME},"summary":"s","firstKeptEntryIndex":{kept},"tokensBefore":5}}"#
    );
    let hook = format!(
        r#"{{"type":"message",{TIME},"message":{{"role":"hookMessage","customType":"t","content":"h"}}}}"#
    );
    let lines = [
        HEADER.replace("\"version\":3,", ""),
        said("a"),
        said("b"),
        format!(r#"{{"type":"model_change",{TIME},"provider":"p","modelId":"m"}}"#),
        said("c"),
        compaction,
        hook,
        said("d"),
    ];
    lines.join("\n")
}

fn first_versions() -> Vec<TreeCase> {
    let with_ids = v1("2").replace(
        "{\"type\":\"message\",",
        "{\"type\":\"message\",\"id\":\"x\",\"parentId\":\"x\",",
    );
    vec![
        ("version 1", v1("2"), &[]),
        ("version 1, kept from a setting", v1("3"), &[]),
        ("version 1, an index at the header", v1("0"), &[]),
        ("version 1, an index at the compaction", v1("5"), &[]),
        ("version 1, an index past the compaction", v1("6"), &[]),
        ("version 1, an index beyond the file", v1("99"), &[]),
        ("version 1, an index that is no number", v1("\"2\""), &[]),
        ("version 1 with ids of its own", with_ids, &[]),
    ]
}

fn other_versions() -> Vec<TreeCase> {
    let version = |entries: &[String], version: &str| {
        v3(entries).replace("\"version\":3", &format!("\"version\":{version}"))
    };
    let newer = [
        user("1", ""),
        entry("tool_execution_started", "2", "1", r#""toolCallId":"c""#),
        answer("3", "2"),
    ];
    let older = [
        user("1", ""),
        message(
            "2",
            "1",
            r#""role":"hookMessage","customType":"t","content":"h","display":true"#,
        ),
        message(
            "3",
            "2",
            r#""customType":"t","content":"h","role":"custom""#,
        ),
        user("4", "2"),
    ];
    vec![
        ("version 2", version(&older, "2"), &["2", "3"]),
        ("version 4", version(&newer, "4"), &["1"]),
        ("version 99", version(&newer, "99"), &["1"]),
        ("a version in words", version(&newer, "\"0.1.0\""), &["1"]),
    ]
}

/// A small random number generator: a seed always gives the same tree.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Returns entries in random order, each the child of an earlier one, of none, or of a missing one.
/// No cycles: pi would loop forever.
pub(crate) fn random_tree(dice: &mut Dice) -> String {
    let count = 1 + dice.below(14);
    let mut lines: Vec<String> = Vec::new();
    for n in 0..count {
        let id = n.to_string();
        let parent = match dice.below(12) {
            0 => String::new(),
            1 => "gone".to_owned(),
            _ if n == 0 => String::new(),
            2..6 => dice.below(n).to_string(),
            _ => (n - 1).to_string(),
        };
        lines.push(match dice.below(16) {
            12 => message(
                &id,
                &parent,
                r#""role":"bashExecution","command":"ls","output":"","exitCode":2,"timestamp":1"#,
            ),
            13 => message(
                &id,
                &parent,
                r#""role":"bashExecution","command":"x","output":"o","excludeFromContext":true"#,
            ),
            14 => entry(
                "custom_message",
                &id,
                &parent,
                r#""customType":"t","content":"c","display":true"#,
            ),
            15 => answer(&id, &parent)
                .replace("\"stopReason\":\"stop\"", "\"stopReason\":\"aborted\""),
            0..4 => user(&id, &parent),
            4..7 => answer(&id, &parent),
            7 | 8 => compaction(&id, &parent, &dice.below(count).to_string()),
            9 => entry(
                "branch_summary",
                &id,
                &parent,
                r#""summary":"s","fromId":"root""#,
            ),
            10 => change("model_change", &id, &parent, "n"),
            _ => change("thinking_level_change", &id, &parent, "high"),
        });
    }
    for _ in 0..dice.below(4) {
        let (a, b) = (dice.below(count), dice.below(count));
        lines.swap(a, b);
    }
    if dice.below(4) == 0 {
        let again = lines[dice.below(count)].clone();
        lines.push(again);
    }
    v3(&lines)
}
