//! The release folder, as an archive with its checksum and an installer.

use std::path::{Path, PathBuf};
use std::process::Command;

use boswell_testkit::sha256;

use crate::{Outcome, workspace};

const INSTALLER: &str = include_str!("../../dist/install.sh");

/// An archive and its checksum.
pub(super) struct Packed {
    pub(super) archive: PathBuf,
    pub(super) sha256: String,
}

/// Copies the program, its manual pages, completions and licences into one folder.
pub(super) fn gather(binary: &Path, folder: &Path) -> Outcome {
    let root = workspace::root();
    std::fs::create_dir_all(folder.join("completions"))?;
    std::fs::copy(binary, folder.join("boswell"))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        std::fs::copy(root.join(file), folder.join(file))
            .map_err(|error| format!("{file}: {error}"))?;
    }
    // From the binary itself, in an empty environment: this proves that it runs there.
    let run = |arguments: &[&str]| Command::new(binary).args(arguments).env_clear().output();
    let pages = folder.join("man").join("man1");
    let pages = pages
        .to_str()
        .ok_or("the target folder has a name that is not Unicode")?;
    if !run(&["man", "--output", pages])?.status.success() {
        return Err("the new binary cannot write its manual pages".into());
    }
    for (shell, file) in [
        ("bash", "boswell.bash"),
        ("zsh", "_boswell"),
        ("fish", "boswell.fish"),
    ] {
        let script = run(&["completions", shell])?;
        if !script.status.success() || script.stdout.is_empty() {
            return Err(format!("the new binary cannot write completions for {shell}").into());
        }
        std::fs::write(folder.join("completions").join(file), script.stdout)?;
    }
    Ok(())
}

/// Archives the folder `name` below `dist`, and writes checksum and installer next to it.
pub(super) fn pack(dist: &Path, name: &str) -> Outcome<Packed> {
    let archive = dist.join(format!("{name}.tar.gz"));
    // The same tree gives the same archive, independent of user and time.
    let mut tar = Command::new("tar");
    tar.args([
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mtime=@0",
    ]);
    tar.args([
        "--mode=u=rwX,go=rX",
        "--format=ustar",
        "--use-compress-program=gzip -9n",
        "-cf",
    ]);
    tar.arg(&archive).arg("-C").arg(dist).arg(name);
    workspace::must_succeed(&mut tar)?;
    let sha256 = sha256::hex(&std::fs::read(&archive)?);
    std::fs::write(
        dist.join("SHA256SUMS"),
        format!("{sha256}  {name}.tar.gz\n"),
    )?;
    std::fs::write(dist.join("install.sh"), INSTALLER)?;
    Ok(Packed { archive, sha256 })
}
