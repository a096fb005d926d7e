//! Forks of Codex that name the log which they continue, instead of copying its lines.

use std::path::PathBuf;

use boswell_testkit::corpus::{CAPTURES, require_or_skip};
use boswell_testkit::disk::read;
use serde_json::Value;

use crate::bench::Bench;

const PARENT: &str = "0199aaaa-0000-7000-8000-00000000000a";
const CHILD: &str = "0199bbbb-0000-7000-8000-00000000000b";
const GRANDCHILD: &str = "0199cccc-0000-7000-8000-00000000000c";

/// A log of a paginated thread.
struct PaginatedLog {
    id: &'static str,
    text: String,
    ordinal: usize,
}

impl PaginatedLog {
    fn new(id: &'static str, base: Option<(&PaginatedLog, usize)>) -> PaginatedLog {
        let (mut log, mut header) = (
            PaginatedLog {
                id,
                text: String::new(),
                ordinal: 0,
            },
            serde_json::json!({"id": id, "session_id": id, "cwd": "/srv/demo", "history_mode": "paginated"}),
        );
        if let Some((parent, end)) = base {
            log.ordinal = parent.text[..end].lines().count();
            header["forked_from_id"] = parent.id.into();
            header["history_base"] = serde_json::json!({
                "thread_id": parent.id, "end_ordinal_exclusive": log.ordinal, "end_byte_offset": end,
            });
        }
        log.line("session_meta", header);
        log
    }

    fn line(&mut self, word: &str, payload: Value) {
        let (second, ordinal) = (self.ordinal % 60, self.ordinal);
        self.text.push_str(&format!(
            "{{\"timestamp\":\"2026-11-16T10:00:{second:02}.000Z\",\"ordinal\":{ordinal},\"type\":\"{word}\",\"payload\":{payload}}}\n"
        ));
        self.ordinal += 1;
    }

    /// A prompt, its answer, and what the answer cost.
    fn turn(&mut self, prompt: &str, output: u64) {
        let (id, answer) = (self.id, format!("answer to {prompt}"));
        let turn = self.ordinal;
        self.line(
            "response_item",
            serde_json::json!({
                "type": "message", "role": "user",
                "content": [{"type": "input_text", "text": prompt}],
                "internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]},
            }),
        );
        self.line(
            "response_item",
            serde_json::json!({
                "type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": answer}],
            }),
        );
        self.line(
            "token_usage_record",
            serde_json::json!({
                "thread_id": id, "turn_id": format!("t{turn}"), "response_id": format!("r{turn}"),
                "usage": {"input_tokens": 10, "output_tokens": output},
                "thread_token_usage": {"input_tokens": 500, "output_tokens": 5_000 + output},
            }),
        );
        self.line("event_msg", serde_json::json!({
            "type": "token_count",
            "info": {"total_token_usage": {"input_tokens": 500, "output_tokens": 5_000 + output}},
        }));
    }

    fn plant(&self, bench: &Bench) -> PathBuf {
        let name = format!(
            ".codex/sessions/2026/11/16/rollout-2026-11-16T10-00-00-{}.jsonl",
            self.id
        );
        bench.plant(&name, self.text.as_bytes())
    }
}

/// A session, a fork of it, and a fork of the fork; what the first two say after they were forked
/// is not inherited.
fn family(bench: &Bench) -> [PathBuf; 3] {
    let mut parent = PaginatedLog::new(PARENT, None);
    parent.turn("one", 1);
    let end = parent.text.len();
    parent.turn("never inherited", 2);
    let mut child = PaginatedLog::new(CHILD, Some((&parent, end)));
    child.turn("two", 4);
    let end = child.text.len();
    child.turn("not inherited either", 8);
    let mut grandchild = PaginatedLog::new(GRANDCHILD, Some((&child, end)));
    grandchild.turn("three", 16);
    [&parent, &child, &grandchild].map(|log| log.plant(bench))
}

/// Returns the texts that a command prints as JSON.
fn texts(bench: &Bench, command: &str, session: &str) -> Vec<String> {
    let ran = bench.run([command, session, "--json", "-q"]).ends(0);
    let text = |line: &Value| {
        let text = match command {
            "context" => &line["content"][0]["text"],
            _ => &line["text"],
        };
        let is_message = ["user", "assistant"].contains(&line["role"].as_str()?);
        text.as_str().filter(|_| is_message).map(str::to_owned)
    };
    ran.lines().iter().filter_map(text).collect()
}

const WHOLE: [&str; 6] = [
    "one",
    "answer to one",
    "two",
    "answer to two",
    "three",
    "answer to three",
];

#[test]
fn a_fork_is_read_with_the_history_of_all_its_ancestors() {
    let bench = Bench::new();
    family(&bench);
    let session = format!("codex:{GRANDCHILD}");
    for command in ["show", "context"] {
        assert_eq!(texts(&bench, command, &session), WHOLE, "{command}");
    }
    let export = bench
        .run(["export", &session, "--format", "md", "-q"])
        .ends(0);
    assert!(WHOLE.iter().all(|text| export.text().contains(text)));
    assert!(!export.text().contains("inherited"), "{export:?}");
    // An exact copy is one of the file, and says that it is a part.
    bench
        .run(["export", &session, "--format", "jsonl"])
        .ends(0)
        .says("10 records of it are not in this copy");
    // An inherited entry is named after its log and line, and is found by that name.
    let named = format!("{PARENT}#2");
    let entry = bench
        .run(["show", &session, "--entry", &named, "--json"])
        .ends(0);
    let entry = entry.of_type("entry").remove(0);
    assert_eq!(
        (&entry["text"], &entry["id"]),
        (&"one".into(), &named.into())
    );
    assert_eq!(entry["line"], Value::Null);
    let tree = bench.run(["tree", &session, "--json"]).ends(0);
    assert!(tree.text().contains(&format!("{PARENT}#2")), "{tree:?}");
    bench.run(["check", &session]).ends(0);
    // Its own records, and what it costs, are those of its own log.
    let records = bench.run(["show", &session, "--records", "--json"]).ends(0);
    assert_eq!(records.of_type("entry").len(), 4);
}

#[test]
fn the_usage_of_a_fork_counts_once_and_its_text_is_found_once() {
    let bench = Bench::new();
    family(&bench);
    let all = bench
        .run(["stats", "--json", "-q"])
        .ends(0)
        .lines()
        .remove(0);
    assert_eq!(all["tokens"]["output"], 1 + 2 + 4 + 8 + 16, "{all}");
    let own = bench.run(["stats", &format!("codex:{GRANDCHILD}"), "--json", "-q"]);
    assert_eq!(own.ends(0).lines().remove(0)["tokens"]["output"], 16);
    let hits = bench
        .run(["search", "one", "--json", "-q"])
        .ends(0)
        .of_type("hit");
    let of: Vec<_> = hits.iter().map(|hit| hit["session"].clone()).collect();
    assert!(
        of.iter().all(|it| *it == format!("codex:{PARENT}")),
        "{of:?}"
    );
    assert!(!of.is_empty());
}

#[test]
fn a_fork_whose_base_is_missing_or_shortened_says_so() {
    let bench = Bench::new();
    let [parent, child, _] = family(&bench);
    let session = format!("codex:{GRANDCHILD}");
    let whole = read(&parent);
    std::fs::remove_file(&parent).unwrap();
    for command in ["show", "context", "tree"] {
        bench
            .run([command, &session])
            .ends(0)
            .says("an earlier part of the conversation");
    }
    assert_eq!(texts(&bench, "show", &session), WHOLE[2..]);
    let check = bench.run(["check", &session, "--json"]).ends(1);
    assert!(check.text().contains("missing_history"), "{check:?}");
    // The archive of Codex is searched too.
    let name = parent.file_name().unwrap().to_str().unwrap();
    bench.plant(&format!(".codex/archived_sessions/{name}"), &whole);
    assert_eq!(texts(&bench, "show", &session), WHOLE);
    let short = read(&child);
    boswell_testkit::disk::write(&child, &short[..short.len() / 3]);
    bench
        .run(["show", &session])
        .ends(0)
        .says("was shortened or replaced");
}

#[test]
fn logs_that_continue_each_other_are_read_once_and_reported() {
    let bench = Bench::new();
    for (id, base) in [(PARENT, CHILD), (CHILD, PARENT)] {
        let mut log = PaginatedLog::new(id, None);
        log.turn("one", 1);
        let base = format!(
            "\"history_base\":{{\"thread_id\":\"{base}\",\"end_byte_offset\":0}},\"history_mode\""
        );
        log.text = log.text.replacen("\"history_mode\"", &base, 1);
        log.plant(&bench);
    }
    let session = format!("codex:{CHILD}");
    bench
        .run(["show", &session])
        .ends(0)
        .says("continues itself");
    assert_eq!(texts(&bench, "show", &session), WHOLE[..2]);
}

#[test]
fn a_log_that_a_fork_continues_is_not_deleted() {
    let bench = Bench::new();
    let [parent, child, grandchild] = family(&bench);
    for (id, fork) in [(PARENT, CHILD), (CHILD, GRANDCHILD)] {
        bench
            .run(["delete", "--apply", &format!("codex:{id}")])
            .ends(3)
            .says(&format!("the beginning of its fork `{fork}`"));
    }
    assert!(parent.exists() && child.exists());
    bench
        .run(["delete", "--apply", &format!("codex:{GRANDCHILD}")])
        .ends(0);
    assert!(!grandchild.exists());
    bench
        .run(["delete", "--apply", &format!("codex:{CHILD}")])
        .ends(0);
    assert!(!child.exists());
}

#[test]
fn a_log_that_a_fork_continues_is_not_repaired_in_place() {
    let bench = Bench::new();
    let [parent, ..] = family(&bench);
    let text = String::from_utf8(read(&parent)).unwrap();
    // Two records on one line: separating them moves the position that the fork names.
    let glued = text.replacen("}\n{", "}{", 1);
    boswell_testkit::disk::write(&parent, glued.as_bytes());
    let session = format!("codex:{PARENT}");
    bench.run(["check", &session]).ends(1);
    bench
        .run(["repair", &session, "--apply"])
        .ends(3)
        .says("while its fork");
    assert_eq!(read(&parent), glued.as_bytes());
}

#[test]
fn of_a_reverted_thread_the_newest_log_is_the_session_under_its_own_id() {
    let bench = Bench::new();
    let mut first = PaginatedLog::new(PARENT, None);
    first.turn("one", 1);
    let end = first.text.len();
    first.turn("reverted", 2);
    let old = first.plant(&bench);
    let mut second = PaginatedLog::new(CHILD, Some((&first, end)));
    second.turn("two", 4);
    let text = second.text.replacen(
        &format!("\"id\":\"{CHILD}\""),
        &format!("\"id\":\"{PARENT}\""),
        1,
    );
    let name =
        format!(".codex/sessions/2026/11/16/rollout-2026-11-16T11-00-00-{PARENT}_{CHILD}.jsonl");
    let new = bench.plant(&name, text.as_bytes());
    let listed = bench
        .run(["list", "--json", "-q"])
        .ends(0)
        .of_type("session");
    let refs: Vec<_> = listed.iter().map(|it| it["ref"].clone()).collect();
    let session = format!("codex:{PARENT}");
    assert_eq!(refs, [session.as_str()]);
    assert_eq!(texts(&bench, "show", &session), WHOLE[..4]);
    let resume = bench.run(["resume", &session, "--print"]).ends(0);
    assert!(resume.text().contains(PARENT), "{resume:?}");
    // The older log is still there, by its path.
    let first = texts(&bench, "show", old.to_str().unwrap());
    assert!(first.contains(&"reverted".to_owned()), "{first:?}");
    // Without the newest log the older one would appear in its place, so that both go.
    let bytes = [&old, &new].map(|path| read(path));
    bench.run(["delete", "--apply", &session]).ends(0);
    assert!(!old.exists() && !new.exists());
    bench.run(["undo"]).ends(0);
    assert_eq!([&old, &new].map(|path| read(path)), bytes);
}

#[test]
fn the_captured_fork_gives_the_fifteen_messages_that_codex_sent() {
    let Some(captures) = require_or_skip(CAPTURES) else {
        return;
    };
    let bench = Bench::new();
    let day = "sessions/2026/11/16";
    for path in boswell_testkit::disk::list(&captures.join("codex").join(day)) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        bench.plant(&format!(".codex/{day}/{name}"), &read(&path));
    }
    let fork = "codex:01a1e3f5-cf98-70b3-8072-772f2469517f";
    let context = bench
        .run(["context", fork, "--json", "-q"])
        .ends(0)
        .of_type("message");
    let roles: Vec<_> = context
        .iter()
        .filter_map(|it| it["role"].as_str())
        .collect();
    let [d, u, a, t] = ["developer", "user", "assistant", "tool"];
    assert_eq!(roles, [d, d, u, u, a, a, t, a, a, u, a, a, u, a, a]);
    let shown = texts(&bench, "show", fork);
    assert!(shown.iter().any(|text| text == "PING 再说一句"));
    // The newest `thread_token_usage` of the parent, and the fork's own response.
    let all = bench
        .run(["stats", "--json", "-q"])
        .ends(0)
        .lines()
        .remove(0);
    assert_eq!(
        (&all["tokens"]["input"], &all["tokens"]["output"]),
        (&9_400.into(), &270.into())
    );
}
