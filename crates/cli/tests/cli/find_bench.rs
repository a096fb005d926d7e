//! Runs the program with only the variables named here, in temporary folders.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use boswell_testkit::bench_corpus;
use serde_json::Value;

pub(crate) struct Bench {
    temp: tempfile::TempDir,
}

/// The result of a run.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The lines of stdout that are JSON.
    pub(crate) lines: Vec<Value>,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let temp = tempfile::tempdir().unwrap();
        for name in ["home", "tmp", "cwd"] {
            std::fs::create_dir(temp.path().join(name)).unwrap();
        }
        Bench { temp }
    }

    /// With forty sessions of Claude Code in its home.
    pub(crate) fn planted() -> Bench {
        let bench = Bench::new();
        bench_corpus::generate(&bench.home(), 40, 1.0, 5, false);
        bench
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.temp.path().join("home")
    }

    pub(crate) fn claude(&self) -> PathBuf {
        self.home().join(".claude")
    }

    /// Returns boswell's own home, which does not exist yet.
    pub(crate) fn own(&self) -> PathBuf {
        self.temp.path().join("boswell")
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.temp.path().join("cwd")
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_boswell"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.home())
            .env("BOSWELL_HOME", self.own())
            .env("TMPDIR", self.temp.path().join("tmp"))
            .env("COLUMNS", "100")
            .current_dir(self.cwd())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&self.command(args).output().unwrap())
    }
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let stdout = text(&output.stdout);
        let lines = stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        Ran {
            code: output.status.code().unwrap(),
            stderr: text(&output.stderr),
            stdout,
            lines,
        }
    }
}
