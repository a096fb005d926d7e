//! Logs that Codex compressed are read, searched and archived like any other.

use std::path::PathBuf;

use boswell_testkit::TestHome;
use boswell_testkit::disk::{read, write};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::bench::Bench;

/// A Codex session whose log is compressed, with the output from before the compression.
struct Packed {
    bench: Bench,
    session: String,
    path: PathBuf,
    answers: Vec<Vec<u8>>,
}

const QUESTIONS: [&[&str]; 3] = [
    &["show", "--tools=full"],
    &["export", "--format", "jsonl", "-q"],
    &["context", "-q"],
];

impl Packed {
    fn new() -> Packed {
        let bench = Bench::new();
        let home = TestHome::build(&bench.home(), 7);
        let planted = home.of("codex").find(|it| !it.hidden).unwrap();
        let session = format!("codex:{}", planted.id);
        let (plain, path) = (
            planted.path.clone(),
            planted.path.with_extension("jsonl.zst"),
        );
        let mut packed = Packed {
            bench,
            session,
            path,
            answers: Vec::new(),
        };
        packed.answers = packed.ask();
        write(
            &packed.path,
            &compress_to_vec(read(&plain).as_slice(), CompressionLevel::Fastest),
        );
        std::fs::remove_file(plain).unwrap();
        packed
    }

    fn ask(&self) -> Vec<Vec<u8>> {
        let ask = |question: &&[&str]| {
            self.bench
                .run(question.iter().copied().chain([self.session.as_str()]))
                .ends(0)
                .stdout
        };
        QUESTIONS.iter().map(ask).collect()
    }

    /// Returns the number of entries of this session in which a search finds a text.
    fn hits(&self, text: &str) -> usize {
        let ran = self.bench.run([
            "search",
            "--substring",
            text,
            "--json",
            "-q",
            "--limit",
            "1000",
        ]);
        ran.of_type("hit")
            .iter()
            .filter(|hit| hit["session"] == *self.session)
            .count()
    }
}

#[test]
fn a_compressed_log_answers_as_the_plain_one_did_also_from_the_archive() {
    let packed = Packed::new();
    let bench = &packed.bench;
    assert_eq!(packed.ask(), packed.answers);
    let row = || {
        let rows = bench
            .run(["list", "--hidden", "--json"])
            .ends(0)
            .of_type("session");
        rows.into_iter()
            .find(|row| row["ref"] == *packed.session)
            .unwrap()
    };
    assert!(
        row()["messages"].as_u64().unwrap() > 1
            && row()["path"].as_str().unwrap().ends_with(".jsonl.zst")
    );
    bench.run(["check", &packed.session]).ends(0);
    // The last message is far beyond the compressed length.
    let entries = bench
        .run(["show", &packed.session, "--json"])
        .ends(0)
        .of_type("entry");
    let last = entries
        .iter()
        .rfind(|entry| entry["role"] == "assistant" && entry["text"] != "")
        .unwrap();
    let last: String = last["text"].as_str().unwrap().chars().take(20).collect();
    for round in ["by reading", "by the index"] {
        assert!(packed.hits(&last) > 0, "{round}: {last:?}");
        bench.run(["index"]).ends(0);
    }
    let before = read(&packed.path);
    bench.run(["archive", &packed.session, "--apply"]).ends(0);
    assert!(!packed.path.exists());
    assert_eq!(
        (packed.ask(), row()["archived"].as_bool()),
        (packed.answers.clone(), Some(true))
    );
    assert!(packed.hits(&last) > 0);
    bench.run(["restore", &packed.session]).ends(0);
    assert_eq!(read(&packed.path), before);
}

#[test]
fn a_compressed_log_that_is_damaged_is_told_and_harms_no_other_session() {
    let packed = Packed::new();
    let whole = read(&packed.path);
    let count = || {
        packed
            .bench
            .run(["list", "--json"])
            .ends(0)
            .of_type("session")
            .len()
    };
    let others = count() - 1;
    for bytes in [&whole[..whole.len() / 2], b"not zstd", b"\x28\xb5\x2f\xfd"] {
        write(&packed.path, bytes);
        packed
            .bench
            .run(["show", &packed.session])
            .ends(4)
            .says("cannot be unpacked");
        assert!(count() >= others);
        assert_eq!(read(&packed.path), bytes, "it stays as it is");
    }
}
