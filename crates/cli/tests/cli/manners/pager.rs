//! The pager: only for answers that are read and come to an end, and Ctrl-C belongs to it.

use super::on_terminal;
use crate::bench::Bench;

/// A pager that is interrupted, with the group it runs in, while it still has to show its input.
const INTERRUPTED: &str =
    "trap '' INT\nkill -INT $PPID\nsleep 0.5\ncat >/dev/null\necho PAGER ENDED\n";

fn bench() -> (Bench, String) {
    let bench = Bench::new();
    let id = bench.run(["new", "--title", "Paged"]).ends(0).text();
    (bench, id.trim().to_owned())
}

/// Writes a pager of these commands and returns its name.
fn pager(bench: &Bench, commands: &str) -> String {
    let path = bench.plant("pager.sh", commands.as_bytes());
    format!("sh {}", path.display())
}

#[test]
fn c1_an_interrupt_is_left_to_the_pager_and_the_program_outlives_it() {
    let (bench, _) = bench();
    let pager = pager(&bench, INTERRUPTED);
    let line = "boswell list; echo CODE $?";
    let Some(screen) = on_terminal(&bench, line, &[("PAGER", &pager)]) else {
        return;
    };
    let ended = screen.find("PAGER ENDED");
    let code = screen.find("CODE 0");
    assert!(ended.is_some() && ended < code, "{screen}");
}

#[test]
fn c1_commands_that_write_or_never_end_use_no_pager() {
    let (bench, session) = bench();
    let pager = pager(&bench, "echo PAGED; cat");
    let shown = |line: &str, env: &[(&str, &str)]| {
        let env: Vec<(&str, &str)> = [("PAGER", pager.as_str())]
            .into_iter()
            .chain(env.iter().copied())
            .collect();
        on_terminal(&bench, line, &env)
    };
    let Some(screen) = shown("boswell list", &[]) else {
        return;
    };
    assert!(
        screen.contains("PAGED") && screen.contains("Paged"),
        "{screen}"
    );
    for line in [
        "boswell watch --for 300ms".to_owned(),
        "boswell keep status".to_owned(),
        "boswell new".to_owned(),
        format!("boswell append {session} --user hello"),
        format!("boswell rename {session} Other"),
        "boswell index".to_owned(),
        "boswell clean --older-than 1d".to_owned(),
    ] {
        let screen = shown(&line, &[]).unwrap();
        assert!(!screen.contains("PAGED"), "{line}: {screen}");
        assert!(!screen.contains("error:"), "{line}: {screen}");
    }
}

#[test]
fn c1_no_pager_on_a_dumb_terminal_nor_when_it_is_not_wanted() {
    let (bench, _) = bench();
    let pager = pager(&bench, "echo PAGED; cat");
    for (line, term) in [
        ("boswell list", "dumb"),
        ("boswell list", ""),
        ("boswell --no-pager list", "xterm"),
        ("boswell list --no-pager", "xterm"),
        ("boswell list --json", "xterm"),
    ] {
        let env = [("PAGER", pager.as_str()), ("TERM", term)];
        let Some(screen) = on_terminal(&bench, line, &env) else {
            return;
        };
        assert!(!screen.contains("PAGED"), "{line} {term}: {screen}");
        assert!(screen.contains("Paged"), "{line} {term}: {screen}");
    }
}
