//! Sessions of another host, through a real `sshd` on loopback.

mod copying;
mod hostile;
mod sshd;

use boswell_testkit::disk;
use boswell_testkit::make::claude;
use serde_json::Value;

pub(crate) use sshd::Desk;

/// Adds a session of Claude Code to a home; returns its ref.
pub(crate) fn plant(home: &std::path::Path, cwd: &str, seed: u64) -> String {
    let made = claude::file(claude::ClaudeShape::ToolUse, cwd, seed);
    made.write_to(&home.join(".claude"));
    format!("claude:{}", made.id)
}

/// A machine with a session, and a host with two.
fn machine() -> Option<(Desk, [String; 3])> {
    let desk = Desk::new()?;
    let here = plant(&desk.bench.home(), "/w/here", 1);
    let there = [2, 3].map(|seed| plant(&desk.host.home(), "/w/there", seed));
    let [one, two] = there;
    Some((desk, [here, one, two]))
}

fn refs(lines: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut refs: Vec<_> = lines
        .iter()
        .map(|line| (text(&line["host"]), text(&line["ref"])))
        .collect();
    refs.sort();
    refs
}

#[test]
fn a_list_has_the_rows_of_hosts_and_keeps_them_while_the_host_is_away() {
    let Some((mut desk, [here, one, two])) = machine() else {
        return;
    };
    let row = |host: &str, session: &String| (host.to_owned(), session.clone());
    let mut there = [row("box", &one), row("box", &two)];
    there.sort();
    let first = desk.run(&["list", "--host", "box", "--json"]).ends(0);
    assert_eq!(refs(&first.of_type("session")), there);
    assert_eq!(first.of_type("page")[0]["total"], 2);
    let all = desk.run(&["list", "--host", "all", "--json", "-q"]).ends(0);
    let mut everywhere = vec![row("-", &here)];
    everywhere.extend(there.clone());
    everywhere.sort();
    assert_eq!(refs(&all.of_type("session")), everywhere);
    let text = desk.run(&["list", "--host", "all"]).ends(0);
    let (head, rows) = (text.text(), text.text());
    assert!(head.starts_with("HOST"), "{head}");
    assert_eq!(rows.lines().filter(|it| it.starts_with("box")).count(), 2);
    assert!(text.stderr.contains("sessions of box as of"), "{text:?}");

    desk.host.stop();
    let away = desk.run(&["list", "--host", "box", "--json", "--refresh"]);
    let away = away.ends(0);
    assert_eq!(refs(&away.of_type("session")), there, "old rows");
    assert!(
        Desk::warning(&away).contains("cannot reach box"),
        "{away:?}"
    );
    let filtered = desk.run(&["list", "--host", "box", "--match", "no such name", "-q"]);
    assert_eq!(filtered.ends(0).text(), "");
    disk::remove(&desk.bench.own().join("hosts"));
    let silent = desk.run(&["list", "--host", "box"]).ends(3);
    assert!(silent.stderr.contains("cannot reach box"), "{silent:?}");
    assert!(
        silent.stderr.contains("hint: try `ssh 127.0.0.1`"),
        "{silent:?}"
    );
    let some = desk.run(&["list", "--host", "all", "--json"]).ends(0);
    assert_eq!(refs(&some.of_type("session")), [row("-", &here)]);
    assert!(Desk::warning(&some).contains("cannot reach box"));
}

#[test]
fn a_host_that_lists_show_needs_no_option() {
    let Some((desk, [here, one, two])) = machine() else {
        return;
    };
    let alone = desk.run(&["list", "--json"]).ends(0);
    assert_eq!(refs(&alone.of_type("session")), [("-".to_owned(), here)]);
    desk.settings(&[("box", &desk.host.boswell(), true)]);
    let shown = desk.run(&["list", "--json"]).ends(0);
    assert_eq!(shown.of_type("session").len(), 3);
    let here_only = desk.run(&["list", "--host", "local", "--json"]).ends(0);
    assert_eq!(here_only.of_type("session").len(), 1);
    // A session by its name there, in commands and in numbers of a list.
    for session in [one, two] {
        let name = format!("box:{session}");
        let shown = desk.run(&["show", &name, "--json"]).ends(0);
        let direct = desk.host.there(&["show", &session, "--json"]).ends(0);
        let mut lines = shown.lines();
        for line in &mut lines {
            assert_eq!(line.as_object_mut().unwrap().remove("host").unwrap(), "box");
        }
        assert_eq!(lines, direct.lines());
        assert!(!lines.is_empty());
    }
}

#[test]
fn commands_about_a_session_answer_as_on_the_host() {
    let Some((desk, [_, session, _])) = machine() else {
        return;
    };
    let name = format!("box:{session}");
    for command in [
        "show",
        "tree",
        "context",
        "outline",
        "files",
        "attachments",
        "check",
    ] {
        let here = desk.run(&[command, &name, "--utc"]);
        let there = desk.host.there(&[command, &session, "--utc"]);
        assert_eq!(here.code, there.code, "{here:?}");
        assert_eq!(here.text(), there.text(), "{command}");
    }
    let by_option = desk.run(&["show", "--host", "box", &session]).ends(0);
    assert_eq!(by_option.text(), desk.run(&["show", &name]).ends(0).text());
    let exported = desk.run(&["export", &name, "-q"]).ends(0);
    assert_eq!(
        exported.stdout,
        desk.host.there(&["export", &session, "-q"]).stdout
    );
    let missing = desk.run(&["show", "box:claude:none", "--json"]).ends(2);
    let error: Value = serde_json::from_str(missing.stderr.trim()).unwrap();
    assert_eq!(error["kind"], "not_found");
    assert!(error["message"].as_str().unwrap().starts_with("on box: "));
    // What writes is refused: it would change another machine.
    for words in [
        &["tag", &name, "x"][..],
        &["delete", &name],
        &["attachments", &name, "--extract", "x"],
        &["secrets", &name, "--scrub", "--apply"],
        &["outline", &name, "--with", "touch x"],
    ] {
        let refused = desk.run(words).ends(2);
        assert!(refused.stderr.contains("of this machine"), "{refused:?}");
        assert!(refused.stderr.contains("boswell copy"), "{refused:?}");
    }
    for command in ["projects", "stores", "prompts", "today", "stats"] {
        let ran = desk.run(&[command, "--host", "box", "--json"]);
        let there = desk.host.there(&[command, "--json"]);
        assert_eq!(ran.code, there.code, "{ran:?}");
        assert_eq!(ran.lines().len(), there.lines().len(), "{ran:?}");
        assert!(
            ran.lines().iter().all(|line| line["host"] == "box"),
            "{ran:?}"
        );
    }
    let both = desk.run(&["projects", "--host", "all"]).ends(0).text();
    assert!(
        both.contains("box:\n") && both.contains("local:\n"),
        "{both}"
    );
    assert!(
        both.contains("/w/here") && both.contains("/w/there"),
        "{both}"
    );
}

#[test]
fn text_of_a_user_is_one_word_on_the_host() {
    let Some((desk, [_, session, _])) = machine() else {
        return;
    };
    let mark = desk.bench.root().join("touched");
    for word in [
        format!("$(touch {})", mark.display()),
        format!("`touch {}`", mark.display()),
        format!("'; touch {} #", mark.display()),
        format!("a\ntouch {}\n", mark.display()),
    ] {
        let name = format!("box:{word}");
        let refused = desk.run(&["show", &name]);
        assert_ne!(refused.code, Some(0), "{refused:?}");
        let searched = desk.run(&["search", "--host", "box", "--substring", &word]);
        assert_eq!(searched.code, Some(1), "{searched:?}");
        assert!(!mark.exists(), "{word}");
    }
    let found = desk.run(&["show", &format!("box:{session}"), "--entry", "a'b"]);
    assert_eq!(found.code, Some(2), "{found:?}");
}

#[test]
fn a_search_joins_the_hits_of_machines() {
    let Some((mut desk, [here, one, two])) = machine() else {
        return;
    };
    let searched = desk.run(&["search", "--host", "all", "the", "--json", "--limit", "100"]);
    let searched = searched.ends(0);
    let hits = searched.of_type("hit");
    for (host, session) in [("-", &here), ("box", &one), ("box", &two)] {
        let is_it = |hit: &&Value| {
            hit["host"].as_str().unwrap_or("-") == host && hit["session"] == session.as_str()
        };
        assert!(hits.iter().any(|hit| is_it(&hit)), "{host} {session}");
    }
    let text = desk.run(&["search", "--host", "box", "the"]).ends(0).text();
    assert!(text.contains(&format!("box:{one}")), "{text}");
    let by_host = desk.run(&["stats", "--by", "host", "--json"]).ends(0);
    let keys = by_host.of_type("stat");
    let keys: Vec<_> = keys
        .iter()
        .map(|it| (&it["key"], &it["sessions"]))
        .collect();
    assert_eq!(
        format!("{keys:?}"),
        "[(String(\"(here)\"), Number(1)), (String(\"box\"), Number(2))]"
    );

    // Without the host, its names are searched.
    let rows = desk.run(&["list", "--host", "box", "--json"]).ends(0);
    let rows = rows.of_type("session");
    let name = rows[0]["name"].as_str().unwrap().to_owned();
    let word = name
        .split(|c: char| !c.is_alphanumeric())
        .find(|it| it.len() > 3);
    desk.host.stop();
    let away = desk
        .run(&["search", "--host", "box", word.unwrap(), "--json"])
        .ends(0);
    assert!(Desk::warning(&away).contains("cannot reach box"));
    assert_eq!(away.of_type("hit")[0]["host"], "box");
    assert_eq!(away.of_type("page")[0]["complete"], false);
}

#[test]
fn a_session_is_resumed_on_its_host_in_its_folder() {
    let Some(desk) = Desk::new() else { return };
    let work = desk.host.home().join("it's work");
    disk::make_dir(&work);
    let session = plant(&desk.host.home(), work.to_str().unwrap(), 4);
    let stub = desk.host.script(
        "claude",
        "pwd\nfor word in \"$@\"; do echo \"<$word>\"; done",
    );
    let bin = desk.host.home().join("bin");
    disk::make_dir(&bin);
    std::fs::rename(stub, bin.join("claude")).unwrap();
    disk::write(
        &desk.host.home().join(".profile"),
        b"PATH=$HOME/bin:$PATH\n",
    );
    let name = format!("box:{session}");
    let resumed = desk.run(&["resume", &name]).ends(0);
    let id = session.strip_prefix("claude:").unwrap();
    let expected = format!("{}\n<--resume>\n<{id}>\n", work.display());
    assert_eq!(resumed.text().replace('\r', ""), expected, "{resumed:?}");
    let printed = desk.run(&["resume", &name, "--print"]).ends(0).text();
    assert!(printed.starts_with("ssh -t "), "{printed}");
    let json = desk.run(&["resume", &name, "--json"]).ends(0);
    let line = json.of_type("resume").remove(0);
    assert_eq!(line["argv"][0], "ssh");
    assert_eq!(line["argv"][1], "-t");
}
