//! `docs/SUMMARY.md` is the table of contents of the documentation site: every page is in it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::sources;

const SUMMARY: &str = "docs/SUMMARY.md";

/// The targets of the links of the summary, relative to the checkout.
fn listed(summary: &str) -> Vec<String> {
    let links = summary.split("](").skip(1);
    links
        .filter_map(|link| Some(format!("docs/{}", link.split_once(')')?.0)))
        .collect()
}

#[test]
fn every_page_is_listed_once_and_every_listed_page_exists() {
    let listed = listed(&sources::text(Path::new(SUMMARY)));
    let once: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(once.len(), listed.len(), "a page is listed twice");
    let pages: BTreeSet<String> = sources::all()
        .iter()
        .map(|file| file.to_string_lossy().replace('\\', "/"))
        .filter(|file| file.starts_with("docs/") && file.ends_with(".md") && file != SUMMARY)
        .collect();
    let missing: Vec<_> = pages.iter().filter(|page| !once.contains(page)).collect();
    let wrong: Vec<_> = listed
        .iter()
        .filter(|page| !pages.contains(*page))
        .collect();
    assert!(missing.is_empty(), "{SUMMARY} does not list {missing:?}");
    assert!(wrong.is_empty(), "{SUMMARY} lists {wrong:?}");
}

#[test]
fn links_are_found() {
    let summary = "# S\n\n[A](README.md)\n\n- [B](a/b.md)\n  - [C (d)](c.md)\n";
    assert_eq!(
        listed(summary),
        ["docs/README.md", "docs/a/b.md", "docs/c.md"]
    );
}
