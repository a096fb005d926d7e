//! Runs the program with only the variables named here, in temporary folders, with a time limit.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub(crate) const BOSWELL: &str = env!("CARGO_BIN_EXE_boswell");

/// Maximum time of a command, whichever file is in the place of a session.
const LIMIT: Duration = Duration::from_secs(120);

/// Whether expected results are rewritten instead of compared.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no command line, so the wish comes from the environment"
)]
pub(crate) fn bless() -> bool {
    std::env::var_os("BOSWELL_BLESS").is_some_and(|value| value == "1")
}

/// An empty machine.
pub(crate) struct Bench {
    temp: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let temp = tempfile::tempdir().unwrap();
        for name in ["home", "tmp", "cwd"] {
            std::fs::create_dir(temp.path().join(name)).unwrap();
        }
        Bench { temp }
    }

    /// Returns the user's home folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.temp.path().join("home")
    }

    /// Returns boswell's own home, which does not exist yet.
    pub(crate) fn own(&self) -> PathBuf {
        self.temp.path().join("boswell")
    }

    /// Returns the temporary folder.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.temp.path().join("tmp")
    }

    /// Returns the working folder of commands.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.temp.path().join("cwd")
    }

    /// Returns the folder that contains all the others.
    pub(crate) fn root(&self) -> &Path {
        self.temp.path()
    }

    /// Writes a file below the home folder.
    pub(crate) fn plant(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.home().join(name);
        boswell_testkit::disk::write(&path, bytes);
        path
    }

    /// Returns the program with these arguments, ready to start.
    pub(crate) fn command<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Command {
        let mut command = Command::new(BOSWELL);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.home())
            .env("BOSWELL_HOME", self.own())
            .env("TMPDIR", self.tmp())
            .env("COLUMNS", "100")
            .env("TZ", "UTC")
            .current_dir(self.cwd())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program until it exits.
    pub(crate) fn run<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Ran {
        finish(self.command(args))
    }
}

/// Runs a command until it exits, and checks that it exited normally.
pub(crate) fn finish(mut command: Command) -> Ran {
    let what = format!("{:?}", command.get_args().collect::<Vec<_>>());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (sender, receiver) = mpsc::channel();
    for (number, mut stream) in [
        (0, Box::new(stdout) as Box<dyn Read + Send>),
        (1, Box::new(stderr)),
    ] {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes);
            let _ = sender.send((number, bytes));
        });
    }
    let mut streams = [Vec::new(), Vec::new()];
    for _ in 0..2 {
        let (number, bytes): (usize, Vec<u8>) = receiver
            .recv_timeout(LIMIT)
            .unwrap_or_else(|_| give_up(child.id(), &mut child, &what));
        streams[number] = bytes;
    }
    let status = child.wait().unwrap();
    let [stdout, stderr] = streams;
    let ran = Ran {
        what,
        code: status.code(),
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    };
    assert!(
        !matches!(ran.code, None | Some(70 | 101)),
        "a bug shows: {ran:?}"
    );
    assert!(
        !ran.stderr.contains("panicked at"),
        "a panic shows: {ran:?}"
    );
    ran
}

fn give_up(id: u32, child: &mut Child, what: &str) -> ! {
    let _ = child.kill();
    panic!("{what} (process {id}) did not end within {LIMIT:?}")
}

/// The result of a run.
#[derive(Clone)]
pub(crate) struct Ran {
    pub(crate) what: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl std::fmt::Debug for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let head: String = self.text().chars().take(2_000).collect();
        write!(
            f,
            "{} ended with {:?}\nstdout: {head}\nstderr: {}",
            self.what, self.code, self.stderr
        )
    }
}

impl Ran {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Asserts that stderr contains a text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Ran {
        assert!(
            self.stderr.contains(text),
            "stderr does not say {text:?}: {self:?}"
        );
        self
    }

    /// Returns stdout as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Returns stdout as JSON Lines, each of which must follow the contract.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let text =
            std::str::from_utf8(&self.stdout).unwrap_or_else(|_| panic!("not UTF-8: {self:?}"));
        assert!(
            text.is_empty() || text.ends_with('\n'),
            "the last line has no end: {self:?}"
        );
        let parse = |line: &str| -> Value {
            let value: Value =
                serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}: {self:?}"));
            assert_eq!(value["v"], 1, "{line}");
            assert!(value["type"].is_string(), "{line}");
            crate::contract::assert_follows(&value);
            value
        };
        text.lines().map(parse).collect()
    }

    /// Returns the lines of one type.
    #[track_caller]
    pub(crate) fn of_type(&self, kind: &str) -> Vec<Value> {
        self.lines()
            .into_iter()
            .filter(|line| line["type"] == kind)
            .collect()
    }
}
