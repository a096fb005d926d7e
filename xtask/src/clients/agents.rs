//! Programs of other agents: scripts for node, and native ones. They are downloaded from npm into
//! `target/clients`; no install script is run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use boswell_testkit::agent_client::{Agent, AgentClient};

use crate::{Outcome, workspace};

/// An agent on npm.
pub(super) struct AgentPackage {
    pub(super) agent: Agent,
    /// The name for people.
    pub(super) title: &'static str,
    /// The folder below `target/clients`, and the name of the command.
    folder: &'static str,
    package: &'static str,
    pub(super) version: &'static str,
    /// The variable with the path of its script or program.
    pub(super) variable: &'static str,
    program: Program,
}

/// What a package contains.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    /// A script for node.
    Script,
    /// A script for the newer node.
    NewScript,
    /// A native program, in a package for each platform, whose name goes on with the platform.
    Native,
}

/// The agents whose programs tests run. The versions are those whose behaviour is described in
/// `docs/dialects`.
pub(super) const AGENTS: [AgentPackage; 6] = [
    AgentPackage {
        agent: Agent::Gemini,
        title: "Gemini CLI",
        folder: "gemini",
        package: "@google/gemini-cli",
        version: "0.61.0",
        variable: "BOSWELL_GEMINI",
        program: Program::Script,
    },
    AgentPackage {
        agent: Agent::Qwen,
        title: "Qwen Code",
        folder: "qwen",
        package: "@qwen-code/qwen-code",
        version: "0.15.10",
        variable: "BOSWELL_QWEN",
        program: Program::Script,
    },
    AgentPackage {
        agent: Agent::Copilot,
        title: "Copilot CLI",
        folder: "copilot",
        package: "@github/copilot",
        version: "1.0.102",
        variable: "BOSWELL_COPILOT",
        program: Program::Script,
    },
    AgentPackage {
        agent: Agent::Kimi,
        title: "Kimi Code",
        folder: "kimi",
        package: "@moonshot-ai/kimi-code",
        version: "2.1.0",
        variable: "BOSWELL_KIMI",
        program: Program::NewScript,
    },
    AgentPackage {
        agent: Agent::OpenCode,
        title: "opencode",
        folder: "opencode",
        package: "opencode",
        version: "1.18.33",
        variable: "BOSWELL_OPENCODE",
        program: Program::Native,
    },
    AgentPackage {
        agent: Agent::Goose,
        title: "Goose",
        folder: "goose",
        package: "@aaif/goose-binary",
        version: "1.52.0",
        variable: "BOSWELL_GOOSE",
        program: Program::Native,
    },
];

const NEW_NODE: &str = "24.9.0";

impl AgentPackage {
    /// Returns the script of the installed program.
    pub(super) fn install(&self) -> Outcome<PathBuf> {
        if let Some(given) = std::env::var_os(self.variable) {
            println!("xtask: {} is taken from {}", self.title, self.variable);
            return Ok(PathBuf::from(given));
        }
        if self.program == Program::Native {
            return self.native();
        }
        let folder = installed(self.folder, self.package, self.version)?;
        // A link to the script of the package, which node resolves.
        let command = folder.join("node_modules/.bin").join(self.folder);
        std::fs::canonicalize(&command)
            .map_err(|error| format!("{}: {error}", command.display()).into())
    }

    /// Returns the native program, which is a package of its own for each platform.
    fn native(&self) -> Outcome<PathBuf> {
        let package = format!("{}-{}", self.package, platform());
        let folder = installed(self.folder, &package, self.version)?;
        let name = format!("{}{}", self.folder, std::env::consts::EXE_SUFFIX);
        let program = folder.join("node_modules").join(package).join("bin");
        Ok(program.join(name))
    }

    /// Whether it needs the newer node.
    pub(super) fn needs_new_node(&self) -> bool {
        self.program == Program::NewScript
    }
}

/// Returns the program of an agent, ready to run.
pub(super) fn client(package: &AgentPackage, node: &Path) -> Outcome<AgentClient> {
    let program = package.install()?;
    let words = match package.program {
        Program::Script => vec![node.to_owned(), program],
        Program::NewScript => vec![new_node()?, program],
        Program::Native => vec![program],
    };
    Ok(AgentClient::started_by(package.agent, words))
}

/// Returns system and machine as names of packages have them.
fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win",
        other => other,
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}-{machine}")
}

/// Returns a node that is newer than the one that other clients need. The package of a platform
/// contains the program alone.
pub(super) fn new_node() -> Outcome<PathBuf> {
    if let Some(given) = std::env::var_os("BOSWELL_NODE_NEW") {
        return Ok(PathBuf::from(given));
    }
    let package = format!("node-{}", platform());
    let folder = installed("node-new", &package, NEW_NODE)?;
    let name = format!("node{}", std::env::consts::EXE_SUFFIX);
    let node = folder
        .join("node_modules")
        .join(package)
        .join("bin")
        .join(name);
    let mut version = Command::new(&node);
    version.arg("--version").stdin(Stdio::null());
    workspace::must_succeed(&mut version)?;
    Ok(node)
}

/// Installs a package unless it is there, and returns its folder.
fn installed(name: &str, package: &str, version: &str) -> Outcome<PathBuf> {
    let folder = workspace::target()?.join("clients").join(name);
    // Written last, so that an interrupted install is not treated as complete.
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == version) {
        println!("xtask: {package} {version} is already installed");
        return Ok(folder);
    }
    println!(
        "xtask: installing {package} {version} from npm into target/clients/{name} (no install scripts)"
    );
    std::fs::create_dir_all(&folder)?;
    super::npm_install(&folder, &format!("{package}@{version}"))?;
    std::fs::write(&stamp, version)?;
    Ok(folder)
}
