//! Lines that a program wrote into a file after boswell had replaced it: brought home.

use std::collections::HashSet;

use boswell_dialect::{Confidence, Mend, Splice};
use boswell_model::{ProblemKind, Repair, Result};

use crate::{Runner, Session, Store};

/// Whole lines that were written late to the log of a session.
pub(super) fn lines(runner: &Runner, store: &Store, key: &str) -> Result<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    for listed in runner.operations()?.0 {
        let op = &listed.operation;
        if op.root != store.root() || !op.files().iter().any(|file| file.key == key) {
            continue;
        }
        for late in runner.late_lines(&op.id)?.into_iter().filter(|late| late.key == key) {
            let whole = late.bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
            lines.extend(whole.map(<[u8]>::to_vec));
        }
    }
    Ok(lines)
}

/// A mend that adds those which the log does not hold yet.
pub(super) fn mends(session: &Session, late: &[Vec<u8>]) -> Result<Vec<Mend>> {
    if late.is_empty() {
        return Ok(Vec::new());
    }
    let view = session.view();
    let known =
        session.log().slots().map(|slot| Ok(view.payload(slot)?.into_owned())).collect::<Result<HashSet<_>>>()?;
    let missing: Vec<&Vec<u8>> = late.iter().filter(|line| !known.contains(line.trim_ascii())).collect();
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let mut with = if session.log().ended { Vec::new() } else { vec![b'\n'] };
    for line in &missing {
        with.extend_from_slice(line);
        with.push(b'\n');
    }
    Ok(vec![Mend {
        problem: ProblemKind::LateLines,
        line: None,
        slot: None,
        repair: Repair::Append,
        confidence: Confidence::Certain,
        does: format!("add {} that an agent wrote into the file as it was before", count(missing.len())),
        helps: &[],
        splices: vec![Splice::insert(session.log().bytes, with)],
    }])
}

fn count(lines: usize) -> String {
    if lines == 1 { "a line".to_owned() } else { format!("{lines} lines") }
}
