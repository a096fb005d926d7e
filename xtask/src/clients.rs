//! Provides the real agents for the client tests: found if installed, else downloaded into
//! `target/clients`.
//!
//! They are test clients only. Nothing of them is shipped, and their install scripts are never run.

mod agents;
mod atif;
mod claude;
mod codex;
mod moto;
mod omp;
mod packages;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use boswell_testkit::claude_client::ClaudeClient;
use boswell_testkit::codex_client::CodexClient;
use boswell_testkit::conversions::RealProgram;

use crate::{Outcome, workspace};

const PI_PACKAGE: &str = "@mariozechner/pi-coding-agent";
const PI_VERSION: &str = "0.73.1";
const OLDEST_NODE: u32 = 18;

/// The real clients of a test run, as the environment variables that the tests read.
pub(crate) struct Clients {
    pub(crate) environment: Vec<(&'static str, PathBuf)>,
    /// One sentence per group of tests that cannot run, with the reason.
    pub(crate) missing: Vec<String>,
}

/// Finds or installs every client. A missing client is reported, not an error: the caller decides.
pub(crate) fn prepare() -> Clients {
    let mut clients = Clients {
        environment: Vec::new(),
        missing: Vec::new(),
    };
    clients.add(&format!("tests that compare with pi {PI_VERSION}"), || {
        let node = node()?;
        let package = pi(&node)?;
        Ok(vec![
            ("BOSWELL_PI_PACKAGE", package),
            ("BOSWELL_NODE", node),
        ])
    });
    add_claude(&mut clients);
    let omp = format!("tests that compare with oh-my-pi {}", omp::VERSION);
    clients.add(&omp, || {
        node()?;
        let (package, bun) = omp::omp()?;
        Ok(vec![("BOSWELL_OMP_PACKAGE", package), ("BOSWELL_BUN", bun)])
    });
    let codex = format!("tests that run Codex {}", codex::VERSION);
    clients.add(&codex, || {
        node()?;
        Ok(vec![("BOSWELL_CODEX", codex::codex()?)])
    });
    for agent in &agents::AGENTS {
        let tests = format!("tests that run {} {}", agent.title, agent.version);
        clients.add(&tests, || {
            node()?;
            let mut found = vec![(agent.variable, agent.install()?)];
            if agent.needs_new_node() {
                found.push(("BOSWELL_NODE_NEW", agents::new_node()?));
            }
            Ok(found)
        });
    }
    add_servers(&mut clients);
    add_tools(&mut clients);
    clients
}

/// Adds the servers that tests start for themselves.
fn add_servers(clients: &mut Clients) {
    clients.add("tests of other hosts by ssh", || {
        if workspace::on_path("sshd").is_none() && !Path::new("/usr/sbin/sshd").is_file() {
            install(
                &["openssh-server", "openssh-client"],
                "OpenSSH's server and client are needed; install them and run again",
            )?;
        }
        Ok(Vec::new())
    });
    add_postgres(clients);
}

/// Adds the versions of Claude Code.
fn add_claude(clients: &mut Clients) {
    clients.add("tests that run Claude Code", || {
        Ok(vec![("BOSWELL_CLAUDE", claude::newest()?)])
    });
    clients.add("tests that run an old Claude Code", || {
        node()?;
        Ok(vec![("BOSWELL_CLAUDE_OLD", claude::old()?)])
    });
    clients.add("tests that run Claude Code 2.1.150", || {
        node()?;
        Ok(vec![("BOSWELL_CLAUDE_MIDDLE", claude::middle()?)])
    });
}

/// Adds the programs that are no agents: a tracer, a compiler, a terminal, a browser, and what
/// tests the Model Context Protocol.
fn add_tools(clients: &mut Clients) {
    clients.add("tests of the order of system calls", || {
        strace()?;
        Ok(Vec::new())
    });
    clients.add("tests that inject faults into the program", || {
        compiler()?;
        Ok(Vec::new())
    });
    clients.add("tests of the screen in a terminal", || {
        tmux()?;
        Ok(Vec::new())
    });
    clients.add("tests of signatures with minisign", || {
        if workspace::on_path("minisign").is_none() {
            install(
                &["minisign"],
                "minisign is needed; install it and run again",
            )?;
        }
        Ok(Vec::new())
    });
    clients.add("tests of pages in a browser", || {
        Ok(vec![("BOSWELL_CHROMIUM", chromium()?)])
    });
    clients.add(
        &format!("tests that validate with atif {}", atif::VERSION),
        || Ok(vec![("BOSWELL_ATIF_PYTHON", atif::python()?)]),
    );
    clients.add("tests of the server's page in a browser", || {
        let node = node()?;
        Ok(vec![
            (packages::BROWSER.variable, packages::BROWSER.install()?),
            ("BOSWELL_NODE", node),
        ])
    });
    clients.add("tests of the Model Context Protocol", || {
        node()?;
        Ok(vec![
            (packages::MCP.variable, packages::MCP.install()?),
            ("BOSWELL_NODE_NEW", agents::new_node()?),
        ])
    });
}

/// Adds the servers of the tests of `boswell-remote`.
fn add_postgres(clients: &mut Clients) {
    clients.add("tests of sessions in PostgreSQL", || {
        let found =
            std::env::var_os("PG_BIN").is_some() || Path::new("/usr/lib/postgresql").is_dir();
        if !found {
            install(
                &["postgresql"],
                "PostgreSQL is needed (Debian: postgresql); install it and run again",
            )?;
        }
        Ok(Vec::new())
    });
    clients.add("tests of sessions behind PgBouncer", || {
        if !Path::new("/usr/sbin/pgbouncer").is_file() {
            install(
                &["pgbouncer"],
                "PgBouncer is needed (Debian: pgbouncer); install it and run again",
            )?;
        }
        Ok(Vec::new())
    });
    let moto = format!("tests of object storage with moto {}", moto::VERSION);
    clients.add(&moto, || Ok(vec![("BOSWELL_MOTO_PYTHON", moto::python()?)]));
}

/// What drives a browser.
pub(crate) struct BrowserTools {
    pub(crate) node: PathBuf,
    pub(crate) chromium: PathBuf,
    /// A folder with playwright-core.
    pub(crate) modules: PathBuf,
}

/// Finds or installs what drives a browser.
pub(crate) fn browser() -> Outcome<BrowserTools> {
    Ok(BrowserTools {
        node: node()?,
        chromium: chromium()?,
        modules: packages::BROWSER.install()?,
    })
}

/// Finds or installs the three versions of Claude Code: the words that start each, by version.
pub(crate) fn of_claude() -> Outcome<Vec<(&'static str, Vec<OsString>)>> {
    Ok(vec![
        ("2.1.325", vec![claude::newest()?.into()]),
        ("2.1.150", vec![claude::middle()?.into()]),
        ("2.1.50", vec![node()?.into(), claude::old()?.into()]),
    ])
}

/// Finds or installs the programs that resume converted sessions: dialect, version and program.
pub(crate) fn of_conversions() -> Outcome<Vec<(&'static str, &'static str, RealProgram)>> {
    let claude = ClaudeClient::started_by(vec![claude::newest()?.into()]);
    let codex = CodexClient::at(codex::codex()?);
    let node = node()?;
    let script = pi(&node)?.join("dist/cli.js");
    let pi = RealProgram::Pi(vec![node.clone().into(), script.into()]);
    let mut programs = vec![
        ("pi", PI_VERSION, pi),
        ("claude", "2.1.325", RealProgram::Claude(claude)),
        ("codex", codex::VERSION, RealProgram::Codex(codex)),
    ];
    let (package, bun) = omp::omp()?;
    let script = package.join("src/cli.ts");
    let omp = RealProgram::Omp(vec![bun.into(), script.into()]);
    programs.push(("omp", omp::VERSION, omp));
    for package in &agents::AGENTS {
        let client = agents::client(package, &node)?;
        let program = RealProgram::Agent(client);
        programs.push((package.agent.dialect(), package.version, program));
    }
    Ok(programs)
}

impl Clients {
    /// Adds the variables of one client, or says why `tests` do not run without it.
    fn add(&mut self, tests: &str, find: impl FnOnce() -> Outcome<Vec<(&'static str, PathBuf)>>) {
        match find() {
            Ok(variables) => self.environment.extend(variables),
            Err(error) => self.missing.push(format!("{tests} do not run: {error}")),
        }
    }
}

/// Finds a browser that opens exported pages.
fn chromium() -> Outcome<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let given = std::env::var_os("BOSWELL_CHROMIUM").map(PathBuf::from);
    let found = || names.iter().find_map(|name| workspace::on_path(name));
    if let Some(browser) = given.or_else(found) {
        return Ok(browser);
    }
    let instead = "a Chromium is needed; install one and run again";
    // Chinese text without its fonts would be boxes.
    install(&["chromium", "fonts-noto-cjk"], instead)?;
    found().ok_or_else(|| instead.into())
}

/// Finds strace, which shows the order of the writer's system calls. Linux only.
fn strace() -> Outcome {
    if !cfg!(target_os = "linux") || workspace::on_path("strace").is_some() {
        return Ok(());
    }
    install(&["strace"], "strace is needed; install it and run again")
}

/// Finds tmux, in which the real screen is driven.
fn tmux() -> Outcome {
    if !cfg!(unix) || workspace::on_path("tmux").is_some() {
        return Ok(());
    }
    install(&["tmux"], "tmux is needed; install it and run again")
}

/// Finds the C compiler for the shim that injects faults. Linux only.
pub(crate) fn compiler() -> Outcome {
    if !cfg!(target_os = "linux") || workspace::on_path("cc").is_some() {
        return Ok(());
    }
    install(
        &["gcc", "libc6-dev"],
        "a C compiler is needed; install gcc and run again",
    )
}

fn node() -> Outcome<PathBuf> {
    if let Some(node) = usable_node(OLDEST_NODE) {
        return Ok(node);
    }
    install_node()?;
    usable_node(OLDEST_NODE)
        .ok_or_else(|| format!("the installed node is older than {OLDEST_NODE}").into())
}

/// Finds a node that has at least this major version, with npm.
pub(crate) fn usable_node(oldest: u32) -> Option<PathBuf> {
    let given = std::env::var_os("BOSWELL_NODE").map(PathBuf::from);
    let node = given
        .or_else(|| workspace::on_path("node"))
        .or_else(|| workspace::on_path("nodejs"))?;
    workspace::on_path("npm")?;
    let output = Command::new(&node).arg("--version").output().ok()?;
    let version = major_version(&String::from_utf8_lossy(&output.stdout))?;
    (version >= oldest).then_some(node)
}

fn major_version(text: &str) -> Option<u32> {
    text.trim()
        .strip_prefix('v')?
        .split('.')
        .next()?
        .parse()
        .ok()
}

fn install_node() -> Outcome {
    install(
        &["nodejs", "npm"],
        &format!("node {OLDEST_NODE} or newer and npm are needed; install them and run again"),
    )
}

/// Installs packages. Only root on a Debian-like system can do that without a question; other users
/// get a hint.
pub(crate) fn install(packages: &[&str], instead: &str) -> Outcome {
    if workspace::on_path("apt-get").is_none() || !is_root() {
        return Err(instead.to_owned().into());
    }
    println!(
        "xtask: running `apt-get update` and `apt-get install -y {}`",
        packages.join(" ")
    );
    apt_get(&["update"])?;
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend(packages);
    apt_get(&arguments)
}

fn apt_get(arguments: &[&str]) -> Outcome {
    let mut command = Command::new("apt-get");
    command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(std::process::Stdio::null());
    workspace::must_succeed(&mut command)
}

fn is_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Returns the folder of the installed pi package.
fn pi(node: &Path) -> Outcome<PathBuf> {
    if let Some(given) = std::env::var_os("BOSWELL_PI_PACKAGE") {
        println!("xtask: pi is taken from BOSWELL_PI_PACKAGE");
        return Ok(PathBuf::from(given));
    }
    let folder = workspace::target()?.join("clients").join("pi");
    let package = folder.join("node_modules").join(PI_PACKAGE);
    // Written last, so that an interrupted install is not treated as complete.
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|version| version == PI_VERSION) {
        println!("xtask: pi {PI_VERSION} is already installed");
        return Ok(package);
    }
    println!(
        "xtask: installing {PI_PACKAGE} {PI_VERSION} from npm into target/clients/pi (no install scripts)"
    );
    std::fs::create_dir_all(&folder)?;
    npm_install(&folder, &format!("{PI_PACKAGE}@{PI_VERSION}"))?;
    check_import(node, &package)?;
    std::fs::write(&stamp, PI_VERSION)?;
    Ok(package)
}

fn npm_install(folder: &Path, package: &str) -> Outcome {
    let mut command = Command::new("npm");
    command.arg("install").arg("--prefix").arg(folder);
    command.args([
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--prefer-offline",
        "--loglevel=error",
    ]);
    command.arg(package).stdin(std::process::Stdio::null());
    workspace::must_succeed(&mut command)
}

/// Imports the module that the tests use: a package that cannot be imported is not a client.
fn check_import(node: &Path, package: &Path) -> Outcome {
    let module = package.join("dist").join("core").join("session-manager.js");
    let script = "import(require('node:url').pathToFileURL(process.argv[1]).href).then((m) => { \
                  if (typeof m.SessionManager?.open !== 'function') throw new Error('no SessionManager.open'); })";
    let mut command = Command::new(node);
    command
        .arg("-e")
        .arg(script)
        .arg(module)
        .stdin(std::process::Stdio::null());
    workspace::must_succeed(&mut command)
}

#[cfg(test)]
mod pi_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn major_version_is_read_from_what_node_prints() {
        assert_eq!(major_version("v20.20.2\n"), Some(20));
        assert_eq!(major_version("v18"), Some(18));
        assert_eq!(major_version("20.1.0"), None);
        assert_eq!(major_version(""), None);
    }
}
