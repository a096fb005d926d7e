//! The conformance suite for dialects, including those of other crates.
//!
//! The suite gets a dialect and sessions as its agent writes them, and calls the real store:
//! listings, summaries, entries, branches, contexts, checks, exports, and appending if the dialect
//! has that power. Then it does the same with damaged copies. A finding names the broken rule, so
//! that a test can state which rule a defective dialect must fail.
//!
//! ```
//! use boswell_testkit::conformance::DialectSuite;
//! use boswell_testkit::toys::{jsonl::Jot, samples};
//!
//! let suite = DialectSuite::new(&Jot, samples::jot()).with_foreign(samples::opal());
//! suite.assert_conforms();
//! ```

mod appending;
mod asking;
mod damaging;
mod facts;
mod listing;
mod reading;
mod sample;

use std::panic::{AssertUnwindSafe, catch_unwind};

use boswell_dialect::{Dialect, Match};

pub use sample::DialectSample;

/// Maximum number of findings per rule that are stored: more of the same add nothing.
const KEPT: usize = 3;

/// Number of samples that are damaged.
const DAMAGED: usize = 6;

/// A rule of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectRule {
    /// No method panics for any bytes.
    NeverPanics,
    /// Capabilities and facts match the powers.
    FactsAgreeWithPowers,
    /// An operation that a dialect does not support is an `Unsupported` error with a hint.
    AbsentPowerIsUnsupported,
    /// Ids are those that the agent accepts, and none starts with `-`.
    IdsAreValid,
    /// A listing finds every sample, each time.
    ListingIsComplete,
    /// Own sessions are recognised, sessions of other agents are not.
    RecognisesItsOwn,
    /// Reading twice gives the same.
    ReadingIsRepeatable,
    /// Kinds in heads match the views.
    HeadsAgreeWithViews,
    /// Each record has a place in the tree, and a missing parent is reported.
    ParentsExist,
    /// Tip and leaf are on the branch that ends at the tip.
    TipIsOnItsBranch,
    /// A branch contains each entry once, in a stable order.
    BranchIsStable,
    /// Messages of a context consist of entries and render to JSON.
    ContextRenders,
    /// An export contains every byte.
    ExportIsTheLog,
    /// An appended entry is read back.
    AppendedReadsBack,
}

/// A broken rule, with details.
#[derive(Clone, Debug)]
pub struct RuleFinding {
    /// The rule.
    pub rule: DialectRule,
    /// The details.
    pub detail: String,
}

/// A dialect, sessions of its agent, and sessions of other agents.
#[derive(Debug)]
pub struct DialectSuite {
    dialect: &'static dyn Dialect,
    samples: Vec<DialectSample>,
    strangers: Vec<DialectSample>,
    certainty: Match,
}

/// The findings of a run so far.
#[derive(Debug, Default)]
struct Findings {
    list: Vec<RuleFinding>,
}

/// The checks of one sample.
type Part = fn(&DialectSuite, &DialectSample, &mut Findings);

const PARTS: [(&str, Part); 4] = [
    ("listing", listing::run),
    ("reading", reading::run),
    ("asking", asking::run),
    ("damaging", damaging::run),
];

impl Findings {
    fn expect(&mut self, rule: DialectRule, holds: bool, detail: impl FnOnce() -> String) {
        let known = self.list.iter().filter(|finding| finding.rule == rule);
        if !holds && known.count() < KEPT {
            let detail = detail();
            self.list.push(RuleFinding { rule, detail });
        }
    }

    /// Returns the value of a result that must be `Ok`.
    fn answer<T>(
        &mut self,
        rule: DialectRule,
        what: &str,
        answer: boswell_model::Result<T>,
    ) -> Option<T> {
        match answer {
            Ok(value) => Some(value),
            Err(error) => {
                self.expect(rule, false, || format!("{what}: {error}"));
                None
            }
        }
    }

    /// Runs a part of the suite. A panic is a finding, and the next part continues.
    fn part(&mut self, what: &str, ask: impl FnOnce(&mut Findings)) {
        if let Err(cause) = catch_unwind(AssertUnwindSafe(|| ask(self))) {
            let text = cause.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| cause.downcast_ref::<&str>().copied());
            self.expect(DialectRule::NeverPanics, false, || {
                format!("{what}: {}", text.unwrap_or("a panic without a text"))
            });
        }
    }
}

impl DialectSuite {
    /// Creates a suite for a dialect with undamaged sessions as its agent writes them.
    pub fn new(dialect: &'static dyn Dialect, samples: Vec<DialectSample>) -> DialectSuite {
        DialectSuite {
            dialect,
            samples,
            strangers: Vec::new(),
            certainty: Match::Certain,
        }
    }

    /// Adds sessions of other agents, which the dialect must not recognise as its own.
    #[must_use]
    pub fn with_foreign(mut self, strangers: Vec<DialectSample>) -> DialectSuite {
        self.strangers.extend(strangers);
        self
    }

    /// Sets the minimum match for the dialect's own sessions: less than certain if several agents
    /// write the same lines.
    #[must_use]
    pub fn at_least(mut self, certainty: Match) -> DialectSuite {
        self.certainty = certainty;
        self
    }

    /// Runs every rule.
    pub fn findings(&self) -> Vec<RuleFinding> {
        let mut findings = Findings::default();
        findings.part("facts and powers", |findings| facts::run(self, findings));
        for (nth, sample) in self.samples.iter().enumerate() {
            // Only some samples are damaged: it costs a hundred reads per sample.
            let parts = PARTS.iter().take(if nth < DAMAGED { 4 } else { 3 });
            for (what, part) in parts {
                let what = format!("{what} of {}", sample.id);
                findings.part(&what, |findings| part(self, sample, findings));
            }
        }
        findings.part("appending", |findings| appending::run(self, findings));
        findings.list
    }

    /// Runs every rule, and fails the test with a list of the broken ones.
    pub fn assert_conforms(&self) {
        let findings = self.findings();
        let lines: Vec<String> = findings
            .iter()
            .map(|finding| format!("  {:?}: {}", finding.rule, finding.detail))
            .collect();
        assert!(
            lines.is_empty() && !self.samples.is_empty(),
            "the dialect `{}` with {} samples breaks rules:\n{}",
            self.dialect.name(),
            self.samples.len(),
            lines.join("\n")
        );
    }
}
