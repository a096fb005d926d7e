//! Sessions of Codex that boswell makes and changes, resumed by the real Codex.
#![expect(
    clippy::disallowed_methods,
    reason = "tests hand files to the program as its input"
)]

use boswell_testkit::disk::read;
use serde_json::Value;

use crate::bench::Bench;
use crate::codex_desk::{CodexDesk, assert_same};

/// Entries of a conversation with a call and its result.
const ENTRIES: &str = r#"{"role":"user","text":"外来的问题"}
{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c1"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"a.txt"}}
{"role":"assistant","text":"外来的回答"}
"#;

/// Makes a session with entries, and returns its id.
#[track_caller]
fn made(bench: &Bench, title: Option<&str>) -> String {
    let mut args = vec!["new", "--dialect", "codex", "--json"];
    if let Some(title) = title {
        args.extend(["--title", title]);
    }
    let new = bench.run(&args).ends(0).of_type("session").remove(0);
    let id = new["id"].as_str().unwrap().to_owned();
    let mut append = bench.command(["append", &format!("codex:{id}"), "--json"]);
    let entries = bench.plant("entries.jsonl", ENTRIES.as_bytes());
    append.stdin(std::fs::File::open(entries).unwrap());
    let receipts = crate::bench::finish(append).ends(0).lines();
    assert_eq!(receipts.len(), 4, "{receipts:?}");
    id
}

/// A home of Codex without sessions.
fn home(bench: &Bench) {
    bench.plant(".codex/config.toml", b"model_provider = \"scripted\"\n");
}

fn texts(bench: &Bench, id: &str) -> Vec<String> {
    let shown = bench.run(["show", &format!("codex:{id}"), "--json", "-q"]);
    let entries = shown.ends(0).of_type("entry");
    let text = |entry: &Value| entry["text"].as_str().map(str::to_owned);
    let messages = entries
        .iter()
        .filter(|it| ["user", "assistant"].contains(&it["role"].as_str().unwrap_or_default()));
    messages
        .filter_map(text)
        .filter(|text| !text.is_empty())
        .collect()
}

#[test]
fn a_new_session_is_written_forked_named_and_all_of_it_is_undone() {
    let bench = Bench::new();
    home(&bench);
    let id = made(&bench, Some("一个标题"));
    let session = format!("codex:{id}");
    assert_eq!(texts(&bench, &id), ["外来的问题", "外来的回答"]);
    bench.run(["check", &session]).ends(0);
    let listed = |bench: &Bench| {
        bench
            .run(["list", "--json", "-q"])
            .ends(0)
            .of_type("session")
    };
    assert_eq!(listed(&bench)[0]["title"], "一个标题");
    bench.run(["rename", &session, "another"]).ends(0);
    assert_eq!(listed(&bench)[0]["title"], "another");
    bench.run(["undo"]).ends(0);
    assert_eq!(listed(&bench)[0]["title"], "一个标题");
    let index = read(&bench.home().join(".codex/session_index.jsonl"));
    let fork = bench
        .run(["fork", &session, "--title", "a fork", "--json"])
        .ends(0);
    let fork = fork.of_type("session").remove(0);
    let fork_id = fork["id"].as_str().unwrap();
    assert_eq!(texts(&bench, fork_id), texts(&bench, &id));
    assert_eq!(fork["parent"], id.as_str());
    bench.run(["undo"]).ends(0);
    assert_eq!(
        index,
        read(&bench.home().join(".codex/session_index.jsonl"))
    );
    assert_eq!(listed(&bench).len(), 1);
    // Entries can only be added at the end, and of kinds that Codex has.
    bench
        .run(["append", &session, "--user", "x", "--parent", "#2"])
        .ends(2)
        .says("anywhere but its end");
    let mut named = bench.command(["append", &session]);
    let entry = bench.plant("entry.jsonl", br#"{"role":"user","text":"x","id":"mine"}"#);
    named.stdin(std::fs::File::open(entry).unwrap());
    crate::bench::finish(named)
        .ends(2)
        .says("its format has no ids");
}

#[test]
fn codex_resumes_what_was_written_forked_and_repaired_with_every_message() {
    let Some(desk) = CodexDesk::new() else { return };
    let id = made(&desk.bench, Some("written by hand"));
    resumes(&desk, &id, "PROBE of the new one");
    // What Codex added is there, and goes on from here.
    resumes(&desk, &id, "PROBE again");
    let append = ["append", &format!("codex:{id}"), "--user", "one more"];
    desk.run(&append);
    resumes(&desk, &id, "PROBE after an append");
    let fork = forked(&desk, &id);
    resumes(&desk, &fork, "PROBE of a legacy fork");
    // A paginated thread is not appended to, and its fork is.
    let page = desk.begin("hello there");
    let refused = desk
        .bench
        .run(["append", &format!("codex:{page}"), "--user", "x"]);
    refused.ends(2).says("paginated");
    let native_fork = desk.fork(&page, "in a fork of Codex");
    let fork = forked(&desk, &native_fork);
    desk.run(&[
        "append",
        &format!("codex:{fork}"),
        "--user",
        "into the fork",
    ]);
    let sent = resumes(&desk, &fork, "PROBE of a fork of pages");
    for text in ["hello there", "in a fork of Codex", "into the fork"] {
        assert!(sent.iter().any(|item| item.contains(text)), "{text}");
    }
}

#[track_caller]
fn forked(desk: &CodexDesk, id: &str) -> String {
    let fork = desk.run(&["fork", &format!("codex:{id}"), "--json"]);
    fork.of_type("session").remove(0)["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Resumes a session in Codex, and compares what it sends with the context: the context comes
/// first, then what Codex adds for its own start.
#[track_caller]
fn resumes(desk: &CodexDesk, id: &str, probe: &str) -> Vec<String> {
    let context = desk.context(id);
    let is_instructions = |item: &String| item.contains("You are a coding agent");
    let context: Vec<String> = context
        .into_iter()
        .filter(|it| !is_instructions(it))
        .collect();
    let sent = desk.resumed(id, probe);
    let sent: Vec<String> = sent.into_iter().filter(|it| !is_instructions(it)).collect();
    assert!(
        sent.len() >= context.len(),
        "{} of {}",
        sent.len(),
        context.len()
    );
    assert_same(&without_ids(&context), &without_ids(&sent[..context.len()]));
    for added in &sent[context.len()..] {
        let is_fragment = added.contains("<environment_context>") || added.contains("<skills_");
        assert!(is_fragment, "{added:.300}");
    }
    sent
}

/// Codex gives items without an id one when it sends them.
fn without_ids(items: &[String]) -> Vec<String> {
    let strip = |item: &String| {
        let mut item: Value = serde_json::from_str(item).unwrap();
        if let Some(members) = item.as_object_mut() {
            members.remove("id");
        }
        item.to_string()
    };
    items.iter().map(strip).collect()
}

#[test]
fn a_session_of_another_provider_is_reported_and_made_again_for_the_current_one() {
    let Some(desk) = CodexDesk::new() else { return };
    let id = desk.begin("of the first provider");
    let session = format!("codex:{id}");
    desk.run(&["check", &session]);
    desk.use_provider("other");
    let refused = desk.codex(&["exec", "--skip-git-repo-check", "resume", &id, "x"]);
    assert!(!refused.status.success(), "Codex refuses another provider");
    let check = desk.bench.run(["check", &session, "--json"]).ends(1);
    assert!(check.text().contains("other_provider"), "{check:?}");
    let text = desk.bench.run(["check", &session]).ends(1);
    let printed = format!("{}{}", text.text(), text.stderr);
    assert!(
        printed.contains("repair") && printed.contains("--provider"),
        "{text:?}"
    );
    let before = read(&desk.log(&id));
    desk.bench.run(["repair", &session, "--provider"]).ends(2);
    let done = desk.run(&["repair", &session, "--provider", "--apply", "--json"]);
    let made = done.of_type("op").remove(0)["made"].clone();
    let fork = made
        .as_str()
        .unwrap()
        .strip_prefix("codex:")
        .unwrap()
        .to_owned();
    assert_eq!(before, read(&desk.log(&id)), "the session itself stays");
    desk.run(&["check", &format!("codex:{fork}")]);
    let sent = resumes(&desk, &fork, "PROBE for the other provider");
    assert!(
        sent.iter()
            .any(|item| item.contains("of the first provider"))
    );
    let last = desk.model.requests().pop().unwrap();
    assert!(last.path.starts_with("/other/"), "{}", last.path);
    // Back to the first provider: nothing is left to do there.
    desk.use_provider("scripted");
    desk.run(&["check", &session]);
    let nothing = desk.run(&["repair", &session, "--provider"]);
    assert!(nothing.text().contains("nothing to repair"), "{nothing:?}");
}

#[test]
fn names_and_archived_threads_come_from_the_database_of_codex() {
    let Some(desk) = CodexDesk::new() else { return };
    let id = desk.begin("to be archived");
    let kept = desk.begin("to be kept");
    assert!(desk.codex(&["archive", &id]).status.success());
    let database = desk.bench.home().join(".codex/state_5.sqlite");
    let before = traces(&database);
    let listed = desk.run(&["list", "--json", "-q"]).of_type("session");
    let ids: Vec<_> = listed.iter().map(|it| it["id"].clone()).collect();
    assert_eq!(ids, [kept.as_str()]);
    let hidden = desk
        .run(&["list", "--hidden", "--json", "-q"])
        .of_type("session");
    assert_eq!(hidden.len(), 2);
    assert_eq!(before, traces(&database), "reading left a trace");
    // A title that boswell sets is the name by which Codex resumes the session.
    desk.run(&["rename", &format!("codex:{kept}"), "the kept one"]);
    desk.go_on("the kept one", "PROBE by its name", &[]);
    let sent = desk.sent_before("PROBE by its name");
    assert!(sent.iter().any(|item| item.contains("to be kept")));
}

#[test]
fn nothing_is_written_while_codex_has_the_session_open() {
    let Some(desk) = CodexDesk::new() else { return };
    let id = made(&desk.bench, None);
    let session = format!("codex:{id}");
    desk.go_on(&id, "hello", &[]);
    let prompt = "SCRIPT=[[{\"hold\":\"HOLD-THE-REPLY\"},{\"text\":\"late\"}]]";
    let mut running = desk.start(&id, prompt);
    desk.model.wait_for("HOLD-THE-REPLY", 1);
    for args in [
        &["append", &session, "--user", "x"][..],
        &["delete", &session, "--apply"],
    ] {
        desk.bench.run(args).ends(3);
    }
    desk.use_provider("other");
    let provider = ["repair", &session, "--provider", "--apply"];
    desk.bench.run(provider).ends(3);
    // Reading takes no lock, and disturbs nobody.
    let database = desk.bench.home().join(".codex/state_5.sqlite");
    let before = traces(&database);
    desk.bench.run(["show", &session, "-q"]).ends(0);
    assert_eq!(before, traces(&database));
    desk.model.release("HOLD-THE-REPLY");
    assert!(running.wait().unwrap().success());
    desk.run(&provider);
}

/// Returns bytes and times of a database and its side files.
fn traces(database: &std::path::Path) -> Vec<(Vec<u8>, std::time::SystemTime)> {
    let side = |ending: &str| {
        let mut name = database.as_os_str().to_owned();
        name.push(ending);
        let path = std::path::PathBuf::from(name);
        let meta = path.metadata().ok()?;
        Some((read(&path), meta.modified().unwrap()))
    };
    ["", "-wal", "-shm", "-journal"]
        .into_iter()
        .filter_map(side)
        .collect()
}

#[test]
fn a_damaged_database_hides_no_session_and_is_reported() {
    let bench = Bench::new();
    home(&bench);
    made(&bench, None);
    let database = bench.plant(".codex/state_5.sqlite", &[b'x'; 5000]);
    let before = traces(&database);
    let listed = bench
        .run(["list", "--json", "-q"])
        .ends(0)
        .of_type("session");
    assert_eq!(listed.len(), 1);
    let check = bench.run(["check", "--json"]).ends(1);
    assert!(check.text().contains("unreadable"), "{check:?}");
    assert!(check.text().contains("state_5.sqlite"), "{check:?}");
    assert_eq!(before, traces(&database));
}
