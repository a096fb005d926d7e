//! Hosts that are away, too old, not boswell, or hostile.

use boswell_testkit::{TreeSnapshot, disk};
use serde_json::json;

use super::Desk;

#[test]
fn a_host_without_boswell_or_with_an_old_one_is_named_with_what_to_do() {
    let Some(desk) = Desk::new() else { return };
    let missing = desk.host.home().join("nothing");
    desk.settings(&[("box", &missing, false)]);
    let ran = desk.run(&["list", "--host", "box"]).ends(3);
    assert!(ran.stderr.contains("there is no boswell on box"), "{ran:?}");
    assert!(ran.stderr.contains("set `program` of the host"), "{ran:?}");
    desk.scripted("echo 'boswell 0.0.9'");
    let ran = desk.run(&["show", "box:claude:1"]).ends(2);
    assert!(
        ran.stderr.contains("boswell 0.0.9 on box is too old"),
        "{ran:?}"
    );
    assert!(
        ran.stderr.contains("hint: update boswell on box"),
        "{ran:?}"
    );
    desk.scripted("echo hello");
    let ran = desk.run(&["search", "--host", "box", "x"]).ends(3);
    assert!(ran.stderr.contains("is not boswell"), "{ran:?}");
    let ran = desk.run(&["show", "--host=-oProxyCommand=x", "y"]).ends(2);
    assert!(ran.stderr.contains("not a destination of ssh"), "{ran:?}");
    let ran = desk.run(&["show", "--host", "a;b", "y"]).ends(2);
    assert!(ran.stderr.contains("not a destination of ssh"), "{ran:?}");
}

#[test]
fn settings_that_are_wrong_say_line_and_reason() {
    let Some(desk) = Desk::new() else { return };
    let file = desk.bench.home().join(".config/boswell/config.toml");
    disk::write(&file, b"\n[[hosts]]\nname = \"claude\"\nssh = \"box\"\n");
    let ran = desk.run(&["list"]).ends(2);
    assert!(ran.stderr.contains("line 2"), "{ran:?}");
    assert!(ran.stderr.contains("means something else"), "{ran:?}");
}

#[test]
fn what_a_hostile_host_prints_is_bounded_and_harmless() {
    let Some(desk) = Desk::new() else { return };
    let version = "test \"$1\" = --version && { echo 'boswell 9.0.0'; exit; }\n";
    for endless in [
        "yes",
        "exec head -c 1073741824 /dev/zero",
        "yes '{\"v\":1}'",
    ] {
        desk.scripted(&format!("{version}{endless}"));
        let ran = desk.run(&["list", "--host", "box"]).ends(3);
        assert!(ran.stderr.contains("box"), "{ran:?}");
        assert!(ran.stdout.len() < 1 << 20);
    }
    desk.scripted("yes");
    let ran = desk.run(&["list", "--host", "box"]).ends(3);
    assert!(ran.stderr.contains("is not boswell"), "{ran:?}");
    let row = json!({
        "v": 1, "type": "session", "ref": "claude:../../etc/passwd",
        "name": "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}name", "bytes": 1,
        "project": "/w/\u{1b}[31m", "last_active": "2026-01-01T00:00:00.000Z",
        "tags": [], "models": [], "resume": {"argv": ["\u{1b}[2J"], "cwd": "\u{1b}", "env": {}},
    });
    let page = json!({"v": 1, "type": "page"});
    let text = format!("{row}\n{page}\n\u{1b}[2Jgarbage\n");
    disk::write(&desk.host.home().join("answer"), text.as_bytes());
    let answer = desk.host.home().join("answer");
    let print = format!("{version}cat '{0}'; cat '{0}' >&2", answer.display());
    desk.scripted(&print);
    for words in [
        &["list", "--host", "box"][..],
        &["show", "box:claude:1", "--color", "always"],
        &["show", "box:claude:1", "--json"],
        &["search", "--host", "box", "x"],
        &["resume", "box:claude:1"],
        &["stats", "--by", "host"],
    ] {
        let ran = desk.run(words);
        let shown = [ran.text(), ran.stderr.clone()].concat();
        let harmless = shown.replace("\u{1b}[0m", "");
        assert!(
            !harmless.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{ran:?}"
        );
    }
    let rows = desk.run(&["list", "--host", "box"]).ends(0);
    assert!(rows.text().contains("\\x1b]0;owned"), "{rows:?}");
    let own: Vec<_> = disk::list(&desk.bench.own().join("hosts"));
    assert_eq!(own.len(), 1, "one file per host: {own:?}");
}

#[test]
fn names_that_a_host_sends_never_lead_out_of_the_session() {
    let Some(desk) = Desk::new() else { return };
    let id = "aaaaaaaa-0001-4001-8001-000000000001";
    let cwd = desk.bench.cwd().canonicalize().unwrap();
    let line = json!({
        "type": "user", "uuid": "bbbbbbbb-0001-4001-8001-000000000001", "parentUuid": null,
        "sessionId": id, "cwd": cwd, "timestamp": "2026-01-01T00:00:00.000Z", "version": "2.1.1",
        "isSidechain": false, "message": {"role": "user", "content": "hi"},
    });
    let key = boswell_testkit::make::claude::project_key(cwd.to_str().unwrap());
    let file = |key: &str, text: &str| {
        let sum = boswell_store::vault::Digest::of(text.as_bytes()).to_string();
        json!({"key": key, "kind": "meta", "content": [text], "bytes": 1, "sha256": sum})
    };
    let log = file(&format!("projects/{key}/{id}.jsonl"), &format!("{line}\n"));
    let hostile = [
        "settings.json",
        "../../.profile",
        "/tmp/x",
        "projects/x/memory/MEMORY.md",
    ];
    let mut files = vec![log];
    files.extend(hostile.iter().map(|key| file(key, "owned")));
    let document = json!({
        "v": 1, "type": "export", "ref": format!("claude:{id}"), "dialect": "claude", "id": id,
        "session": {}, "files": files, "secrets": {},
    });
    let answer = desk.host.home().join("answer");
    disk::write(&answer, document.to_string().as_bytes());
    desk.scripted(&format!(
        "test \"$1\" = --version && {{ echo 'boswell 9.0.0'; exit; }}\ncat '{}'",
        answer.display()
    ));
    let projects = desk.bench.home().join(".claude/projects");
    disk::make_dir(&projects);
    let outside = TreeSnapshot::take(&desk.bench.cwd());
    let copied = desk
        .run(&["copy", &format!("box:claude:{id}"), "--apply"])
        .ends(0);
    assert!(
        copied.stderr.contains("4 files of box were left out"),
        "{copied:?}"
    );
    let store = crate::keep::below(&desk.bench.home().join(".claude"));
    assert_eq!(store, [projects.join(&key).join(format!("{id}.jsonl"))]);
    assert!(!desk.bench.home().join(".profile").exists());
    assert_eq!(TreeSnapshot::take(&desk.bench.cwd()), outside);
}
