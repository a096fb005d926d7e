//! `cargo xtask dist`: what is handed to people: one static Linux binary, its manual pages and completions, checksums, an installer.

use std::path::Path;
use std::process::{Command, ExitCode};

use boswell_testkit::sha256;

use crate::{Outcome, clients, workspace};

const INSTALLER: &str = include_str!("../dist/install.sh");
/// A binary that is larger wants a look at what was added.
const LARGEST: u64 = 15 << 20;

pub(crate) fn run(_arguments: &[String]) -> Outcome<ExitCode> {
    let triple = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    if !cfg!(target_os = "linux") {
        return Err("the static binary is built on Linux; elsewhere use `cargo install --path crates/cli`".into());
    }
    prepare(&triple)?;
    println!("xtask: building the static binary for {triple}");
    let mut build = workspace::cargo();
    build.args(["build", "--release", "--locked", "--package", "boswell", "--target", &triple]);
    workspace::must_succeed(&mut build)?;
    let target = workspace::target()?;
    let binary = target.join(&triple).join("release").join("boswell");
    let size = std::fs::metadata(&binary)?.len();
    if size > LARGEST {
        return Err(format!("the binary has {size} bytes, more than {LARGEST}").into());
    }
    let name = format!("boswell-{}-{triple}", env!("CARGO_PKG_VERSION"));
    let dist = target.join("dist");
    let folder = dist.join(&name);
    let _ = std::fs::remove_dir_all(&dist);
    gather(&binary, &folder)?;
    let archive = dist.join(format!("{name}.tar.gz"));
    // The same tree gives the same archive, whoever packs it and when.
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "-czf"]);
    tar.arg(&archive).arg("-C").arg(&dist).arg(&name).env("GZIP", "-n");
    workspace::must_succeed(&mut tar)?;
    std::fs::write(dist.join("SHA256SUMS"), format!("{}  {name}.tar.gz\n", digest(&archive)?))?;
    std::fs::write(dist.join("install.sh"), INSTALLER)?;
    println!("xtask: {} ({:.1} MB)", archive.display(), size as f64 / 1e6);
    Ok(ExitCode::SUCCESS)
}

/// The compiler's library for the target, and a C compiler for SQLite.
fn prepare(triple: &str) -> Outcome {
    if workspace::on_path("musl-gcc").is_none() {
        clients::install(&["musl-tools"], "musl-gcc is needed (Debian: musl-tools); install it and run again")?;
    }
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let there =
        installed.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|line| line == triple));
    if there {
        return Ok(());
    }
    println!("xtask: running `rustup target add {triple}`");
    workspace::must_succeed(Command::new("rustup").args(["target", "add", triple]))
}

/// Puts the program, its manual pages, completions and licences into one folder.
fn gather(binary: &Path, folder: &Path) -> Outcome {
    let root = workspace::root();
    std::fs::create_dir_all(folder.join("completions"))?;
    std::fs::copy(binary, folder.join("boswell"))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        std::fs::copy(root.join(file), folder.join(file)).map_err(|error| format!("{file}: {error}"))?;
    }
    // From the binary itself, in an environment without anything: proof that it runs there.
    let run = |arguments: &[&str]| Command::new(binary).args(arguments).env_clear().output();
    let pages = folder.join("man").join("man1");
    let pages = pages.to_str().ok_or("the target folder has a name that is not Unicode")?;
    if !run(&["man", "--output", pages])?.status.success() {
        return Err("the new binary cannot write its manual pages".into());
    }
    for (shell, file) in [("bash", "boswell.bash"), ("zsh", "_boswell"), ("fish", "boswell.fish")] {
        let script = run(&["completions", shell])?;
        if !script.status.success() || script.stdout.is_empty() {
            return Err(format!("the new binary cannot write completions for {shell}").into());
        }
        std::fs::write(folder.join("completions").join(file), script.stdout)?;
    }
    Ok(())
}

fn digest(file: &Path) -> Outcome<String> {
    Ok(sha256::hex(&std::fs::read(file)?))
}
