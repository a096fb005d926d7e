//! Damaged transcripts of Claude Code, made from a seed, and what real clients sent of them.
//!
//! A trial is an origin (a made or captured transcript, in which every record carries a tag of its
//! own) with one or two kinds of damage. The same seed gives the same bytes on every machine, so
//! that what a client did with them is recorded once, in a few numbers, and compared ever after
//! without that client.

mod messages;
mod operators;
mod order;
mod origins;
mod repaired;
mod run;
mod tags;
#[cfg(test)]
mod tests;
mod verdict;

pub use operators::Operator;
pub use origins::{TrialOrigin, captured, made, real};
pub use repaired::{RepairedTrial, repaired};
pub use run::{ClientRun, VERSIONS, outcome, resume, resume_bytes};
pub use tags::{tagged, tags_in};
pub use verdict::{
    ClientOutcome, Recorded, Verdict, VerdictTable, compact, expand, folder, recorded,
};

use crate::rng::Rng;
use crate::sha256;

/// A damaged transcript.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Origin and damages, for people.
    pub name: String,
    /// The session's id: the name of its file.
    pub session: String,
    /// The content of the file.
    pub bytes: Vec<u8>,
}

impl Trial {
    /// Returns the first half of the hash of the bytes, which names the trial in stored verdicts.
    pub fn hash(&self) -> String {
        let mut hash = sha256::hex(&self.bytes);
        hash.truncate(32);
        hash
    }
}

/// Returns `count` trials of a seed. Every operator is used as often as every other; two of five
/// trials have a second one.
pub fn trials(origins: &[TrialOrigin], seed: u64, count: usize) -> Vec<Trial> {
    let mut trials = Vec::with_capacity(count);
    for number in 0..count {
        let mut rng = Rng::for_part(seed, &format!("trial {number}"));
        let Some(origin) = origins.get(rng.below(origins.len().max(1))) else {
            break;
        };
        let mut operators = vec![Operator::nth(number)];
        if rng.below(5) < 2 {
            operators.push(Operator::nth(rng.below(1000)));
        }
        let mut name = origin.name.clone();
        let mut bytes = origin.bytes.clone();
        for operator in operators {
            bytes = operator.apply(&bytes, &mut rng);
            name = format!("{name}+{}", operator.name());
        }
        trials.push(Trial {
            name,
            session: origin.session.clone(),
            bytes,
        });
    }
    trials
}
