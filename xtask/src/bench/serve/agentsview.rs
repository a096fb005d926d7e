//! agentsview (PyPI `agentsview`): the other program with a server for sessions.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::client::Connection;
use super::{Paths, Running, Served, text_members};
use crate::bench::lab::Lab;
use crate::{Outcome, workspace};

/// Version that is installed, so that figures of different days can be compared.
const VERSION: &str = "0.46.1";
/// Names the program, where it is installed elsewhere.
const PROGRAM: &str = "BOSWELL_AGENTSVIEW";
/// How long its first synchronisation may take.
const LONGEST: Duration = Duration::from_secs(1800);

/// Starts its server on the sessions of a folder `.claude`, and waits until it knows them.
pub(super) fn start(lab: &Lab, root: &Path) -> Outcome<Served> {
    let home = root.parent().ok_or("the sessions are in no folder")?;
    let name = home.file_name().unwrap_or_default().to_string_lossy();
    let data = lab.data.join(format!("agentsview-data-{name}"));
    std::fs::create_dir_all(&data)?;
    let program = program(lab)?;
    let command = || {
        let mut command = Command::new(&program);
        command
            .env("HOME", home)
            .env("AGENTSVIEW_DATA_DIR", &data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let port = free_port()?;
    let child = command()
        .args(["serve", "--no-browser", "--no-update-check", "--port"])
        .arg(port.to_string())
        .spawn()?;
    let mut served = Served {
        process: Running(child),
        address: format!("127.0.0.1:{port}"),
        token: None,
        paths: Paths::default(),
    };
    // It hides sessions with one prompt unless it is asked for them.
    let list = "/api/v1/sessions?limit=50&include_one_shot=true".to_owned();
    let ids = wait_for_sessions(&served, &list)?;
    let of = |id: &String| format!("/api/v1/sessions/{id}/messages?limit=100");
    let entries = served.answered(ids.iter().map(of).collect())?;
    served.paths = Paths {
        list,
        entries,
        search: "/api/v1/search?limit=20&q=".to_owned(),
    };
    Ok(served)
}

/// Waits until the first session is listed and the server is quiet, and returns the ids
/// of the list.
fn wait_for_sessions(served: &Served, list: &str) -> Outcome<Vec<String>> {
    let started = Instant::now();
    let mut last = 0;
    while started.elapsed() < LONGEST {
        std::thread::sleep(Duration::from_secs(2));
        let Ok(answer) = Connection::open(&served.address, None).and_then(|mut it| it.get(list))
        else {
            continue;
        };
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let ids = text_members(&answer, "id");
        let busy = cpu_ticks(served.process.0.id());
        // Less than a tenth of a core since the last look.
        if !ids.is_empty() && busy < last + 20 {
            return Ok(ids);
        }
        last = busy;
    }
    Err("agentsview lists no session".into())
}

/// Returns the processor time of a process in hundredths of a second.
fn cpu_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let mut numbers = fields
        .split_whitespace()
        .skip(11)
        .map(|it| it.parse::<u64>());
    let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
    next() + next()
}

fn free_port() -> Outcome<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?
        .local_addr()?
        .port())
}

/// Returns the program: that of the environment, else one on the path, else it is installed into
/// the bench's data.
fn program(lab: &Lab) -> Outcome<PathBuf> {
    if let Some(named) = std::env::var_os(PROGRAM) {
        return Ok(named.into());
    }
    if let Some(found) = workspace::on_path("agentsview") {
        return Ok(found);
    }
    let folder = lab.data.join(format!("agentsview-{VERSION}"));
    let installed = folder.join("bin").join("agentsview");
    if !installed.exists() {
        println!("bench: installing agentsview {VERSION}");
        workspace::must_succeed(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let package = format!("agentsview=={VERSION}");
        workspace::must_succeed(
            Command::new(folder.join("bin").join("pip")).args(["install", "--quiet", &package]),
        )?;
    }
    Ok(installed)
}
