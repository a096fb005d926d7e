//! The server beside agentsview's, on the same sessions: a page of the list, a page of entries, a
//! search, each asked over several connections at once; and the page in a browser.

mod agentsview;
mod browser;
mod client;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::data;
use super::find::Bed;
use super::group::Group;
use super::lab::{Lab, Scale};
use super::table::{self, Row, Target};
use crate::Outcome;
use client::{Connection, Load};

/// Connections that ask at the same time.
const CONNECTIONS: usize = 8;
/// How long each case is asked.
const SPAN: Duration = Duration::from_secs(5);
/// What the server may take with 10,000 sessions.
const MOST_MEMORY: u64 = 150_000_000;
/// Words that are searched, frequent and rare ones.
const WORDS: [&str; 4] = ["websocket", "deadlock", "the", "retry"];

pub(crate) struct ServeGroup;

impl Group for ServeGroup {
    fn name(&self) -> &'static str {
        "serve"
    }

    fn about(&self) -> &'static str {
        "`boswell serve` against agentsview's server on the same 1,000 Claude sessions (100 MB), warm, over 8 connections for 5 s each; requests per second and the time that 99 of 100 requests take at most; entries are those of the first 50 sessions in turn; memory with 10,000 sessions; and the page in Chromium beside its budgets"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let root = match lab.scale {
            Scale::Full => data::thousand_sessions(&lab.data)?,
            Scale::Small => data::hundred_sessions(&lab.data)?,
        };
        let home = lab.data.join("serve-home");
        std::fs::create_dir_all(&home)?;
        let ours = Served::boswell(&lab.release().join("boswell"), &home, &root)?;
        let theirs = agentsview::start(lab, &root)?;
        let mut rows = Vec::new();
        for case in Case::ALL {
            let ours = ours.load(case)?;
            let theirs = theirs.load(case)?;
            rows.extend(case_rows(case, &ours, &theirs));
        }
        drop((ours, theirs));
        rows.extend(browser::rows(lab)?);
        rows.push(memory(lab)?);
        Ok(rows)
    }
}

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    List,
    Entries,
    Search,
}

impl Case {
    const ALL: [Case; 3] = [Case::List, Case::Entries, Case::Search];

    fn name(self) -> &'static str {
        match self {
            Case::List => "50 sessions",
            Case::Entries => "100 entries",
            Case::Search => "search",
        }
    }
}

fn case_rows(case: Case, ours: &Load, theirs: &Load) -> [Row; 2] {
    let rate = |load: &Load| format!("{:.0} /s", load.rate());
    [
        Row {
            case: format!("{}, requests per second", case.name()),
            ours: rate(ours),
            baseline: rate(theirs),
            ratio: ours.rate() / theirs.rate(),
            target: Some(Target::AtLeast(1.0)),
        },
        Row {
            case: format!("{}, p99", case.name()),
            ours: table::seconds(ours.at(0.99)),
            baseline: table::seconds(theirs.at(0.99)),
            ratio: ours.at(0.99) / theirs.at(0.99),
            target: Some(Target::AtMost(1.0)),
        },
    ]
}

/// A process that ends with its value.
pub(super) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that is asked.
pub(super) struct Served {
    process: Running,
    address: String,
    token: Option<String>,
    paths: Paths,
}

/// The addresses of a server.
#[derive(Default)]
pub(super) struct Paths {
    list: String,
    /// Entries of several sessions.
    entries: Vec<String>,
    /// A search, up to its word.
    search: String,
}

impl Served {
    /// Starts boswell's server on a store.
    fn boswell(program: &Path, home: &Path, root: &Path) -> Outcome<Served> {
        let store = format!("claude={}", root.display());
        let command = || {
            let mut command = Command::new(program);
            command
                .args(["--store", &store])
                .env("BOSWELL_HOME", home)
                .env("HOME", home);
            command
        };
        crate::workspace::must_succeed(command().arg("index").stdout(Stdio::null()))?;
        let mut child = command()
            .args(["serve", "--port", "0", "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let member = |name: &str| text_member(&line, name).ok_or("the server did not start");
        let token = std::fs::read_to_string(member("read_token")?)?;
        let mut served = Served {
            address: member("address")?,
            process: Running(child),
            token: Some(token.trim().to_owned()),
            paths: Paths::default(),
        };
        served.paths = served.paths_of_boswell()?;
        Ok(served)
    }

    fn paths_of_boswell(&self) -> Outcome<Paths> {
        let list = "/v1/sessions?limit=50".to_owned();
        let first = String::from_utf8_lossy(&self.connect()?.get(&list)?).into_owned();
        let of = |id: &String| format!("/v1/sessions/{id}/entries?from=0&limit=100");
        let entries: Vec<String> = text_members(&first, "ref").iter().map(of).collect();
        Ok(Paths {
            list,
            entries: self.answered(entries)?,
            search: "/v1/search?limit=20&q=".to_owned(),
        })
    }

    /// Leaves the addresses that are answered: not every id in a list is that of a session.
    fn answered(&self, paths: Vec<String>) -> Outcome<Vec<String>> {
        let mut answered = Vec::new();
        for path in paths {
            if self.connect()?.get(&path).is_ok() {
                answered.push(path);
            }
        }
        if answered.is_empty() {
            return Err(format!("{} lists no session", self.address).into());
        }
        Ok(answered)
    }

    fn connect(&self) -> Outcome<Connection> {
        Connection::open(&self.address, self.token.as_deref())
    }

    /// Asks for one case over all connections, after a first request that warms it up.
    fn load(&self, case: Case) -> Outcome<Load> {
        let Paths {
            list,
            entries,
            search,
        } = &self.paths;
        let paths: Vec<String> = match case {
            Case::List => vec![list.clone()],
            Case::Entries => entries.clone(),
            Case::Search => WORDS.iter().map(|word| format!("{search}{word}")).collect(),
        };
        let mut warm = self.connect()?;
        for path in &paths {
            warm.get(path)?;
        }
        Load::run(|| self.connect(), &paths, CONNECTIONS, SPAN)
    }
}

/// Returns a member of a JSON object with a text value, of the first object that has it.
pub(super) fn text_member(json: &str, name: &str) -> Option<String> {
    let (_, rest) = json.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next().map(str::to_owned)
}

/// Returns all members of that name with a text value.
fn text_members(json: &str, name: &str) -> Vec<String> {
    let key = format!("\"{name}\":\"");
    let values = json.split(&key).skip(1);
    let values = values.filter_map(|rest| rest.split('"').next());
    values.map(str::to_owned).collect()
}

/// Returns the memory of a server over 10,000 sessions after lists and searches.
fn memory(lab: &Lab) -> Outcome<Row> {
    let bed = Bed::make(lab)?;
    let served = Served::boswell(&lab.release().join("boswell"), &bed.home, &bed.root)?;
    for case in Case::ALL {
        served.load(case)?;
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.process.0.id()))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    let bytes = 1024 * kilobytes.ok_or("no VmRSS")?.parse::<u64>()?;
    Ok(Row {
        case: "memory, 10,000 sessions".to_owned(),
        ours: table::mebibytes(bytes),
        baseline: table::mebibytes(MOST_MEMORY),
        ratio: bytes as f64 / MOST_MEMORY as f64,
        target: Some(Target::AtMost(1.0)),
    })
}
