//! The tables of proofs in `docs/dialects/pi.md` may name only tests that exist.

use std::path::Path;

use super::seeds_page::test_names;
use crate::sources;

const PAGE: &str = "docs/dialects/pi.md";

#[test]
fn the_page_of_the_pi_family_names_only_tests_that_exist() {
    let code: Vec<String> = sources::rust()
        .iter()
        .map(|file| sources::text(file))
        .collect();
    let page = sources::text(Path::new(PAGE));
    let tables = page.split("\n## ").filter(|part| {
        part.starts_with("Conformance") || part.starts_with("What the programs test")
    });
    let named: Vec<&str> = tables
        .flat_map(str::lines)
        .filter(|line| line.starts_with('|'))
        .flat_map(test_names)
        .collect();
    assert!(
        named.len() > 100,
        "the tables were not found: {} names",
        named.len()
    );
    // A macro generates the tests that are named before a colon.
    let exists = |name: &str| {
        code.iter().any(|text| {
            text.contains(&format!("fn {name}(")) || text.contains(&format!("\n    {name}: "))
        })
    };
    let missing: Vec<&str> = named.into_iter().filter(|name| !exists(name)).collect();
    assert!(
        missing.is_empty(),
        "{PAGE} names tests that do not exist: {missing:?}"
    );
}
