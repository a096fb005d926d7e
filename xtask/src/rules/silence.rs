//! Libraries access files only in one place, and never print.
//!
//! The lints enforce most of this; the test also sees code with an `expect` or for another
//! platform.

use std::path::{Path, PathBuf};

use crate::sources;

/// The pure crates and the store, whose file access is in one module.
const WITHOUT_FILES: [&str; 3] = ["crates/model/src", "crates/dialect/src", "crates/store/src"];
const FILE_ACCESS: [&str; 3] = [
    "crates/store/src/backend/fs.rs",
    "crates/store/src/backend/fs/",
    "crates/store/src/disk",
];

const SILENT: [&str; 9] = [
    "crates/model/src",
    "crates/dialect/src",
    "crates/store/src",
    "crates/find/src",
    "crates/app/src",
    "crates/remote/src",
    "crates/team/src",
    "crates/serve/src",
    "crates/mcp/src",
];
const SPEAKING: [&str; 8] = [
    "print!(",
    "println!(",
    "eprint!(",
    "eprintln!(",
    "dbg!(",
    "io::stdout(",
    "io::stderr(",
    "process::exit(",
];

fn sources_below(folders: &[&str]) -> Vec<PathBuf> {
    let all = sources::rust()
        .into_iter()
        .filter(|file| !sources::is_test(file));
    all.filter(|file| folders.iter().any(|folder| file.starts_with(folder)))
        .collect()
}

fn may_touch_files(file: &Path) -> bool {
    let name = file.to_string_lossy().replace('\\', "/");
    FILE_ACCESS.iter().any(|allowed| name.starts_with(allowed))
}

/// Also finds `use std::{fs, io}` over several lines.
fn mentions_fs(code: &str) -> bool {
    let dense: String = code.split_whitespace().collect();
    let in_group = |group: &str| {
        let group = group.split_once(';').map_or(group, |(group, _)| group);
        group
            .split(['{', '}', ',', ':'])
            .any(|word| word == "fs" || word.starts_with("fsas"))
    };
    dense.contains("std::fs") || dense.split("usestd::{").skip(1).any(in_group)
}

#[test]
fn only_the_fs_backend_touches_files() {
    let wrong: Vec<PathBuf> = sources_below(&WITHOUT_FILES)
        .into_iter()
        .filter(|file| !may_touch_files(file) && mentions_fs(&sources::code(file)))
        .collect();
    assert!(
        wrong.is_empty(),
        "std::fs outside the fs backend: {wrong:?}"
    );
}

#[test]
fn libraries_never_print_or_exit() {
    let files = sources_below(&SILENT);
    assert!(!files.is_empty(), "no library was found");
    let wrong: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let code = sources::code(file);
            let words = SPEAKING.iter().filter(move |word| code.contains(**word));
            words.map(move |word| format!("{}: {word}…)", file.display()))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn file_access_is_seen_however_it_is_imported() {
    for code in [
        "std::fs::read(p)",
        "use std::fs;",
        "use std::{\n    io,\n    fs,\n};",
        "use std::{fs::File, io};",
    ] {
        assert!(mentions_fs(code), "{code}");
    }
    for code in [
        "use std::{io, fmt};",
        "let offs = 1;",
        "use std::{io};\nlet fs = 1;",
    ] {
        assert!(!mentions_fs(code), "{code}");
    }
}
