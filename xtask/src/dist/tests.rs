//! The archive and its installer, with a stand-in for the program: everything but the build itself.
#![expect(clippy::expect_used, reason = "tests fail by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::package;

/// What `boswell` is here: it answers the version, and nothing else is asked of it.
const STAND_IN: &str = "#!/bin/sh\necho boswell 9.9.9\n";

struct Place {
    temp: tempfile::TempDir,
    name: String,
}

impl Place {
    fn new() -> Place {
        let machine = Command::new("uname")
            .arg("-m")
            .output()
            .expect("uname runs");
        let machine = String::from_utf8(machine.stdout).expect("its answer is text");
        let place = Place {
            temp: tempfile::tempdir().expect("a folder can be made"),
            name: format!("boswell-9.9.9-{}-unknown-linux-musl", machine.trim()),
        };
        for (file, text) in [
            ("boswell", STAND_IN),
            ("LICENSE-MIT", "may\n"),
            ("man/man1/boswell.1", ".TH boswell 1\n"),
            ("man/man1/boswell-list.1", ".TH boswell-list 1\n"),
            ("completions/boswell.bash", "complete boswell\n"),
            ("completions/_boswell", "#compdef boswell\n"),
            ("completions/boswell.fish", "complete -c boswell\n"),
        ] {
            let path = place.dist().join(&place.name).join(file);
            std::fs::create_dir_all(path.parent().expect("it lies in a folder"))
                .expect("folders can be made");
            std::fs::write(path, text).expect("files can be written");
        }
        place
    }

    /// Where the archive lies. Its name has a space, as folders of downloads may.
    fn dist(&self) -> PathBuf {
        self.temp.path().join("my downloads")
    }

    fn prefix(&self) -> PathBuf {
        self.temp.path().join("some prefix")
    }

    fn pack(&self) -> package::Packed {
        package::pack(&self.dist(), &self.name).expect("the folder can be packed")
    }

    fn install(&self, arguments: &[&str], variables: &[(&str, &Path)]) -> Output {
        let mut command = Command::new("sh");
        command
            .arg(self.dist().join("install.sh"))
            .args(arguments)
            .env_clear()
            .current_dir("/");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
            .envs(variables.iter().copied())
            .output()
            .expect("sh runs")
    }

    /// Every file below the place of installation.
    fn installed(&self) -> Vec<String> {
        let mut found: Vec<String> = boswell_testkit::corpus::files(&self.prefix())
            .iter()
            .map(|path| {
                path.strip_prefix(self.prefix())
                    .unwrap_or(path)
                    .display()
                    .to_string()
            })
            .collect();
        found.sort();
        found
    }
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn the_installer_checks_puts_everything_in_its_place_says_what_is_next_and_takes_it_away_again() {
    let place = Place::new();
    place.pack();
    let prefix = place.prefix();
    for _ in ["the first time", "over an earlier one"] {
        let output = place.install(&[], &[("PREFIX", &prefix)]);
        let text = said(&output);
        assert!(output.status.success(), "{text}");
        for needed in [
            "boswell 9.9.9 is in",
            "add ",
            "next: ",
            "demo",
            "--uninstall",
        ] {
            assert!(text.contains(needed), "{needed}: {text}");
        }
    }
    let expected = [
        "bin/boswell",
        "share/bash-completion/completions/boswell",
        "share/fish/vendor_completions.d/boswell.fish",
        "share/man/man1/boswell-list.1",
        "share/man/man1/boswell.1",
        "share/zsh/site-functions/_boswell",
    ];
    assert_eq!(place.installed(), expected);
    let mine = prefix.join("share/man/man1/mine.1");
    std::fs::write(&mine, "mine").expect("files can be written");
    let output = place.install(&["--uninstall"], &[("PREFIX", &prefix)]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(
        place.installed(),
        ["share/man/man1/mine.1"],
        "what others put there stays"
    );
}

#[test]
fn an_archive_that_is_not_what_was_promised_is_not_installed() {
    let place = Place::new();
    let archive = place.pack().archive;
    let prefix = place.prefix();
    let mut bytes = std::fs::read(&archive).expect("the archive is there");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&archive, bytes).expect("files can be written");
    let output = place.install(&[], &[("PREFIX", &prefix)]);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(said(&output).contains("not what SHA256SUMS says"));
    place.pack();
    for (sums, code) in [(Some("00  another.tar.gz\n"), 4), (Some(""), 4), (None, 2)] {
        let file = place.dist().join("SHA256SUMS");
        match sums {
            Some(text) => std::fs::write(&file, text).expect("files can be written"),
            None => std::fs::remove_file(&file).expect("files can be removed"),
        }
        let output = place.install(&[], &[("PREFIX", &prefix)]);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{sums:?}: {}",
            said(&output)
        );
    }
    assert!(!prefix.exists(), "nothing was installed");
}

#[test]
fn the_installer_goes_into_the_home_folder_and_asks_where_to_if_there_is_none() {
    let place = Place::new();
    place.pack();
    let output = place.install(&[], &[]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("neither PREFIX nor HOME")
            && said(&output).contains("PREFIX=/usr/local")
    );
    let home = place.temp.path().join("home");
    let output = place.install(&[], &[("HOME", &home)]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(home.join(".local/bin/boswell").is_file());
    assert_eq!(
        place
            .install(&["--upgrade"], &[("HOME", &home)])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn the_same_folder_gives_the_same_archive() {
    let (one, other) = (Place::new(), Place::new());
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(other.dist().join(&other.name).join("LICENSE-MIT"), readable)
        .expect("it is ours");
    assert_eq!(one.pack().sha256, other.pack().sha256);
}
