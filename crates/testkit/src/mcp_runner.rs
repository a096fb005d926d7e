//! The conformance runner of the Model Context Protocol and its official client, as programs that
//! tests run. `cargo xtask test` installs them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::claude_client::named;

/// The folder with the packages, and the newer node that they need.
#[derive(Debug, Clone)]
pub struct McpTools {
    folder: PathBuf,
    node: PathBuf,
}

/// A line of releases of the runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerLine {
    /// What is released.
    Released,
    /// What is to come: it knows newer revisions.
    Alpha,
}

/// What a scenario counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Checks that passed.
    pub passed: usize,
    /// Checks that failed.
    pub failed: usize,
}

/// What the runner said.
#[derive(Debug)]
pub struct ConformanceReport {
    /// Whether nothing failed but what is expected to, and nothing passed that is expected to fail.
    pub is_expected: bool,
    /// The scenarios that ran.
    pub scenarios: Vec<Scenario>,
    /// All that was printed.
    pub text: String,
}

impl McpTools {
    /// Returns the tools, or prints that tests are skipped; if `CI` is `true`, missing ones are a
    /// failure.
    pub fn require_or_skip() -> Option<McpTools> {
        Some(McpTools {
            folder: named("BOSWELL_MCP_TOOLS")?,
            node: named("BOSWELL_NODE_NEW")?,
        })
    }

    /// Returns a command that runs a script with the packages.
    pub fn script(&self, script: &Path) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(script).arg(&self.folder);
        command
    }

    /// Runs the scenarios of a revision against a server.
    pub fn conformance(
        &self,
        line: RunnerLine,
        url: &str,
        revision: &str,
        expected_failures: &Path,
    ) -> ConformanceReport {
        let (package, option) = match line {
            RunnerLine::Released => ("conformance", "--spec-version"),
            RunnerLine::Alpha => ("conformance-alpha", "--requirements"),
        };
        let script = self.folder.join("node_modules").join(package);
        let mut command = Command::new(&self.node);
        command
            .arg(script.join("dist/index.js"))
            .args(["server", "--url", url, option, revision])
            .arg("--expected-failures")
            .arg(expected_failures)
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        let output = command.output().expect("the runner starts");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        ConformanceReport {
            is_expected: output.status.success(),
            scenarios: text.lines().filter_map(scenario).collect(),
            text,
        }
    }
}

impl ConformanceReport {
    /// Returns a scenario that ran.
    pub fn scenario(&self, name: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|it| it.name == name)
    }
}

/// Reads a line of the summary, such as `✓ tools-list: 4 passed, 0 failed`.
fn scenario(line: &str) -> Option<Scenario> {
    let line = line
        .trim()
        .trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let (name, counts) = line.split_once(": ")?;
    let (passed, failed) = counts.split_once(" passed, ")?;
    let failed = failed.split(' ').next()?;
    Some(Scenario {
        name: name.to_owned(),
        passed: passed.parse().ok()?,
        failed: failed.parse().ok()?,
    })
}

/// A proxy that adds a token to each request: the runner knows no tokens.
#[derive(Debug)]
pub struct TokenProxy {
    address: SocketAddr,
}

impl TokenProxy {
    /// Starts a proxy to a server. It ends with the process.
    pub fn start(server: &str, token: &str) -> TokenProxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on loopback");
        let address = listener.local_addr().expect("the address that was bound");
        let (server, token) = (server.to_owned(), token.trim().to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (server, token) = (server.clone(), token.clone());
                // A connection that ends is not an error.
                std::thread::spawn(move || pass_on(client, &server, &token).ok());
            }
        });
        TokenProxy { address }
    }

    /// Returns the address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Passes one request on, with the token, and the answer back.
fn pass_on(mut client: TcpStream, server: &str, token: &str) -> std::io::Result<()> {
    let (mut read, mut buffer) = (Vec::new(), [0; 8 << 10]);
    let end = loop {
        let count = client.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        read.extend_from_slice(buffer.get(..count).unwrap_or_default());
        if let Some(end) = read.windows(4).position(|it| it == b"\r\n\r\n") {
            break end;
        }
    };
    let (head, rest) = read.split_at(end);
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let mut sent = format!("{}\r\n", lines.next().unwrap_or_default());
    // One request for each connection, so that none is without the token.
    sent += &format!("Authorization: Bearer {token}\r\nConnection: close");
    for line in lines {
        if !line.to_ascii_lowercase().starts_with("connection:") {
            sent += &format!("\r\n{line}");
        }
    }
    let mut server = TcpStream::connect(server)?;
    server.write_all(sent.as_bytes())?;
    server.write_all(rest)?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || std::io::copy(&mut from_client, &mut to_server));
    std::io::copy(&mut server, &mut client)?;
    client.shutdown(std::net::Shutdown::Both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_summary_are_read() {
        let read = scenario("✗ server-stateless: 21 passed, 4 failed").unwrap();
        assert_eq!(read.name, "server-stateless");
        assert_eq!((read.passed, read.failed), (21, 4));
        assert_eq!(scenario("Total: 3 passed, 1 failed").unwrap().name, "Total");
        assert_eq!(scenario("=== SUMMARY ==="), None);
    }
}
