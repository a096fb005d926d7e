//! `docs/TRUTH.md` leads from every line of what was once answered wrongly to the tests that keep
//! it away: it names only tests that exist, and loses no line.

use std::collections::BTreeSet;
use std::path::Path;

use super::seeds_page::{cells, test_names};
use crate::sources;

const PAGE: &str = "docs/TRUTH.md";

/// Parts of the page, and how many lines each has.
const LINES: [(char, u32); 3] = [('A', 17), ('B', 6), ('C', 8)];

/// The number and the tests of each row.
fn rows(page: &str) -> Vec<(String, String)> {
    let is_line = |cell: &String| {
        let number = cell.get(2..).unwrap_or_default();
        cell.get(1..2) == Some(".") && number.parse::<u32>().is_ok()
    };
    let table = page.lines().filter(|line| line.starts_with('|'));
    table
        .map(cells)
        .filter(|cells| cells.first().is_some_and(is_line))
        .map(|cells| {
            let [line, _, tests] = cells.as_slice() else {
                panic!(
                    "this row has {} columns instead of 3: {cells:?}",
                    cells.len()
                );
            };
            (line.clone(), tests.clone())
        })
        .collect()
}

#[test]
fn the_truth_page_names_only_tests_that_exist_and_some_for_every_line() {
    let page = sources::text(Path::new(PAGE));
    let code: Vec<String> = sources::rust()
        .iter()
        .map(|file| sources::text(file))
        .collect();
    let exists = |name: &str| {
        code.iter()
            .any(|text| text.contains(&format!("fn {name}(")))
    };
    let rows = rows(&page);
    let untested: Vec<&str> = rows
        .iter()
        .filter(|(_, tests)| test_names(tests).is_empty())
        .map(|(line, _)| line.as_str())
        .collect();
    assert!(untested.is_empty(), "{PAGE} names no test for {untested:?}");
    let named: BTreeSet<&str> = rows
        .iter()
        .flat_map(|(_, tests)| test_names(tests))
        .collect();
    let missing: Vec<&str> = named.into_iter().filter(|name| !exists(name)).collect();
    assert!(
        missing.is_empty(),
        "{PAGE} names tests that do not exist: {missing:?}"
    );
}

#[test]
fn the_truth_page_keeps_every_line_in_order() {
    let rows = rows(&sources::text(Path::new(PAGE)));
    let mut found: Vec<&str> = rows.iter().map(|(line, _)| line.as_str()).collect();
    // A line of several parts has several rows.
    found.dedup();
    let lines = LINES
        .iter()
        .flat_map(|(part, lines)| (1..=*lines).map(move |line| format!("{part}.{line}")));
    let expected: Vec<String> = lines.collect();
    assert_eq!(found, expected);
}
