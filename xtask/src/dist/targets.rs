//! The one table of what is built, and of the names that each package manager has for it.

use std::path::Path;

use crate::Outcome;

/// The form of the archive that people unpack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArchiveForm {
    TarGz,
    Zip,
}

/// The block of a Homebrew formula that a target belongs to.
#[derive(Debug)]
pub(super) struct BrewBlocks {
    /// `on_macos` or `on_linux`.
    pub(super) system: &'static str,
    /// `on_arm` or `on_intel`.
    pub(super) processor: &'static str,
}

/// A platform that releases are built for.
#[derive(Debug)]
pub(super) struct Target {
    /// Rust's name.
    pub(super) triple: &'static str,
    pub(super) archive: ArchiveForm,
    /// What `uname -s` and `uname -m` print there; none on Windows.
    pub(super) uname: Option<&'static str>,
    /// Node's `process.platform` and `process.arch`.
    pub(super) npm: (&'static str, &'static str),
    /// The platform tags of a Python wheel. A static binary runs with either libc of Linux.
    pub(super) wheel: &'static [&'static str],
    pub(super) debian: Option<&'static str>,
    pub(super) homebrew: Option<BrewBlocks>,
    pub(super) arch_linux: Option<&'static str>,
    pub(super) scoop: Option<&'static str>,
    pub(super) winget: Option<&'static str>,
    /// The system in `flake.nix`.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "a test compares flake.nix with it")
    )]
    pub(super) nix: Option<&'static str>,
}

pub(super) static TARGETS: [Target; 5] = [
    Target {
        triple: "x86_64-unknown-linux-musl",
        archive: ArchiveForm::TarGz,
        uname: Some("Linux x86_64"),
        npm: ("linux", "x64"),
        wheel: &[
            "manylinux_2_17_x86_64",
            "manylinux2014_x86_64",
            "musllinux_1_1_x86_64",
        ],
        debian: Some("amd64"),
        homebrew: Some(BrewBlocks {
            system: "on_linux",
            processor: "on_intel",
        }),
        arch_linux: Some("x86_64"),
        scoop: None,
        winget: None,
        nix: Some("x86_64-linux"),
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        archive: ArchiveForm::TarGz,
        uname: Some("Linux aarch64"),
        npm: ("linux", "arm64"),
        wheel: &[
            "manylinux_2_17_aarch64",
            "manylinux2014_aarch64",
            "musllinux_1_1_aarch64",
        ],
        debian: Some("arm64"),
        homebrew: Some(BrewBlocks {
            system: "on_linux",
            processor: "on_arm",
        }),
        arch_linux: Some("aarch64"),
        scoop: None,
        winget: None,
        nix: Some("aarch64-linux"),
    },
    Target {
        triple: "x86_64-pc-windows-gnu",
        archive: ArchiveForm::Zip,
        uname: None,
        npm: ("win32", "x64"),
        wheel: &["win_amd64"],
        debian: None,
        homebrew: None,
        arch_linux: None,
        scoop: Some("64bit"),
        winget: Some("x64"),
        nix: None,
    },
    Target {
        triple: "aarch64-apple-darwin",
        archive: ArchiveForm::TarGz,
        uname: Some("Darwin arm64"),
        npm: ("darwin", "arm64"),
        wheel: &["macosx_11_0_arm64"],
        debian: None,
        homebrew: Some(BrewBlocks {
            system: "on_macos",
            processor: "on_arm",
        }),
        arch_linux: None,
        scoop: None,
        winget: None,
        nix: Some("aarch64-darwin"),
    },
    Target {
        triple: "x86_64-apple-darwin",
        archive: ArchiveForm::TarGz,
        uname: Some("Darwin x86_64"),
        npm: ("darwin", "x64"),
        wheel: &["macosx_10_12_x86_64"],
        debian: None,
        homebrew: Some(BrewBlocks {
            system: "on_macos",
            processor: "on_intel",
        }),
        arch_linux: None,
        scoop: None,
        winget: None,
        nix: Some("x86_64-darwin"),
    },
];

impl Target {
    pub(super) fn is_windows(&self) -> bool {
        self.triple.contains("-windows-")
    }

    /// The file name of the program.
    pub(super) fn program(&self) -> &'static str {
        if self.is_windows() {
            "boswell.exe"
        } else {
            "boswell"
        }
    }

    /// The folder inside the archive, which is also the archive's name without its ending.
    pub(super) fn folder(&self, version: &str) -> String {
        format!("boswell-{version}-{}", self.triple)
    }

    pub(super) fn archive_name(&self, version: &str) -> String {
        let ending = match self.archive {
            ArchiveForm::TarGz => "tar.gz",
            ArchiveForm::Zip => "zip",
        };
        format!("{}.{ending}", self.folder(version))
    }

    /// The npm package with this target's program.
    pub(super) fn npm_name(&self) -> String {
        let (platform, processor) = self.npm;
        format!("{}-{platform}-{processor}", super::npm::NAME)
    }

    /// Whether programs of this target run on this machine.
    pub(super) fn runs_here(&self) -> bool {
        let system = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        self.triple.starts_with(std::env::consts::ARCH) && self.triple.contains(system)
    }

    /// Where cargo puts the program.
    pub(super) fn built(&self, cargo_target: &Path) -> std::path::PathBuf {
        cargo_target
            .join(self.triple)
            .join("dist")
            .join(self.program())
    }
}

/// The target whose programs run on this machine.
pub(super) fn host() -> Outcome<&'static Target> {
    TARGETS
        .iter()
        .find(|target| target.runs_here())
        .ok_or_else(|| "there is no release for this platform; use `cargo install`".into())
}

/// The target with a Rust name.
pub(super) fn named(triple: &str) -> Outcome<&'static Target> {
    if let Some(target) = TARGETS.iter().find(|target| target.triple == triple) {
        return Ok(target);
    }
    let known: Vec<&str> = TARGETS.iter().map(|target| target.triple).collect();
    let known = known.join(", ");
    Err(format!("`{triple}` is not a target; use `all`, or any of {known}").into())
}
