//! A panic in a real terminal.
//!
//! `script` of util-linux makes the terminal; the program in it is this test, which runs the
//! ignored one below.

use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use crate::ask::Event;
use crate::terminal::Screen;

#[test]
#[ignore = "runs in a terminal, started by the test below"]
fn in_a_terminal() {
    let (events, _inbox) = channel::<Event>();
    let _screen = Screen::open(true, &events).unwrap();
    // As a worker would.
    let broken = std::thread::spawn(|| panic!("a worker broke")).join();
    assert!(broken.is_err());
}

#[test]
fn a_panic_restores_the_terminal_before_its_message() {
    let program = std::env::current_exe().unwrap();
    let line = format!(
        "{} --exact tests::panic::in_a_terminal --ignored --nocapture; stty -a",
        program.display()
    );
    let run = Command::new("script")
        .args(["-q", "-c", &line, "/dev/null"])
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm-256color")
        .stdin(Stdio::null())
        .output();
    let Ok(run) = run else {
        eprintln!("SKIPPED: script of util-linux is not installed");
        return;
    };
    let text = String::from_utf8_lossy(&run.stdout);
    let place = |wanted: &str| {
        let found = text.find(wanted);
        found.unwrap_or_else(|| panic!("no {wanted:?} in {text:?}"))
    };
    let taken = place("\u{1b}[?1049h");
    let left = place("\u{1b}[?1049l");
    let said = place("a worker broke");
    assert!(taken < left && left < said, "{text:?}");
    // Once: the end of the screen has nothing left to restore.
    assert_eq!(text.matches("\u{1b}[?1049l").count(), 1, "{text:?}");
    assert!(
        text.contains(" icanon") && text.contains(" echo "),
        "{text:?}"
    );
}
