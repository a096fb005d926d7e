//! `cargo xtask soak convert`: every conversion of the matrix, resumed by the real program of its
//! target.
//!
//! What was accepted is recorded in `crates/testkit/verdicts/accepted.tsv`; `cargo test` compares
//! every recorded hash with what is written today, without any program. The report is
//! `docs/soak/convert.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use boswell_testkit::conversions::{
    Accepted, AcceptedTable, MatrixCell, PROJECT, RealProgram, SOURCES,
};
use boswell_testkit::disk;

use crate::{Outcome, clients, workspace};

const REPORT: &str = "docs/soak/convert.md";

/// What came of each cell: `None` if everything arrived, otherwise what did not.
type Outcomes = BTreeMap<(&'static str, &'static str), Option<Vec<String>>>;

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    let only_changed = match arguments {
        [] => false,
        [one] if one == "--changed" => true,
        _ => return Err("soak convert has the option `--changed` alone".into()),
    };
    let programs = clients::of_conversions()?;
    let mut table = recorded()?;
    let outcomes = resume_all(&programs, &mut table, only_changed)?;
    disk::write(&AcceptedTable::path(), table.text().as_bytes());
    let failed = outcomes.values().flatten().count();
    let report = report(&programs, &outcomes);
    disk::write(&workspace::root().join(REPORT), report.as_bytes());
    println!("xtask: {} cells, {failed} failed", outcomes.len());
    Ok(match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Resumes cells that were never accepted as they are written today, and one source per target.
/// Returns how many failed.
pub(crate) fn sample() -> Outcome<usize> {
    let programs = clients::of_conversions()?;
    let outcomes = resume_all(&programs, &mut recorded()?, true)?;
    Ok(outcomes.values().flatten().count())
}

fn recorded() -> Outcome<AcceptedTable> {
    let text = std::fs::read_to_string(AcceptedTable::path()).unwrap_or_default();
    Ok(AcceptedTable::parse(&text).ok_or("accepted.tsv is not a table of four columns")?)
}

fn resume_all(
    programs: &[(&'static str, &'static str, RealProgram)],
    table: &mut AcceptedTable,
    only_changed: bool,
) -> Outcome<Outcomes> {
    let scratch = disk::scratch("soak-convert");
    let mut outcomes = Outcomes::new();
    for (source, target) in MatrixCell::pairs() {
        let Some((_, version, program)) = programs.iter().find(|(name, ..)| *name == target) else {
            continue;
        };
        let cell = MatrixCell::new(source, target, PROJECT).map_err(|error| error.to_string())?;
        let sha256 = cell.conversion.sha256.to_string();
        let key = (source.to_owned(), target.to_owned());
        let accepted = Accepted {
            version: (*version).to_owned(),
            sha256,
        };
        let is_first = SOURCES.iter().find(|it| **it != target) == Some(&source);
        if only_changed && !is_first && table.cells.get(&key) == Some(&accepted) {
            // The same version has resumed the same bytes.
            outcomes.insert((source, target), None);
            continue;
        }
        let folder = scratch.join(format!("{source}-{target}"));
        let wrong = program.resume((source, target), &folder);
        println!("xtask: {source} to {target}: {} differences", wrong.len());
        wrong.iter().for_each(|line| println!("xtask:   {line}"));
        match wrong.is_empty() {
            true => drop(table.cells.insert(key, accepted)),
            false => drop(table.cells.remove(&key)),
        }
        outcomes.insert((source, target), Some(wrong).filter(|it| !it.is_empty()));
    }
    disk::remove(&scratch);
    Ok(outcomes)
}

fn report(programs: &[(&'static str, &'static str, RealProgram)], outcomes: &Outcomes) -> String {
    let mut page = String::from(
        "# Converted sessions in the real programs\n\n\
         Written by `cargo xtask soak convert`.\n\
         Each cell is a generated session of the source, carried over\n\
         and resumed by the target against a scripted model that refuses what the provider would refuse.\n\
         `yes` means that every text, call and result arrived in order.\n\n| source |",
    );
    for (target, version, _) in programs {
        let _ = write!(page, " {target} {version} |");
    }
    page.push_str("\n|---|");
    page.push_str(&"---|".repeat(programs.len()));
    for source in &SOURCES {
        let _ = write!(page, "\n| {source} |");
        for (target, ..) in programs {
            let word = match outcomes.get(&(*source, *target)) {
                Some(None) => "yes".to_owned(),
                Some(Some(wrong)) => format!("{} differences", wrong.len()),
                None => "–".to_owned(),
            };
            let _ = write!(page, " {word} |");
        }
    }
    page.push('\n');
    page
}
