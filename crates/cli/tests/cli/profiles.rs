//! Several stores of one agent: `resume` uses the store of the session, and no other profile is
//! read without a request.

use std::path::{Path, PathBuf};

use boswell_testkit::disk;
use boswell_testkit::make::{codex, pi};

use crate::bench::{Bench, finish};

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const OTHER: &str = "aaaaaaaa-0002-4001-8001-000000000002";

fn plant_claude(bench: &Bench, root: &str, id: &str) -> PathBuf {
    let cwd = bench.home().join("p");
    std::fs::create_dir_all(&cwd).unwrap();
    let line = format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}},\"uuid\":\"u\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":{:?},\"sessionId\":\"{id}\"}}\n",
        cwd.display().to_string()
    );
    bench.plant(&format!("{root}/projects/-p/{id}.jsonl"), line.as_bytes());
    bench.home().join(root)
}

fn printed(bench: &Bench, store: &str, session: &str) -> String {
    bench
        .run(["--store", store, "resume", session, "--print"])
        .ends(0)
        .text()
        .trim()
        .to_owned()
}

fn write_settings(bench: &Bench, text: &str) {
    bench.plant(".config/boswell/config.toml", text.as_bytes());
}

/// Writes a program that prints its arguments and variables.
fn plant_agent(bench: &Bench, name: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = bench.plant(
        &format!("bin/{name}"),
        b"#!/bin/sh\necho \"${CLAUDE_CONFIG_DIR-unset}|$PWD|$*\"\n",
    );
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn resume_names_the_store_in_print_json_and_environment() {
    let bench = Bench::new();
    let root = plant_claude(&bench, ".claude-it's mine", ID);
    let store = format!("claude={}", root.display());
    let print = printed(&bench, &store, ID);
    let quoted = format!("'{}'", root.display().to_string().replace('\'', "'\\''"));
    assert!(
        print.contains(&format!("CLAUDE_CONFIG_DIR={quoted} claude --resume {ID}")),
        "{print}"
    );

    let json = bench
        .run(["--store", &store, "resume", ID, "--json"])
        .ends(0)
        .of_type("resume");
    assert_eq!(json[0]["env"]["CLAUDE_CONFIG_DIR"], root.to_str().unwrap());
    let listed = bench
        .run(["--store", &store, "list", "--json"])
        .ends(0)
        .of_type("session");
    assert_eq!(
        listed[0]["resume"]["env"]["CLAUDE_CONFIG_DIR"],
        root.to_str().unwrap()
    );

    plant_agent(&bench, "claude");
    let mut command = bench.command(["--store", &store, "resume", ID]);
    command
        .env("PATH", bench.home().join("bin"))
        .env("CLAUDE_CONFIG_DIR", "/elsewhere");
    let started = finish(command).ends(0).text();
    assert!(
        started.starts_with(&format!("{}|", root.display())),
        "{started}"
    );
    // The printed command does the same in a shell.
    let mut shell = std::process::Command::new("/bin/sh");
    shell
        .env_clear()
        .env("PATH", bench.home().join("bin"))
        .arg("-c")
        .arg(&print);
    assert_eq!(finish(shell).ends(0).text(), started);
}

#[test]
fn resume_of_the_usual_store_says_nothing_about_it() {
    let bench = Bench::new();
    let root = plant_claude(&bench, ".claude", ID);
    for store in [root.display().to_string(), format!("{}/", root.display())] {
        let print = printed(&bench, &format!("claude={store}"), ID);
        assert!(!print.contains("CLAUDE_CONFIG_DIR"), "{print}");
    }
    let json = bench
        .run(["resume", ID, "--json"])
        .ends(0)
        .of_type("resume");
    assert_eq!(json[0]["env"], serde_json::json!({}));
    // A link to the default folder is the default folder.
    std::os::unix::fs::symlink(&root, bench.home().join("link")).unwrap();
    let print = printed(
        &bench,
        &format!("claude={}", bench.home().join("link").display()),
        ID,
    );
    assert!(!print.contains("CLAUDE_CONFIG_DIR"), "{print}");
}

#[test]
fn a_variable_that_names_another_store_is_unset_for_the_usual_one() {
    let bench = Bench::new();
    let usual = plant_claude(&bench, ".claude", ID);
    let run = |args: &[&str]| {
        let mut command = bench.command(args);
        command.env("CLAUDE_CONFIG_DIR", bench.home().join(".claude-work"));
        command.env("PATH", bench.home().join("bin"));
        finish(command).ends(0)
    };
    let store = format!("claude={}", usual.display());
    let print = run(&["--store", &store, "resume", ID, "--print"]).text();
    assert!(
        print.contains("env -u CLAUDE_CONFIG_DIR claude --resume"),
        "{print}"
    );
    let json = run(&["--store", &store, "resume", ID, "--json"]).of_type("resume");
    assert!(
        json[0]["env"]
            .as_object()
            .unwrap()
            .get("CLAUDE_CONFIG_DIR")
            .unwrap()
            .is_null()
    );
    plant_agent(&bench, "claude");
    assert!(
        run(&["--store", &store, "resume", ID])
            .text()
            .starts_with("unset|")
    );
}

#[test]
fn every_agent_that_has_a_variable_for_its_folder_gets_it() {
    let bench = Bench::new();
    let codex = codex::rollout(codex::CodexShape::Plain, "/p", None, 3);
    codex.write_to(&bench.home().join("other-codex"));
    let family = [
        ("pi", pi::PiFlavour::Pi, "PI_CODING_AGENT_DIR="),
        ("omp", pi::PiFlavour::Omp, "OMP_CODING_AGENT_DIR="),
        ("xcsh", pi::PiFlavour::Xcsh, "PI_CODING_AGENT_DIR="),
    ];
    let at = |name: &str| {
        format!(
            "{name}={}",
            bench.home().join(format!("other-{name}")).display()
        )
    };
    let print = printed(&bench, &at("codex"), &codex.id);
    assert!(
        print.contains(&format!(
            "CODEX_HOME={} codex resume",
            bench.home().join("other-codex").display()
        )),
        "{print}"
    );
    for (name, flavour, variable) in family {
        let made = pi::file(pi::PiShape::Linear, flavour, pi::PiLayout::of("/p"), 3);
        made.write_to(&bench.home().join(format!("other-{name}")));
        let print = printed(&bench, &at(name), &made.id);
        let folder = bench.home().join(format!("other-{name}"));
        assert!(
            print.contains(&format!("{variable}{} ", folder.display())),
            "{name}: {print}"
        );
    }
}

#[test]
fn a_store_of_the_settings_is_added_with_its_label_and_resumed_in_its_own_account() {
    let bench = Bench::new();
    plant_claude(&bench, ".claude", ID);
    let work = plant_claude(&bench, ".claude-work", OTHER);
    write_settings(
        &bench,
        "[[stores]]\ndialect = \"claude\"\npath = \"~/.claude-work\"\nlabel = \"work\"\n",
    );
    let stores = bench.run(["stores", "--json"]).ends(0).of_type("store");
    let labels: Vec<_> = stores
        .iter()
        .filter(|it| it["dialect"] == "claude")
        .map(|it| it["label"].clone())
        .collect();
    assert_eq!(labels, [serde_json::Value::Null, "work".into()]);
    assert!(bench.run(["stores"]).ends(0).text().contains("(work)"));
    let list = bench.run(["list"]).ends(0).text();
    assert!(
        list.contains("claude@work") && list.lines().count() == 3,
        "{list}"
    );
    let sessions = bench.run(["list", "--json"]).ends(0).of_type("session");
    let label =
        |id: &str| sessions.iter().find(|it| it["id"] == id).unwrap()["store_label"].clone();
    assert_eq!(
        (label(ID), label(OTHER)),
        (serde_json::Value::Null, "work".into())
    );
    let print = bench.run(["resume", OTHER, "--print"]).ends(0).text();
    assert!(
        print.contains(&format!("CLAUDE_CONFIG_DIR={} claude", work.display())),
        "{print}"
    );
    assert!(
        !bench
            .run(["resume", ID, "--print"])
            .ends(0)
            .text()
            .contains("CLAUDE_CONFIG_DIR")
    );
    let config = bench.run(["config"]).ends(0).text();
    assert!(
        config.contains("stores") && config.contains("config.toml"),
        "{config}"
    );
}

#[test]
fn a_store_of_the_settings_that_is_found_anyway_is_listed_once() {
    let bench = Bench::new();
    plant_claude(&bench, ".claude", ID);
    write_settings(
        &bench,
        "[[stores]]\ndialect = \"claude\"\npath = \"~/.claude\"\nlabel = \"home\"\n",
    );
    let sessions = bench.run(["list", "--json"]).ends(0).of_type("session");
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    assert_eq!(sessions[0]["store_label"], "home");
}

#[test]
fn wrong_settings_of_stores_name_the_line_and_the_way_out() {
    let bench = Bench::new();
    write_settings(
        &bench,
        "color = \"never\"\n[[stores]]\ndialect = \"claud\"\npath = \"/x\"\n",
    );
    bench
        .run(["list"])
        .ends(2)
        .says("line 2")
        .says("there is no dialect `claud`; known are")
        .says("BOSWELL_CONFIG=");
}

#[test]
fn doctor_names_other_profiles_and_nobody_reads_them() {
    let bench = Bench::new();
    plant_claude(&bench, ".claude", ID);
    let work = plant_claude(&bench, ".claude-work", OTHER);
    bench.plant(".claude-mem/notes.txt", b"not a profile");
    bench.plant(".claude.json", b"{}");
    bench.plant(".codex-two/sessions/x.txt", b"");
    let told = bench.run(["doctor"]).ends(0).text();
    assert!(
        told.contains(&format!("{} looks like another profile", work.display())),
        "{told}"
    );
    assert!(
        told.contains(".codex-two")
            && !told.contains(".claude-mem")
            && !told.contains(".claude.json"),
        "{told}"
    );
    let json = bench.run(["doctor", "--json"]).ends(0).of_type("report");
    assert_eq!(json[0]["profiles"].as_array().unwrap().len(), 2);
    assert!(
        !bench.run(["list"]).ends(0).text().contains(&OTHER[..13]),
        "not read unasked"
    );
    let bundle = bench.home().join("b.json");
    bench
        .run(["doctor", "--bundle", bundle.to_str().unwrap()])
        .ends(0);
    assert!(
        !String::from_utf8_lossy(&disk::read(Path::new(&bundle))).contains("claude-work"),
        "names stay here"
    );
    write_settings(
        &bench,
        "[[stores]]\ndialect = \"claude\"\npath = \"~/.claude-work\"\n",
    );
    assert!(
        !bench
            .run(["doctor"])
            .ends(0)
            .text()
            .contains(".claude-work looks like"),
        "once added it is no news"
    );
}
