//! The screen in a pseudo-terminal, as a person sees it, beside fast-resume on the same home.

mod terminal;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::data;
use super::find::{Bed, fast_resume};
use super::group::Group;
use super::lab::{Lab, Scale};
use super::table::{self, Row, Target};
use crate::Outcome;
use terminal::Terminal;

/// Keystrokes that are typed: words that are frequent, rare, and in no name.
const QUERY: &str = "websocket deadlock";
/// How long nothing is drawn when the work behind the first paint is done.
const BEHIND: Duration = Duration::from_secs(1);
/// How long fast-resume draws nothing when its index is complete.
const INDEXED: Duration = Duration::from_secs(20);
/// A key without any effect after this time was lost.
const LOST: Duration = Duration::from_secs(3);
/// How long an idle screen is watched.
const IDLE: Duration = Duration::from_secs(10);

pub(crate) struct ScreenGroup;

impl Group for ScreenGroup {
    fn name(&self) -> &'static str {
        "screen"
    }

    fn about(&self) -> &'static str {
        "the screen in a pseudo-terminal of 120×40, over 10,000 sessions of 1 GB with a warm catalog and index, against the time allowed, and against fast-resume on the same home; `settled` is when nothing is drawn any more, with the preview; a keystroke during which the host of this virtual machine took a core away (steal in `/proc/stat`) is left out"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let bed = Bed::make(lab)?;
        let ours = Program::boswell(lab, &bed.home, &bed.root);
        let mut rows = vec![first_paint(lab, &ours, "first paint", 0.040)?];
        let typed = typing(lab, &ours)?;
        rows.push(allowed(
            "keystroke → names, p99",
            typed.first.at(0.99),
            0.010,
        ));
        rows.push(allowed(
            "keystroke → text settled, p95",
            typed.settled.at(0.95),
            0.030,
        ));
        rows.push(left_out(&typed));
        rows.extend(still(lab, &ours)?);
        rows.extend(long_log(lab)?);
        let large = Bed::make_large(lab)?;
        let many = Program::boswell(lab, &large.home, &large.root);
        rows.push(first_paint(
            lab,
            &many,
            "first paint, 100,000 sessions",
            0.150,
        )?);
        let theirs = Program::fast_resume(&bed.root, lab)?;
        rows.extend(with_peer(lab, &ours, &theirs, &typed)?);
        Ok(rows)
    }
}

/// A program that is measured.
struct Program {
    command: String,
    environment: Vec<(&'static str, PathBuf)>,
    /// What is on its screen when there are sessions.
    row: &'static str,
    /// Whether it may lose a key: fast-resume does so now and then after its start.
    loses_keys: bool,
}

impl Program {
    fn boswell(lab: &Lab, home: &Path, root: &Path) -> Program {
        let program = lab.release().join("boswell");
        Program {
            command: format!("{} --store claude={}", program.display(), root.display()),
            environment: vec![("BOSWELL_HOME", home.to_owned()), ("HOME", home.to_owned())],
            row: "▸",
            loses_keys: false,
        }
    }

    /// Returns fast-resume on the same sessions, with its index made.
    fn fast_resume(root: &Path, lab: &Lab) -> Outcome<Program> {
        let program = fast_resume::program(lab)?;
        let home = root.parent().ok_or("the sessions are in no folder")?;
        let cache = lab.data.join("fr");
        std::fs::create_dir_all(&cache)?;
        let theirs = Program {
            command: program.display().to_string(),
            environment: vec![
                ("HOME", home.to_owned()),
                ("XDG_CACHE_HOME", cache.clone()),
                ("XDG_DATA_HOME", cache),
            ],
            row: "claude",
            loses_keys: true,
        };
        // The first run makes the index.
        let mut terminal = theirs.start()?;
        let at = terminal.wait("sessions of fr", |text| text.contains(theirs.row))?;
        terminal.quiet_for(INDEXED, at)?;
        Ok(theirs)
    }

    fn start(&self) -> Outcome<Terminal> {
        let environment: Vec<(&str, &Path)> = self
            .environment
            .iter()
            .map(|(name, value)| (*name, value.as_path()))
            .collect();
        Terminal::start(&self.command, &environment)
    }

    /// Starts it, and waits until everything is there.
    fn ready(&self) -> Outcome<Terminal> {
        let mut terminal = self.start()?;
        let at = terminal.wait("sessions", |text| text.contains(self.row))?;
        // Behind the first paint every file is examined, and costs are summed up.
        terminal.quiet_for(BEHIND, at)?;
        Ok(terminal)
    }
}

/// Times in seconds.
#[derive(Default)]
struct Times {
    all: Vec<f64>,
    /// How many are left out because the host took a core away meanwhile.
    disturbed: usize,
}

impl Times {
    fn push(&mut self, from: Instant, to: Instant) {
        self.all
            .push(to.saturating_duration_since(from).as_secs_f64());
    }

    /// Adds the time of a key, unless the host took a core away meanwhile.
    fn push_key(&mut self, terminal: &Terminal, from: Instant, to: Instant) {
        if terminal.is_disturbed() {
            self.disturbed += 1;
        } else {
            self.push(from, to);
        }
    }

    /// Returns the time that a share of all are not longer than.
    fn at(&self, share: f64) -> f64 {
        let mut times = self.all.clone();
        times.sort_by(f64::total_cmp);
        let last = times.len().saturating_sub(1);
        let at = (share * last as f64).ceil() as usize;
        times.get(at.min(last)).copied().unwrap_or(f64::NAN)
    }
}

fn allowed(case: &str, spent: f64, most: f64) -> Row {
    Row {
        case: case.to_owned(),
        ours: table::seconds(spent),
        baseline: format!("allowed {}", table::seconds(most)),
        ratio: spent / most,
        target: Some(Target::AtMost(1.0)),
    }
}

fn memory_row(case: &str, memory: u64, mebibytes: u64, target: Option<Target>) -> Row {
    let most = mebibytes << 20;
    Row {
        case: case.to_owned(),
        ours: table::mebibytes(memory),
        baseline: format!("allowed {}", table::mebibytes(most)),
        ratio: memory as f64 / most as f64,
        target,
    }
}

/// States how many keystrokes were not counted.
fn left_out(typed: &Typed) -> Row {
    let (count, of) = (typed.settled.disturbed, typed.settled.all.len());
    Row {
        case: "keystrokes left out: the host took a core".to_owned(),
        ours: count.to_string(),
        baseline: format!("of {}", count + of),
        ratio: count as f64 / (count + of).max(1) as f64,
        target: None,
    }
}

fn first_paints(lab: &Lab, program: &Program) -> Outcome<Times> {
    let mut times = Times::default();
    for _ in 0..lab.repeats.max(15) {
        let mut terminal = program.start()?;
        let at = terminal.wait("sessions", |text| text.contains(program.row))?;
        times.push(terminal.started, at);
    }
    Ok(times)
}

fn first_paint(lab: &Lab, program: &Program, case: &str, most: f64) -> Outcome<Row> {
    let times = first_paints(lab, program)?;
    Ok(allowed(case, times.at(0.5), most))
}

/// The times of keystrokes.
struct Typed {
    first: Times,
    settled: Times,
}

/// Types a query letter by letter; each keystroke is one sample.
fn typing(lab: &Lab, program: &Program) -> Outcome<Typed> {
    let mut typed = Typed {
        first: Times::default(),
        settled: Times::default(),
    };
    for _ in 0..lab.repeats.max(5) {
        let mut terminal = program.ready()?;
        for key in QUERY.chars() {
            let mut at = terminal.press(&key.to_string())?;
            if program.loses_keys && !terminal.draws_within(LOST) {
                at = terminal.press(&key.to_string())?;
            }
            let first = terminal.first_bytes()?;
            typed.first.push_key(&terminal, at, first);
            let settled = terminal.settled(first)?;
            typed.settled.push_key(&terminal, at, settled);
        }
    }
    Ok(typed)
}

/// Measures moving, and a screen without input.
fn still(lab: &Lab, program: &Program) -> Outcome<Vec<Row>> {
    let mut terminal = program.ready()?;
    let (mut moved, mut preview) = (Times::default(), Times::default());
    for _ in 0..lab.repeats.max(100) {
        let at = terminal.press("\x1b[B")?;
        let first = terminal.first_bytes()?;
        moved.push_key(&terminal, at, first);
        let settled = terminal.settled(first)?;
        preview.push_key(&terminal, at, settled);
    }
    terminal.settled(Instant::now())?;
    let before = terminal.cpu_seconds()?;
    let drawn = terminal.drawn_in(IDLE);
    let share = (terminal.cpu_seconds()? - before) / IDLE.as_secs_f64();
    let memory = terminal.memory()?;
    Ok(vec![
        allowed("move, p99", moved.at(0.99), 0.008),
        allowed("preview, median", preview.at(0.5), 0.030),
        Row {
            case: format!("idle for {} s: bytes drawn", IDLE.as_secs()),
            ours: drawn.to_string(),
            baseline: "none".to_owned(),
            ratio: drawn as f64,
            target: Some(Target::AtMost(0.0)),
        },
        Row {
            case: "idle: share of a core".to_owned(),
            ours: format!("{:.1} %", share * 100.0),
            baseline: "allowed 2 %".to_owned(),
            ratio: share / 0.02,
            target: Some(Target::AtMost(1.0)),
        },
        memory_row("memory", memory, 150, Some(Target::AtMost(1.0))),
    ])
}

/// How many pages further up are measured.
const PAGES: usize = 60;

/// Measures how soon the first page of a log of 1 GB can be read, and pages further up.
fn long_log(lab: &Lab) -> Outcome<Vec<Row>> {
    let log = match lab.scale {
        Scale::Full => data::gigabyte_session(&lab.data)?,
        Scale::Small => data::twenty_megabyte_session(&lab.data)?,
    };
    let root = log.ancestors().nth(3).ok_or("no store")?;
    let home = lab.data.join("warm-1gb");
    std::fs::create_dir_all(&home)?;
    let program = Program::boswell(lab, &home, root);
    // The first run makes the catalog.
    program.ready()?;
    let mut first = Times::default();
    for _ in 0..lab.repeats.max(15) {
        let mut terminal = program.ready()?;
        let at = terminal.press("\x1b[C")?;
        first.push(at, terminal.wait("a page", is_page)?);
    }
    let (further, memory) = pages_further_up(&program)?;
    Ok(vec![
        allowed("first page of a log of 1 GB", first.at(0.5), 0.100),
        allowed("a page further up, p95", further.at(0.95), 0.100),
        memory_row("memory with a log of 1 GB open", memory, 250, None),
    ])
}

/// Returns how long pages further up take, and the memory of the program behind them.
fn pages_further_up(program: &Program) -> Outcome<(Times, u64)> {
    let mut further = Times::default();
    let mut terminal = program.ready()?;
    terminal.press("\x1b[C")?;
    // Until the table of the whole log is there only its end is shown.
    terminal.wait("the whole log", |text| text.contains("more above"))?;
    terminal.settled(Instant::now())?;
    for _ in 0..PAGES {
        let at = terminal.press("\x1b[5~")?;
        let drawn = terminal.first_bytes()?;
        let settled = terminal.settled(drawn)?;
        further.push_key(&terminal, at, settled);
    }
    Ok((further, terminal.memory()?))
}

/// Whether the reader shows a page: the list has a box, the reader the name of the session behind
/// an arrow.
fn is_page(text: &str) -> bool {
    let mut lines = text.lines();
    let is_reader = lines.next().is_some_and(|it| it.starts_with(" ‹"));
    is_reader && lines.filter(|it| it.trim().len() > 8).count() > 10
}

/// Measures fast-resume in the same way.
fn with_peer(lab: &Lab, ours: &Program, theirs: &Program, typed: &Typed) -> Outcome<Vec<Row>> {
    let their_typing = typing(lab, theirs)?;
    let row = |case: &str, ours: f64, theirs: f64| Row {
        case: case.to_owned(),
        ours: table::seconds(ours),
        baseline: format!("fr {}", table::seconds(theirs)),
        ratio: ours / theirs,
        target: None,
    };
    let (mine, other) = (first_paints(lab, ours)?, first_paints(lab, theirs)?);
    Ok(vec![
        row("first paint", mine.at(0.5), other.at(0.5)),
        row(
            "keystroke → first bytes",
            typed.first.at(0.5),
            their_typing.first.at(0.5),
        ),
        row(
            "keystroke → settled",
            typed.settled.at(0.5),
            their_typing.settled.at(0.5),
        ),
    ])
}
