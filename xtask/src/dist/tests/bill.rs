use std::collections::{BTreeMap, BTreeSet};

use super::super::sbom::{CrateFacts, cyclonedx};
use crate::workspace;

fn lock() -> String {
    std::fs::read_to_string(workspace::root().join("Cargo.lock")).unwrap()
}

/// Names and versions of the lock file, found without a parser: they are on lines of their own.
fn locked() -> BTreeSet<(String, String)> {
    let value = |line: &str| line.split('"').nth(1).unwrap().to_owned();
    let text = lock();
    let mut found = BTreeSet::new();
    let lines: Vec<&str> = text.lines().collect();
    for at in 0..lines.len() {
        if lines[at] == "[[package]]" {
            found.insert((value(lines[at + 1]), value(lines[at + 2])));
        }
    }
    assert!(found.len() > 150, "only {} crates", found.len());
    found
}

fn bill(facts: &CrateFacts) -> serde_json::Value {
    serde_json::from_str(&cyclonedx(&lock(), facts, "9.9.9").unwrap()).unwrap()
}

#[test]
fn the_bill_of_materials_lists_every_crate_of_the_lock_file() {
    let bill = bill(&CrateFacts::default());
    let mut listed = BTreeSet::new();
    for it in bill["components"].as_array().unwrap() {
        let text = |name: &str| it[name].as_str().unwrap().to_owned();
        listed.insert((text("name"), text("version")));
        let hash = &it["hashes"][0]["content"];
        let is_ours = text("name") == "xtask" || text("name").starts_with("boswell");
        assert_eq!(hash.is_string(), !is_ours, "{it}");
    }
    assert_eq!(listed, locked());
}

#[test]
fn every_reference_of_the_bill_is_a_component() {
    let bill = bill(&CrateFacts::default());
    let components = bill["components"].as_array().unwrap().iter();
    let known: BTreeSet<&str> = components
        .map(|it| it["bom-ref"].as_str().unwrap())
        .collect();
    let mut edges = 0;
    for it in bill["dependencies"].as_array().unwrap() {
        assert!(known.contains(it["ref"].as_str().unwrap()), "{it}");
        for needed in it["dependsOn"].as_array().unwrap() {
            assert!(known.contains(needed.as_str().unwrap()), "{needed}");
            edges += 1;
        }
    }
    assert!(edges > 300, "only {edges} dependencies");
    let serial = bill["serialNumber"].as_str().unwrap();
    assert_eq!(serial.len(), "urn:uuid:".len() + 36, "{serial}");
}

#[test]
fn crates_of_the_program_are_told_from_those_of_tests() {
    let bill = bill(&CrateFacts::ask().unwrap());
    let mut scopes = BTreeMap::new();
    let mut without_licence = Vec::new();
    for it in bill["components"].as_array().unwrap() {
        let name = it["name"].as_str().unwrap();
        let scope = it["scope"].as_str().unwrap();
        scopes.insert(name, scope);
        if scope == "required" && !it["licenses"][0]["expression"].is_string() {
            without_licence.push(name);
        }
    }
    for name in [
        "boswell",
        "boswell-store",
        "rusqlite",
        "clap",
        "windows-sys",
    ] {
        assert_eq!(scopes.get(name), Some(&"required"), "{name}");
    }
    for name in ["xtask", "boswell-testkit", "proptest", "minisign"] {
        assert_eq!(scopes.get(name), Some(&"excluded"), "{name}");
    }
    assert!(without_licence.is_empty(), "{without_licence:?}");
}
