//! Claude Code: the newest version from the wheel of its Python SDK, which bundles the program, and
//! two older ones from npm.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::npm_install;
use crate::{Outcome, workspace};

/// The SDK whose wheel contains version 2.1.325 of the client.
const SDK: &str = "claude-agent-sdk";
const SDK_VERSION: &str = "0.2.182";

const OLD_PACKAGE: &str = "@anthropic-ai/claude-code";
const OLD_VERSION: &str = "2.1.50";

const MIDDLE_VERSION: &str = "2.1.150";

/// Returns the program of the newest version.
pub(super) fn newest() -> Outcome<PathBuf> {
    if let Some(given) = std::env::var_os("BOSWELL_CLAUDE") {
        println!("xtask: Claude Code is taken from BOSWELL_CLAUDE");
        return Ok(PathBuf::from(given));
    }
    let folder = workspace::target()?.join("clients").join("claude");
    let program = folder
        .join("claude_agent_sdk")
        .join("_bundled")
        .join("claude");
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|version| version == SDK_VERSION) {
        println!("xtask: Claude Code (from {SDK} {SDK_VERSION}) is already installed");
        return Ok(program);
    }
    let python = workspace::on_path("python3")
        .ok_or("python3 is needed to fetch it; install it and run again")?;
    println!(
        "xtask: installing {SDK} {SDK_VERSION} from PyPI into target/clients/claude (the wheel alone, without what it depends on)"
    );
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    pip_install(&python, &folder)?;
    starts(Command::new(&program))?;
    std::fs::write(&stamp, SDK_VERSION)?;
    Ok(program)
}

fn pip_install(python: &Path, folder: &Path) -> Outcome {
    let mut command = Command::new(python);
    command.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ]);
    command
        .args(["--only-binary", ":all:", "--target"])
        .arg(folder)
        .arg(format!("{SDK}=={SDK_VERSION}"));
    workspace::must_succeed(command.stdin(Stdio::null()))
}

/// Returns the script of an old version, for node.
pub(super) fn old() -> Outcome<PathBuf> {
    if let Some(given) = std::env::var_os("BOSWELL_CLAUDE_OLD") {
        println!("xtask: an old Claude Code is taken from BOSWELL_CLAUDE_OLD");
        return Ok(PathBuf::from(given));
    }
    let folder = workspace::target()?.join("clients").join("claude-old");
    let script = folder.join("node_modules").join(OLD_PACKAGE).join("cli.js");
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|version| version == OLD_VERSION) {
        println!("xtask: {OLD_PACKAGE} {OLD_VERSION} is already installed");
        return Ok(script);
    }
    println!(
        "xtask: installing {OLD_PACKAGE} {OLD_VERSION} from npm into target/clients/claude-old (no install scripts)"
    );
    std::fs::create_dir_all(&folder)?;
    npm_install(&folder, &format!("{OLD_PACKAGE}@{OLD_VERSION}"))?;
    std::fs::write(&stamp, OLD_VERSION)?;
    Ok(script)
}

/// Returns the program of a version between the two. Its package fetches the program for this
/// machine as a package of its own, so that no install script is needed.
pub(super) fn middle() -> Outcome<PathBuf> {
    if let Some(given) = std::env::var_os("BOSWELL_CLAUDE_MIDDLE") {
        println!("xtask: Claude Code {MIDDLE_VERSION} is taken from BOSWELL_CLAUDE_MIDDLE");
        return Ok(PathBuf::from(given));
    }
    let folder = workspace::target()?.join("clients").join("claude-middle");
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let package = format!("{OLD_PACKAGE}-{}-{arch}", std::env::consts::OS);
    let program = folder.join("node_modules").join(&package).join("claude");
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|version| version == MIDDLE_VERSION) {
        println!("xtask: {OLD_PACKAGE} {MIDDLE_VERSION} is already installed");
        return Ok(program);
    }
    println!(
        "xtask: installing {package} {MIDDLE_VERSION} from npm into target/clients/claude-middle (no install scripts)"
    );
    std::fs::create_dir_all(&folder)?;
    npm_install(&folder, &format!("{package}@{MIDDLE_VERSION}"))?;
    starts(Command::new(&program))?;
    std::fs::write(&stamp, MIDDLE_VERSION)?;
    Ok(program)
}

/// Checks that a program reports its version.
fn starts(mut command: Command) -> Outcome {
    workspace::must_succeed(
        command
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null()),
    )
}
