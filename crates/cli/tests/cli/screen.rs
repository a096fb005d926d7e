//! The real screen in a terminal: tmux with a server of its own, on a demo home, with a stub in
//! place of the agent.
//!
//! Every wait polls for text on the screen; a test that does not see it fails with the last screen.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use boswell_testkit::{TreeSnapshot, disk};

use crate::demo::Demo;

/// How long a screen may take to appear; the machine of a test may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether tmux is missing. Only a run in CI must have it.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests have no command line, so the environment says where they run; a skipped test says so"
)]
fn is_missing() -> bool {
    let found = Command::new("tmux").arg("-V").output().is_ok();
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(found || !in_ci, "tmux is not installed");
    if !found {
        eprintln!("SKIPPED: tmux is not installed");
    }
    !found
}

/// A terminal of 120 by 40.
struct Terminal {
    demo: Demo,
    socket: String,
}

impl Terminal {
    /// Starts an interactive shell, with a stub of the agent on its path.
    fn new(name: &str) -> Terminal {
        let demo = Demo::new();
        for project in ["shop", "blog"] {
            disk::make_dir(&demo.root.join("projects").join(project));
        }
        let stub = demo.root.join("bin/claude");
        let script = "#!/bin/sh\necho \"STUB argv: $*\"\necho \"STUB folder: $(pwd)\"\necho \"STUB store: $CLAUDE_CONFIG_DIR\"\n";
        disk::write(&stub, script.as_bytes());
        disk::set_mode(&stub, 0o755);
        let socket = format!("boswell-{}-{name}", std::process::id());
        let terminal = Terminal { demo, socket };
        terminal.tmux(&["new-session", "-d", "-x", "120", "-y", "40", "sh"]);
        terminal.tmux(&["set-option", "-g", "status", "off"]);
        terminal.line("PS1='READY> '");
        terminal.wait("READY>");
        terminal
    }

    fn tmux(&self, args: &[&str]) -> Output {
        let root = &self.demo.root;
        let path = format!(
            "{}:/usr/local/bin:/usr/bin:/bin",
            root.join("bin").display()
        );
        let done = Command::new("tmux")
            .args(["-L", &self.socket, "-f", "/dev/null"])
            .args(args)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.demo.bench.home())
            .env("TMUX_TMPDIR", self.demo.bench.tmp())
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .current_dir(root)
            .output()
            .unwrap();
        assert!(done.status.success(), "tmux {args:?}: {done:?}");
        done
    }

    /// Presses keys, by tmux's names.
    fn press(&self, keys: &[&str]) {
        let mut args = vec!["send-keys"];
        args.extend(keys);
        self.tmux(&args);
    }

    /// Types text.
    fn text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Types a line into the shell.
    fn line(&self, text: &str) {
        self.text(text);
        self.press(&["Enter"]);
    }

    /// Opens the screen on the demo.
    fn open(&self) {
        self.line("./try; echo EXIT $?");
        self.wait("10 sessions");
        self.wait("↵ resume");
    }

    fn screen(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p"]).stdout).unwrap()
    }

    /// Waits until a text is on the screen, and returns the screen.
    fn wait(&self, text: &str) -> String {
        self.wait_for(text, |screen| screen.contains(text))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a test that waits for ever would say nothing"
    )]
    fn wait_for(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if holds(&screen) {
                return screen;
            }
            assert!(start.elapsed() < PATIENCE, "no {what} on\n{screen}");
            std::thread::yield_now();
        }
    }

    fn resize(&self, width: u16, height: u16) {
        let (width, height) = (width.to_string(), height.to_string());
        self.tmux(&["resize-window", "-x", &width, "-y", &height]);
    }

    fn agents_home(&self) -> PathBuf {
        self.demo.root.join("home")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux")
            .args(["-L", &self.socket, "kill-server"])
            .env("TMUX_TMPDIR", self.demo.bench.tmp())
            .output();
    }
}

#[test]
fn type_see_enter_resumes_in_the_folder_of_the_session() {
    if is_missing() {
        return;
    }
    let terminal = Terminal::new("resume");
    terminal.open();
    terminal.text("spring10_takes");
    terminal.wait("▸  claude   Coupon rounding");
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
    terminal.wait("▸  claude   Coupon rounding");
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
    terminal.wait("▸  claude   Coupon rounding");
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
