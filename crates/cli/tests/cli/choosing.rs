//! Filters select the same sessions from the catalog's columns as from reading each log.

use std::collections::BTreeSet;

use boswell_testkit::TestHome;
use serde_json::Value;

use crate::bench::Bench;

/// Creates a home with linked stores, a session with a note, and one that contains its own tag.
fn planted() -> Bench {
    let bench = Bench::new();
    let work = bench.cwd();
    TestHome::build_for(&bench.home(), work.to_str().unwrap(), 51);
    for dialect in ["codex", "claude", "pi"] {
        let rows = rows(&bench, &["--agent", dialect]);
        bench
            .run([
                "tag",
                rows[0]["ref"].as_str().unwrap(),
                &format!("kept-by-{dialect}"),
            ])
            .ends(0);
    }
    bench
}

fn rows(bench: &Bench, args: &[&str]) -> Vec<Value> {
    bench
        .run(["list", "--json"].iter().chain(args))
        .ends(0)
        .of_type("session")
}

/// Returns every filter that matches some session, as arguments.
fn filters(rows: &[Value]) -> BTreeSet<(&'static str, String)> {
    let mut all = BTreeSet::new();
    for row in rows {
        let mut add = |option, value: &Value| {
            all.extend(
                value
                    .as_str()
                    .filter(|text| !text.is_empty())
                    .map(|text| (option, text.to_owned())),
            );
        };
        for (option, field) in [
            ("--agent", "agent"),
            ("--agent", "dialect"),
            ("--project", "project"),
            ("--branch", "git_branch"),
        ] {
            add(option, &row[field]);
        }
        for (option, field) in [("--tag", "tags"), ("--model", "models")] {
            row[field]
                .as_array()
                .into_iter()
                .flatten()
                .for_each(|value| add(option, value));
        }
    }
    all
}

#[test]
fn a_list_filtered_by_keys_is_the_list_filtered_by_whole_rows() {
    let bench = planted();
    let all = rows(&bench, &[]);
    let filters = filters(&all);
    for option in ["--agent", "--project", "--tag", "--model"] {
        assert!(
            filters.iter().any(|(named, _)| *named == option),
            "{option} is tried"
        );
    }
    let mut chosen = 0;
    for (option, value) in &filters {
        let near = rows(&bench, &[option, value, "--match", ""]);
        assert_eq!(rows(&bench, &[option, value]), near, "{option} {value}");
        assert!(!near.is_empty(), "{option} {value}");
        chosen += usize::from(near.len() < all.len());
    }
    assert!(chosen > 5, "some are left out: {chosen}");
    assert_eq!(rows(&bench, &["--tag", "kept-by-nobody"]).len(), 0);
}

#[test]
fn a_search_is_chosen_by_what_a_list_shows() {
    let bench = planted();
    let holders = |more: &[&str]| -> BTreeSet<String> {
        let args = [
            "search", "--json", "--limit", "100000", "--in", "prompts", "--regex", ".",
        ];
        let hits = bench.run(args.iter().chain(more)).of_type("hit");
        hits.iter()
            .map(|hit| hit["session"].as_str().unwrap().to_owned())
            .collect()
    };
    let everywhere = holders(&[]);
    let all = rows(&bench, &["--hidden"]);
    let filters = filters(&all);
    let mut some = 0;
    for (option, value) in filters.iter().filter(|(option, _)| *option != "--agent") {
        let wanted: BTreeSet<String> = (rows(&bench, &["--hidden", option, value]).iter())
            .flat_map(|row| {
                let links = row["links"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|link| &link["ref"]);
                std::iter::once(&row["ref"])
                    .chain(links)
                    .map(|it| it.as_str().unwrap().to_owned())
                    .collect::<Vec<_>>()
            })
            .collect();
        let found = holders(&[option, value]);
        // A search looks at one side of a conversation; a list selects the conversation by either
        // side.
        assert!(
            found.is_subset(&everywhere) && found.is_subset(&wanted),
            "{option} {value}: {found:?}"
        );
        let alone = |row: &&Value| row["links"].as_array().is_some_and(Vec::is_empty);
        for row in rows(&bench, &["--hidden", option, value])
            .iter()
            .filter(alone)
        {
            let reference = row["ref"].as_str().unwrap();
            assert_eq!(
                found.contains(reference),
                everywhere.contains(reference),
                "{option} {value}: {reference}"
            );
            some += 1;
        }
    }
    assert!(some > 10, "{some}");
}
