//! The page about the last complete soak.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::tally::{FaultTally, Row, Violation};

/// Returns the page; it is the same for the same counts.
pub fn page(tally: &FaultTally, commit: &str, seed: u64, how: &str) -> String {
    let total = tally.total();
    let mut page = format!(
        "# Injected faults\n\n\
         Written by `cargo xtask soak faults`.\n\
         The real program runs with a preloaded C shim (`crates/testkit/faults/shim.c`).\n\
         The shim counts every call that changes or syncs a file, and makes one of them fail.\n\n\
         | | |\n|---|---|\n\
         | commit | {commit} |\n| seed | {seed} |\n| faults | {how} |\n\
         | cases | {} |\n| calls | {} |\n| trials | {} |\n| faults that struck | {} |\n\
         | violations | {} |\n| of them expected | {} |\n\n",
        tally.calls.len(),
        tally.calls.values().sum::<usize>(),
        total.runs,
        total.struck,
        tally.violations.len(),
        tally
            .violations
            .iter()
            .filter(|it| it.expected().is_some())
            .count(),
    );
    page.push_str(LEGEND);
    let mut by_kind: BTreeMap<&str, Row> = BTreeMap::new();
    tally
        .rows
        .iter()
        .for_each(|((_, kind), row)| by_kind.entry(kind).or_default().add(*row));
    page.push_str("## By kind\n\n| fault | trials | struck | old | new | parts | torn | litter | told | violations |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (kind, row) in by_kind {
        line(&mut page, kind, row);
    }
    page.push_str("\n## By command\n\n| command and case | fault | trials | struck | old | new | parts | torn | litter | told | violations |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for ((case, kind), row) in &tally.rows {
        line(&mut page, &format!("{case} | {kind}"), *row);
    }
    page.push_str("\n## Violations\n\n");
    if tally.violations.is_empty() {
        page.push_str("None.\n");
    }
    let mut lines: Vec<String> = tally.violations.iter().map(violation).collect();
    lines.sort();
    lines.dedup();
    lines.iter().for_each(|line| page.push_str(line));
    page
}

/// Formats a violation without data that varies between runs or names a folder of this machine:
/// that is printed on the terminal.
fn violation(violation: &Violation) -> String {
    let fault = violation.fault.map_or("no fault".to_owned(), |it| {
        format!("{} at {}", it.kind.word(), it.at)
    });
    let wrong = violation.wrong.split(": ").next().unwrap_or_default();
    let reason = violation
        .expected()
        .map_or(String::new(), |reason| format!(" Expected: {reason}."));
    format!(
        "* {}: {fault} ({}): {}.{reason}\n",
        violation.case,
        steady(&violation.call),
        steady(wrong)
    )
}

/// Replaces ids, times and keys made of paths by `•`.
fn steady(text: &str) -> String {
    let varies = |part: &&str| part.len() >= 8 && part.bytes().any(|byte| byte.is_ascii_digit());
    let shown = |part: &'_ str| {
        if varies(&part) {
            "•".to_owned()
        } else {
            part.to_owned()
        }
    };
    let words = text
        .split(' ')
        .map(|word| word.split('/').map(shown).collect::<Vec<_>>().join("/"));
    words.collect::<Vec<_>>().join(" ")
}

const LEGEND: &str = "\
* `kill`: the process is killed before the call. Where the disk is the same as at the last kill, it is not repeated.\n\
* `eio`: the call fails with `EIO`, later ones work.\n\
* `full`: this and every later call that needs space fails with `ENOSPC`.\n\
* `half`: a write takes half of its bytes, and the next write fails with `ENOSPC`.\n\
* `half-kill`: a write takes half of its bytes, then the process is killed.\n\n\
After each fault another command runs, then files and the answers of `list`, `ops` and `check` are compared.\n\
`old` and `new`: the state is that of before or after the command.\n\
`parts`: a command that does several things did some of them, each of them whole.\n\
`torn`: the state is the old one with the beginning of a line behind a log; its bytes stay, `check` reports them, and the next\n\
writer begins on a line of its own.\n\
`litter`: a process that was killed left a hidden temporary file, which no reader takes for anything.\n\
`told`: the command ended with an error that names the system's reason.\n\
A violation is any other state, an exit code of 0 without the whole new state synced to disk, an error without a reason, a panic,\n\
lost copies or operations of earlier commands, a next command that fails, or a repeated command that does not do its work.\n\n";

fn line(page: &mut String, first: &str, row: Row) {
    let Row {
        runs,
        struck,
        old,
        new,
        parts,
        torn,
        litter,
        told,
        violations,
    } = row;
    let _ = writeln!(
        page,
        "| {first} | {runs} | {struck} | {old} | {new} | {parts} | {torn} | {litter} | {told} | {violations} |"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{FaultKind, InjectedFault};

    #[test]
    fn the_page_names_no_folder_and_no_id_of_one_run() {
        let fault = Some(InjectedFault {
            kind: FaultKind::Eio,
            at: 7,
        });
        let call = "write d/own/sessions/--dev-shm-w0-live--/2026_01a1e494.jsonl".to_owned();
        let wrong =
            "the state is neither old nor new: +list: /somewhere/of/this/machine".to_owned();
        let tally = FaultTally {
            violations: vec![Violation {
                case: "new pi",
                fault,
                call,
                wrong,
            }],
            ..FaultTally::default()
        };
        let page = page(&tally, "abc", 1, "a sample");
        assert!(
            page.contains(
                "* new pi: eio at 7 (write d/own/sessions/•/•): the state is neither old nor new."
            ),
            "{page}"
        );
        assert!(!page.contains("machine"), "{page}");
    }
}
