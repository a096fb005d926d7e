//! The folder in which trials run: a home with sessions of every dialect at one path, copied back
//! before each trial.
//!
//! Logs contain the paths of their folders, so each worker has its own folder and never shares a
//! copy.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::call_log::CallLog;
use super::plan::InjectedFault;
use super::shim::Shim;
use crate::disk;

/// Maximum time of a command.
const LIMIT: Duration = Duration::from_secs(60);

/// A session that no case touches: the next command renames it, which recovers unfinished
/// operations.
pub(super) const BYSTANDER: &str = "0e57aaaa-0001-4001-8001-00000000face";

const OLD_PI: &str = concat!(
    r#"{"type":"session","id":"aged","timestamp":"2025-01-01T00:00:00Z","cwd":"/proj/aged","provider":"p","modelId":"m"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:01Z","message":{"role":"user","content":"first"}}"#,
    "\n{\"type\":\"mess\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:02Z","message":{"role":"user","content":"second"}}"#,
    "\n"
);

/// The result of a command.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    /// Output on stdout.
    pub stdout: String,
    /// Output on stderr.
    pub stderr: String,
}

impl Ran {
    /// Returns the last line of output, for a report.
    pub(super) fn said(&self) -> String {
        let line = self.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().take(220).collect()
    }
}

/// A folder with a fixture that can be restored.
#[derive(Debug)]
pub struct FaultLab {
    program: PathBuf,
    shim: Shim,
    /// Contains `live`, where commands run, and `fixture` and `base`, from which it is restored
    /// before each case and each trial.
    folder: PathBuf,
}

impl FaultLab {
    /// Builds the fixture below `folder`, which must be empty or missing.
    pub fn build(program: &Path, shim: &Shim, folder: &Path) -> Result<FaultLab, String> {
        let place = FaultLab {
            program: program.to_owned(),
            shim: shim.clone(),
            folder: folder.to_owned(),
        };
        for name in ["live/user", "live/tmp"] {
            disk::make_dir(&folder.join(name));
        }
        let demo = place.live().join("d");
        let mut command = place.bare(&["demo", &demo.to_string_lossy()]);
        expect_success(&finish(&mut command, None)?, "demo")?;
        place.plant();
        place.acknowledge_some()?;
        copy(&place.live(), &place.folder.join("fixture"))?;
        Ok(place)
    }

    /// Runs what was acknowledged earlier: operations with copies in the vault, notes, an archived
    /// session.
    fn acknowledge_some(&self) -> Result<(), String> {
        let projects = self.live().join("d/projects");
        let shop = projects.join("shop").to_string_lossy().into_owned();
        let other = projects.join("other").to_string_lossy().into_owned();
        disk::make_dir(Path::new(&other));
        for args in [
            &[
                "new",
                "--dialect",
                "claude",
                "--id",
                BYSTANDER,
                "--project",
                &other,
                "--title",
                "Bystander",
            ][..],
            &["append", BYSTANDER, "--user", "look on"],
            &["rename", "15ae", "Earlier name"],
            &["tag", "80459", "earlier"],
            &[
                "new",
                "--id",
                "11111111-0001-7001-8001-00000000cafe",
                "--project",
                &shop,
                "--title",
                "Shelved",
            ],
            &["append", "11111111", "--user", "to be shelved"],
            &["status", "11111111", "completed"],
            &["archive", "11111111", "--apply"],
            &["list", "--hidden"],
        ] {
            expect_success(&self.run(args)?, &args.join(" "))?;
        }
        Ok(())
    }

    /// Adds files that no command creates: an old version, orphans of a deleted session, a program
    /// that summarises.
    fn plant(&self) {
        let demo = self.live().join("d");
        let home = demo.join("home");
        disk::write(
            &home.join(".pi/agent/sessions/--proj-aged--/2025-01-01T00-00-00-000Z_aged.jsonl"),
            OLD_PI.as_bytes(),
        );
        let gone = "bbbbbbbb-0001-4001-8001-000000000002";
        disk::write(
            &home.join(format!(".claude/projects/-w/{gone}/tool-results/b.txt")),
            b"left",
        );
        disk::write(
            &home.join(format!(".claude/file-history/{gone}/one@v1")),
            b"left",
        );
        disk::write(
            &demo.join("picture.png"),
            b"\x89PNG\r\n\x1a\nnot much of a picture",
        );
        disk::write(
            &demo.join("config.toml"),
            b"summary = { command = [\"cat\"] }\n",
        );
    }

    /// Returns the folder in which commands run.
    pub fn live(&self) -> PathBuf {
        self.folder.join("live")
    }

    fn base(&self) -> PathBuf {
        self.folder.join("base")
    }

    /// Restores the fixture, as before every case.
    pub fn reset_fixture(&self) -> Result<(), String> {
        copy(&self.folder.join("fixture"), &self.live())
    }

    /// Saves the current state as the start of trials.
    pub fn keep_base(&self) -> Result<(), String> {
        copy(&self.live(), &self.base())
    }

    /// Restores the start of trials.
    pub fn reset(&self) -> Result<(), String> {
        copy(&self.base(), &self.live())
    }

    /// Replaces placeholders: `{d}` is the fixture, `SHOP` Claude's key of its project `shop`.
    pub fn fill(&self, text: &str) -> String {
        let demo = self.live().join("d").to_string_lossy().into_owned();
        let key =
            format!("{demo}/projects/shop").replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        text.replace("{d}", &demo).replace("SHOP", &key)
    }

    /// Runs a shell command, for changes that no boswell command makes.
    pub fn shell(&self, script: &str) -> Result<(), String> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).current_dir(self.live());
        expect_success(&finish(&mut command, None)?, script)
    }

    /// Returns the program with these arguments on the stores of the fixture.
    fn command(&self, args: &[&str]) -> Command {
        let own = self.live().join("d/own");
        let home = self.live().join("d/home");
        let mut command = self.bare(args);
        command.arg("--home").arg(&own);
        for (dialect, folder) in [
            ("claude", ".claude"),
            ("pi", ".pi/agent"),
            ("omp", ".omp/agent"),
            ("xcsh", ".xcsh/agent"),
            ("myagents", ".myagents"),
            ("clinvoker", ".clinvk"),
            ("oas", ".open-agent"),
            ("codex", ".codex"),
        ] {
            command
                .arg("--store")
                .arg(format!("{dialect}={}", home.join(folder).display()));
        }
        command
            .arg("--store")
            .arg(format!("boswell={}", own.display()));
        command
    }

    fn bare(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().current_dir(self.live());
        command
            .env("HOME", self.live().join("user"))
            .env("TMPDIR", self.live().join("tmp"));
        command.env("PATH", "/usr/bin:/bin").env("COLUMNS", "100");
        command.env("BOSWELL_CONFIG", self.live().join("d/config.toml"));
        command
    }

    /// Runs a command.
    pub fn run(&self, args: &[&str]) -> Result<Ran, String> {
        finish(&mut self.command(args), None)
    }

    /// Runs a command with input, with its calls logged, and optionally with a fault.
    pub fn run_faulty(
        &self,
        args: &[&str],
        stdin: Option<&str>,
        fault: Option<InjectedFault>,
    ) -> Result<(Ran, PathBuf), String> {
        let log = self.folder.join("calls");
        let _ = std::fs::remove_file(&log);
        let mut command = self.command(args);
        self.shim.preload(&mut command, &self.live(), &log, fault);
        Ok((finish(&mut command, stdin)?, log))
    }

    /// Runs a command with the shim and under `strace`: returns the calls that the shim and the
    /// system saw, one line per call.
    pub fn run_traced(&self, args: &[&str]) -> Result<(Ran, CallLog, String), String> {
        let (log, trace) = (self.folder.join("calls"), self.folder.join("trace"));
        let _ = std::fs::remove_file(&log);
        let plain = self.command(args);
        let mut command = Command::new("strace");
        command
            .args(["-f", "-y", "-s", "0", "-e", "trace=file,desc", "-o"])
            .arg(&trace);
        // Only the program is preloaded, not strace.
        let mut given = Command::new("env");
        self.shim.preload(&mut given, &self.live(), &log, None);
        for (name, value) in given.get_envs() {
            let mut pair = name.to_owned();
            pair.push("=");
            pair.push(value.unwrap_or_default());
            command.arg("-E").arg(pair);
        }
        command
            .arg(plain.get_program())
            .args(plain.get_args())
            .current_dir(self.live())
            .env_clear();
        command.envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        let ran = finish(&mut command, None)?;
        Ok((
            ran,
            CallLog::read(&log),
            String::from_utf8_lossy(&disk::read(&trace)).into_owned(),
        ))
    }
}

impl Drop for FaultLab {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub(super) fn expect_success(ran: &Ran, what: &str) -> Result<(), String> {
    if ran.code == Some(0) {
        Ok(())
    } else {
        Err(format!(
            "`{what}` ended with {:?}: {}",
            ran.code,
            ran.said()
        ))
    }
}

/// Copies with times, modes and hard links.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    if to.exists() {
        std::fs::remove_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    let output = Command::new("cp")
        .arg("-a")
        .arg(from)
        .arg(to)
        .output()
        .map_err(|error| format!("cp: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn finish(command: &mut Command, stdin: Option<&str>) -> Result<Ran, String> {
    let input = if stdin.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    };
    command
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| format!("the program does not start: {error}"))?;
    if let (Some(text), Some(mut pipe)) = (stdin, child.stdin.take()) {
        // A killed program does not read the rest.
        let _ = pipe.write_all(text.as_bytes());
    }
    let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
    let deadline = Instant::now() + LIMIT;
    let mut text = |stream: mpsc::Receiver<String>| {
        let left = deadline.saturating_duration_since(Instant::now());
        stream.recv_timeout(left).map_err(|_| {
            let _ = child.kill();
            let _ = child.wait();
            format!("it did not end within {LIMIT:?}")
        })
    };
    let (stdout, stderr) = (text(stdout)?, text(stderr)?);
    let status = child.wait().map_err(|error| error.to_string())?;
    Ok(Ran {
        code: status.code(),
        stdout,
        stderr,
    })
}

/// Reads a stream to its end in a thread, so that a full pipe does not stop the program.
fn read(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}
