//! Sessions of pi, oh-my-pi and xcsh, driven by commands in their own folders.

mod damage;
mod finding;
mod migration;

use std::path::PathBuf;

use boswell_testkit::disk;
use serde_json::Value;

use crate::bench::finish;
use crate::pi_lab::{FAMILY, Lab, opened, text_of};

#[test]
fn every_command_works_on_every_flavour() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        assert_eq!(lab.session("0b7e")["messages"], 4, "{dialect}");
        assert!(
            lab.run(&["show", "0b7e"])
                .ends(0)
                .text()
                .contains("a rule is missing")
        );
        assert!(lab.run(&["tree", "0b7e"]).ends(0).text().contains("u1"));
        assert_eq!(lab.context("0b7e").len(), 4);
        lab.run(&["label", "0b7e", "u1", "start"]).ends(0);
        lab.run(&["rename", "0b7e", " the\tred build "]).ends(0);
        let row = lab.session("0b7e");
        assert_eq!(row["title"], "the red build", "{dialect}");
        lab.run(&["branch", "0b7e", "a1", "--summary", "tried a rule"])
            .ends(0);
        lab.run(&["append", "0b7e", "--user", "otherwise"]).ends(0);
        assert_eq!(
            lab.context("0b7e"),
            [
                "why is the build red?",
                "a rule is missing",
                "tried a rule",
                "otherwise"
            ]
        );
        lab.run(&["branch", "0b7e", "--root"]).ends(0);
        assert!(lab.context("0b7e").is_empty(), "{dialect}: reset");
        lab.run(&["branch", "0b7e", "a2"]).ends(0);
        let fork = lab
            .run(&["fork", "0b7e", "--at", "a1"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        assert_eq!(
            lab.context(&fork),
            ["why is the build red?", "a rule is missing"],
            "{dialect}"
        );
        let whole = lab
            .run(&["fork", "0b7e", "--whole", "--project", "/proj/other"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        assert_eq!(lab.context(&whole), lab.context("0b7e"), "{dialect}");
        let id = whole.split_once(':').unwrap().1;
        assert_eq!(lab.session(id)["project"], "/proj/other");
        let path = lab.session(id)["path"].as_str().unwrap().to_owned();
        let artifact = PathBuf::from(path.trim_end_matches(".jsonl")).join("1.bash.log");
        assert_eq!(
            text_of(&artifact),
            "whole output",
            "{dialect}: artifacts come along"
        );
        assert!(
            lab.run(&["prompts"])
                .ends(0)
                .text()
                .contains("why is the build red?")
        );
        lab.run(&["continue", "--print"]).ends(0);
        lab.run(&["check", "0b7e"]).ends(0);
        lab.run(&["stats", "0b7e", "--json"]).ends(0);
        lab.run(&["undo"]).ends(0);
        assert!(!artifact.exists(), "{dialect}: a fork can be taken back");
    }
}

#[test]
fn a_title_in_the_header_changes_nothing_else_and_can_be_undone() {
    for dialect in ["omp", "xcsh"] {
        let lab = Lab::new(dialect);
        let before = text_of(&lab.log());
        lab.run(&["rename", "0b7e", "会话恢复"]).ends(0);
        let now = text_of(&lab.log());
        let rest = |text: &str| text.split_once('\n').unwrap().1.to_owned();
        assert_eq!(rest(&now), rest(&before));
        assert!(
            now.lines()
                .next()
                .unwrap()
                .contains(r#""title":"会话恢复","titleSource":"user""#)
        );
        lab.run(&["undo"]).ends(0);
        assert_eq!(text_of(&lab.log()), before);
        lab.run(&["rename", "0b7e", " \n "]).ends(2);
        assert_eq!(text_of(&lab.log()), before);
    }
}

#[test]
fn xcsh_gets_what_it_would_have_written_and_boswell_keeps_the_whole() {
    let lab = Lab::new("xcsh");
    let long = "会x".repeat(300_000);
    let input = lab.bench.tmp().join("input");
    disk::write(
        &input,
        format!("{{\"role\":\"user\",\"text\":\"{long}\"}}\n").as_bytes(),
    );
    let mut command = lab.bench.command(lab.args(&["append", "0b7e"]));
    command.stdin(opened(&input));
    finish(command).ends(0);
    let last = text_of(&lab.log()).lines().last().unwrap().to_owned();
    assert!(
        last.contains("[Session persistence truncated large content]") && last.len() < 1_100_000,
        "{}",
        last.len()
    );
    assert_eq!(
        lab.context("0b7e").last().unwrap(),
        &long,
        "what a model is sent is whole"
    );
    assert!(lab.run(&["show", "0b7e"]).ends(0).text().contains("会x会x"));
    disk::remove(&lab.bench.own());
    assert!(
        lab.context("0b7e")
            .last()
            .unwrap()
            .ends_with("truncated large content]"),
        "without our home it is as xcsh has it"
    );
}

#[test]
fn images_lie_in_the_blobs_of_the_agent_and_damage_to_them_is_told() {
    let lab = Lab::new("xcsh");
    let data = "A".repeat(2048);
    let image = format!(
        r#"{{"type":"message","message":{{"role":"user","content":[{{"type":"image","data":"{data}","mimeType":"image/png"}}],"timestamp":1}}}}"#
    );
    let fork = lab.run(&["fork", "0b7e"]).ends(0).text().trim().to_owned();
    for session in ["xcsh:0b7e", &fork] {
        let input = lab.bench.tmp().join("input");
        disk::write(&input, format!("{image}\n").as_bytes());
        let mut command = lab.bench.command(lab.args(&["append", session]));
        command.stdin(opened(&input));
        finish(command).ends(0);
    }
    let blobs = || -> Vec<PathBuf> { disk::list(&lab.root().join("blobs")) };
    let found = blobs();
    assert_eq!(found.len(), 1, "shared by both");
    assert_eq!(disk::read(&found[0]), vec![0; 1536], "the decoded bytes");
    let sent = lab
        .run(&["context", "0b7e", "--json"])
        .ends(0)
        .of_type("message");
    assert_eq!(
        sent.last().unwrap()["content"][0]["data"],
        data.as_str(),
        "put back when it is read"
    );
    let alone = lab.bench.tmp().join("alone.jsonl");
    disk::write(
        &alone,
        text_of(&lab.log())
            .replace(
                "/proj/demo\"",
                "/proj/demo\",\"titleSource\":\"user\",\"title\":\"x\"",
            )
            .as_bytes(),
    );
    lab.bench.run(["check", alone.to_str().unwrap()]).ends(0);
    lab.run(&["delete", "--apply", &fork, "--purge"]).ends(0);
    assert_eq!(blobs().len(), 1, "the other session still names it");
    disk::write(&found[0], b"short");
    lab.run(&["check", "0b7e"]).ends(1);
    lab.run(&["show", "0b7e"]).ends(0);
    std::fs::remove_file(&found[0]).unwrap();
    lab.run(&["check", "0b7e"]).ends(1);
    disk::write(&found[0], &[0; 1536]);
    lab.run(&["check", "0b7e"]).ends(0);
    lab.run(&["delete", "--apply", "0b7e", "--purge"]).ends(0);
    assert!(blobs().is_empty(), "nobody names it any more");
}

#[test]
fn a_deleted_session_goes_with_its_artifacts_and_comes_back_with_them() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let log = text_of(&lab.log());
        let artifact = lab.log().with_extension("").join("1.bash.log");
        lab.run(&["delete", "--apply", "0b7e"]).ends(0);
        assert!(!lab.log().exists() && !artifact.exists(), "{dialect}");
        lab.run(&["append", "0b7e", "--user", "x"]).ends(2);
        assert!(
            !lab.log().exists(),
            "{dialect}: nothing brings it back but `restore`"
        );
        lab.run(&["restore", &format!("{dialect}:0b7e")]).ends(0);
        assert_eq!(
            (text_of(&lab.log()), text_of(&artifact)),
            (log, "whole output".to_owned()),
            "{dialect}"
        );
    }
}

#[test]
fn prompts_of_xcsh_are_read_from_its_database_without_a_trace() {
    let lab = Lab::new("xcsh");
    let database = lab.root().join("history.db");
    let at = boswell_model::Instant::parse("2026-02-16T10:00:00Z").unwrap();
    assert!(
        boswell_find::remember(&database, "会话 from the history", Some("/proj/demo"), at).unwrap()
    );
    let before = disk::read(&database);
    let found = lab
        .run(&["prompts", "会话", "--json"])
        .ends(0)
        .of_type("prompt");
    assert_eq!(
        (found.len(), &found[0]["source"], &found[0]["project"]),
        (1, &Value::from("history"), &Value::from("/proj/demo"))
    );
    assert_eq!(disk::read(&database), before);
    assert!(!lab.root().join("history.db-shm").exists());
    disk::write(&database, b"this is no database, but somebody's file");
    lab.run(&["prompts", "build"])
        .ends(0)
        .says("cannot be used");
}
