//! Keys of the table in the real program, at four sizes.

use boswell_testkit::{TreeSnapshot, disk};

use super::terminal::{Terminal, is_missing};

/// The sizes, from the largest to the smallest.
const SIZES: [(u16, u16); 4] = [(120, 40), (80, 24), (40, 16), (24, 6)];

/// Keys, what is on the screen then, the least width that shows it, and the keys that lead back.
type Step = (
    &'static [&'static str],
    &'static str,
    u16,
    &'static [&'static str],
);

const FINDER: &[Step] = &[
    (&["F1"], " Keys ", 24, &["Escape"]),
    (&["?"], " Keys ", 24, &["Escape"]),
    (&["C-k"], " Commands ", 24, &["Escape"]),
    (&["F2"], " New name ", 24, &["Escape"]),
    (&["C-t"], "Add a tag", 24, &["Escape"]),
    (&["C-x"], "y delete", 24, &["Escape"]),
    (&["M-a"], "y archive", 24, &["Escape"]),
    (&["M-k"], "y keep", 24, &["Escape"]),
    (&["M-e"], "Export to", 24, &["Escape"]),
    (&["M-u"], "y undo", 24, &["Escape"]),
    (&["M-Enter"], "y resume", 24, &["Escape"]),
    (&["M-r"], " Resume ", 24, &["Escape"]),
    (&["F3"], "‹ Tree", 24, &["q"]),
    (&["F4"], "‹ Health", 24, &["q"]),
    (&["F5"], "‹ Costs", 24, &["q"]),
    (&["F6"], "everything could", 24, &[]),
    (&["F8"], "mouse off", 24, &["F8"]),
    (&["C-y"], "copied:", 24, &[]),
    (&["M-m"], "1 marked", 80, &["Up", "M-m", "Up"]),
    (&["M-s"], "by cost", 80, &["M-s", "M-s", "M-s", "Home"]),
    (&["M-h"], "with hidden", 80, &["M-h"]),
    (
        &["C-g"],
        "only boswell",
        80,
        &[
            "C-g", "C-g", "C-g", "C-g", "C-g", "C-g", "C-g", "C-g", "C-g", "Home",
        ],
    ),
    (&["C-s"], " · here", 80, &["C-s", "C-s", "Home"]),
    (&["C-o"], "‹ HTTP", 24, &["Left"]),
    (&["Right"], "‹ HTTP", 24, &["Escape"]),
    (&["Tab"], "Tab back", 80, &["Tab"]),
    (&["C-l"], "sessions", 24, &[]),
    (&["End"], "▸  boswell   Release", 80, &["Home"]),
    (&["M->"], "▸  boswell   Release", 80, &["M-<"]),
    (&["NPage"], "▸  boswell   Release", 80, &["PPage"]),
    (&["Down", "C-n"], "▸  myagents", 80, &["Up", "C-p"]),
];

const READER: &[Step] = &[
    (&["t"], "tools: full", 24, &["t", "t"]),
    (&["T"], "thinking is shown", 24, &["T"]),
    (&["/"], "Find in", 24, &["Escape"]),
    (&["e"], "Export to", 24, &["Escape"]),
    (&["?"], " Keys ", 24, &["Escape"]),
    (&["r"], "y resume", 24, &["Escape"]),
    (&["b"], "‹ Tree", 24, &["Left"]),
    (&["c"], "‹ Health", 24, &["Escape"]),
    (&["L"], "following: new", 24, &["L"]),
    (&["y"], "copied:", 24, &[]),
    (&["Y"], "copied:", 24, &[]),
    (&["o"], "no picture", 24, &[]),
    (&["P"], "this session was", 24, &[]),
    (
        &[
            "[", "[", "}", "{", "n", "N", "Home", "End", "Space", "C-u", "C-d", "g", "]", "G",
        ],
        "‹ Coupon",
        24,
        &[],
    ),
    (&["(", ")"], "‹ Coupon", 24, &[]),
    (&["g", "s"], "‹ agent-", 24, &["P"]),
    (&["S", "S"], "‹ Coupon", 24, &[]),
    (&["z", "j", "k", "Enter", "z"], "‹ Coupon", 24, &[]),
];

/// Does the steps that can be seen in this width; the others must not end the program.
fn walk(terminal: &Terminal, steps: &[Step], width: u16, home: &str) {
    for (keys, shown, from, back) in steps {
        terminal.press(keys);
        if width >= *from {
            terminal.wait(shown);
        }
        // Escape and a key behind it would be one key with Alt.
        for key in *back {
            terminal.press(&[key]);
        }
        let is_message = back.is_empty();
        terminal.wait_for(home, |screen| {
            screen.contains(home) && (is_message || home == *shown || !screen.contains(shown))
        });
    }
}

#[test]
fn every_key_of_the_table_works_in_four_sizes_and_looking_writes_nothing() {
    if is_missing() {
        return;
    }
    let terminal = Terminal::new("keys");
    let before = TreeSnapshot::take(&terminal.agents_home());
    terminal.open();
    for (width, height) in SIZES {
        terminal.resize(width, height);
        // tmux cuts the old frame off at once; the count at the right edge is of the new one.
        terminal.wait_for("a frame of this size", |screen| {
            let rule = "─".repeat(usize::from(width));
            let mut lines = screen.lines();
            lines.next().is_some_and(|it| it.contains("sessions"))
                && lines.next() == Some(rule.as_str())
                && lines.count() >= usize::from(height) - 3
        });
        walk(&terminal, FINDER, width, "sessions");
        terminal.text("coupon rounding");
        terminal.wait("▸  ");
        terminal.press(&["C-o"]);
        terminal.wait("‹ Coupon");
        walk(&terminal, READER, width, "‹ Coupon");
        terminal.press(&["q"]);
        // Editing of the box.
        terminal.press(&[
            "C-a", "C-e", "Left", "C-b", "BSpace", "C-d", "C-w", "C-e", "C-u",
        ]);
        terminal.wait("sessions");
    }
    terminal.press(&["Escape"]);
    terminal.wait("EXIT 0");
    let after = TreeSnapshot::take(&terminal.agents_home());
    assert_eq!(before.diff(&after), Vec::<String>::new());
}

/// A session with names and lines that terminals draw in odd ways, one of them of 60 MB.
fn odd_session(terminal: &Terminal) {
    let project = terminal.demo.root.join("projects/shop");
    let id = "0dd5e551-0000-4000-8000-000000000001";
    let record = |kind: &str, uuid: &str, parent: &str, text: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"{id}\",\"cwd\":\"{}\",\"version\":\"2.1.128\",\"isSidechain\":false,\"userType\":\"external\",\"timestamp\":\"2026-10-30T10:00:00.000Z\",\"message\":{{\"role\":\"{kind}\",\"content\":\"{text}\"}}}}\n",
            project.display()
        )
    };
    let title = "会话 👩\u{200d}💻 \u{202e}desrever عربي \\u001b[31mred";
    let mut log = record("user", "a1", "null", title);
    log.push_str(&record(
        "user",
        "a2",
        "\"a1\"",
        &"very long ".repeat(6_000_000),
    ));
    log.push_str(&record("user", "a3", "\"a2\"", "after the long line"));
    let key: String = project
        .display()
        .to_string()
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect();
    let folder = terminal.agents_home().join(".claude/projects").join(key);
    disk::make_dir(&folder);
    disk::write(&folder.join(format!("{id}.jsonl")), log.as_bytes());
}

#[test]
fn odd_text_and_a_line_of_60_mb_are_shown_harmlessly() {
    if is_missing() {
        return;
    }
    let terminal = Terminal::new("odd");
    odd_session(&terminal);
    terminal.line("./try; echo EXIT $?");
    terminal.wait("11 sessions");
    terminal.text("desrever");
    terminal.wait("▸  claude    会话");
    terminal.press(&["Right"]);
    let screen = terminal.wait("after the long line");
    assert!(
        screen.contains("\\u{202e}desrever") && screen.contains("\\x1b[31mred"),
        "{screen}"
    );
    terminal.press(&["g", "G", "[", "["]);
    terminal.press(&["C-q"]);
    terminal.wait("EXIT 0");
}
