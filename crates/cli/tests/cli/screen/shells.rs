//! The key binding that `init` prints, in real shells.

use std::process::Command;

use boswell_testkit::disk;

use super::terminal::{Terminal, is_missing};

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn is_there(shell: &str) -> bool {
    let found = Command::new(shell).arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: {shell} is not installed");
    }
    found
}

/// Presses the key in a shell, and chooses a session.
fn choose_in(shell: &str, start: &str, ready: &str) {
    if is_missing() || !is_there(shell) {
        return;
    }
    let terminal = Terminal::new(shell);
    let program = terminal.demo.root.join("bin/boswell");
    let script = format!(
        "#!/bin/sh\nexec {}/try \"$@\"\n",
        terminal.demo.root.display()
    );
    disk::write(&program, script.as_bytes());
    disk::set_mode(&program, 0o755);
    for (file, prompt) in [("rc", "BASH> "), (".zshrc", "ZSH> ")] {
        let shell = if file == "rc" { "bash" } else { "zsh" };
        let text = format!("PS1='{prompt}'\neval \"$(boswell init {shell})\"\n");
        disk::write(&terminal.demo.root.join("bin").join(file), text.as_bytes());
    }
    terminal.line(&format!("clear; {start}"));
    terminal.wait(ready);
    terminal.text("echo typed");
    terminal.press(&["C-g"]);
    terminal.wait("10 sessions");
    terminal.text("spring10_takes");
    terminal.wait("▸  claude    Coupon rounding");
    terminal.press(&["Enter"]);
    // A long line is wrapped.
    let screen = terminal.wait_for("the command", |screen| {
        let flat: String = screen.split(['\n', ' ']).collect();
        flat.contains("claude--resume5ac5e505-ca12-40e3-a6c1-82bfd1662e80")
    });
    assert!(!screen.contains("type to search"), "{shell}\n{screen}");
    // The command is typed, not run: Enter does that.
    assert!(!screen.contains("STUB"), "{shell}\n{screen}");
    terminal.press(&["Enter"]);
    terminal.wait("STUB argv: --resume 5ac5e505");
    // Leaving without a choice leaves the line as it was.
    terminal.text("echo kept");
    terminal.press(&["C-g"]);
    terminal.wait("10 sessions");
    terminal.press(&["Escape"]);
    terminal.wait_for("the line", |screen| {
        screen.contains("echo kept") && !screen.contains("type to search")
    });
}

#[test]
fn the_key_binding_of_bash_types_the_resume_command() {
    choose_in("bash", "bash --rcfile bin/rc -i", "BASH>");
}

#[test]
fn the_key_binding_of_zsh_types_the_resume_command() {
    choose_in("zsh", "ZDOTDIR=$PWD/bin zsh -i", "ZSH>");
}

#[test]
fn the_key_binding_of_fish_types_the_resume_command() {
    choose_in(
        "fish",
        "fish --no-config --init-command 'function fish_prompt; echo -n \"FISH> \"; end; boswell init fish | source'",
        "FISH>",
    );
}
