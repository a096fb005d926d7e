//! Terminal output: nothing hostile, everything aligned, every line of JSON valid.

use boswell_testkit::{TestHome, disk};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::bench::{Bench, Ran};

/// Clears the screen, sets colours by C0 and C1, reverses the reading direction, rings the bell,
/// hides and overwrites.
const HOSTILE: &str = "a\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{85}\u{202e}drow\u{2066}\u{200f}\u{feff}\u{2028}\u{e0041}\u{7f}\r\u{8}\0\u{61c}\u{ad}\u{180e}\u{3164}\u{2029}\u{fff9}\u{e0100}\u{200d}\u{2064}z会话";

/// Whether a character is in the table of invisible ones, even where it would be harmless: here
/// none is part of an emoji.
fn is_harmful(c: char) -> bool {
    c != '\n' && c != '\t' && boswell_model::unseen(c).is_some()
}

#[track_caller]
fn harmless(ran: &Ran) {
    for (stream, text) in [("stdout", ran.text()), ("stderr", ran.stderr.clone())] {
        let found: Vec<char> = text.chars().filter(|c| is_harmful(*c)).collect();
        assert!(found.is_empty(), "{found:?} on {stream} of {ran:?}");
    }
}

/// Returns a pi session with hostile text in every place that is shown.
fn hostile_pi() -> Vec<u8> {
    let at = "2026-10-05T08:00:00.000Z";
    let usage = json!({"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}});
    let call = json!({"type": "toolCall", "id": HOSTILE, "name": HOSTILE, "arguments": {"path": HOSTILE, HOSTILE: HOSTILE}});
    let assistant = json!({"role": "assistant", "provider": HOSTILE, "model": HOSTILE, "api": HOSTILE, "stopReason": "toolUse", "usage": usage, "timestamp": 1,
        "content": [{"type": "thinking", "thinking": HOSTILE}, {"type": "text", "text": HOSTILE}, call, {"type": HOSTILE, HOSTILE: HOSTILE}]});
    let result = json!({"role": "toolResult", "toolCallId": HOSTILE, "toolName": HOSTILE, "isError": true, "timestamp": 1,
        "content": [{"type": "text", "text": HOSTILE}, {"type": "image", "mimeType": HOSTILE, "data": HOSTILE}]});
    let rows = [
        json!({"type": "session", "version": 3, "id": HOSTILE, "timestamp": at, "cwd": format!("/{HOSTILE}"), "title": HOSTILE}),
        json!({"type": "model_change", "id": "m", "parentId": null, "timestamp": at, "provider": HOSTILE, "modelId": HOSTILE}),
        json!({"type": "thinking_level_change", "id": "t", "parentId": "m", "timestamp": at, "thinkingLevel": HOSTILE}),
        json!({"type": "message", "id": HOSTILE, "parentId": "t", "timestamp": at, "message": {"role": "user", "content": HOSTILE, "timestamp": 1}}),
        json!({"type": "message", "id": "b", "parentId": HOSTILE, "timestamp": at, "message": assistant}),
        json!({"type": "message", "id": "c", "parentId": "b", "timestamp": at, "message": result}),
        json!({"type": "label", "id": "l", "parentId": "c", "timestamp": at, "targetId": "b", "label": HOSTILE}),
        json!({"type": "session_info", "id": "n", "parentId": "l", "timestamp": at, "name": HOSTILE}),
        json!({"type": "custom_message", "id": "u", "parentId": "n", "timestamp": at, "customType": HOSTILE, "content": HOSTILE, "display": true}),
        json!({"type": HOSTILE, "id": "x", "parentId": "u", "timestamp": HOSTILE, HOSTILE: HOSTILE}),
        json!({"type": "message", "id": "o", "parentId": HOSTILE, "timestamp": at, "message": {"role": "user", "content": "another branch", "timestamp": 1}}),
        json!({"type": "message", "id": "p", "parentId": format!("{HOSTILE}?"), "timestamp": at, "message": {"role": HOSTILE, "content": HOSTILE}}),
    ];
    let mut bytes: Vec<u8> = rows
        .iter()
        .flat_map(|row| format!("{row}\n").into_bytes())
        .collect();
    // Unescaped where JSON allows it, and outside of any record.
    bytes.extend_from_slice("{\"type\":\"message\",\"id\":\"r\",\"parentId\":\"o\",\"message\":{\"role\":\"user\",\"content\":\"raw \u{9b}31m\u{202e}\u{7f}\u{2028}\"}}\n".as_bytes());
    bytes.extend_from_slice(format!("garbage {HOSTILE}\n").replace('\0', "").as_bytes());
    bytes
}

/// Runs every reading command on a session, as text and as JSON.
fn every_command(bench: &Bench, session: &str) -> Vec<Ran> {
    let commands: &[&[&str]] = &[
        &["show"],
        &["show", "--records"],
        &["show", "--records", "--raw"],
        &["show", "--thinking", "--tools=full"],
        &["show", "--entry", "b"],
        &["tree"],
        &["context"],
        &["check"],
        &["files"],
        &["attachments"],
        &["resume", "--print"],
    ];
    let mut ran = Vec::new();
    for args in commands {
        for json in [None, Some("--json")] {
            ran.push(bench.run(args.iter().copied().chain([session]).chain(json)));
        }
    }
    ran
}

#[test]
fn hostile_text_never_reaches_the_terminal_as_it_is() {
    let bench = Bench::new();
    let folder = bench.home().join(".pi/agent/sessions/--x--");
    let path = folder.join("2026-10-05T08-00-00-000Z_0197aaaa-0000-7000-8000-000000000001.jsonl");
    disk::write(&path, &hostile_pi());
    let odd = folder.join(format!(
        "2026-10-05T08-00-00-000Z_{}.jsonl",
        HOSTILE.replace(['\0', '/'], "")
    ));
    disk::write(&odd, &hostile_pi());
    for session in [path.to_str().unwrap(), odd.to_str().unwrap()] {
        for ran in every_command(&bench, session) {
            harmless(&ran);
            assert!(matches!(ran.code, Some(0..=2)), "{ran:?}");
            if ran.what.contains("--json") {
                ran.lines();
            }
        }
    }
    for args in [
        &["list", "--hidden"] as &[&str],
        &["stores"],
        &["projects"],
        &["check"],
        &["memory", "all"],
        &["show", "0197"],
    ] {
        for json in [None, Some("--json")] {
            let ran = bench.run(args.iter().copied().chain(json));
            harmless(&ran);
            if json.is_some() {
                ran.lines();
            }
        }
    }
    let shown = bench
        .run(["show", path.to_str().unwrap(), "--records"])
        .ends(0)
        .text();
    assert!(
        shown.contains("\\x1b[2J") && shown.contains("\\u{202e}") && shown.contains("会话"),
        "{shown}"
    );
}

#[test]
fn emoji_and_scripts_that_need_joiners_are_shown_as_they_are() {
    let bench = Bench::new();
    let said = "👩\u{200d}💻 ❤\u{fe0f} نمی\u{200c}خواهم 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
    let at = "2026-10-05T08:00:00.000Z";
    let rows = [
        json!({"type": "session", "version": 3, "id": "0b7e0b7e", "timestamp": at, "cwd": "/w"}),
        json!({"type": "message", "id": "a", "parentId": null, "timestamp": at, "message": {"role": "user", "content": said, "timestamp": 1}}),
    ];
    let bytes: Vec<u8> = rows
        .iter()
        .flat_map(|row| format!("{row}\n").into_bytes())
        .collect();
    let path = bench.plant("emoji.jsonl", &bytes);
    let path = path.to_str().unwrap();
    for args in [
        &["show", path] as &[&str],
        &["export", path, "--format", "md"],
        &["export", path, "--format", "html"],
    ] {
        let text = bench.run(args.iter().copied()).ends(0).text();
        assert!(text.contains(said), "{args:?}: {text}");
    }
    let shown = bench.run(["show", path, "--json"]).ends(0);
    assert!(shown.text().contains(said), "{shown:?}");
    assert_eq!(shown.of_type("entry")[0]["text"], said);
}

#[test]
fn invisible_characters_reach_neither_pages_nor_json() {
    let bench = Bench::new();
    // An entity counts like the character that a renderer shows for it.
    let said = "a\u{61c}b\u{200b}c&#x61c;d&#8238;e&lrm;f\u{3164}";
    let row = json!({"type": "message", "id": "a", "parentId": null, "message": {"role": "user", "content": said, "timestamp": 1}});
    let header = json!({"type": "session", "version": 3, "id": "0b7e0b7e", "timestamp": "2026-10-05T08:00:00.000Z", "cwd": "/w\u{61c}"});
    let path = bench.plant("odd.jsonl", format!("{header}\n{row}\n").as_bytes());
    let path = path.to_str().unwrap();
    for format in ["md", "html"] {
        let page = bench.run(["export", path, "--format", format]).ends(0);
        harmless(&page);
        let page = page.text();
        let mut html = String::new();
        match format {
            "md" => pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new(&page)),
            _ => html.push_str(&page),
        }
        assert!(
            html.contains("a\\u{61c}b\\u{200b}c\\u{61c}d\\u{202e}e\\u{200e}f"),
            "{html}"
        );
        assert!(!html.chars().any(is_harmful), "{html}");
    }
    for args in [
        ["show", path],
        ["tree", path],
        ["context", path],
        ["list", "--store"],
    ] {
        let args = if args[0] == "list" {
            vec!["list"]
        } else {
            args.to_vec()
        };
        harmless(&bench.run(args.iter().copied()));
        harmless(&bench.run(args.iter().copied().chain(["--json"])));
    }
    assert_eq!(
        bench.run(["show", path, "--json"]).ends(0).of_type("entry")[0]["text"],
        said,
        "the value is unchanged"
    );
}

#[test]
fn what_was_typed_comes_back_harmless_in_errors() {
    let bench = Bench::new();
    let typed = HOSTILE.replace('\0', "");
    let file = format!("./{typed}.jsonl");
    for args in [
        &["show", typed.as_str()] as &[&str],
        &["show", &file],
        &["show", "--entry", &typed, "pi:x"],
        &["list", "--since", &typed],
        &["list", "--cursor", &typed],
        &["list", "--store", &typed],
        &["memory", &typed],
        &["memory", "x", &typed],
        &["check", &file],
    ] {
        for json in [None, Some("--json")] {
            let ran = bench.run(args.iter().copied().chain(json));
            harmless(&ran);
            if json.is_some() && ran.code == Some(2) {
                let line: Value = serde_json::from_str(ran.stderr.trim())
                    .unwrap_or_else(|e| panic!("{e}: {ran:?}"));
                assert_eq!(line["type"], "error");
            }
        }
    }
}

#[test]
fn white_space_between_the_tokens_of_a_record_does_not_break_json_lines() {
    let bench = Bench::new();
    let record = "{\"type\":\"message\",\t\"id\":\"a\",\"parentId\":null,\"message\":\t{\"role\":\"assistant\",\r\"content\":[{\"type\":\"toolCall\",\"id\":\"1\",\"name\":\"read\",\"arguments\":{\"path\":\t\"x\",\r\"n\":\t1}},{\"type\":\"odd\",\t\"x\":\t2}]}}";
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"0197aaaa-0000-7000-8000-000000000001\",\"timestamp\":\"2026-10-05T08:00:00.000Z\",\"cwd\":\"/x\"}";
    let path = bench.plant("spaced.jsonl", format!("{header}\n{record}\n").as_bytes());
    for ran in every_command(&bench, path.to_str().unwrap()) {
        harmless(&ran);
        if ran.what.contains("--json") {
            ran.lines();
        }
    }
    let shown = bench
        .run(["show", path.to_str().unwrap(), "--json"])
        .ends(0)
        .of_type("entry");
    assert_eq!(
        shown[0]["content"][0]["input"],
        json!({"path": "x", "n": 1})
    );
}

#[test]
fn every_session_of_a_home_gives_valid_json_lines_in_every_command() {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 51);
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for planted in home.planted.iter().filter(|planted| planted.path.is_file()) {
        let taken = seen.entry(planted.dialect).or_default();
        *taken += 1;
        if *taken > 8 {
            continue;
        }
        let reference = format!("{}:{}", planted.dialect, planted.id);
        for args in [
            &["show", "--records", "--raw"] as &[&str],
            &["tree"],
            &["context"],
            &["attachments"],
            &["files"],
        ] {
            let ran = bench.run(args.iter().copied().chain([reference.as_str(), "--json"]));
            assert!(matches!(ran.code, Some(0 | 2)), "{ran:?}");
            harmless(&ran);
            ran.lines();
        }
    }
}

#[test]
fn columns_of_a_list_stand_below_each_other_whatever_the_script() {
    let bench = Bench::new();
    TestHome::build(&bench.home(), 52);
    for columns in ["80", "100", "160"] {
        let mut command = bench.command(["list", "--hidden"]);
        command.env("COLUMNS", columns);
        let text = crate::bench::finish(command).ends(0).text();
        let mut lines = text.lines();
        let heading = lines.next().unwrap();
        let name = heading.find("NAME").unwrap();
        let project = heading.find("PROJECT").unwrap();
        let mut wide = 0;
        for line in lines {
            wide += usize::from(!line.is_ascii());
            assert!(
                line.width() <= columns.parse().unwrap(),
                "{} columns of {columns}: {line}",
                line.width()
            );
            for place in [name, project] {
                let (before, after) = at_column(line, place)
                    .unwrap_or_else(|| panic!("a character stands across column {place}: {line}"));
                assert!(
                    before.ends_with("  "),
                    "{columns}: column {place} of {line}"
                );
                assert!(
                    !after.starts_with(' '),
                    "{columns}: column {place} of {line}"
                );
            }
        }
        assert!(wide > 5, "too few wide rows to prove anything");
    }
}

/// Splits a line at a column of the terminal.
fn at_column(line: &str, column: usize) -> Option<(&str, &str)> {
    line.char_indices()
        .map(|(at, _)| line.split_at(at))
        .find(|(before, _)| before.width() == column)
}

#[test]
fn quiet_says_less_and_colour_is_off_unless_asked() {
    let bench = Bench::new();
    let path = bench.plant("bad.jsonl", &hostile_pi());
    let path = path.to_str().unwrap();
    assert!(
        bench
            .run(["show", path])
            .ends(0)
            .stderr
            .contains("warning: ")
    );
    assert_eq!(bench.run(["show", path, "-q"]).ends(0).stderr, "");
    assert!(!bench.run(["show", path]).text().contains('\u{1b}'));
    let coloured = bench
        .run(["show", path, "--color", "always"])
        .ends(0)
        .text();
    let codes: Vec<&str> = coloured
        .split('\u{1b}')
        .skip(1)
        .map(|rest| rest.split_inclusive('m').next().unwrap())
        .collect();
    assert!(!codes.is_empty());
    assert!(
        codes
            .iter()
            .all(|code| code.starts_with('[') && code.ends_with('m') && code.len() <= 7),
        "{codes:?}"
    );
}
