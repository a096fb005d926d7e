//! A real `sshd` on loopback, with keys, port and folders of its own.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use boswell_testkit::disk;

use crate::bench::{BOSWELL, Bench, Ran, finish};

/// Where programs are found: ssh, and on the host the shell's own.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A host: a server of ssh, a home folder there, and boswell as a script that uses that home.
pub(crate) struct Sshd {
    child: Child,
    folder: PathBuf,
    port: u16,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.stop();
    }
}

#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests have no command line, so CI is named by the environment, and a skip is printed"
)]
fn program() -> Option<PathBuf> {
    let found = PATH.split(':').map(|folder| Path::new(folder).join("sshd"));
    let found = found.into_iter().find(|path| path.is_file());
    let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(
        found.is_some() || !ci,
        "there is no sshd: `cargo xtask test` installs it"
    );
    if found.is_none() {
        eprintln!("SKIPPED: there is no sshd, so no host was reached");
    }
    found
}

impl Sshd {
    /// Starts a server in a folder, if there is one to start.
    pub(crate) fn start(folder: &Path) -> Option<Sshd> {
        let program = program()?;
        let folder = folder.canonicalize().unwrap().join("host");
        disk::make_dir(&folder.join("home"));
        // A server that root starts wants this folder; another user's does not.
        let _ = std::fs::create_dir_all("/run/sshd");
        for name in ["host_key", "user_key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(folder.join(name))
                .output()
                .unwrap();
            assert!(made.status.success(), "{made:?}");
        }
        let public = disk::read(&folder.join("user_key.pub"));
        disk::write(&folder.join("authorized_keys"), &public);
        // Another program may take the port before the server does.
        for _ in 0..5 {
            if let Some((child, port)) = listening(&program, &folder) {
                let host = Sshd {
                    child,
                    folder,
                    port,
                };
                host.know_key();
                return Some(host);
            }
        }
        panic!("sshd does not start: {}", config(&folder, 0));
    }

    /// Writes which key the server has, as a user who connected before has it.
    fn know_key(&self) {
        let key = String::from_utf8(disk::read(&self.folder.join("host_key.pub"))).unwrap();
        let line = format!("[127.0.0.1]:{} {key}", self.port);
        disk::write(&self.folder.join("known_hosts"), line.as_bytes());
    }

    /// Stops the server; what is connected stays.
    pub(crate) fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Returns the home folder on the host.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// Returns the options of ssh for this server.
    pub(crate) fn options(&self) -> Vec<String> {
        let file = |name: &str| self.folder.join(name).display().to_string();
        let mut options = ["-F", "none", "-p"].map(str::to_owned).to_vec();
        options.extend([self.port.to_string(), "-i".to_owned(), file("user_key")]);
        for option in [
            "IdentitiesOnly=yes".to_owned(),
            "StrictHostKeyChecking=yes".to_owned(),
            "IdentityAgent=none".to_owned(),
            format!("UserKnownHostsFile={}", file("known_hosts")),
        ] {
            options.extend(["-o".to_owned(), option]);
        }
        options
    }

    /// Writes a script that the host has as its boswell; returns its path.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.join(name);
        disk::write(&path, format!("#!/bin/sh\n{text}\n").as_bytes());
        disk::set_mode(&path, 0o755);
        path
    }

    /// Writes a script that runs the real program with the home of the host.
    pub(crate) fn boswell(&self) -> PathBuf {
        let home = self.home();
        let text = format!(
            "export HOME='{0}' BOSWELL_HOME='{0}/own' TZ=UTC\ncd \"$HOME\"\nexec '{1}' \"$@\"",
            home.display(),
            BOSWELL
        );
        self.script("boswell", &text)
    }

    /// Runs the program there, without ssh.
    pub(crate) fn there(&self, args: &[&str]) -> Ran {
        let mut command = Command::new(self.boswell());
        command.args(args).env_clear().env("PATH", PATH);
        command.env("COLUMNS", "100").stdin(Stdio::null());
        finish(command)
    }
}

/// Starts a server at a free port; `None` if it does not listen there.
fn listening(program: &Path, folder: &Path) -> Option<(Child, u16)> {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let file = folder.join("sshd_config");
    disk::write(&file, config(folder, port).as_bytes());
    let mut child = Command::new(program)
        .args(["-D", "-e", "-f"])
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let is_ready = lines
        .by_ref()
        .map_while(Result::ok)
        .any(|line| line.contains("Server listening on"));
    if !is_ready {
        let _ = child.wait();
        return None;
    }
    // Its log is read, so that it never waits for a reader.
    std::thread::spawn(move || lines.for_each(drop));
    Some((child, port))
}

fn config(folder: &Path, port: u16) -> String {
    let folder = folder.display();
    format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\nPidFile none\n\
         AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\n\
         PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         PermitRootLogin prohibit-password\nLogLevel INFO\nSetEnv HOME={folder}/home\n"
    )
}

/// This machine, with settings that name hosts.
pub(crate) struct Desk {
    pub(crate) bench: Bench,
    pub(crate) host: Sshd,
}

impl Desk {
    /// A machine with a host `box`, if there is a server of ssh.
    pub(crate) fn new() -> Option<Desk> {
        let bench = Bench::new();
        disk::make_dir(&bench.own());
        let host = Sshd::start(bench.root())?;
        let program = host.boswell();
        let desk = Desk { bench, host };
        desk.settings(&[("box", &program, false)]);
        Some(desk)
    }

    /// Sets the hosts: name, program and whether lists show it.
    pub(crate) fn settings(&self, hosts: &[(&str, &Path, bool)]) {
        let mut text = String::new();
        for (name, program, shown) in hosts {
            let options = serde_json::to_string(&self.host.options()).unwrap();
            text.push_str(&format!(
                "[[hosts]]\nname = \"{name}\"\nssh = \"127.0.0.1\"\nprogram = \"{}\"\n\
                 options = {options}\nshown = {shown}\n",
                program.display()
            ));
        }
        let file = self.bench.home().join(".config/boswell/config.toml");
        disk::write(&file, text.as_bytes());
    }

    /// Sets the one host `box`, with a script as its boswell.
    pub(crate) fn scripted(&self, text: &str) {
        let program = self.host.script("scripted", text);
        self.settings(&[("box", &program, false)]);
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.bench.command(args);
        command.env("PATH", PATH);
        finish(command)
    }

    /// Returns the one warning of a run.
    #[track_caller]
    pub(crate) fn warning(ran: &Ran) -> String {
        let lines = ran.stderr.lines();
        let warnings: Vec<&str> = lines.filter(|it| it.starts_with("warning:")).collect();
        assert_eq!(warnings.len(), 1, "{ran:?}");
        warnings[0].to_owned()
    }
}
