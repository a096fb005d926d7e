//! An idle xcsh has no descriptor of its log: it is found by its prompt history and its breadcrumb.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use boswell_testkit::disk;

use crate::pi_lab::{Lab, header, user};

/// A process that has the prompt history open and nothing else, as an idle agent.
struct IdleAgent(Child);

impl IdleAgent {
    fn of(lab: &Lab, window: Option<&str>) -> IdleAgent {
        let history = lab.root().join("history.db");
        disk::write(&history, b"");
        let script = r#"exec 3<>"$1"; echo ready; read -r line"#;
        let mut command = Command::new("sh");
        command
            .args(["-c", script, "sh", history.to_str().unwrap()])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(window) = window {
            command.env("KITTY_WINDOW_ID", window);
        }
        let mut child = command.spawn().unwrap();
        let mut word = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut word)
            .unwrap();
        IdleAgent(child)
    }
}

impl Drop for IdleAgent {
    fn drop(&mut self) {
        self.0.stdin = None;
        let _ = self.0.wait();
    }
}

/// Records that a terminal window was last used for a session file.
fn note(lab: &Lab, window: &str, session: &Path) {
    let text = format!("/proj/demo\n{}\n", session.display());
    let place = lab.root().join(format!("terminal-sessions/kitty-{window}"));
    disk::write(&place, text.as_bytes());
}

/// Makes every log older than any process.
fn age(lab: &Lab) {
    disk::set_modified(&lab.log(), 1_700_000_000_000);
    disk::set_modified(&lab.old(), 1_700_000_000_000);
}

const DEMO: &str = "xcsh:0b7e";

fn refuses(lab: &Lab, session: &str) {
    let before = disk::read(&lab.log());
    lab.run(&["append", session, "--user", "from outside"])
        .ends(3)
        .says("is open in its agent");
    lab.run(&["delete", session])
        .ends(3)
        .says("is open in its agent");
    assert_eq!(disk::read(&lab.log()), before);
}

#[test]
fn an_idle_xcsh_is_found_by_history_and_breadcrumb_and_its_leaf_does_not_move() {
    let lab = Lab::new("xcsh");
    age(&lab);
    note(&lab, "7", &lab.log());
    let agent = IdleAgent::of(&lab, Some("7"));
    refuses(&lab, DEMO);
    // A label does not move the leaf.
    lab.run(&["label", DEMO, "a1", "good"]).ends(0);
    // Another session of the store is free.
    lab.run(&["check", "xcsh:old"]);
    drop(agent);
    lab.run(&["append", DEMO, "--user", "from outside"]).ends(0);
}

#[test]
fn the_breadcrumb_of_a_subagent_leads_to_the_session_that_started_it() {
    let lab = Lab::new("xcsh");
    age(&lab);
    note(
        &lab,
        "7",
        &lab.log().with_extension("").join("0-Explore.jsonl"),
    );
    let _agent = IdleAgent::of(&lab, Some("7"));
    refuses(&lab, DEMO);
}

#[test]
fn a_session_that_the_agent_forked_counts_although_its_breadcrumb_is_older() {
    let lab = Lab::new("xcsh");
    age(&lab);
    note(&lab, "7", &lab.log());
    let _agent = IdleAgent::of(&lab, Some("7"));
    let fork = [header("f0f0", "/proj/demo", ""), user("u1", "", "forked")].join("\n");
    lab.plant(
        "--proj-demo--/2026-02-17T10-20-30-000Z_f0f0.jsonl",
        &format!("{fork}\n"),
    );
    lab.run(&["append", "xcsh:f0f0", "--user", "from outside"])
        .ends(3)
        .says("is open in its agent");
    // A log in the folder of another project is not touched by that agent.
    let other = [header("0e0e", "/proj/other", ""), user("u1", "", "other")].join("\n");
    lab.plant(
        "--proj-other--/2026-02-17T10-20-30-000Z_0e0e.jsonl",
        &format!("{other}\n"),
    );
    lab.run(&["append", "xcsh:0e0e", "--user", "from outside"])
        .ends(0);
}

#[test]
fn without_a_terminal_a_log_of_its_folder_that_changed_since_the_agent_began_counts() {
    let lab = Lab::new("xcsh");
    age(&lab);
    let agent = IdleAgent::of(&lab, None);
    let here = std::env::current_dir().unwrap();
    let mine = [
        header("f0f0", here.to_str().unwrap(), ""),
        user("u1", "", "mine"),
    ]
    .join("\n");
    let log = lab.plant(
        "--proj-mine--/2026-02-17T10-20-30-000Z_f0f0.jsonl",
        &format!("{mine}\n"),
    );
    let append = ["append", "xcsh:f0f0", "--user", "from outside"];
    lab.run(&append).ends(3).says("is open in its agent");
    // It was not changed since: the agent cannot have written it.
    disk::set_modified(&log, 1_700_000_000_000);
    lab.run(&append).ends(0);
    // The session of another project is free, also after a change.
    for text in ["one", "two"] {
        lab.run(&["append", DEMO, "--user", text]).ends(0);
    }
    drop(agent);
    lab.run(&append).ends(0);
}

#[test]
fn an_entry_that_the_agent_dropped_by_rewriting_its_log_is_reported_and_brought_back() {
    let lab = Lab::new("xcsh");
    let before = disk::read(&lab.log());
    lab.run(&["append", DEMO, "--user", "from outside"]).ends(0);
    lab.run(&["append", DEMO, "--user", "once more"]).ends(0);
    let whole = disk::read(&lab.log());
    lab.run(&["check", DEMO]).ends(0);
    // The agent writes what it has in memory to a new file, with an entry of its own.
    let own = format!("{}\n", user("u3", "a2", "typed into the agent"));
    let rewritten = lab.log().with_extension("tmp");
    disk::write(&rewritten, &[before.as_slice(), own.as_bytes()].concat());
    std::fs::rename(&rewritten, lab.log()).unwrap();
    let check = lab.run(&["check", DEMO, "--json"]).ends(1);
    let problems: Vec<_> = (check.of_type("damage").iter())
        .map(|line| line["problem"].clone())
        .collect();
    assert_eq!(problems, ["late_lines"]);
    lab.run(&["repair", DEMO, "--apply"]).ends(0);
    let lost = &whole[before.len()..];
    assert_eq!(
        disk::read(&lab.log()),
        [before.as_slice(), own.as_bytes(), lost].concat()
    );
    let check = lab.run(&["check", DEMO, "--json"]);
    assert!(!check.text().contains("late_lines"), "{check:?}");
}
