//! A terminal for tests: tmux with a server of its own, on a demo home, with a stub in place of the
//! agent.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use boswell_testkit::disk;

use crate::demo::Demo;

/// How long a screen may take to appear; the machine of a test may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether tmux is missing. Only a run in CI must have it.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests have no command line, so the environment says where they run; a skipped test says so"
)]
pub(super) fn is_missing() -> bool {
    let found = Command::new("tmux").arg("-V").output().is_ok();
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(found || !in_ci, "tmux is not installed");
    if !found {
        eprintln!("SKIPPED: tmux is not installed");
    }
    !found
}

/// A terminal of 120 by 40.
pub(super) struct Terminal {
    pub(super) demo: Demo,
    socket: String,
    /// The window that keys go to.
    window: usize,
}

impl Terminal {
    /// Starts an interactive shell, with a stub of the agent on its path.
    pub(super) fn new(name: &str) -> Terminal {
        let demo = Demo::new();
        for project in ["shop", "blog"] {
            disk::make_dir(&demo.root.join("projects").join(project));
        }
        let stub = demo.root.join("bin/claude");
        let script = "#!/bin/sh\necho \"STUB argv: $*\"\necho \"STUB folder: $(pwd)\"\necho \"STUB store: $CLAUDE_CONFIG_DIR\"\nenv | sort > \"$(dirname \"$0\")/../stub.env\"\n";
        disk::write(&stub, script.as_bytes());
        disk::set_mode(&stub, 0o755);
        let socket = format!("boswell-{}-{name}", std::process::id());
        let terminal = Terminal {
            demo,
            socket,
            window: 0,
        };
        terminal.tmux(&["new-session", "-d", "-x", "120", "-y", "40", "sh"]);
        terminal.tmux(&["set-option", "-g", "status", "off"]);
        terminal.line("PS1='READY> '");
        terminal.wait("READY>");
        terminal
    }

    pub(super) fn tmux(&self, args: &[&str]) -> Output {
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

    /// Opens another window with a shell, to which keys go from now on.
    pub(super) fn another_window(&mut self) {
        self.tmux(&["new-window", "sh"]);
        self.window += 1;
        self.line("PS1='READY> '");
        self.wait("READY>");
    }

    /// Chooses the window that keys go to.
    pub(super) fn choose_window(&mut self, window: usize) {
        self.window = window;
    }

    fn target(&self) -> String {
        format!(":{}", self.window)
    }

    /// Presses keys, by tmux's names.
    pub(super) fn press(&self, keys: &[&str]) {
        let target = self.target();
        let mut args = vec!["send-keys", "-t", &target];
        args.extend(keys);
        self.tmux(&args);
    }

    /// Types text.
    pub(super) fn text(&self, text: &str) {
        self.tmux(&["send-keys", "-t", &self.target(), "-l", text]);
    }

    /// Types a line into the shell.
    pub(super) fn line(&self, text: &str) {
        self.text(text);
        self.press(&["Enter"]);
    }

    /// Opens the screen on the demo.
    pub(super) fn open(&self) {
        self.line("./try; echo EXIT $?");
        self.wait("10 sessions");
        self.wait("↵ resume");
    }

    pub(super) fn screen(&self) -> String {
        String::from_utf8(
            self.tmux(&["capture-pane", "-p", "-t", &self.target()])
                .stdout,
        )
        .unwrap()
    }

    /// Waits until a text is on the screen, and returns the screen.
    pub(super) fn wait(&self, text: &str) -> String {
        self.wait_for(text, |screen| screen.contains(text))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a test that waits for ever would say nothing"
    )]
    pub(super) fn wait_for(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
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

    pub(super) fn resize(&self, width: u16, height: u16) {
        let (width, height) = (width.to_string(), height.to_string());
        self.tmux(&["resize-window", "-x", &width, "-y", &height]);
    }

    pub(super) fn agents_home(&self) -> PathBuf {
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
