//! The counters of a soak.

use std::collections::BTreeMap;

use super::known;
use super::plan::InjectedFault;

/// Counters of one command and one kind of fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Row {
    /// Number of trials.
    pub runs: usize,
    /// Trials in which the fault was injected.
    pub struck: usize,
    /// Trials that left the old state.
    pub old: usize,
    /// Trials that left the new state.
    pub new: usize,
    /// Trials that left some parts old and others new, for commands that do several things.
    pub parts: usize,
    /// Trials that left the old state with a torn line at the end of a log.
    pub torn: usize,
    /// Trials that left a hidden temporary file.
    pub litter: usize,
    /// Trials in which the command failed with an error that names the reason.
    pub told: usize,
    /// Trials with a violation.
    pub violations: usize,
}

impl Row {
    /// Adds another row.
    pub fn add(&mut self, other: Row) {
        self.runs += other.runs;
        self.struck += other.struck;
        self.old += other.old;
        self.new += other.new;
        self.parts += other.parts;
        self.torn += other.torn;
        self.litter += other.litter;
        self.told += other.told;
        self.violations += other.violations;
    }
}

/// A violation of a guarantee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The case.
    pub case: &'static str,
    /// The fault; `None` if the run without a fault was wrong.
    pub fault: Option<InjectedFault>,
    /// The call with the fault.
    pub call: String,
    /// Description of the violation.
    pub wrong: String,
}

impl Violation {
    /// Returns why it is expected, if it is.
    pub fn expected(&self) -> Option<&'static str> {
        known::reason(self)
    }

    /// Returns one line, with the command that reproduces it.
    pub fn line(&self) -> String {
        let fault = self.fault.map_or("no fault".to_owned(), |it| {
            format!("{} at {}", it.kind.word(), it.at)
        });
        let again = self.fault.map_or(String::new(), |it| {
            format!(" --fault {}@{}", it.kind.word(), it.at)
        });
        format!(
            "{}: {fault} ({}): {}\n    again: cargo xtask soak faults --command '{}'{again}",
            self.case, self.call, self.wrong, self.case
        )
    }
}

/// All counters of a soak.
#[derive(Debug, Default)]
pub struct FaultTally {
    /// Counters by case and kind of fault.
    pub rows: BTreeMap<(&'static str, &'static str), Row>,
    /// Number of calls of each case.
    pub calls: BTreeMap<&'static str, usize>,
    /// Description of the violation.
    pub violations: Vec<Violation>,
}

impl FaultTally {
    /// Adds the counters of another worker.
    pub fn merge(&mut self, other: FaultTally) {
        for (key, row) in other.rows {
            self.rows.entry(key).or_default().add(row);
        }
        self.calls.extend(other.calls);
        self.violations.extend(other.violations);
    }

    /// Returns the sum of all rows.
    pub fn total(&self) -> Row {
        let mut total = Row::default();
        self.rows.values().for_each(|row| total.add(*row));
        total
    }

    /// The counts of one case, on one line.
    pub(super) fn of_case(&self, case: &str) -> String {
        let total = self.total();
        format!(
            "{case}: {} calls, {} trials, {} struck, {} old, {} new, {} parts, {} torn, {} litter, {} told, {} violations",
            self.calls.get(case).copied().unwrap_or(0),
            total.runs,
            total.struck,
            total.old,
            total.new,
            total.parts,
            total.torn,
            total.litter,
            total.told,
            self.violations.len()
        )
    }

    /// Unexpected violations.
    pub fn unexpected(&self) -> impl Iterator<Item = &Violation> {
        self.violations.iter().filter(|it| it.expected().is_none())
    }
}
