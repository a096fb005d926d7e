//! Prompts appended to an xcsh session are also added to its prompt history.

use boswell_testkit::disk;

use crate::bench::finish;
use crate::pi_lab::Lab;

fn at() -> boswell_model::Instant {
    boswell_model::Instant::parse("2026-02-16T10:00:00Z").unwrap()
}

/// Returns the prompts in the history, newest first, with the folder of each.
fn remembered(lab: &Lab) -> Vec<(String, String)> {
    let database = lab.root().join("history.db");
    let history = boswell_find::PromptHistory::open(&database, &lab.bench.tmp(), "test")
        .unwrap()
        .unwrap();
    history
        .recent(99)
        .unwrap()
        .into_iter()
        .map(|it| (it.text, it.project.unwrap_or_default()))
        .collect()
}

fn with_history(dialect: &'static str) -> Lab {
    let lab = Lab::new(dialect);
    boswell_find::remember(&lab.root().join("history.db"), "older", Some("/else"), at()).unwrap();
    lab
}

#[test]
fn a_prompt_for_xcsh_is_remembered_once_as_if_it_had_been_typed() {
    let lab = with_history("xcsh");
    lab.run(&[
        "append",
        "0b7e",
        "--user",
        "  会话 why? \n",
        "--assistant",
        "because",
    ])
    .ends(0);
    lab.run(&["append", "0b7e", "--user", "会话 why?"]).ends(0);
    lab.feed(
        "0b7e",
        &[
            r#"{"role":"user","text":"and then?"}"#,
            r#"{"role":"assistant","text":"done"}"#,
        ],
    );
    // A record in the agent's own format is a copy: no user typed it here.
    let copied = r#"{"type":"message","message":{"role":"user","content":"copied","timestamp":1}}"#;
    lab.feed("0b7e", &[copied]);
    let project = "/proj/demo".to_owned();
    let expected = [
        ("and then?", project.clone()),
        ("会话 why?", project),
        ("older", "/else".to_owned()),
    ]
    .map(|(a, b)| (a.to_owned(), b));
    assert_eq!(remembered(&lab), expected);
    assert_eq!(lab.context("0b7e").len(), 10, "the session has all of it");
}

#[test]
fn an_entry_that_was_there_already_is_not_remembered_again() {
    let lab = with_history("xcsh");
    let line = r#"{"id":"fixed001","role":"user","text":"said once"}"#;
    lab.feed("0b7e", &[line]);
    lab.run(&["append", "0b7e", "--user", "other"]).ends(0);
    lab.feed("0b7e", &[line]);
    let texts: Vec<_> = remembered(&lab).into_iter().map(|(text, _)| text).collect();
    assert_eq!(texts, ["other", "said once", "older"]);
}

#[test]
fn where_no_history_is_none_is_made_and_oh_my_pis_is_left_alone() {
    for dialect in ["pi", "xcsh"] {
        let lab = Lab::new(dialect);
        lab.run(&["append", "0b7e", "--user", "x"]).ends(0);
        assert!(!lab.root().join("history.db").exists(), "{dialect}");
    }
    let lab = with_history("omp");
    let before = disk::read(&lab.root().join("history.db"));
    lab.run(&["append", "0b7e", "--user", "x"]).ends(0);
    assert_eq!(disk::read(&lab.root().join("history.db")), before);
}

#[test]
fn a_history_that_cannot_take_it_is_told_and_the_prompt_is_kept() {
    let lab = with_history("xcsh");
    let database = lab.root().join("history.db");
    disk::write(&database, b"this is no database, but somebody's file");
    lab.run(&["append", "0b7e", "--user", "kept"])
        .ends(0)
        .says("warning")
        .says("history.db");
    assert_eq!(
        disk::read(&database),
        b"this is no database, but somebody's file"
    );
    assert_eq!(lab.context("0b7e").last().unwrap(), "kept");
    assert_eq!(
        lab.run(&["--quiet", "append", "0b7e", "--user", "quiet"])
            .ends(0)
            .stderr,
        ""
    );
}

#[cfg(unix)]
#[test]
fn what_a_link_leads_to_is_not_written() {
    let lab = Lab::new("xcsh");
    let target = lab.bench.tmp().join("elsewhere.db");
    boswell_find::remember(&target, "older", None, at()).unwrap();
    let before = disk::read(&target);
    std::os::unix::fs::symlink(&target, lab.root().join("history.db")).unwrap();
    lab.run(&["append", "0b7e", "--user", "x"]).ends(0);
    assert_eq!(disk::read(&target), before);
}

#[test]
fn writers_of_the_history_wait_for_one_another() {
    let lab = with_history("xcsh");
    let other = lab.run(&["fork", "0b7e"]).ends(0).text().trim().to_owned();
    let children: Vec<_> = ["xcsh:0b7e", &other]
        .into_iter()
        .cycle()
        .take(8)
        .enumerate()
        .map(|(number, session)| {
            let command = lab.bench.command(lab.args(&[
                "append",
                session,
                "--wait",
                "60s",
                "--user",
                &format!("p{number}"),
            ]));
            std::thread::spawn(move || finish(command).ends(0).stderr.clone())
        })
        .collect();
    for child in children {
        assert_eq!(child.join().unwrap(), "");
    }
    let mut texts: Vec<_> = remembered(&lab).into_iter().map(|(text, _)| text).collect();
    texts.sort();
    assert_eq!(
        texts,
        ["older", "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"]
    );
}
