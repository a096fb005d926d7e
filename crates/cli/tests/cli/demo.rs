//! The demo and the features that it shows: summaries, the doctor's report, the first steps of a
//! new user.

use std::path::{Path, PathBuf};

use boswell_testkit::{TestHome, TreeSnapshot, disk};
use serde_json::Value;

use crate::bench::{Bench, Ran};

/// A demo, and the options that select it.
pub(crate) struct Demo {
    pub(crate) bench: Bench,
    pub(crate) root: PathBuf,
    options: Vec<String>,
    pub(crate) tour: Vec<String>,
}

impl Demo {
    pub(crate) fn new() -> Demo {
        let bench = Bench::new();
        let made = bench
            .run(["demo", "d", "--json"])
            .ends(0)
            .of_type("demo")
            .remove(0);
        let texts = |list: &Value| -> Vec<String> {
            list.as_array()
                .unwrap()
                .iter()
                .map(|it| it.as_str().unwrap().to_owned())
                .collect()
        };
        let tour = made["commands"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["command"].as_str().unwrap().to_owned());
        let root = PathBuf::from(made["path"].as_str().unwrap());
        Demo {
            root,
            options: texts(&made["options"]),
            tour: tour.collect(),
            bench,
        }
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        crate::bench::finish(self.command(args))
    }

    /// Returns the program with the options of the demo, ready to start.
    pub(crate) fn command(&self, args: &[&str]) -> std::process::Command {
        // As the script of the demo does, by a name that is the same in every run.
        let mut command = self.bench.command(
            args.iter()
                .copied()
                .chain(["--called-as", "try"])
                .chain(self.options.iter().map(String::as_str)),
        );
        // Wide enough for the folder of the demo, which is replaced only as a whole.
        command.env("COLUMNS", "120");
        command
    }
}

#[test]
fn a_demo_holds_every_dialect_two_languages_branches_subagents_and_damage() {
    let demo = Demo::new();
    let sessions = demo
        .run(&["list", "--hidden", "--json"])
        .ends(0)
        .of_type("session");
    let linked = |it: &Value| {
        it["links"]
            .as_array()
            .unwrap()
            .iter()
            .map(|l| l["ref"].as_str().unwrap().to_owned())
            .collect()
    };
    let refs: Vec<String> = sessions
        .iter()
        .flat_map(|it| {
            std::iter::once(it["ref"].as_str().unwrap().to_owned()).chain::<Vec<String>>(linked(it))
        })
        .collect();
    for dialect in [
        "claude",
        "pi",
        "omp",
        "xcsh",
        "myagents",
        "clinvoker",
        "oas",
        "codex",
        "boswell",
    ] {
        assert!(
            refs.iter().any(|it| it.starts_with(&format!("{dialect}:"))),
            "{dialect} is not in {refs:?}"
        );
    }
    assert!(refs.iter().any(|it| it.contains("agent-ademo")), "{refs:?}");
    assert!(
        demo.run(&["tree", "8045"])
            .ends(0)
            .text()
            .contains("cause found")
    );
    assert!(
        demo.run(&["search", "二元"])
            .ends(0)
            .text()
            .contains("分词")
    );
    let damage = demo.run(&["check", "--json"]).ends(1).of_type("damage");
    let problems: Vec<&str> = damage
        .iter()
        .filter_map(|it| it["problem"].as_str())
        .collect();
    for problem in ["torn_tail", "glued_records", "missing_parent", "nul_bytes"] {
        assert!(
            problems.contains(&problem),
            "{problem} is not in {problems:?}"
        );
    }
    let damaged: std::collections::HashSet<&str> = damage
        .iter()
        .filter_map(|it| it["session"].as_str())
        .collect();
    assert_eq!(damaged.len(), 1, "only one log is damaged: {damage:?}");
}

#[test]
fn the_last_session_is_the_same_by_the_catalog_and_by_a_look_into_every_log() {
    let demo = Demo::new();
    // Without write access no catalog is used.
    let found = |more: &[&str]| {
        let ran = demo.run(&[&["show", "@last", "--records", "--json"], more].concat());
        (
            ran.code,
            ran.lines().first().map(|line| line["session"].clone()),
            ran.stderr,
        )
    };
    for side in [
        &[] as &[&str],
        &["--agent", "claude"],
        &["--agent", "myagents"],
        &["--agent", "omp"],
    ] {
        assert_eq!(
            found(side),
            found(&[side, &["--read-only"]].concat()),
            "{side:?}"
        );
    }
    assert_eq!(found(&[]).0, Some(0));
    assert!(
        demo.root.join("own/catalog.db").is_file(),
        "the catalog was asked"
    );
    let session = found(&[]).1.unwrap();
    let own = demo
        .run(&["list", "--json", "--agent", "boswell"])
        .ends(0)
        .of_type("session")
        .remove(0);
    demo.run(&["append", own["ref"].as_str().unwrap(), "--user", "hi"])
        .ends(0);
    assert_eq!(
        found(&[]).1.as_ref(),
        Some(&own["ref"]),
        "what changed a moment ago is seen, and not {session}"
    );
    let receipt = demo
        .run(&["append", "@last", "--user", "again", "--json"])
        .ends(0)
        .of_type("receipt")
        .remove(0);
    assert_eq!(receipt["session"], own["ref"]);
}

#[test]
fn every_command_of_the_printed_tour_works() {
    let demo = Demo::new();
    assert!(demo.tour.len() >= 10);
    for typed in &demo.tour {
        let words = typed.replace('\'', "");
        let words: Vec<&str> = match typed.split_once(" '") {
            Some((before, quoted)) => before
                .split(' ')
                .chain([quoted.trim_end_matches('\'')])
                .collect(),
            None => words.split(' ').collect(),
        };
        let code = match words[0] {
            "check" | "secrets" => 1,
            // A plan that is not carried out.
            "repair" => 2,
            _ => 0,
        };
        demo.run(&words).ends(code);
    }
}

#[cfg(unix)]
#[test]
fn the_script_of_a_demo_sees_its_own_stores_and_no_others() {
    let bench = Bench::new();
    TestHome::build(&bench.home(), 3);
    let before = TreeSnapshot::take(&bench.home());
    let root = bench.cwd().join("it's a 演示");
    bench.run(["demo", root.to_str().unwrap()]).ends(0);
    let ran = std::process::Command::new(root.join("try"))
        .args(["list", "--json"])
        .env_clear()
        .env("HOME", bench.home())
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.lines().count() >= 10, "{text}");
    for line in text
        .lines()
        .filter(|line| line.contains(r#""type":"session""#))
    {
        let path = serde_json::from_str::<Value>(line).unwrap()["path"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(Path::new(&path).starts_with(&root), "{path}");
    }
    assert_eq!(
        before.diff(&TreeSnapshot::take(&bench.home())),
        Vec::<String>::new()
    );
}

#[test]
fn a_demo_is_the_same_each_time_and_never_goes_where_something_is() {
    let bench = Bench::new();
    let sessions = |folder: &str| -> Vec<u8> {
        let root = bench.cwd().join(folder);
        bench.run(["demo", folder]).ends(0);
        disk::read(&root.join(
            "home/.codex/sessions/2026/10/25/rollout-2026-10-25T13-00-00-ad4b5f79-905d-7142-a365-c37251cd26cd.jsonl",
        ))
    };
    let own = |folder: &str| -> Vec<u8> {
        let below = bench.cwd().join(folder).join("own/sessions");
        let folder = disk::list(&below)
            .into_iter()
            .find(|it| it.is_dir())
            .unwrap_or(below);
        disk::read(
            disk::list(&folder)
                .iter()
                .find(|it| it.extension().is_some_and(|end| end == "jsonl"))
                .unwrap(),
        )
    };
    let text = |bytes: Vec<u8>, name: &str| String::from_utf8(bytes).unwrap().replace(name, "NAME");
    assert_eq!(text(sessions("aa"), "/aa/"), text(sessions("bb"), "/bb/"));
    assert_eq!(text(own("aa"), "/aa/"), text(own("bb"), "/bb/"));
    bench
        .run(["demo", "aa"])
        .ends(2)
        .says("is not an empty folder");
    disk::write(&bench.cwd().join("file"), b"x");
    bench
        .run(["demo", "file"])
        .ends(2)
        .says("is not an empty folder");
    bench
        .run(["demo", "cc", "--read-only"])
        .ends(2)
        .says("boswell may only read");
    assert!(!bench.cwd().join("cc").exists());
}

#[test]
fn summaries_are_kept_as_notes_and_leave_titles_and_logs_alone() {
    let demo = Demo::new();
    let before = TreeSnapshot::take(&demo.root.join("home"));
    let kept = demo
        .run(&["summarize", "--missing", "--json"])
        .ends(0)
        .of_type("summary");
    assert!(kept.len() >= 9, "{kept:?}");
    for it in &kept {
        assert!(
            it["title"].as_str().unwrap().split(' ').count() <= 8,
            "{it}"
        );
        assert!(
            !it["summary"].as_str().unwrap().contains("p_9fK2"),
            "a secret shows: {it}"
        );
    }
    let sessions = demo.run(&["list", "--json"]).ends(0).of_type("session");
    let of = |id: &str| {
        sessions
            .iter()
            .find(|it| it["id"].as_str().unwrap().starts_with(id))
            .unwrap()
    };
    assert_eq!(
        of("5ac5")["title"],
        "Coupon rounding",
        "its own title stays"
    );
    assert_eq!(
        of("833e")["title"],
        r#"The deployment hangs after "waiting for lock"#
    );
    assert_eq!(of("833e")["title_source"], "summary");
    let coupon = of("5ac5")["summary"].as_str().unwrap();
    assert!(
        coupon.contains("Changed coupon.rs and ran `cargo test coupon`."),
        "{coupon}"
    );
    let search = of("d542")["summary"].as_str().unwrap();
    assert!(
        search.starts_with("给博客加全文搜索，要支持中文。") && search.contains("先写索引的构建"),
        "{search}"
    );
    demo.run(&["summarize", "--missing"])
        .ends(0)
        .says("every session has a summary");
    demo.run(&["summarize", "5ac5", "--read-only"])
        .ends(2)
        .says("boswell may only read");
    assert_eq!(
        before.diff(&TreeSnapshot::take(&demo.root.join("home"))),
        Vec::<String>::new()
    );
}

#[cfg(unix)]
#[test]
fn a_program_of_the_users_may_sum_up_within_limits() {
    let demo = Demo::new();
    let with = |settings: &str, args: &[&str]| {
        let path = demo.bench.root().join("config.toml");
        disk::write(&path, settings.as_bytes());
        let mut command = demo.bench.command(
            args.iter()
                .copied()
                .chain(demo.options.iter().map(String::as_str)),
        );
        command
            .env("BOSWELL_CONFIG", path)
            .env("PATH", "/usr/bin:/bin");
        crate::bench::finish(command)
    };
    let counting = r#"summary = { command = ["sh", "-c", "grep -c . ; grep -q p_9fK2 && echo leaked; echo One. Two. Three. Four."] }"#;
    let said = with(counting, &["summarize", "833e", "--json"])
        .ends(0)
        .of_type("summary")
        .remove(0);
    assert!(
        said["title"].as_str().unwrap().parse::<u32>().unwrap() >= 3,
        "the gist reaches the program: {said}"
    );
    assert_eq!(said["summary"], "One. Two. Three.");
    let slow = r#"summary = { command = ["sleep", "60"], timeout = "200ms" }"#;
    with(slow, &["summarize", "833e"])
        .ends(3)
        .says("took longer than");
    with(r#"summary = { command = ["yes"] }"#, &["summarize", "833e"])
        .ends(3)
        .says("printed more than");
    with(
        r#"summary = { command = ["false"] }"#,
        &["summarize", "833e"],
    )
    .ends(3)
    .says("failed");
    with(
        r#"summary = { command = ["no-such-program"] }"#,
        &["summarize", "833e"],
    )
    .ends(3)
    .says("cannot be started");
    with("summary = { at_close = true }", &["close", "019a"]).ends(0);
    let closed = demo.run(&["list", "--json"]).ends(0).of_type("session");
    let closed = closed
        .iter()
        .find(|it| it["id"].as_str().unwrap().starts_with("019a"))
        .unwrap();
    assert!(
        closed["summary"]
            .as_str()
            .is_some_and(|summary| summary.contains("release notes")),
        "{closed}"
    );
}

#[test]
fn a_report_names_what_is_there_and_nothing_of_a_session() {
    let demo = Demo::new();
    demo.run(&["summarize", "--missing", "-q"]).ends(0);
    let file = demo.bench.cwd().join("report.json");
    demo.run(&["doctor", "--bundle", "report.json"])
        .ends(0)
        .says("read it before you send it");
    let text = String::from_utf8(disk::read(&file)).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["stores"].as_array().unwrap().len(), 9);
    assert_eq!(report["unfinished"].as_array().unwrap().len(), 0);
    for private in [
        "oupon",
        "搜索",
        "websocket",
        "5ac5",
        "p_9fK2",
        demo.root.to_str().unwrap(),
    ] {
        assert!(!text.contains(private), "{private} stands in {text}");
    }
    demo.run(&["doctor", "--bundle", "report.json"])
        .ends(2)
        .says("already");
    let shown = demo.run(&["doctor"]).ends(0).text();
    for word in [
        "version",
        "home",
        "config",
        "catalog.db",
        "index",
        "locks held",
        "unfinished",
        "claude",
    ] {
        assert!(shown.contains(word), "{word} is not in {shown}");
    }
}

#[cfg(unix)]
#[test]
fn without_a_home_and_variables_the_answer_is_clear() {
    let bench = Bench::new();
    let bare = |args: &[&str]| {
        let mut command = bench.command(args);
        command.env_clear();
        crate::bench::finish(command)
    };
    bare(&["--version"]).ends(0);
    let mut command = bench.command(["list"]);
    command
        .env_clear()
        .env("HOME", bench.root().join("nowhere"));
    let ran = crate::bench::finish(command)
        .ends(0)
        .says("no sessions found")
        .says("boswell demo");
    assert_eq!(ran.text(), "");
}
