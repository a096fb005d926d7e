//! Late lines: an agent has its file open while boswell replaces it, and continues to write to the
//! old one.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use crate::pi_lab::{FAMILY, Lab, V1, text_of, user};

/// An agent that opened its log before boswell did, and writes each line that it gets to the open
/// file. While it waits, nothing shows that it will write.
struct Agent(Child);

impl Agent {
    fn on(log: &std::path::Path) -> Agent {
        let script = r#"exec 3<"$1"; echo ready; while read -r line; do printf '%s\n' "$line" >>/proc/self/fd/3; echo wrote; done"#;
        let child = Command::new("sh")
            .args(["-c", script, "sh", log.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut agent = Agent(child);
        agent.hears();
        agent
    }

    fn hears(&mut self) {
        let mut word = [0; 6];
        self.0
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut word)
            .unwrap();
    }

    fn writes(&mut self, line: &str) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{line}").unwrap();
        self.hears();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.0.stdin = None;
        let _ = self.0.wait();
    }
}

fn problems(lab: &Lab, session: &str) -> Vec<String> {
    let damage = lab.run(&["check", session, "--json"]).of_type("damage");
    damage
        .iter()
        .map(|line| line["problem"].as_str().unwrap().to_owned())
        .collect()
}

/// Checks that the lines are missing, are reported, are copied into the log once, and that the
/// conversation continues from them.
fn brings_home(lab: &Lab, session: &str, log: &std::path::Path, lines: &[String]) {
    let before = text_of(log);
    assert!(
        lines.iter().all(|line| !before.contains(line.as_str())),
        "they went into the old file"
    );
    assert_eq!(problems(lab, session), ["late_lines"]);
    let told = lab.run(&["repair", session]).ends(2).text();
    assert!(
        told.contains("late_lines") && told.contains("add 2 lines"),
        "{told}"
    );
    assert_eq!(text_of(log), before, "looking changes nothing");
    lab.run(&["repair", session, "--apply"]).ends(0);
    assert_eq!(text_of(log), format!("{before}{}\n", lines.join("\n")));
    let context = lab.context(session);
    assert_eq!(
        context[context.len() - 2..],
        ["late one", "晚了"],
        "{context:?}"
    );
    assert_eq!(problems(lab, session), [] as [&str; 0]);
    let again = lab.run(&["repair", session]).ends(0).text();
    assert!(again.contains("nothing to repair"), "{again}");
}

fn late(parent: &str) -> Vec<String> {
    vec![user("l1", parent, "late one"), user("l2", "l1", "晚了")]
}

#[test]
fn lines_written_late_after_a_title_are_told_and_brought_home() {
    for dialect in ["omp", "xcsh"] {
        let lab = Lab::new(dialect);
        let mut agent = Agent::on(&lab.log());
        lab.run(&["rename", "0b7e", "the red build"]).ends(0);
        late("a2").iter().for_each(|line| agent.writes(line));
        brings_home(&lab, "0b7e", &lab.log(), &late("a2"));
        assert_eq!(lab.session("0b7e")["title"], "the red build", "{dialect}");
    }
}

#[test]
fn lines_written_late_after_a_migration_are_told_and_brought_home() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        // Without the damaged line, so that nothing else needs a repair.
        boswell_testkit::disk::write(&lab.old(), V1.replace("{\"type\":\"mess\n", "").as_bytes());
        let mut agent = Agent::on(&lab.old());
        lab.run(&["migrate", "old", "--apply"]).ends(0);
        let last: serde_json::Value =
            serde_json::from_str(text_of(&lab.old()).lines().last().unwrap()).unwrap();
        let lines = late(last["id"].as_str().unwrap());
        lines.iter().for_each(|line| agent.writes(line));
        brings_home(&lab, "old", &lab.old(), &lines);
    }
}

#[test]
fn lines_written_late_after_a_move_follow_the_log_to_its_new_place() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let mut agent = Agent::on(&lab.log());
        lab.run(&["move", "/proj/demo", "/proj/new", "--apply"])
            .ends(0);
        late("a2").iter().for_each(|line| agent.writes(line));
        let log = std::path::PathBuf::from(lab.session("0b7e")["path"].as_str().unwrap());
        assert_ne!(log, lab.log(), "{dialect}");
        brings_home(&lab, "0b7e", &log, &late("a2"));
    }
}

#[test]
fn lines_written_late_after_a_log_in_doubt_was_copied_are_told_and_brought_home() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let mut agent = Agent::on(&lab.log());
        let inode =
            |lab: &Lab| std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(lab.log()).unwrap());
        let old = inode(&lab);
        boswell_testkit::disk::write(
            &lab.bench.own().join(format!("locks/{dialect}-0b7e.doubt")),
            b"{}\n",
        );
        lab.run(&["label", "0b7e", "u1", "start"]).ends(0);
        assert_ne!(inode(&lab), old, "{dialect}: it was copied");
        late("a2").iter().for_each(|line| agent.writes(line));
        brings_home(&lab, "0b7e", &lab.log(), &late("a2"));
    }
}

#[test]
fn half_a_line_written_late_is_brought_home_as_it_is() {
    let lab = Lab::new("xcsh");
    let mut agent = Agent::on(&lab.log());
    lab.run(&["rename", "0b7e", "t"]).ends(0);
    let torn = r#"{"type":"message","id":"l1","parentId":"a2","mess"#;
    agent.writes(torn);
    lab.run(&["repair", "0b7e", "--apply"]).ends(0);
    assert!(
        text_of(&lab.log()).ends_with(&format!("{torn}\n")),
        "nothing of the agent's is dropped"
    );
    assert_eq!(lab.context("0b7e").last().unwrap(), "done");
}
