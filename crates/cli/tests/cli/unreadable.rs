//! An unreadable folder: everything else is done, the folder is reported, and the exit code shows
//! it.
#![cfg(unix)]

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use boswell_testkit::disk::{read, write};

use crate::bench::{Bench, Ran, finish};

const HERE: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const CLOSED: &str = "aaaaaaaa-0002-4001-8001-000000000002";
const NOBODY: u32 = 65534;

fn line(id: &str, text: &str) -> String {
    format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}},\"uuid\":\"{id}-0\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{id}\"}}\n"
    )
}

/// Two projects of Claude Code, and a user who cannot read one of them. Root can read everything,
/// so the program runs as another user if the tests run as root.
struct Lab {
    bench: Bench,
    is_root: bool,
}

impl Lab {
    fn new() -> Lab {
        let bench = Bench::new();
        let is_root = bench.root().metadata().unwrap().uid() == 0;
        let lab = Lab { bench, is_root };
        for (project, id, text) in [("-here", HERE, "open"), ("-closed", CLOSED, "shut")] {
            lab.plant(&format!("{project}/{id}.jsonl"), &line(id, text));
            lab.plant(
                &format!("{project}/memory/MEMORY.md"),
                &format!("- {text} fact\n"),
            );
            lab.plant(
                &format!("{project}/sessions-index.json"),
                "{\"version\":1,\"entries\":[]}",
            );
        }
        lab
    }

    fn plant(&self, key: &str, text: &str) {
        write(&self.projects().join(key), text.as_bytes());
    }

    fn projects(&self) -> PathBuf {
        self.bench.home().join(".claude/projects")
    }

    fn close(&self, key: &str) {
        set_mode(&self.projects().join(key), 0o000);
    }

    fn open(&self, key: &str) {
        set_mode(&self.projects().join(key), 0o700);
    }

    fn run(&self, args: &[&str]) -> Ran {
        let plain = self.bench.command(args);
        if !self.is_root {
            return finish(plain);
        }
        // Other users may not have access to the build folder.
        let program = self.bench.root().join("program");
        if !program.exists() {
            // By another process: a child that a test on another thread starts would inherit our
            // descriptor, and the file could not be run while it is open for writing (ETXTBSY).
            let copied = Command::new("cp")
                .arg(plain.get_program())
                .arg(&program)
                .status();
            assert!(copied.unwrap().success());
            set_mode(&program, 0o755);
        }
        let owned = Command::new("chown")
            .args(["-R", "65534:65534"])
            .arg(self.bench.root())
            .status()
            .unwrap();
        assert!(owned.success());
        let mut command = Command::new(program);
        command
            .args(plain.get_args())
            .env_clear()
            .current_dir(plain.get_current_dir().unwrap());
        command.envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command.uid(NOBODY).gid(NOBODY);
        finish(command)
    }

    /// Returns how many sessions `keep status` counts as kept, and the folders that it names.
    fn status(&self, code: i32) -> (u64, Vec<String>) {
        let keep = self
            .run(&["keep", "status", "--json"])
            .ends(code)
            .of_type("keep")
            .remove(0);
        let paths = keep["unreadable"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap().to_owned());
        assert_eq!(
            keep["gone"].as_array().unwrap().len(),
            0,
            "a session that cannot be seen is not gone: {keep}"
        );
        (keep["kept"].as_u64().unwrap(), paths.collect())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // Otherwise the temporary folder cannot be removed.
        let _ = Command::new("chmod")
            .args(["-R", "u+rwx"])
            .arg(self.bench.root())
            .status();
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn one_closed_project_does_not_stop_keep_and_status_does_not_claim_that_all_is_well() {
    let lab = Lab::new();
    lab.close("-closed");
    let ran = lab.run(&["keep", "on", "--timer", "--apply"]).ends(3);
    assert!(ran.text().contains("1 could not be copied"), "{ran:?}");
    assert!(
        ran.stderr.contains("/-closed` was not kept") && ran.stderr.contains("keep run"),
        "{ran:?}"
    );
    let closed = lab.projects().join("-closed").display().to_string();
    assert_eq!(lab.status(3), (1, vec![closed.clone()]));
    assert!(
        lab.run(&["keep", "status"])
            .ends(3)
            .text()
            .contains("cannot be read")
    );
    // A kept session can be restored.
    let log = lab.projects().join(format!("-here/{HERE}.jsonl"));
    std::fs::remove_file(&log).unwrap();
    lab.run(&["restore", &format!("claude:{HERE}")]).ends(0);
    assert_eq!(read(&log), line(HERE, "open").as_bytes());
    lab.open("-closed");
    lab.run(&["keep", "run"]).ends(0);
    assert_eq!(lab.status(0), (2, Vec::new()));
    // Unreadable again: its copies are not treated as deleted.
    lab.close("-closed");
    assert_eq!(lab.status(3), (1, vec![closed]));
}

#[test]
fn one_unreadable_folder_next_to_a_log_does_not_stop_keep() {
    let lab = Lab::new();
    lab.plant(&format!("-here/{HERE}/tool-results/t.txt"), "spilled");
    lab.plant(
        &format!("-here/{HERE}/subagents/agent-a1.jsonl"),
        &line(HERE, "task"),
    );
    lab.close(&format!("-here/{HERE}/tool-results"));
    let ran = lab.run(&["keep", "run"]).ends(3);
    assert!(ran.stderr.contains("tool-results` was not kept"), "{ran:?}");
    assert_eq!(lab.status(0), (2, Vec::new()));
    lab.open(&format!("-here/{HERE}/tool-results"));
    assert!(
        lab.run(&["keep", "run"])
            .ends(0)
            .text()
            .contains("copied 1 file of 1 session")
    );
}

#[test]
fn one_closed_project_does_not_stop_index_native() {
    let lab = Lab::new();
    lab.close("-closed");
    let shown = lab.run(&["index", "--native"]).ends(2);
    assert!(
        shown.stderr.contains("/-closed` was left as it is"),
        "{shown:?}"
    );
    lab.run(&["index", "--native", "--apply"]).ends(3);
    let index = |project: &str| {
        String::from_utf8(read(
            &lab.projects().join(project).join("sessions-index.json"),
        ))
        .unwrap()
    };
    assert!(index("-here").contains(HERE), "{}", index("-here"));
    lab.open("-closed");
    assert!(!index("-closed").contains(CLOSED));
    lab.run(&["index", "--native", "--apply"]).ends(0);
    assert!(index("-closed").contains(CLOSED));
}

#[test]
fn one_closed_project_does_not_stop_memory() {
    let lab = Lab::new();
    lab.close("-closed");
    for args in [
        &["memory", "all", "show"] as &[&str],
        &["memory", "all", "search", "fact"],
    ] {
        let ran = lab.run(args).ends(3);
        assert!(
            ran.text().contains("open fact") && ran.stderr.contains("-closed"),
            "{ran:?}"
        );
    }
    assert!(
        lab.run(&["memory", "check", "all"])
            .ends(3)
            .stderr
            .contains("-closed")
    );
    lab.open("-closed");
    assert!(
        lab.run(&["memory", "all", "show"])
            .ends(0)
            .text()
            .contains("shut fact")
    );
}

#[test]
fn one_closed_project_is_named_by_every_command_that_looks_at_all_sessions() {
    let lab = Lab::new();
    lab.close("-closed");
    for (args, code) in [
        (&["list"] as &[&str], 0),
        (&["stats"], 0),
        (&["search", "open"], 0),
        (&["projects"], 0),
        (&["index"], 0),
    ] {
        let ran = lab.run(args).ends(code);
        assert!(
            ran.stderr.contains("-closed") && ran.stderr.contains("denied"),
            "{ran:?}"
        );
    }
    assert_eq!(
        lab.run(&["list", "--json"])
            .ends(0)
            .of_type("session")
            .len(),
        1
    );
    let damage = lab.run(&["check", "--json"]).ends(1).of_type("damage");
    assert!(damage.iter().any(
        |it| it["problem"] == "unreadable" && it["path"].as_str().unwrap().ends_with("-closed")
    ));
    lab.run(&["export", "--format", "jsonl", &format!("claude:{HERE}")])
        .ends(0);
    lab.run(&["doctor"]).ends(0);
}
