//! The real screen in a terminal: tmux with a server of its own, on a demo home, with a stub in
//! place of the agent.
//!
//! Every wait polls for text on the screen; a test that does not see it fails with the last screen.

mod keys;
mod shells;
#[cfg(target_os = "linux")]
mod slow;
mod terminal;
mod together;

use std::process::Command;

use boswell_testkit::{TreeSnapshot, disk};

use self::terminal::{Terminal, is_missing};

#[test]
fn type_see_enter_resumes_in_the_folder_of_the_session() {
    if is_missing() {
        return;
    }
    let terminal = Terminal::new("resume");
    terminal.open();
    terminal.text("spring10_takes");
    terminal.wait("▸  claude    Coupon rounding");
    terminal.wait("resume claude in");
    terminal.press(&["Enter"]);
    // The very first Enter asks.
    terminal.wait("y resume");
    terminal.press(&["y"]);
    let screen = terminal.wait("EXIT 0");
    let root = terminal.demo.root.canonicalize().unwrap();
    let flat: String = screen.split('\n').collect();
    for expected in [
        "STUB argv: --resume 5ac5e505-ca12-40e3-a6c1-82bfd1662e80".to_owned(),
        format!("STUB folder: {}/projects/shop", root.display()),
        format!("STUB store: {}/home/.claude", root.display()),
    ] {
        assert!(flat.contains(&expected), "{expected} on\n{screen}");
    }
    assert!(
        !screen.contains("boswell   type"),
        "the screen was left:\n{screen}"
    );
    // The next one does not.
    terminal.line("clear");
    terminal.open();
    terminal.text("spring10_takes");
    terminal.wait("▸  claude    Coupon rounding");
    terminal.wait("resume claude in");
    terminal.press(&["Enter"]);
    terminal.wait("STUB argv");
}

#[test]
fn every_view_in_every_size_reads_without_writing() {
    if is_missing() {
        return;
    }
    let terminal = Terminal::new("views");
    let before = TreeSnapshot::take(&terminal.agents_home());
    terminal.open();
    for (width, height, name) in [
        (120, 40, "boswell  分词"),
        (80, 24, "boswell  分词"),
        (40, 16, " 分词"),
    ] {
        terminal.resize(width, height);
        terminal.text("分词");
        terminal.wait(name);
        terminal.wait("博客的中文");
        terminal.press(&["Right"]);
        terminal.wait("‹ 博客的中文");
        terminal.press(&["t", "T", "g", "G", "]", "[", "}", "{", "n", "N"]);
        terminal.press(&["b"]);
        terminal.wait("‹ Tree");
        terminal.press(&["Escape"]);
        terminal.wait("‹ 博客的中文");
        terminal.press(&["c"]);
        terminal.wait("‹ Health");
        terminal.press(&["q"]);
        terminal.press(&["F5"]);
        terminal.wait("‹ Costs");
        terminal.press(&["d", "p", "m", "a", "w"]);
        terminal.press(&["F1"]);
        terminal.wait("Keys");
        terminal.press(&["Escape"]);
        terminal.wait_for("no menu", |screen| !screen.contains(" Keys "));
        terminal.press(&["q"]);
        terminal.wait("‹ 博客的中文");
        terminal.press(&["q"]);
        terminal.wait("分词");
        terminal.press(&["C-u"]);
        terminal.wait("10 sessions");
    }
    terminal.resize(24, 6);
    terminal.wait("sessions");
    terminal.resize(20, 5);
    terminal.wait("too small");
    terminal.resize(120, 40);
    terminal.wait("Coupon rounding");
    terminal.press(&["C-q"]);
    terminal.wait("EXIT 0");
    let after = TreeSnapshot::take(&terminal.agents_home());
    assert_eq!(before.diff(&after), Vec::<String>::new());
}

#[test]
fn the_terminal_is_restored_after_a_signal_and_after_a_stop() {
    if is_missing() {
        return;
    }
    let terminal = Terminal::new("signals");
    terminal.line("set -m");
    terminal.open();
    terminal.press(&["C-z"]);
    terminal.wait("READY>");
    terminal.line("clear; stty -a | grep -o ' icanon'; fg");
    terminal.wait("10 sessions");
    terminal.press(&["Escape"]);
    let screen = terminal.wait("READY>");
    assert!(screen.contains(" icanon"), "{screen}");
    terminal.line("clear; sh -c 'echo $$ > pid; exec ./try'; echo EXIT $?");
    terminal.wait("10 sessions");
    let pid = String::from_utf8(disk::read(&terminal.demo.root.join("pid"))).unwrap();
    assert!(
        Command::new("kill")
            .args(["-TERM", pid.trim()])
            .status()
            .unwrap()
            .success()
    );
    terminal.wait("EXIT 143");
    terminal.line("clear; stty -a | grep -o ' icanon'");
    terminal.wait(" icanon");
}

#[test]
fn a_picked_session_is_printed_on_stdout_and_nothing_else() {
    if is_missing() {
        return;
    }
    let terminal = Terminal::new("pick");
    terminal.line("picked=$(./try pick --print coupon); echo \"<$picked> $?\"");
    terminal.wait("▸  claude    Coupon rounding");
    terminal.wait("↵ choose");
    terminal.press(&["Enter"]);
    terminal.wait("<claude:5ac5e505-ca12-40e3-a6c1-82bfd1662e80> 0");
    terminal.line("clear; picked=$(./try pick --print coupon); echo \"<$picked> $?\"");
    terminal.wait("↵ choose");
    terminal.press(&["C-q"]);
    terminal.wait("<> 1");
}

#[test]
fn without_a_usable_terminal_bare_boswell_lists() {
    if is_missing() {
        return;
    }
    let terminal = Terminal::new("list");
    for prefix in ["CI=1", "TERM=dumb", "CLAUDECODE=1"] {
        terminal.line(&format!("clear; PAGER=cat {prefix} ./try; echo EXIT $?"));
        let screen = terminal.wait("EXIT 0");
        assert!(
            screen.contains("AGENT") && screen.contains("Coupon"),
            "{prefix}\n{screen}"
        );
    }
    terminal.line("clear; ./try | cat; echo EXIT $?");
    let screen = terminal.wait("EXIT 0");
    assert!(screen.contains("AGENT"), "{screen}");
    terminal.line("clear; ./try pick --print </dev/null; echo EXIT $?");
    let screen = terminal.wait("EXIT 2");
    assert!(screen.contains("needs a terminal"), "{screen}");
}
