//! A session of every dialect is archived, read from the archive, and restored byte for byte.

use boswell_testkit::TestHome;
use serde_json::Value;

use super::{plant_side_files, tree};
use crate::bench::Bench;

const DIALECTS: [&str; 8] = [
    "claude",
    "pi",
    "omp",
    "xcsh",
    "myagents",
    "clinvoker",
    "oas",
    "codex",
];

/// Returns the first words of the messages of each session.
fn words_of(said: &[(Vec<u8>, Vec<u8>)]) -> Vec<String> {
    let first = |(shown, _): &(Vec<u8>, Vec<u8>)| {
        let lines = shown
            .split(|b| *b == b'\n')
            .filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        let mut text_pieces =
            lines.filter(|line| line["role"] == "user" || line["role"] == "assistant");
        text_pieces.find_map(|line| {
            let text = line["text"]
                .as_str()?
                .lines()
                .next()?
                .chars()
                .take(12)
                .collect::<String>();
            Some(text.trim().to_owned()).filter(|text| text.chars().count() >= 2)
        })
    };
    said.iter().filter_map(first).collect()
}

/// Returns the hits of a search: sessions and entries.
fn found_in(bench: &Bench, refs: &[String], words: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for word in words {
        let ran = bench.run([
            "search",
            "--substring",
            word,
            "--limit",
            "1000",
            "--json",
            "-q",
        ]);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        let hits = ran
            .of_type("hit")
            .into_iter()
            .filter(|hit| refs.iter().any(|it| hit["session"] == **it));
        found.extend(
            hits.map(|hit| format!("{} {} {}", hit["session"], hit["entry"], hit["field"])),
        );
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn sessions_of_every_dialect_can_be_read_while_it_is_archived_and_comes_back_bit_for_bit() {
    for dialect in DIALECTS {
        let bench = Bench::new();
        let home = TestHome::build(&bench.home(), 7);
        let folder = home.folder(dialect).unwrap();
        let chosen: Vec<_> = home.of(dialect).filter(|it| !it.hidden).take(5).collect();
        let ids = chosen.iter().map(|it| it.id.clone());
        let refs: Vec<String> = ids.map(|id| format!("{dialect}:{id}")).collect();
        let ask = |verb: &[&str], session: &str| -> Vec<u8> {
            bench
                .run(verb.iter().copied().chain([session]))
                .ends(0)
                .stdout
        };
        let answers = || -> Vec<(Vec<u8>, Vec<u8>)> {
            let both = |it: &String| {
                (
                    ask(&["show", "--json"], it),
                    ask(&["export", "--format", "jsonl", "-q"], it),
                )
            };
            refs.iter().map(both).collect()
        };
        if dialect == "clinvoker" {
            // clinvoker lists every session as active until it is closed.
            refs.iter().for_each(|it| drop(bench.run(["close", it])));
        }
        let side_files = plant_side_files(&home, dialect, &chosen);
        let (before, said) = (tree(folder), answers());
        let words = words_of(&said);
        assert!(
            !words.is_empty() || dialect == "clinvoker",
            "{dialect} says nothing to search for"
        );
        let hits = found_in(&bench, &refs, &words);
        assert!(!hits.is_empty() || words.is_empty(), "{dialect}: {words:?}");
        let args = |verb: &[&str]| -> Vec<String> {
            verb.iter()
                .map(|word| (*word).to_owned())
                .chain(refs.iter().cloned())
                .collect()
        };
        bench.run(args(&["archive", "--json"])).ends(2);
        assert_eq!(tree(folder), before, "a plan changes nothing");
        let done = bench
            .run(args(&["archive", "--apply", "--json"]))
            .ends(0)
            .of_type("op");
        assert_eq!(done.len(), refs.len(), "{dialect}");
        for planted in &chosen {
            assert!(!planted.path.exists(), "{dialect}: {planted:?}");
        }
        for path in &side_files {
            assert!(!path.exists(), "{} stayed behind", path.display());
        }
        assert_eq!(
            found_in(&bench, &refs, &words),
            hits,
            "{dialect}: what is archived is found where it was"
        );
        let listed = bench
            .run(["list", "--hidden", "--json"])
            .ends(0)
            .of_type("session");
        for reference in &refs {
            let fits = |it: &&Value| {
                it["ref"] == **reference || it.to_string().contains(reference.as_str())
            };
            let rows: Vec<_> = listed.iter().filter(fits).collect();
            assert!(
                rows.iter()
                    .any(|row| row["archived"] == true || row["ref"] != **reference),
                "{reference}: {rows:?}"
            );
        }
        for (session, (was, is)) in refs.iter().zip(said.iter().zip(answers())) {
            assert_eq!(
                String::from_utf8_lossy(&was.1),
                String::from_utf8_lossy(&is.1),
                "export of {session}"
            );
            let texts = |bytes: &[u8]| -> Vec<Value> {
                let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
                let lines = lines.map(|line| serde_json::from_slice::<Value>(line).unwrap());
                lines.filter(|line| line["type"] == "entry").collect()
            };
            assert_eq!(texts(&was.0), texts(&is.0), "show of {session}");
        }
        // The rows of a shared index get their old order if the last archived session is restored
        // first.
        let back = refs.iter().rev().cloned();
        bench
            .run(std::iter::once("restore".to_owned()).chain(back))
            .ends(0);
        let after = tree(folder);
        assert_eq!(
            before.keys().collect::<Vec<_>>(),
            after.keys().collect::<Vec<_>>(),
            "{dialect}"
        );
        for (path, (bytes, at)) in &before {
            let (now, then) = &after[path];
            // Derived files are rebuilt from the current state of others.
            let follows = dialect != "myagents" && path.to_string_lossy().ends_with("index.json");
            assert!(
                follows || now == bytes,
                "{} is another:\n{}",
                path.display(),
                String::from_utf8_lossy(now)
            );
            let is_index = follows || path.ends_with("sessions.json");
            // Claude Code would delete an old session again, so the restored file gets the current
            // time, and `restore` reports it.
            let renewed = dialect == "claude" && then > at;
            assert!(
                is_index || renewed || then == at,
                "{} has another time",
                path.display()
            );
        }
    }
}
