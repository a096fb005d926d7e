//! A database, a server of a team, and people with homes of their own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use boswell_testkit::postgres_server::PostgresServer;
use serde_json::Value;

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Checks how it ended.
    pub(crate) fn ends(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    pub(crate) fn json(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// The database that all tests share; `None` if PostgreSQL is not installed.
fn postgres() -> Option<&'static Arc<PostgresServer>> {
    static SERVER: OnceLock<Option<Arc<PostgresServer>>> = OnceLock::new();
    let start = || {
        let server = PostgresServer::start_or_skip("")?;
        server.sql("postgres", "CREATE ROLE app LOGIN");
        let owner = server.address("boswell", "postgres");
        let init = ["db", "init", "--role", "app", "--database", &owner];
        let _ = run(boswell(Path::new("/nowhere")).args(init), "").ends(0);
        Some(Arc::new(server))
    };
    SERVER.get_or_init(start).as_ref()
}

fn boswell(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boswell"));
    command.env_clear().env("HOME", home).env("TZ", "UTC");
    command.env("PATH", "/usr/bin:/bin").env("NO_COLOR", "1");
    command
}

/// Runs a command with this input.
pub(crate) fn run(command: &mut Command, input: &str) -> Ran {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A team with a server that runs.
pub(crate) struct Team {
    pub(crate) database: Arc<PostgresServer>,
    pub(crate) tenant: String,
    servers: Vec<Child>,
    pub(crate) url: String,
    folder: tempfile::TempDir,
}

impl Team {
    pub(crate) fn start() -> Option<Team> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let database = Arc::clone(postgres()?);
        let tenant = format!("team{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut team = Team {
            database,
            tenant,
            servers: Vec::new(),
            url: String::new(),
            folder: tempfile::tempdir().unwrap(),
        };
        team.url = team.serve();
        Some(team)
    }

    /// Starts one more server on the same database; returns its address.
    pub(crate) fn serve(&mut self) -> String {
        let address = self.address();
        let mut command = boswell(self.folder.path());
        command.args(["serve", "--json", "--port", "0", "--tenant", &self.tenant]);
        command.arg("--database").env("BOSWELL_DATABASE", &address);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(server.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut why = String::new();
            let _ = server.stderr.take().unwrap().read_to_string(&mut why);
            panic!("the server did not start: {why}");
        }
        self.servers.push(server);
        let said: Value = serde_json::from_str(&line).unwrap();
        said["url"].as_str().unwrap().to_owned()
    }

    pub(crate) fn address(&self) -> String {
        self.database.address("app", "postgres")
    }

    /// Ends the first server with a signal, and waits for its end.
    pub(crate) fn end_first(&mut self, signal: &str) -> Option<i32> {
        let mut server = self.servers.remove(0);
        let pid = server.id().to_string();
        let _ = Command::new("kill").args([signal, &pid]).status().unwrap();
        server.wait().unwrap().code()
    }

    /// Lets a person in, who has a home and has logged in.
    pub(crate) fn person(&self, name: &str, admin: bool) -> Person {
        let mut command = boswell(self.folder.path());
        command.args(["db", "person", name, "--tenant", &self.tenant, "-q"]);
        command
            .args(admin.then_some("--admin"))
            .env("BOSWELL_DATABASE", self.address());
        let token = run(&mut command, "").ends(0).out;
        let home = self.folder.path().canonicalize().unwrap().join(name);
        let person = Person { home };
        for folder in ["work", ".claude/projects", "own"] {
            std::fs::create_dir_all(person.home.join(folder)).unwrap();
        }
        let said = person
            .with_input(&["team", "login", &self.url], &token)
            .ends(0);
        assert!(said.out.contains(&format!("as {name}")), "{said:?}");
        person
    }

    /// Runs SQL as the owner of the database, for this tenant.
    pub(crate) fn count(&self, table: &str) -> u64 {
        let sql = format!(
            "SELECT count(*) FROM boswell.{table} WHERE tenant = '{}'",
            self.tenant
        );
        self.database.sql("postgres", &sql).parse().unwrap()
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// Somebody with a home.
pub(crate) struct Person {
    pub(crate) home: PathBuf,
}

impl Person {
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = boswell(&self.home);
        command.env("BOSWELL_HOME", self.home.join("own"));
        command.current_dir(self.work()).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.with_input(args, "")
    }

    pub(crate) fn with_input(&self, args: &[&str], input: &str) -> Ran {
        run(&mut self.command(args), input)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.home.join("work")
    }

    pub(crate) fn claude(&self) -> PathBuf {
        self.home.join(".claude")
    }

    /// Files of Claude Code below its folder, with their bytes.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let root = self.claude();
        let named = |path: PathBuf| {
            let name = path.strip_prefix(&root).unwrap().to_owned();
            (name, boswell_testkit::disk::read(&path))
        };
        let files = boswell_testkit::corpus::files(&root).into_iter();
        let mut found: Vec<_> = files.map(named).collect();
        found.sort();
        found
    }
}
