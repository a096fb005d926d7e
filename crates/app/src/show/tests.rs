use std::sync::atomic::{AtomicU64, Ordering};

use boswell_store::backend::FsBackend;
use boswell_store::store::Stores;
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookVerdict, HookedDisk};

use super::*;

/// An application with one session `pi:one` of these entries: id, parent, role.
fn app(folder: &std::path::Path, entries: &[(&str, &str, &str)]) -> App {
    let project = folder.join("sessions/--w--");
    std::fs::create_dir_all(&project).unwrap();
    let mut log = r#"{"type":"session","version":3,"id":"one","timestamp":"2026-10-05T08:00:00.000Z","cwd":"/w"}"#.to_owned();
    for (id, parent, role) in entries {
        let parent = match *parent {
            "" => "null".to_owned(),
            parent => format!("\"{parent}\""),
        };
        let what = match *role {
            "custom" => r#""type":"custom","customType":"note","data":{}"#.to_owned(),
            role => format!(
                r#""type":"message","message":{{"role":"{role}","content":[{{"type":"text","text":"text of {id}"}}],"timestamp":1}}"#
            ),
        };
        log.push_str(&format!(
            "\n{{\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-10-05T08:00:00.000Z\",{what}}}"
        ));
    }
    log.push('\n');
    let file = project.join("2026-10-05T08-00-00-000Z_one.jsonl");
    boswell_testkit::disk::write(&file, log.as_bytes());
    let mut stores = Stores::default();
    stores.add("pi", folder).unwrap();
    App::of_test(stores, None, folder.to_path_buf())
}

/// Returns the ids that a request shows, and the end of their branch if it is another one.
fn shown(app: &App, request: &ShowRequest) -> (Vec<String>, Option<String>) {
    let request = ShowRequest {
        session: "pi:one".to_owned(),
        ..request.clone()
    };
    let mut ids = Vec::new();
    let answer = app.show(&request, &mut |item| {
        if let ShownItem::Entry { entry, .. } = item {
            ids.push(entry.label.as_deref().unwrap_or("").to_owned());
        }
        Ok(true)
    });
    (ids, answer.unwrap().value.branch)
}

fn around(name: &str) -> ShowRequest {
    ShowRequest {
        around: Some(name.to_owned()),
        nearby: Some(1),
        places: true,
        ..ShowRequest::default()
    }
}

#[test]
fn an_entry_that_no_branch_shows_follows_its_message() {
    let temp = tempfile::tempdir().unwrap();
    let entries = [
        ("a", "", "user"),
        ("b", "a", "assistant"),
        ("note", "b", "custom"),
        ("c", "b", "user"),
        ("d", "c", "assistant"),
    ];
    let app = app(temp.path(), &entries);
    let (ids, branch) = shown(&app, &around("note"));
    assert_eq!(ids, ["a", "b", "note", "c"]);
    assert_eq!(branch, None);
}

#[test]
fn an_entry_of_another_branch_is_shown_on_that_branch() {
    let temp = tempfile::tempdir().unwrap();
    let entries = [
        ("a", "", "user"),
        ("b", "a", "assistant"),
        ("c", "b", "user"),
        ("d", "c", "assistant"),
        ("e", "a", "assistant"),
    ];
    let app = app(temp.path(), &entries);
    assert_eq!(
        shown(&app, &around("e")),
        (vec!["a".into(), "e".into()], None)
    );
    let (ids, branch) = shown(&app, &around("c"));
    assert_eq!(ids, ["b", "c", "d"]);
    assert_eq!(branch.as_deref(), Some("d"));
    // From there on pages are read of the same branch.
    let before = ShowRequest {
        before: Some("b".to_owned()),
        branch,
        limit: Some(5),
        ..ShowRequest::default()
    };
    assert_eq!(shown(&app, &before).0, ["a"]);
}

#[test]
fn a_prompt_before_or_after_an_answer_is_found() {
    let temp = tempfile::tempdir().unwrap();
    let entries = [
        ("a", "", "user"),
        ("b", "a", "assistant"),
        ("c", "b", "user"),
        ("d", "c", "assistant"),
        ("e", "d", "user"),
    ];
    let app = app(temp.path(), &entries);
    let prompt = |before: Option<&str>, after: Option<&str>| {
        let request = ShowRequest {
            prompts: true,
            limit: Some(1),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
            ..ShowRequest::default()
        };
        shown(&app, &request).0
    };
    assert_eq!(prompt(Some("d"), None), ["c"]);
    assert_eq!(prompt(None, Some("b")), ["c"]);
    assert_eq!(prompt(Some("b"), Some("d")), Vec::<String>::new());
    assert_eq!(prompt(None, None), ["e"]);
}

#[test]
fn a_page_from_a_position_begins_there() {
    let temp = tempfile::tempdir().unwrap();
    let app = app(temp.path(), &[("a", "", "user"), ("b", "a", "assistant")]);
    let request = ShowRequest {
        from: Some(0),
        limit: Some(1),
        ..ShowRequest::default()
    };
    assert_eq!(shown(&app, &request).0, ["a"]);
}

/// Counts calls of the disk.
#[derive(Debug, Default)]
struct Calls(AtomicU64);

impl Hook for Calls {
    fn before(&self, _: &DiskCall<'_>) -> HookVerdict {
        self.0.fetch_add(1, Ordering::Relaxed);
        HookVerdict::Proceed
    }
}

/// Returns how often the disk is called for a page in the middle of a Claude session with this many
/// calls of tools, after another page was read.
fn calls_of_a_page(turns: usize) -> u64 {
    let temp = tempfile::tempdir().unwrap();
    let id = "5ac5e505-ca12-40e3-a6c1-82bfd1662e80";
    let mut log = String::new();
    for turn in 0..turns {
        let parent = match turn {
            0 => "null".to_owned(),
            _ => format!("\"r{}\"", turn - 1),
        };
        let record = |kind: &str, uuid: &str, parent: &str, content: &str| {
            format!(
                "{{\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"{id}\",\"timestamp\":\"2026-10-30T10:00:00.000Z\",\"message\":{{\"role\":\"{kind}\",\"content\":[{content}]}}}}\n"
            )
        };
        let call = format!(
            "{{\"type\":\"tool_use\",\"id\":\"t{turn}\",\"name\":\"Read\",\"input\":{{}}}}"
        );
        let result =
            format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"t{turn}\",\"content\":\"ok\"}}");
        log.push_str(&record("assistant", &format!("a{turn}"), &parent, &call));
        let parent = format!("\"a{turn}\"");
        log.push_str(&record("user", &format!("r{turn}"), &parent, &result));
    }
    let root = temp.path().join("claude");
    let file = root.join(format!("projects/-w/{id}.jsonl"));
    boswell_testkit::disk::write(&file, log.as_bytes());
    let calls = Arc::new(Calls::default());
    let backend = FsBackend::on(Arc::new(HookedDisk::real(calls.clone())), &root);
    let mut stores = Stores::default();
    let dialect = boswell_dialect::by_name("claude").unwrap();
    stores.add_store(Store::on(dialect, Arc::new(backend), root));
    let app = App::of_test(stores, None, temp.path().to_path_buf());
    let page = |before: &str| {
        let request = ShowRequest {
            session: format!("claude:{id}"),
            before: Some(before.to_owned()),
            limit: Some(10),
            places: true,
            ..ShowRequest::default()
        };
        let mut count = 0;
        let _ = app
            .show(&request, &mut |item| {
                count += usize::from(matches!(item, ShownItem::Entry { .. }));
                Ok(true)
            })
            .unwrap();
        assert_eq!(count, 10);
    };
    page(&format!("a{}", turns - 1));
    let before = calls.0.load(Ordering::Relaxed);
    page(&format!("a{}", turns / 2));
    calls.0.load(Ordering::Relaxed) - before
}

#[test]
fn a_further_page_costs_the_same_however_long_the_session_is() {
    let (short, long) = (calls_of_a_page(40), calls_of_a_page(2000));
    assert!(
        long <= short,
        "{short} calls of a short session, {long} of a long one"
    );
}
