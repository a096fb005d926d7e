//! Symbolic links planted in a store: the contents of their targets never appear in any output.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use boswell_testkit::disk::{list, make_dir, read, write};
use boswell_testkit::home::TestHome;

use crate::bench::{Bench, Ran};

const WORD: &str = "unmistakable-word-of-elsewhere";
const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const OTHER: &str = "aaaaaaaa-0002-4001-8001-000000000002";

fn line(id: &str, text: &str) -> String {
    format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}},\"uuid\":\"{id}-0\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{id}\"}}\n"
    )
}

fn holds(bytes: &[u8]) -> bool {
    bytes
        .windows(WORD.len())
        .any(|window| window == WORD.as_bytes())
}

/// Returns another name of the same form: an id stays an id.
fn duplicate(name: &str) -> String {
    let (stem, ending) = name
        .split_once('.')
        .map_or((name, String::new()), |(stem, rest)| {
            (stem, format!(".{rest}"))
        });
    match stem.chars().last() {
        Some('0') => format!("{}1{ending}", &stem[..stem.len() - 1]),
        Some(last) if last.is_ascii_hexdigit() => format!("{}0{ending}", &stem[..stem.len() - 1]),
        _ => format!("{stem}z{ending}"),
    }
}

/// Copies a file or folder to a place outside the store, with the word in every file.
fn copy_with_word(from: &Path, to: &Path) {
    if from.is_dir() {
        make_dir(to);
        list(from)
            .iter()
            .for_each(|path| copy_with_word(path, &to.join(path.file_name().unwrap())));
        return;
    }
    let (bytes, said) = (read(from), line(ID, WORD));
    let is_log = from.extension() == Some(OsStr::new("jsonl"));
    write(
        to,
        &if is_log {
            [&bytes[..], said.as_bytes()].concat()
        } else {
            [said.as_bytes(), &bytes].concat()
        },
    );
}

/// Plants next to everything in a store a link to a copy outside, and in every folder two more.
/// Returns all of them.
fn plant(store: &Path, outside: &Path) -> Vec<PathBuf> {
    let (mut planted, mut folders) = (Vec::new(), vec![store.to_owned()]);
    while let Some(folder) = folders.pop() {
        let inside = list(&folder);
        for path in &inside {
            let link = path.with_file_name(duplicate(path.file_name().unwrap().to_str().unwrap()));
            if !link.exists() {
                let target = outside.join(format!(
                    "{}-{}",
                    planted.len(),
                    link.file_name().unwrap().to_str().unwrap()
                ));
                copy_with_word(path, &target);
                symlink(&target, &link).unwrap();
                planted.push(link);
            }
        }
        folders.extend(inside.into_iter().filter(|path| path.is_dir()));
        symlink(outside.join("deep"), folder.join("deep")).unwrap();
        symlink(outside.join("a.txt"), folder.join("a.txt")).unwrap();
        planted.extend([folder.join("deep"), folder.join("a.txt")]);
    }
    planted
}

fn outside_of(bench: &Bench) -> PathBuf {
    let outside = bench.root().join("outside");
    for name in [
        "a.txt",
        "deep/b.txt",
        "deep/agent-a9.jsonl",
        "deep/MEMORY.md",
        "deep/deeper/0@v1",
    ] {
        write(&outside.join(name), line(ID, WORD).as_bytes());
    }
    outside
}

fn assert_silent(ran: &Ran) {
    assert!(
        !holds(&ran.stdout) && !holds(ran.stderr.as_bytes()),
        "{ran:?}"
    );
}

#[test]
fn what_planted_links_lead_to_comes_out_of_no_store_by_any_command() {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 7);
    let outside = outside_of(&bench);
    let stores = [
        &home.claude,
        &home.pi,
        &home.omp,
        &home.xcsh,
        &home.myagents,
        &home.clinvoker,
        &home.oas,
        &home.codex,
    ];
    let planted: Vec<Vec<PathBuf>> = stores.iter().map(|store| plant(store, &outside)).collect();
    assert!(planted.iter().all(|links| links.len() > 3));
    for args in [
        &["list", "--hidden", "--json"] as &[&str],
        &["stores", "--json"],
        &["index", "--json"],
        &["memory", "all", "show", "--json"],
        &["prompts", "--json"],
        &["stats", "--json"],
        &["keep", "on", "--timer", "--apply"],
        &["keep", "run"],
    ] {
        let ran = bench.run(args);
        assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
        assert_silent(&ran);
    }
    assert_silent(&bench.run(["search", "unmistakable", "--json"]).ends(1));
    assert_silent(&bench.run(["search", "--substring", WORD, "--json"]).ends(1));
    for dialect in [
        "claude",
        "pi",
        "omp",
        "xcsh",
        "myagents",
        "clinvoker",
        "oas",
        "codex",
    ] {
        for session in home
            .planted
            .iter()
            .filter(|it| it.dialect == dialect)
            .take(3)
        {
            let reference = format!("{dialect}:{}", session.id);
            for command in [
                &["export", "--format", "json"] as &[&str],
                &["show", "--json"],
                &["context", "--json"],
                &["files", "--json"],
                &["attachments", "--json"],
                &["import"],
                &["archive", "--apply"],
            ] {
                let args = command.iter().copied().chain([reference.as_str()]);
                assert_silent(&bench.run(args));
            }
        }
    }
    // Everything that boswell stored: index, catalog, vault, imports.
    for path in crate::keep::below(&bench.own()) {
        assert!(!holds(&read(&path)), "{}", path.display());
    }
}

#[test]
fn check_names_links_that_lead_out_of_a_store_and_other_commands_warn_of_them() {
    let bench = Bench::new();
    let root = bench.home().join(".claude");
    let outside = outside_of(&bench);
    let side = root.join(format!("projects/-w/{ID}"));
    write(
        &root.join(format!("projects/-w/{ID}.jsonl")),
        line(ID, "hello").as_bytes(),
    );
    write(&side.join("tool-results/t.txt"), b"inside");
    symlink(outside.join("a.txt"), side.join("tool-results/a.txt")).unwrap();
    symlink(outside.join("deep"), side.join("deep")).unwrap();
    symlink(outside.join("deep"), root.join("projects/-elsewhere")).unwrap();
    // Users have their own settings behind links: these are followed without a warning.
    write(
        &bench.home().join("dotfiles.json"),
        b"{\"cleanupPeriodDays\": 77}",
    );
    symlink(
        bench.home().join("dotfiles.json"),
        root.join("settings.json"),
    )
    .unwrap();
    let damage = bench.run(["check", "--json"]).ends(1).of_type("damage");
    let named: BTreeSet<PathBuf> = damage
        .iter()
        .filter(|it| it["problem"] == "outside_link")
        .map(|it| it["path"].as_str().unwrap().into())
        .collect();
    let expected = [
        side.join("tool-results/a.txt"),
        side.join("deep"),
        root.join("projects/-elsewhere"),
    ];
    assert_eq!(named, BTreeSet::from(expected));
    let told = bench.run(["check"]).ends(1).text();
    assert!(
        told.contains("outside_link") && told.contains("--store"),
        "{told}"
    );
    let listed = bench.run(["list"]).ends(0);
    assert!(
        listed.stderr.contains("-elsewhere` was not followed"),
        "{listed:?}"
    );
    assert!(!listed.stderr.contains("settings.json"), "{listed:?}");
    assert_eq!(bench.run(["list", "--quiet"]).ends(0).stderr, "");
    let status = bench
        .run(["keep", "status", "--json"])
        .ends(0)
        .of_type("keep");
    assert_eq!(status[0]["deletes_after_days"], 77);
}

#[test]
fn a_store_behind_a_link_and_links_inside_a_store_are_read() {
    let bench = Bench::new();
    let real = bench.home().join("dotfiles/claude");
    write(
        &real.join(format!("projects/-w/{ID}.jsonl")),
        line(ID, "hello from behind").as_bytes(),
    );
    write(
        &real.join(format!("projects/-w/{ID}/tool-results/t.txt")),
        b"spilled",
    );
    // One link is relative, the other absolute: both stay inside.
    let results = real.join(format!("projects/-w/{ID}/tool-results"));
    symlink("t.txt", results.join("relative.txt")).unwrap();
    symlink(results.join("t.txt"), results.join("absolute.txt")).unwrap();
    write(
        &real.join(format!("projects/-x/{OTHER}.log")),
        line(OTHER, "through a link").as_bytes(),
    );
    symlink(
        format!("../-x/{OTHER}.log"),
        real.join(format!("projects/-w/{OTHER}.jsonl")),
    )
    .unwrap();
    symlink(&real, bench.home().join(".claude")).unwrap();
    let shown = |id: &str| bench.run(["show", &format!("claude:{id}")]).ends(0).text();
    assert!(shown(ID).contains("hello from behind") && shown(OTHER).contains("through a link"));
    assert_eq!(bench.run(["list"]).ends(0).stderr, "");
    bench.run(["keep", "run"]).ends(0);
    let kept = bench
        .run(["keep", "status", "--json"])
        .ends(0)
        .of_type("keep");
    assert_eq!(kept[0]["sessions"], kept[0]["kept"], "{kept:?}");
    let exported = bench
        .run(["export", "--format", "json", &format!("claude:{ID}")])
        .ends(0)
        .text();
    assert_eq!(exported.matches("spilled").count(), 3, "{exported}");
}

#[test]
fn a_link_that_is_named_is_followed_and_one_below_a_folder_that_is_named_is_not() {
    let bench = Bench::new();
    let outside = bench.root().join("outside");
    write(&outside.join("log.jsonl"), line(ID, WORD).as_bytes());
    write(
        &bench.cwd().join("backup/own.jsonl"),
        line(OTHER, "mine").as_bytes(),
    );
    symlink(
        outside.join("log.jsonl"),
        bench.cwd().join("backup/link.jsonl"),
    )
    .unwrap();
    assert!(
        bench
            .run(["show", "backup/link.jsonl"])
            .ends(0)
            .text()
            .contains(WORD)
    );
    let damage = bench
        .run(["check", "backup", "--json"])
        .ends(1)
        .of_type("damage");
    let found: Vec<_> = damage
        .iter()
        .map(|it| {
            (
                it["problem"].as_str().unwrap(),
                it["path"].as_str().unwrap(),
            )
        })
        .collect();
    assert!(
        matches!(found.as_slice(), [("outside_link", path)] if path.ends_with("link.jsonl")),
        "{found:?}"
    );
    // In a store, the same link was discovered, not given by the user.
    let planted = bench.home().join(format!(".claude/projects/-w/{ID}.jsonl"));
    make_dir(planted.parent().unwrap());
    symlink(outside.join("log.jsonl"), &planted).unwrap();
    let shown = bench.run(["show", planted.to_str().unwrap()]).ends(2);
    assert_silent(&shown);
    shown.says("leads out of");
}
