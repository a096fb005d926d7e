//! Import: a session of another agent in boswell's own store has the same content.

use boswell_testkit::TestHome;
use boswell_testkit::disk::{read, write};
use serde_json::Value;

use crate::bench::Bench;

/// Returns the texts of the current branch in order: of the user, the model and tools.
fn said(bench: &Bench, session: &str) -> Vec<String> {
    text_pieces(bench, session, false)
}

fn text_pieces(bench: &Bench, session: &str, summaries: bool) -> Vec<String> {
    let entries = bench
        .run(["show", session, "--json", "-q"])
        .ends(0)
        .of_type("entry");
    let text_pieces = |entry: &&Value| {
        let role = entry["role"]
            .as_str()
            .is_some_and(|role| ["user", "assistant", "tool"].contains(&role));
        entry["on_branch"] == true && (role || summaries && entry["kind"] == "compaction")
    };
    // A one-line description of an entry is not part of the conversation.
    let text = |entry: &Value| {
        let parts = entry["content"].as_array().into_iter().flatten();
        let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
        texts.concat().replace('\n', "")
    };
    entries
        .iter()
        .filter(text_pieces)
        .map(text)
        .filter(|text| !text.is_empty())
        .collect()
}

/// Whether an import has the texts of its source. The summary of a compaction may have been a user
/// message in the source.
fn says_the_same(bench: &Bench, was: &[String], import: &str) -> bool {
    [false, true]
        .into_iter()
        .any(|summaries| text_pieces(bench, import, summaries).concat() == was.concat())
}

#[track_caller]
fn import(bench: &Bench, path: &std::path::Path) -> String {
    let made = bench
        .run(["import", path.to_str().unwrap(), "--json"])
        .ends(0)
        .of_type("session");
    made[0]["ref"].as_str().unwrap().to_owned()
}

#[test]
fn sessions_of_every_dialect_say_the_same_once_they_are_imported() {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 11);
    let mut differ = Vec::new();
    for dialect in ["claude", "pi", "omp", "xcsh", "myagents", "oas", "codex"] {
        for planted in home.of(dialect).filter(|it| !it.hidden).take(4) {
            let was = said(&bench, planted.path.to_str().unwrap());
            assert!(
                was.len() > 1 || planted.messages < 2,
                "{dialect}: {planted:?} says too little to compare"
            );
            let before = read(&planted.path);
            let reference = import(&bench, &planted.path);
            assert!(reference.starts_with("boswell:"), "{reference}");
            assert_eq!(read(&planted.path), before, "the source stays as it is");
            if !says_the_same(&bench, &was, &reference) {
                let is = said(&bench, &reference);
                differ.push(format!(
                    "{dialect}: {}\n  was {was:?}\n  is  {is:?}",
                    planted.note
                ));
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn a_file_is_imported_once_unless_asked_again_and_a_document_comes_like_its_session() {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 12);
    let log = home.of("claude").next().unwrap().path.clone();
    let first = import(&bench, &log);
    bench
        .run(["import", log.to_str().unwrap()])
        .ends(3)
        .says(&first);
    let second = bench
        .run(["import", log.to_str().unwrap(), "--again", "--title", "二"])
        .ends(0)
        .text();
    assert_ne!(second.trim(), first);
    let shown = bench.run(["list", "--json"]).ends(0).of_type("session");
    assert!(
        shown
            .iter()
            .any(|row| row["ref"] == second.trim() && row["title"] == "二"),
        "{shown:?}"
    );
    let document = bench
        .run(["export", log.to_str().unwrap(), "--format", "json", "-q"])
        .ends(0)
        .stdout;
    let path = bench.tmp().join("s.json");
    write(&path, &document);
    let third = import(&bench, &path);
    assert_eq!(said(&bench, &first), said(&bench, &third));
    let broken = String::from_utf8(document)
        .unwrap()
        .replacen("sha256\":\"", "sha256\":\"00", 1);
    write(&path, broken.as_bytes());
    bench
        .run(["import", path.to_str().unwrap()])
        .ends(4)
        .says("another hash");
}

#[test]
fn garbage_is_refused_or_kept_but_never_breaks() {
    let bench = Bench::new();
    let path = bench.tmp().join("x.jsonl");
    for bytes in [
        &b""[..],
        b"\xff\xfe\x00",
        b"{}\n",
        b"[[[[",
        b"{\"type\":\"export\"}\n",
    ] {
        write(&path, bytes);
        let ran = bench.run(["import", path.to_str().unwrap(), "--again"]);
        assert!(matches!(ran.code, Some(0..=4)), "{ran:?}");
    }
    bench.run(["import", "nowhere.jsonl"]).ends(2);
}
