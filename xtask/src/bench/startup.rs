//! Measures the start of the program with commands that need no session, and the status line of an
//! agent.

use std::time::Instant;

use super::find::Bed;
use super::group::Group;
use super::lab::{Lab, median};
use super::measure::Job;
use super::table::{self, Row, Target};
use crate::Outcome;

/// The time that a status line may take: an agent draws it after every message.
const ALLOWED: f64 = 0.005;

pub(crate) struct Startup;

impl Group for Startup {
    fn name(&self) -> &'static str {
        "startup"
    }

    fn about(&self) -> &'static str {
        "`boswell --version`, and `boswell ops` where nothing was ever done, against starting `true`; `boswell statusline` for a session of 10,000 against the time allowed"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let nothing = lab.program("true", &[])?;
        let row = |case: &str, arguments: &[&str], target: Option<Target>| {
            lab.compare(case, &lab.boswell(arguments), &nothing, target)
        };
        let line = statusline(lab)?;
        // `ops` finds the stores of the machine first, like every command.
        Ok(vec![
            row("CPU, --version", &["--version"], Some(Target::AtMost(3.0)))?,
            row("CPU, ops", &["ops"], None)?,
            wall_row(lab, &line)?,
            lab.allowed("CPU, statusline", &line, ALLOWED, Target::AtMost(1.0))?,
        ])
    }
}

/// The time that an agent waits for the line, from the start of the process to its end.
fn wall_row(lab: &Lab, line: &Job) -> Outcome<Row> {
    let mut times = Vec::new();
    for _ in 0..lab.repeats.max(31) {
        let begun = Instant::now();
        line.output_lines()?;
        times.push(begun.elapsed().as_secs_f64());
    }
    let spent = median(&mut times);
    Ok(Row {
        case: "wall clock, statusline".to_owned(),
        ours: table::seconds(spent),
        baseline: format!("allowed {}", table::seconds(ALLOWED)),
        ratio: spent / ALLOWED,
        target: Some(Target::AtMost(1.0)),
    })
}

/// The status line of one of many sessions, with the input of an agent.
fn statusline(lab: &Lab) -> Outcome<Job> {
    let bed = Bed::make(lab)?;
    let mut folders = vec![bed.root.clone()];
    let mut log = None;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            match path.extension().is_some_and(|it| it == "jsonl") {
                true => log = Some(path),
                false if path.is_dir() => folders.push(path),
                false => {}
            }
        }
    }
    let log = log.ok_or("the bench has no session")?;
    let id = log.file_stem().unwrap_or_default().to_string_lossy();
    let input = serde_json::json!({"session_id": id, "transcript_path": log});
    let file = lab.data.join("statusline.json");
    std::fs::write(&file, input.to_string())?;
    let mut job = bed.job(lab, &["statusline"]);
    job.input = Some(file);
    if !job.output()?.contains('$') {
        return Err("the status line shows no cost".into());
    }
    Ok(job)
}
