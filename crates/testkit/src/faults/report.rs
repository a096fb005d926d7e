//! The page about the last whole soak.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::tally::{Row, Tally};

/// The page, in a form that is the same for the same counts.
pub fn page(tally: &Tally, commit: &str, seed: u64, how: &str) -> String {
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
        tally.violations.iter().filter(|it| it.expected().is_some()).count(),
    );
    page.push_str(LEGEND);
    let mut by_kind: BTreeMap<&str, Row> = BTreeMap::new();
    tally.rows.iter().for_each(|((_, kind), row)| by_kind.entry(kind).or_default().add(*row));
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
    for violation in &tally.violations {
        let reason = violation.expected().map_or(String::new(), |reason| format!(" Expected: {reason}"));
        let _ = writeln!(page, "* {}{reason}", violation.line().replace("\n    ", " "));
    }
    page
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
    let Row { runs, struck, old, new, parts, torn, litter, told, violations } = row;
    let _ = writeln!(
        page,
        "| {first} | {runs} | {struck} | {old} | {new} | {parts} | {torn} | {litter} | {told} | {violations} |"
    );
}
