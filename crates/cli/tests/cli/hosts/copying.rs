//! Sessions that are copied from a host: whole, undone, and resumed by the real client.

use std::path::{Path, PathBuf};

use boswell_testkit::TreeSnapshot;
use boswell_testkit::claude_client::{ClaudeClient, ClientHome};
use boswell_testkit::disk;
use boswell_testkit::make::claude::project_key;
use boswell_testkit::scripted_model::ScriptedModel;

use super::{Desk, plant};
use crate::keep::below;

/// A session on the host with side files, and a project folder here; returns the session.
fn machine() -> Option<(Desk, String, PathBuf)> {
    let desk = Desk::new()?;
    let session = plant(&desk.host.home(), "/w/far/shop", 7);
    let id = session.strip_prefix("claude:").unwrap();
    let store = desk.host.home().join(".claude");
    let folder = store.join("projects").join(project_key("/w/far/shop"));
    disk::write(
        &folder.join(id).join("tool-results/out.txt"),
        b"\x00\xffexact",
    );
    disk::write(
        &store
            .join("file-history")
            .join(id)
            .join("0123456789abcdef@v1"),
        b"old",
    );
    disk::write(&store.join("settings.json"), b"{\"hooks\":{}}");
    disk::write(&folder.join("memory/MEMORY.md"), b"not copied");
    let here = desk.bench.cwd().canonicalize().unwrap();
    disk::make_dir(&desk.bench.home().join(".claude/projects"));
    Some((desk, session, here))
}

fn files(store: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = below(store).into_iter();
    let relative = |path: &Path| path.strip_prefix(store).unwrap().to_owned();
    let mut files: Vec<_> = files.map(|it| (relative(&it), disk::read(&it))).collect();
    files.sort();
    files
}

#[test]
fn a_copy_has_every_file_of_the_session_in_the_folder_here_and_is_undone() {
    let Some((desk, session, here)) = machine() else {
        return;
    };
    let name = format!("box:{session}");
    let project = here.to_str().unwrap();
    let there = TreeSnapshot::take(&desk.host.home().join(".claude"));
    let store = desk.bench.home().join(".claude");
    let before = TreeSnapshot::take(&store);
    let lost = desk.run(&["copy", &name, "--apply"]).ends(2);
    assert!(lost.stderr.contains("--project DIR"), "{lost:?}");
    let shown = desk.run(&["copy", &name, "--project", project]).ends(2);
    assert!(shown.text().contains("/w/far/shop → "), "{shown:?}");
    assert_eq!(TreeSnapshot::take(&store), before, "only shown");

    let copied = desk
        .run(&["copy", &name, "--project", project, "--apply"])
        .ends(0);
    assert!(
        copied.text().ends_with(&format!("{session}\n")),
        "{copied:?}"
    );
    let id = session.strip_prefix("claude:").unwrap();
    let folder = format!("projects/{}", project_key(project));
    let mut names: Vec<String> = files(&store)
        .into_iter()
        .map(|(path, _)| path.display().to_string())
        .collect();
    let log = format!("{folder}/{id}.jsonl");
    let mut wanted = vec![
        format!("file-history/{id}/0123456789abcdef@v1"),
        log.clone(),
        format!("{folder}/{id}/tool-results/out.txt"),
    ];
    wanted.sort();
    names.sort();
    assert_eq!(names, wanted);
    let far = format!("projects/{}/{id}.jsonl", project_key("/w/far/shop"));
    let original = disk::read(&desk.host.home().join(".claude").join(far));
    let bytes = disk::read(&store.join(&log));
    assert!(
        bytes.starts_with(&original),
        "every byte of the log is there"
    );
    let added = String::from_utf8(bytes[original.len()..].to_vec()).unwrap();
    assert!(
        added.contains("relocated") && added.contains(project),
        "{added}"
    );
    let listed = desk
        .run(&["list", "--json", "-q"])
        .ends(0)
        .of_type("session");
    assert_eq!(listed[0]["project"], project);
    assert_eq!(listed[0]["resume"]["cwd"], project);
    let again = desk.run(&["copy", &name, "--project", project]).ends(0);
    assert!(again.stderr.contains("is here already"), "{again:?}");
    assert_eq!(TreeSnapshot::take(&desk.host.home().join(".claude")), there);

    let _ = desk.run(&["undo"]).ends(0);
    assert_eq!(files(&store), [], "undone");
}

#[test]
fn a_copy_that_is_interrupted_leaves_both_ends_as_they_were() {
    let Some((desk, session, here)) = machine() else {
        return;
    };
    let name = format!("box:{session}");
    let project = here.to_str().unwrap();
    let store = desk.bench.home().join(".claude");
    let trees = || {
        let far = desk.host.home().join(".claude");
        (TreeSnapshot::take(&store), TreeSnapshot::take(&far))
    };
    let before = trees();
    let real = desk.host.boswell();
    let whole = desk
        .host
        .there(&["export", "--format", "json", "--no-redact", &session]);
    let length = whole.ends(0).stdout.len();
    // The connection is cut after some bytes: the process of the server that holds it is killed.
    for cut in [0, 1, length / 2, length - 1] {
        let text = format!(
            "test \"$1\" = --version && exec '{0}' --version\n\
             '{0}' \"$@\" 2>/dev/null | head -c {cut}\nkill -9 $PPID",
            real.display()
        );
        desk.scripted(&text);
        let lost = desk
            .run(&["copy", &name, "--project", project, "--apply"])
            .ends(3);
        // The server may end before it has passed on the version.
        let is_lost = lost.stderr.contains("the connection to box was lost")
            || cut == 0 && lost.stderr.contains("cannot reach box");
        assert!(is_lost, "{lost:?}");
        assert_eq!(trees(), before);
    }
    // It ends there without an error, but too early.
    let text = format!(
        "test \"$1\" = --version && exec '{0}' --version\n'{0}' \"$@\" | head -c {1}",
        real.display(),
        length / 2
    );
    desk.scripted(&text);
    let torn = desk
        .run(&["copy", &name, "--project", project, "--apply"])
        .ends(4);
    assert!(torn.stderr.contains("not a whole session"), "{torn:?}");
    assert_eq!(trees(), before);
    desk.settings(&[("box", &real, false)]);
    let _ = desk
        .run(&["copy", &name, "--project", project, "--apply"])
        .ends(0);
}

#[test]
fn a_session_that_went_on_there_is_updated_and_one_that_went_on_here_is_not() {
    let Some(desk) = Desk::new() else { return };
    let here = desk.bench.cwd().canonicalize().unwrap();
    let project = here.to_str().unwrap();
    let session = plant(&desk.host.home(), project, 8);
    disk::make_dir(&desk.bench.home().join(".claude/projects"));
    let name = format!("box:{session}");
    let _ = desk.run(&["copy", &name, "--apply"]).ends(0);
    let id = session.strip_prefix("claude:").unwrap();
    let key = format!(".claude/projects/{}/{id}.jsonl", project_key(project));
    let (far, near) = (desk.host.home().join(&key), desk.bench.home().join(&key));
    assert_eq!(
        disk::read(&near),
        disk::read(&far),
        "the same folder: each byte as it is"
    );
    let mut grown = disk::read(&far);
    grown.extend_from_slice(b"{\"type\":\"summary\",\"summary\":\"more\",\"leafUuid\":\"x\"}\n");
    disk::write(&far, &grown);
    let _ = desk.run(&["copy", &name, "--apply"]).ends(0);
    assert_eq!(disk::read(&near), grown);
    let mut other = grown.clone();
    other.extend_from_slice(b"{\"type\":\"summary\",\"summary\":\"here\",\"leafUuid\":\"x\"}\n");
    disk::write(&near, &other);
    let refused = desk.run(&["copy", &name, "--apply"]).ends(3);
    assert!(refused.stderr.contains("is here already"), "{refused:?}");
    assert_eq!(disk::read(&near), other);
}

#[test]
fn the_real_client_resumes_a_copied_session_with_every_message() {
    let Some(client) = ClaudeClient::require_or_skip() else {
        return;
    };
    let Some(desk) = Desk::new() else { return };
    let model = ScriptedModel::start();
    let far_work = desk.host.home().join("shop");
    disk::make_dir(&far_work);
    let (far_home, far_config) = (desk.host.home(), desk.host.home().join(".claude"));
    let id = "aaaaaaaa-0001-4001-8001-000000000001";
    let place = ClientHome {
        home: &far_home,
        config: &far_config,
        work: &far_work,
        model: &model,
    };
    let said = client.say(&place, "remember the word heron", &["--session-id", id]);
    assert!(said.status.success(), "{said:?}");
    let here = desk.bench.cwd().canonicalize().unwrap();
    let config = desk.bench.home().join(".claude");
    disk::make_dir(&config.join("projects"));
    let name = format!("box:claude:{id}");
    let words = [
        "copy",
        &name,
        "--project",
        here.to_str().unwrap(),
        "--apply",
    ];
    let _ = desk.run(&words).ends(0);
    let home = desk.bench.home();
    let place = ClientHome {
        home: &home,
        config: &config,
        work: &here,
        model: &model,
    };
    let resumed = client.say(&place, "which word was it?", &["--resume", id]);
    assert!(resumed.status.success(), "{resumed:?}");
    let messages = model.asked("which word was it?").unwrap();
    let text = serde_json::to_string(&messages).unwrap();
    assert!(text.contains("remember the word heron"), "{text}");
}
