//! A private PostgreSQL in a temporary folder, without a fixed port and without a service.
//!
//! `initdb` refuses root, so as root the server runs as the user `postgres`. A guard process waits
//! for the end of this one, however it comes, then stops the server by its process id and removes
//! the folder.
#![expect(
    clippy::disallowed_methods,
    reason = "finds the server's programs, and reads the process id that it wrote"
)]
#![expect(clippy::print_stderr, reason = "says which tests are skipped")]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A running server.
#[derive(Debug)]
pub struct PostgresServer {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    guard: Child,
}

/// Makes a temporary folder for one server.
fn new_folder() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("boswell-pg-{}-{count}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

impl PostgresServer {
    /// Starts a server with these lines of configuration; `None`, with a line that says so, if
    /// PostgreSQL is not installed. Under `CI=true` that is a failure.
    pub fn start_or_skip(configuration: &str) -> Option<PostgresServer> {
        PostgresServer::start_with_files(configuration, &[])
    }

    /// As [`start_or_skip`](PostgresServer::start_or_skip), with files in its data folder that only
    /// it can read: a certificate and its key.
    pub fn start_with_files(
        configuration: &str,
        files: &[(&str, Vec<u8>)],
    ) -> Option<PostgresServer> {
        let Some(programs) = programs() else {
            let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
            assert!(!ci, "PostgreSQL is not installed: run `cargo xtask test`");
            eprintln!("SKIPPED: PostgreSQL is not installed (Debian: postgresql)");
            return None;
        };
        let folder = new_folder();
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        own(&folder);
        let guard = guard(&folder);
        let server = PostgresServer {
            programs,
            folder,
            port,
            guard,
        };
        server.initialise(configuration);
        for (name, bytes) in files {
            let path = server.data(name);
            std::fs::write(&path, bytes).expect("a file of the server");
            run(Command::new("chmod").arg("600").arg(&path));
            own(&path);
        }
        server.start();
        Some(server)
    }

    /// Makes the data folder and its configuration.
    fn initialise(&self, configuration: &str) {
        let data = self.folder.join("data");
        let mut made = self.program("initdb");
        made.args([
            "-U",
            "boswell",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
        ]);
        run(made.arg("--no-sync").arg("-D").arg(&data));
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {}\nmax_connections = 120\n\
             unix_socket_directories = '{}'\n{configuration}\n",
            self.port,
            self.folder.display()
        );
        let file = data.join("boswell.conf");
        std::fs::write(&file, settings).expect("a configuration");
        let included = std::fs::read_to_string(data.join("postgresql.conf")).expect("its own");
        let included = format!("{included}\ninclude 'boswell.conf'\n");
        std::fs::write(data.join("postgresql.conf"), included).expect("a configuration");
        own(&file);
    }

    /// Returns the port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address of a database for a user.
    pub fn address(&self, user: &str, database: &str) -> String {
        address(self.port, user, database)
    }

    /// Runs SQL as the superuser and returns what it prints, without headings.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]);
        psql.args([
            "-h",
            "127.0.0.1",
            "-U",
            "boswell",
            "-d",
            database,
            "-c",
            sql,
        ]);
        let output = psql.arg("-p").arg(self.port.to_string()).output();
        let output = output.expect("psql");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Kills the postmaster with `SIGKILL`. Its other processes notice and end.
    pub fn kill(&self) {
        self.signal("-KILL");
    }

    /// Stops the server at once and in order: connections are cut, what was committed is kept.
    pub fn stop(&self) {
        self.signal("-INT");
        wait_for("the server to stop", || {
            !self.data("postmaster.pid").exists()
        });
    }

    /// Starts the server again, after [`kill`](PostgresServer::kill) or
    /// [`stop`](PostgresServer::stop).
    pub fn start(&self) {
        let log = self.folder.join("log");
        // After a kill the processes that are left must end first.
        wait_for("the server to start", || {
            let mut start = self.program("pg_ctl");
            start.args(["-w", "-t", "60", "-s", "start"]);
            start.arg("-l").arg(&log).arg("-D").arg(self.data(""));
            start.stdin(Stdio::null()).stdout(Stdio::null());
            start.stderr(Stdio::null());
            start.status().is_ok_and(|status| status.success())
        });
    }

    fn signal(&self, signal: &str) {
        let file = std::fs::read_to_string(self.data("postmaster.pid")).expect("a running server");
        let pid = file.lines().next().expect("its process id");
        run(Command::new("kill").arg(signal).arg(pid));
        if signal == "-KILL" {
            wait_for("the server to end", || {
                !Path::new("/proc").join(pid).exists()
            });
        }
    }

    fn data(&self, name: &str) -> PathBuf {
        self.folder.join("data").join(name)
    }

    /// Returns a program of the server, run by a user that it accepts.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
            command.args(["--inh-caps=-all"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.env("HOME", &self.folder).current_dir(&self.folder);
        command.env("LC_ALL", "C.UTF-8");
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // The guard reads the end of its input, and stops the server.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// Returns the address of a database on a port of this machine: that of a server or of a proxy.
pub fn address(port: u16, user: &str, database: &str) -> String {
    format!("host=127.0.0.1 port={port} user={user} dbname={database} sslmode=disable")
}

/// Starts the process that cleans up.
fn guard(folder: &Path) -> Child {
    let script = "cat >/dev/null; pid=$(head -n 1 \"$1/data/postmaster.pid\" 2>/dev/null); \
                  if [ -n \"$pid\" ]; then kill -INT \"$pid\" 2>/dev/null; \
                  for _ in $(seq 300); do kill -0 \"$pid\" 2>/dev/null || break; sleep 0.1; done; fi; \
                  rm -rf \"$1\"";
    Command::new("sh")
        .args(["-c", script, "guard"])
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell")
}

/// Returns the folder of the newest PostgreSQL that is installed, or the one that `PG_BIN` names.
fn programs() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("PG_BIN") {
        return Some(named.into());
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let newest = versions
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .max()?;
    let folder = PathBuf::from(format!("/usr/lib/postgresql/{newest}/bin"));
    folder.join("initdb").exists().then_some(folder)
}

/// Gives a file to the user of the server.
fn own(path: &Path) {
    if is_root() {
        run(Command::new("chown").arg("postgres").arg(path));
    }
}

pub(crate) fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout == b"0\n")
}

fn run(command: &mut Command) {
    let output = command.output().expect("a program");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..600 {
        if done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let waited = done();
    assert!(waited, "waited too long for {what}");
}
