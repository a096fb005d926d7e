//! A toy agent is one folder of at most 250 lines: a read-only agent with one or two powers. A
//! longer toy shows that the contract grew.

use std::collections::BTreeMap;

use crate::sources;

const TOYS: &str = "crates/testkit/src/toys";
const LINES: usize = 250;

#[test]
fn each_toy_agent_is_one_small_folder() {
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for file in sources::rust() {
        let below = file.strip_prefix(TOYS).ok();
        let folder = below.and_then(|below| below.parent()?.to_str());
        if let Some(folder) = folder.filter(|folder| !folder.is_empty()) {
            *folders.entry(folder.to_owned()).or_default() += sources::text(&file).lines().count();
        }
    }
    let names: Vec<&str> = folders.keys().map(String::as_str).collect();
    assert_eq!(names, ["document", "jsonl", "operations", "rows"]);
    let long: Vec<_> = folders
        .iter()
        .filter(|(_, lines)| **lines > LINES)
        .collect();
    assert!(long.is_empty(), "toys longer than {LINES} lines: {long:?}");
}
