//! The faults to inject, derived from a run without faults.

use super::call_log::{CallLog, LoggedCall};
use crate::Rng;

/// What happens at the chosen call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The process is killed before the call.
    Kill,
    /// The call fails with `EIO`; later ones work.
    Eio,
    /// This and all later calls that need space fail with `ENOSPC`.
    Full,
    /// Half of the bytes are written, and the next write fails with `ENOSPC`.
    Half,
    /// Half of the bytes are written, then the process is killed.
    HalfKill,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [FaultKind; 5] = [
        FaultKind::Kill,
        FaultKind::Eio,
        FaultKind::Full,
        FaultKind::Half,
        FaultKind::HalfKill,
    ];

    /// Returns the name in the shim and the report.
    pub fn word(self) -> &'static str {
        match self {
            FaultKind::Kill => "kill",
            FaultKind::Eio => "eio",
            FaultKind::Full => "full",
            FaultKind::Half => "half",
            FaultKind::HalfKill => "half-kill",
        }
    }

    /// Returns the kind with this name.
    pub fn named(word: &str) -> Option<FaultKind> {
        FaultKind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether the process is killed.
    pub fn kills(self) -> bool {
        matches!(self, FaultKind::Kill | FaultKind::HalfKill)
    }
}

/// One fault: its kind and its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct InjectedFault {
    /// What happens.
    pub kind: FaultKind,
    /// The number of the call, from 1.
    pub at: usize,
}

/// Returns every fault that can make a difference in a run with these calls.
pub(super) fn every_fault(log: &CallLog) -> Vec<InjectedFault> {
    let mut faults = Vec::new();
    let mut changed_since_kill = true;
    for call in &log.calls {
        let at = call.number;
        // A kill leaves the effects of the calls so far: without a change since the last kill, the
        // disk is the same.
        if changed_since_kill {
            faults.push(InjectedFault {
                kind: FaultKind::Kill,
                at,
            });
        }
        changed_since_kill = call.changes_disk();
        faults.push(InjectedFault {
            kind: FaultKind::Eio,
            at,
        });
        if call.needs_space() {
            faults.push(InjectedFault {
                kind: FaultKind::Full,
                at,
            });
        }
        if call.name == "write" {
            faults.extend(
                [FaultKind::Half, FaultKind::HalfKill].map(|kind| InjectedFault { kind, at }),
            );
        }
    }
    faults
}

/// Returns a seeded sample with every kind, if it is large enough.
pub(super) fn sample(mut faults: Vec<InjectedFault>, size: usize, seed: u64) -> Vec<InjectedFault> {
    if faults.len() <= size {
        return faults;
    }
    let mut rng = Rng::new(seed);
    let mut chosen = Vec::with_capacity(size);
    // Each seed starts with another kind, so that small samples of many cases contain them all.
    for kind in FaultKind::ALL
        .into_iter()
        .cycle()
        .skip(rng.below(FaultKind::ALL.len()))
    {
        if chosen.len() >= size {
            break;
        }
        let of_kind: Vec<usize> = (0..faults.len())
            .filter(|&index| faults[index].kind == kind)
            .collect();
        if let Some(&index) = of_kind.get(rng.below(of_kind.len().max(1))) {
            chosen.push(faults.swap_remove(index));
        }
    }
    chosen.sort_by_key(|fault| (fault.at, fault.kind));
    chosen
}

impl LoggedCall {
    fn changes_disk(&self) -> bool {
        self.went_through() && !matches!(self.name.as_str(), "open" | "fsync")
    }

    fn needs_space(&self) -> bool {
        matches!(
            self.name.as_str(),
            "create"
                | "write"
                | "mkdir"
                | "link"
                | "symlink"
                | "rename"
                | "truncate"
                | "fallocate"
                | "copy_file_range"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "1\tfsync\tok\t/r\n2\topen\tok\t/r/a\n3\twrite\tok\t/r/a\n4\tfsync\tok\t/r/a\n5\tunlink\tok\t/r/a\n";

    #[test]
    fn a_kill_is_tried_once_for_each_state_of_the_disk() {
        let faults = every_fault(&CallLog::parse(LOG));
        let kills: Vec<usize> = faults
            .iter()
            .filter(|it| it.kind == FaultKind::Kill)
            .map(|it| it.at)
            .collect();
        assert_eq!(kills, [1, 4]);
        assert_eq!(
            faults.iter().filter(|it| it.kind == FaultKind::Eio).count(),
            5
        );
        assert_eq!(
            faults
                .iter()
                .filter(|it| it.kind == FaultKind::Half)
                .count(),
            1
        );
    }

    #[test]
    fn a_sample_is_repeatable_and_has_every_kind() {
        let all = every_fault(&CallLog::parse(LOG));
        let some = sample(all.clone(), 5, 7);
        assert_eq!(some, sample(all, 5, 7));
        for kind in FaultKind::ALL {
            assert!(some.iter().any(|it| it.kind == kind), "{kind:?}");
        }
    }
}
