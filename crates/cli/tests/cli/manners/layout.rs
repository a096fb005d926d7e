//! What fits where: 40, 80 and 120 columns, and what a reader sees first.

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::on_terminal;
use crate::bench::{Bench, finish};

const ID: &str = "aaaaaaaa-2222-4333-8444-555555555555";

/// The demo, and the name of its script.
fn demo() -> (Bench, String) {
    let bench = Bench::new();
    let folder = bench.root().join("demo");
    bench.run(["demo", folder.to_str().unwrap()]).ends(0);
    let script = folder.join("try").display().to_string();
    (bench, script)
}

/// A session of one prompt, one edit and one command.
fn edited() -> Bench {
    let bench = Bench::new();
    let line = |uuid: &str, parent: Option<&str>, role: &str, content: serde_json::Value| {
        let mut message = json!({"role": role, "content": content});
        if role == "assistant" {
            message["id"] = json!(format!("m-{uuid}"));
            message["model"] = json!("claude-opus-4-5");
            message["usage"] = json!({"input_tokens": 2000, "output_tokens": 2000});
        }
        let line = json!({"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": ID,
            "timestamp": "2026-03-10T17:30:00.000Z", "cwd": "/w/shop", "message": message});
        format!("{line}\n")
    };
    let edit = json!({"file_path": "/w/shop/src/coupon.rs", "old_string": "a\nb\nc", "new_string": "a\nx\ny\nc"});
    let log = [
        line("u", None, "user", json!("Fix the coupon")),
        line(
            "e",
            Some("u"),
            "assistant",
            json!([{"type": "tool_use", "id": "t1", "name": "Edit", "input": edit}]),
        ),
        line(
            "c",
            Some("e"),
            "assistant",
            json!([{"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "cargo test coupon"}}]),
        ),
        line(
            "t",
            Some("c"),
            "assistant",
            json!([{"type": "text", "text": "# Done\n\nThe discount was **rounded up**, so a fraction of a cent went to the shop each time; `coupon.rs` rounds half to even now."}]),
        ),
    ];
    bench.plant(
        &format!(".claude/projects/-w-shop/{ID}.jsonl"),
        log.concat().as_bytes(),
    );
    bench
}

#[test]
fn c5_no_line_of_a_list_is_wider_than_the_terminal() {
    let (bench, script) = demo();
    for columns in ["40", "80", "120"] {
        for line in [
            "list",
            "list --hidden",
            "list --sort size",
            "tree 8045",
            "search coupon",
            "prompts",
            "stats --by project",
            "stats --by project,model",
            "stats --by session",
            "projects",
            "show 5ac5",
        ] {
            let command = format!("{script} {line}");
            let Some(screen) = on_terminal(&bench, &command, &[("COLUMNS", columns)]) else {
                return;
            };
            assert!(screen.lines().count() > 1, "{line}: {screen}");
            for row in screen.lines() {
                // A hint is one sentence, code is never broken, and a ref is copied.
                let is_ref = row.starts_with("claude:5ac5e505") && !row.contains(' ');
                let may = is_ref || row.contains('`') || row.starts_with("    ");
                let wide = row.width();
                let most = columns.parse::<usize>().unwrap();
                assert!(may || wide <= most, "{line}, {wide} of {columns}: {row}");
            }
        }
    }
}

#[test]
fn c5_projects_keep_the_end_of_their_names() {
    let (bench, script) = demo();
    let line = format!("{script} stats --by project");
    let Some(screen) = on_terminal(&bench, &line, &[("COLUMNS", "80")]) else {
        return;
    };
    for name in ["/shop", "/blog"] {
        assert!(screen.contains(name), "{name}: {screen}");
    }
}

#[test]
fn c5_show_opens_with_a_header_and_says_what_was_edited() {
    let bench = edited();
    let text = bench.run(["show", ID]).ends(0).text();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("Fix the coupon"));
    assert_eq!(lines.next(), Some("claude · claude-opus-4-5 · /w/shop"));
    assert_eq!(
        lines.next(),
        Some("2026-03-10 17:30 · 1 turn · 6.0k in · 6.0k out · $0.18")
    );
    assert_eq!(lines.next(), Some(format!("claude:{ID}").as_str()));
    assert!(
        text.contains("→ Edit /w/shop/src/coupon.rs (+2 −1)"),
        "{text}"
    );
    assert!(text.contains("→ Bash cargo test coupon"), "{text}");
    // Pages that begin in the middle, and records, have none.
    for args in [&["--around", "c"][..], &["--records"], &["--entry", "c"]] {
        let args = [&["show", ID], args].concat();
        let text = bench.run(args).ends(0).text();
        assert!(!text.contains("1 turn"), "{text}");
    }
    let json = bench.run(["show", ID, "--json"]).ends(0);
    assert!(
        json.lines().iter().all(|it| it["type"] == "entry"),
        "{json:?}"
    );
}

#[test]
fn c5_show_groups_a_transcript_by_turns_on_a_terminal() {
    let (bench, script) = demo();
    let Some(screen) = on_terminal(&bench, &format!("{script} show 5ac5"), &[("COLUMNS", "80")])
    else {
        return;
    };
    let at = |text: &str| {
        screen
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {screen}"))
    };
    assert!(at("── turn 1 ─") < at("SPRING10 takes 10.01 off"));
    assert!(at("SPRING10 takes 10.01 off") < at("I will look at how coupons"));
    assert!(at("SPRING10 takes 10.01 off") < at("── turn 2 ─"));
    assert!(at("── turn 2 ─") < at("use whole cents everywhere"));
    // What the model and its tools say in a row has one heading.
    let turn = &screen[at("── turn 1 ─")..at("subagent agent-")];
    let headings = |who: &str| turn.lines().filter(|line| line.starts_with(who)).count();
    assert_eq!(
        (headings("user ·"), headings("assistant ·")),
        (1, 1),
        "{turn}"
    );
    assert_eq!(headings("tool ·"), 0, "{turn}");
    assert!(
        turn.contains("→ Read") && turn.contains("← pub fn"),
        "{turn}"
    );
    // A page from the end does not know how many turns came before.
    let line = format!("{script} show 5ac5 --limit 8");
    let end = on_terminal(&bench, &line, &[]).unwrap();
    assert!(!end.contains("── turn 1 ─"), "{end}");
    // A script takes ids from a pipe, so that every entry has its heading there.
    let mut shell = std::process::Command::new(&script);
    shell.args(["show", "5ac5"]);
    let piped = crate::bench::finish(shell).ends(0).text();
    let headings = piped.lines().filter(|line| line.starts_with("tool ·"));
    assert!(
        headings.count() > 2 && !piped.contains("── turn"),
        "{piped}"
    );
}

#[test]
fn c5_markdown_is_rendered_and_wrapped_on_a_terminal_and_left_alone_in_a_pipe() {
    let bench = edited();
    let env = [("COLUMNS", "40")];
    let Some(screen) = on_terminal(&bench, &format!("boswell show {ID}"), &env) else {
        return;
    };
    assert!(screen.contains("\nDone\n"), "{screen}");
    assert!(
        screen.contains("rounded up,") && !screen.contains("**"),
        "{screen}"
    );
    let piped = bench.run(["show", ID]).ends(0).text();
    assert!(
        piped.contains("# Done") && piped.contains("**rounded up**"),
        "{piped}"
    );
}

#[test]
fn c5_a_list_by_size_or_cost_shows_it() {
    let bench = edited();
    let list = |args: &[&str]| {
        let mut command = bench.command([&["list"], args].concat());
        command.env("COLUMNS", "120");
        finish(command).ends(0).text()
    };
    assert!(!list(&[]).contains("COST"));
    let by_size = list(&["--sort", "size"]);
    assert!(
        by_size.contains("SIZE") && by_size.contains(" kB"),
        "{by_size}"
    );
    for args in [&["--sort", "cost"][..], &["--cost"]] {
        let text = list(args);
        assert!(text.contains("COST") && text.contains("$0.18"), "{text}");
    }
    let stated = bench.run(["stats", "--by", "session"]).ends(0).text();
    assert!(stated.contains("$0.18"), "{stated}");
}
