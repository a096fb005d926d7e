//! `docs/SEEDS.md` may claim only what a test proves, and must not lose a row.

use std::collections::BTreeSet;
use std::path::Path;

use crate::sources;

const PAGE: &str = "docs/SEEDS.md";

/// Behaviours per seed, in the order of the page.
const BEHAVIOURS: [usize; 5] = [28, 11, 29, 27, 25];

struct Behaviour {
    number: String,
    state: String,
    proof: String,
}

/// Rows whose first cell is a number such as `3.14`.
fn behaviours(page: &str) -> Vec<Behaviour> {
    let is_number = |cell: &str| {
        cell.split_once('.')
            .is_some_and(|(seed, row)| digits(seed) && digits(row))
    };
    let mut found = Vec::new();
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<String> = cells(line);
        if !cells.first().is_some_and(|first| is_number(first)) {
            continue;
        }
        let [number, _, _, state, proof] = cells.as_slice() else {
            panic!("this row has {} columns instead of 5: {line}", cells.len());
        };
        found.push(Behaviour {
            number: number.clone(),
            state: state.clone(),
            proof: proof.clone(),
        });
    }
    found
}

/// Splits a row into cells. A `\|` is a bar inside a cell.
pub(super) fn cells(line: &str) -> Vec<String> {
    let hidden = line.trim().trim_matches('|').replace("\\|", "\u{0}");
    hidden
        .split('|')
        .map(|cell| cell.trim().replace('\u{0}', "|"))
        .collect()
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns texts in backticks that look like the name of a test; flags and paths do not.
pub(super) fn test_names(proof: &str) -> Vec<&str> {
    let quoted = proof.split('`').skip(1).step_by(2);
    quoted
        .filter(|name| name.contains('_') && name.bytes().all(is_name_byte))
        .collect()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
}

#[test]
fn the_seeds_page_names_only_tests_that_exist() {
    let code: Vec<String> = sources::rust()
        .iter()
        .map(|file| sources::text(file))
        .collect();
    let rows = behaviours(&sources::text(Path::new(PAGE)));
    let named: BTreeSet<&str> = rows.iter().flat_map(|row| test_names(&row.proof)).collect();
    let exists = |name: &str| {
        code.iter()
            .any(|text| text.contains(&format!("fn {name}(")))
    };
    let missing: Vec<&str> = named.into_iter().filter(|name| !exists(name)).collect();
    assert!(
        missing.is_empty(),
        "{PAGE} names tests that do not exist: {missing:?}"
    );
}

#[test]
fn the_seeds_page_keeps_every_behaviour_in_order() {
    let rows = behaviours(&sources::text(Path::new(PAGE)));
    let found: Vec<&str> = rows.iter().map(|row| row.number.as_str()).collect();
    let expected: Vec<String> = BEHAVIOURS
        .iter()
        .enumerate()
        .flat_map(|(seed, &rows)| (1..=rows).map(move |row| format!("{seed}.{row}")))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn every_state_on_the_seeds_page_comes_with_what_it_needs() {
    let wrong: Vec<String> = behaviours(&sources::text(Path::new(PAGE)))
        .iter()
        .filter(|row| match row.state.as_str() {
            "proven" => test_names(&row.proof).is_empty(),
            "deviates" | "agent's own" => row.proof.is_empty(),
            "next" => false,
            _ => true,
        })
        .map(|row| {
            format!(
                "{}: state `{}`, proof or reason `{}`",
                row.number, row.state, row.proof
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rows_and_test_names_are_read() {
    let page = "| no. | a | b | c | d |\n|---|---|---|---|---|\n| 1.2 | x \\| y | `list` | proven | `a_b`, `--flag` and `c_d` |\n";
    let rows = behaviours(page);
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].number.as_str(), rows[0].state.as_str()),
        ("1.2", "proven")
    );
    assert_eq!(test_names(&rows[0].proof), ["a_b", "c_d"]);
}
