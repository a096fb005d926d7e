//! Limits the dependencies of the store for programs that embed it: few crates, and no C.

use std::collections::BTreeSet;

use crate::workspace;

/// Maximum number of crates that the store depends on, including itself.
const MOST: usize = 40;
/// Crates that compile or look for C.
const BUILDS_C: [&str; 8] = [
    "cc",
    "cmake",
    "bindgen",
    "pkg-config",
    "vcpkg",
    "autotools",
    "nasm-rs",
    "system-deps",
];
/// Crates named like bindings that are pure Rust: numbers and layouts of the system.
const RUST_ALL_THE_SAME: [&str; 3] = ["linux-raw-sys", "windows-sys", "js-sys"];

/// Returns names and versions of everything that is built for the store on this platform.
fn tree(edges: &str, options: &[&str]) -> BTreeSet<(String, String)> {
    let mut cargo = workspace::cargo();
    cargo.args([
        "tree",
        "--package",
        "boswell-store",
        "--offline",
        "--prefix",
        "none",
        "--edges",
        edges,
    ]);
    let output = cargo.args(options).output().expect("cargo tree");
    assert!(
        output.status.success(),
        "cargo tree: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("names");
    let words = text.lines().map(|line| {
        line.split_whitespace()
            .take(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    let found: BTreeSet<_> = words
        .filter_map(|words| Some((words.first()?.clone(), words.get(1)?.clone())))
        .collect();
    assert!(
        found.iter().any(|(name, _)| name == "boswell-model"),
        "the tree was not understood: {text}"
    );
    found
}

fn names(tree: &BTreeSet<(String, String)>) -> Vec<&str> {
    tree.iter().map(|(name, _)| name.as_str()).collect()
}

fn smells_of_c(name: &str) -> bool {
    BUILDS_C.contains(&name) || (name.ends_with("-sys") && !RUST_ALL_THE_SAME.contains(&name))
}

#[test]
fn the_store_brings_few_crates_along() {
    for options in [
        &["--no-default-features"][..],
        &[],
        &["--features", "tokio"],
    ] {
        let tree = tree("normal", options);
        assert!(
            tree.len() <= MOST,
            "{} crates with {options:?}: {}",
            tree.len(),
            names(&tree).join(" ")
        );
    }
}

#[test]
fn the_store_needs_no_c() {
    for options in [
        &["--no-default-features"][..],
        &[],
        &["--features", "tokio"],
    ] {
        let tree = tree("normal,build", options);
        let wrong: Vec<&str> = names(&tree)
            .into_iter()
            .filter(|name| smells_of_c(name))
            .collect();
        assert!(
            wrong.is_empty(),
            "C comes in with {options:?}: {}",
            wrong.join(" ")
        );
    }
}

#[test]
fn an_embedder_pays_for_tokio_only_when_asking_for_it() {
    assert!(!names(&tree("normal", &[])).contains(&"tokio"));
    assert!(names(&tree("normal", &["--features", "tokio"])).contains(&"tokio"));
}

#[test]
fn bindings_to_c_are_told_from_tables_of_the_system() {
    for name in [
        "cc",
        "libsqlite3-sys",
        "zstd-sys",
        "openssl-sys",
        "pkg-config",
    ] {
        assert!(smells_of_c(name), "{name}");
    }
    for name in ["linux-raw-sys", "rustix", "memchr", "system"] {
        assert!(!smells_of_c(name), "{name}");
    }
}
