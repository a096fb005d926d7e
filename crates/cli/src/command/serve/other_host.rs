//! `web --host`: the page of another machine through an ssh tunnel.
//!
//! `boswell web` runs there, with a port that is free here, and ssh forwards that port. The address
//! with its one-time code comes back on the standard output of ssh.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, ExitCode, Stdio};

use boswell_app::hosts::Host;
use boswell_model::{Error, ErrorKind, Result};
use boswell_serve::ServeFolder;

use super::{WebArgs, is_remote, open_page};
use crate::app::App;
use crate::error_report::say;
use crate::output::Output;

/// Serves the page of a host until ssh ends.
pub(super) fn run(app: &App, args: &WebArgs, host: &str) -> Result<ExitCode> {
    let named = [host.to_owned()];
    let hosts = app.requests.host_selection(&named)?.hosts;
    let [host] = hosts.as_slice() else {
        let what = format!("`{}` is not one other machine", host.escape_debug());
        return Err(Error::new(ErrorKind::Invalid, what).advising("name one host"));
    };
    let port = match args.port {
        Some(port) if port != 0 => port,
        _ => free_port()?,
    };
    let mut ssh = start(args, host, port)?;
    let opened = address(&mut ssh, host, port).and_then(|url| show(app, args, &url));
    if let Err(error) = opened {
        let _ = ssh.kill();
        let _ = ssh.wait();
        return Err(error);
    }
    let status = ssh
        .wait()
        .map_err(|error| Error::io("ssh", "wait for", error))?;
    match status.code() {
        Some(0) | None => Ok(ExitCode::SUCCESS),
        Some(_) => Err(failed(host)),
    }
}

/// Returns a port that is free here. It is likely to be free there too; if not, the server there
/// says so.
fn free_port() -> Result<u16> {
    let bound = TcpListener::bind(("127.0.0.1", 0)).and_then(|it| it.local_addr());
    bound
        .map(|address| address.port())
        .map_err(|error| Error::io("127.0.0.1", "listen at", error))
}

fn start(args: &WebArgs, host: &Host, port: u16) -> Result<Child> {
    let mut remote = format!("{} web --no-open --port {port}", host.quoted_program());
    if let Some(limit) = &args.limit {
        // Parsed by the caller, so that it is one word of letters and digits.
        remote.push_str(&format!(" --for {limit}"));
    }
    let started = Command::new("ssh")
        .args(["-o", "ExitOnForwardFailure=yes"])
        .arg("-L")
        .arg(format!("127.0.0.1:{port}:127.0.0.1:{port}"))
        .args(&host.options)
        .args(["--", host.ssh.as_str(), &remote])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    started.map_err(|error| {
        Error::new(ErrorKind::Unavailable, "cannot start `ssh`")
            .caused_by(error)
            .advising("install OpenSSH, or forward the port by hand: see docs/server.md")
    })
}

/// Reads the address that the server there prints. Its output is not trusted: only an address of
/// the forwarded port is opened.
fn address(ssh: &mut Child, host: &Host, port: u16) -> Result<String> {
    let Some(output) = ssh.stdout.take() else {
        return Err(failed(host));
    };
    let start = format!("http://127.0.0.1:{port}/#k=");
    // A shell there may print a greeting before it.
    for line in BufReader::new(output).lines().take(100) {
        let Ok(line) = line else { break };
        let line = line.trim();
        let is_code = |code: &str| {
            !code.is_empty()
                && code
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        };
        if line.strip_prefix(&start).is_some_and(is_code) {
            return Ok(line.to_owned());
        }
    }
    Err(failed(host))
}

fn failed(host: &Host) -> Error {
    let what = format!("`boswell web` on {} ended", host.name);
    Error::new(ErrorKind::Unavailable, what)
        .advising(format!("try `ssh {} boswell --version` by hand", host.ssh))
}

fn show(app: &App, args: &WebArgs, url: &str) -> Result<()> {
    if args.no_open || is_remote(app) {
        let mut out = Output::plain(app);
        out.line(url)?;
        out.finish()?;
        if !app.quiet {
            say("the address is valid once, for ten minutes");
        }
        return Ok(());
    }
    let home = app.requests.home();
    let home = home.ok_or_else(|| Error::new(ErrorKind::NotFound, "there is no home folder"))?;
    open_page(&ServeFolder::open(home)?.redirect(url)?)
}
