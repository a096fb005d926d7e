//! Answers that once were wrong or empty without a word, one test each.

use boswell_testkit::TestHome;

use crate::bench::Bench;

#[test]
fn new_in_a_store_whose_folder_is_absent_makes_the_folder() {
    for dialect in ["claude", "pi", "myagents", "xcsh", "omp", "clinvoker"] {
        let bench = Bench::new();
        let folder = bench.root().join("not/there/yet");
        let store = format!("{dialect}={}", folder.display());
        let made = bench
            .run(["new", "--dialect", dialect, "--store", &store])
            .ends(0);
        let reference = made.text().trim().to_owned();
        bench.run(["show", &reference, "--store", &store]).ends(0);
    }
}

#[test]
fn show_of_a_json_document_of_an_unknown_agent_exits_4_with_a_sentence() {
    let bench = Bench::new();
    let gemini = r#"{"sessionId":"s","projectHash":"h","messages":[{"id":"1","type":"user","content":"hi"}]}"#;
    let opencode = r#"{"info":{"id":"ses_1"},"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"hi"}]}]}"#;
    for document in [gemini, opencode] {
        let spread: serde_json::Value = serde_json::from_str(document).unwrap();
        for text in [
            document.to_owned(),
            serde_json::to_string_pretty(&spread).unwrap(),
        ] {
            let file = bench.plant("given.json", text.as_bytes());
            let shown = bench.run(["show".as_ref(), file.as_os_str()]).ends(4);
            assert!(shown.stdout.is_empty());
            shown.says("is not known, so there is no conversation to show");
        }
    }
}

#[test]
fn claude_shaped_files_without_parents_say_how_many_messages_are_not_shown() {
    let bench = Bench::new();
    let line = |n: u32, role: &str| {
        format!(
            "{{\"type\":\"{role}\",\"uuid\":\"11111111-1111-4111-8111-11111111111{n}\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-01T00:00:0{n}Z\",\"message\":{{\"role\":\"{role}\",\"content\":\"text {n}\"}}}}\n"
        )
    };
    let log: String = [(1, "user"), (2, "assistant"), (3, "user"), (4, "assistant")]
        .map(|(n, role)| line(n, role))
        .concat();
    let file = bench.plant("given.jsonl", log.as_bytes());
    let shown = bench.run(["show".as_ref(), file.as_os_str()]).ends(0);
    shown.says("the current branch has 1 of 4 messages");
    // Without ids there is nothing that links could be restored from.
    let bare = log.replace("\"uuid\":\"", "\"other\":\"");
    let file = bench.plant("bare.jsonl", bare.as_bytes());
    let shown = bench.run(["show".as_ref(), file.as_os_str()]);
    assert!(
        shown.code == Some(4) || shown.text().matches("text").count() == 4,
        "{shown:?}"
    );
}

#[test]
fn stores_doctor_and_list_count_the_same() {
    let bench = Bench::new();
    TestHome::build(&bench.home(), 5);
    // An empty log is hidden by `list`, although nothing in its name says so.
    bench.plant(
        ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-0199aaaa-0000-7000-8000-0000000000aa.jsonl",
        b"{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"0199aaaa-0000-7000-8000-0000000000aa\"}}\n",
    );
    let stores = bench.run(["stores", "--json", "-q"]).of_type("store");
    let report = bench
        .run(["doctor", "--json", "-q"])
        .of_type("report")
        .remove(0);
    let reported = report["stores"].as_array().unwrap();
    assert!(stores.len() > 4 && reported.len() == stores.len());
    for (store, reported) in stores.iter().zip(reported) {
        let dialect = store["dialect"].as_str().unwrap();
        assert_eq!(store["dialect"], reported["dialect"]);
        for count in ["sessions", "hidden", "bytes"] {
            assert_eq!(store[count], reported[count], "{count} of {dialect}");
        }
    }
    // A conversation in two stores is one row, and links to its other side.
    let listed = bench
        .run(["list", "--json", "-q"])
        .ends(0)
        .of_type("session");
    for store in &stores {
        let dialect = format!("{}:", store["dialect"].as_str().unwrap());
        let is_here = |reference: &serde_json::Value| {
            reference
                .as_str()
                .is_some_and(|it| it.starts_with(&dialect))
        };
        let here = listed.iter().flat_map(|row| {
            let links = row["links"]
                .as_array()
                .unwrap()
                .iter()
                .map(|link| &link["ref"]);
            links.chain([&row["ref"]])
        });
        assert_eq!(
            store["sessions"],
            here.filter(|it| is_here(it)).count(),
            "{dialect}"
        );
    }
}

#[test]
fn codex_files_with_only_event_messages_are_listed_and_shown() {
    let bench = Bench::new();
    let id = "0199aaaa-0000-7000-8000-0000000000ab";
    let line = |word: &str, payload: &str| {
        format!(
            "{{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"{word}\",\"payload\":{payload}}}\n"
        )
    };
    let log = [
        line("session_meta", &format!(r#"{{"id":"{id}","cwd":"/p"}}"#)),
        line(
            "event_msg",
            r#"{"type":"user_message","message":"why is it red?"}"#,
        ),
        line(
            "event_msg",
            r#"{"type":"agent_message","message":"a flaky test"}"#,
        ),
    ]
    .concat();
    let name = format!(".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{id}.jsonl");
    bench.plant(&name, log.as_bytes());
    let listed = bench
        .run(["list", "--json", "-q"])
        .ends(0)
        .of_type("session");
    assert_eq!((listed.len(), &listed[0]["messages"]), (1, &2.into()));
    let shown = bench.run(["show", &format!("codex:{id}")]).ends(0).text();
    assert!(
        shown.contains("why is it red?") && shown.contains("a flaky test"),
        "{shown}"
    );
}
