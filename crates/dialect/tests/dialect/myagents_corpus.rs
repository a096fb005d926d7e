//! Real files of other agents are not recognised as sessions of MyAgents, clinvoker or
//! open-agent-sdk.

#![expect(
    clippy::disallowed_methods,
    reason = "real files lie where the environment says"
)]
#![expect(
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking and says when it skips"
)]

use std::path::{Path, PathBuf};

use boswell_dialect::clinvoker::Clinvoker;
use boswell_dialect::myagents::MyAgents;
use boswell_dialect::oas::OpenAgentSdk;
use boswell_dialect::{Dialect, Match, Sample};
use boswell_model::json::{Object, scan_object};

fn folder(variable: &str) -> Option<PathBuf> {
    match std::env::var_os(variable) {
        Some(path) => Some(path.into()),
        None if std::env::var("CI").is_ok_and(|ci| ci == "true") => panic!("{variable} is not set"),
        None => {
            eprintln!("skipped: {variable} is not set");
            None
        }
    }
}

fn files_below(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.to_owned()];
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                out.push(entry.path());
            }
        }
    }
    out
}

#[test]
fn files_of_other_agents_are_not_taken_for_ours() {
    let mut seen = 0;
    for root in ["BOSWELL_CORPUS", "BOSWELL_CAPTURES"]
        .iter()
        .filter_map(|variable| folder(variable))
    {
        for path in files_below(&root) {
            let bytes = std::fs::read(&path).unwrap();
            let start = bytes
                .iter()
                .position(|b| !b.is_ascii_whitespace())
                .unwrap_or(0);
            let text = &bytes[start..];
            let mut members = Vec::new();
            let Ok(end) = scan_object(text, &mut members) else {
                continue;
            };
            let records = [Object::new(&text[..end], &members)];
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let parents = path.ancestors().skip(1).filter_map(|p| p.file_name());
            let folders: Vec<String> = parents.map(|p| p.to_string_lossy().into_owned()).collect();
            let sample = Sample {
                name: &name,
                folders: &folders,
                records: &records,
            };
            for dialect in [&MyAgents as &dyn Dialect, &Clinvoker, &OpenAgentSdk] {
                let likeness = dialect.recognises(&sample);
                assert!(
                    likeness <= Match::Maybe,
                    "{} as {}",
                    path.display(),
                    dialect.name()
                );
            }
            seen += 1;
        }
        assert!(seen > 0, "nothing below {}", root.display());
    }
}
