//! What is published, with a stand-in for the program: everything but the build itself.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

mod archives;
mod bill;
mod installer;
mod packages;
mod table;

use std::path::{Path, PathBuf};
use std::process::Output;

use super::contents::{Contents, Generated};
use super::release::{self, Release};
use super::sbom::CrateFacts;
use super::sign::Signer;
use super::targets::{self, Target};
use crate::workspace;

/// What `boswell` is here: it answers the version, or ends with a code that it was told.
const STAND_IN: &str = "#!/bin/sh\n[ \"$1\" = end ] && exit \"$2\"\necho boswell 9.9.9\n";

fn generated() -> Generated {
    let named = |(name, text): (&str, &str)| (name.to_owned(), text.as_bytes().to_vec());
    Generated {
        manuals: [
            ("boswell-list.1", ".TH boswell-list 1\n"),
            ("boswell.1", ".TH boswell 1\n"),
        ]
        .map(named)
        .into(),
        completions: [
            ("boswell.bash", "complete boswell\n"),
            ("_boswell", "#compdef boswell\n"),
            ("boswell.fish", "complete -c boswell\n"),
            ("boswell.ps1", "Register-ArgumentCompleter\n"),
        ]
        .map(named)
        .into(),
    }
}

fn contents(target: &'static Target) -> Contents {
    let pages = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];
    Contents {
        target,
        program: STAND_IN.into(),
        generated: generated(),
        pages: pages
            .map(|name| (name.to_owned(), b"text\n".to_vec()))
            .into(),
    }
}

fn release() -> Release {
    Release {
        version: "9.9.9".to_owned(),
        description: "Finds sessions.".to_owned(),
        licence: "MIT OR Apache-2.0".to_owned(),
        repository: "https://boswell.invalid/boswell".to_owned(),
        maintainer: "The project <packages@boswell.invalid>".to_owned(),
    }
}

/// The folder of a release for one target.
struct Packed {
    temp: tempfile::TempDir,
    target: &'static Target,
}

impl Packed {
    fn new(target: &'static Target) -> Packed {
        Packed {
            temp: tempfile::tempdir().expect("a folder can be made"),
            target,
        }
    }

    /// A release for this machine, unsigned.
    fn for_this_machine() -> Packed {
        let packed = Packed::new(targets::host().expect("this machine has releases"));
        packed.write(&release(), None);
        packed
    }

    fn write(&self, release: &Release, signer: Option<&Signer>) {
        let folder = self.dist();
        std::fs::create_dir_all(&folder).expect("folders can be made");
        let built = [contents(self.target)];
        let facts = CrateFacts::default();
        release::write(&folder, release, &built, &facts, signer).expect("a release is written");
    }

    /// The folder of the release. Its name has a space, as folders of downloads may.
    fn dist(&self) -> PathBuf {
        self.temp.path().join("my downloads")
    }

    fn archive(&self) -> PathBuf {
        self.dist().join(self.target.archive_name("9.9.9"))
    }

    /// The names and checksums of `SHA256SUMS`.
    fn sums(&self) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(self.dist().join("SHA256SUMS")).expect("it is there");
        let words = text.lines().filter_map(|line| line.split_once("  "));
        words
            .map(|(sum, name)| (name.to_owned(), sum.to_owned()))
            .collect()
    }
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Whether a test must be skipped because a program is not installed. In CI that is a failure.
fn is_missing(program: &str) -> bool {
    if workspace::on_path(program).is_some() {
        return false;
    }
    assert!(!workspace::in_ci(), "{program} is not installed");
    println!("skipped: {program} is not installed");
    true
}

/// The files below a folder, relative to it.
fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for path in boswell_testkit::corpus::files(folder) {
        let path = path.strip_prefix(folder).expect("it is below the folder");
        found.push(path.display().to_string());
    }
    found.sort();
    found
}
