//! The conformance suite of dialects, also for those of other crates.
//!
//! The suite is handed a dialect and sessions as its agent writes them, and asks through the real
//! store: listings, summaries, entries, branches, contexts, checks, exports, and appending where
//! the dialect has that power. Then it asks the same of damaged copies. A finding names the rule
//! that is broken, so that a test can state which rule a broken dialect must fail.
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

/// How many findings of one rule are kept: more of the same say nothing new.
const KEPT: usize = 3;

/// How many samples are damaged.
const DAMAGED: usize = 6;

/// A rule of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectRule {
    /// No method panics for any bytes.
    NeverPanics,
    /// Capabilities and facts say what the powers can do.
    FactsAgreeWithPowers,
    /// What a dialect cannot do is an error of the kind `Unsupported` with a hint.
    AbsentPowerIsUnsupported,
    /// Ids are those that the agent accepts, and none starts with `-`.
    IdsAreValid,
    /// A listing finds every sample, each time.
    ListingIsComplete,
    /// Own sessions are recognised, sessions of other agents are not.
    RecognisesItsOwn,
    /// Reading twice gives the same.
    ReadingIsRepeatable,
    /// Kinds in heads agree with what the views show.
    HeadsAgreeWithViews,
    /// Each record has a place in the tree, and a missing parent is reported.
    ParentsExist,
    /// Tip and leaf are on the branch that ends at the tip.
    TipIsOnItsBranch,
    /// A branch holds each entry once, in an order that stays the same.
    BranchIsStable,
    /// Messages of a context are made of entries and render to JSON.
    ContextRenders,
    /// An export gives every byte back.
    ExportIsTheLog,
    /// What was appended is read back.
    AppendedReadsBack,
}

/// A broken rule, and where.
#[derive(Clone, Debug)]
pub struct RuleFinding {
    /// The rule.
    pub rule: DialectRule,
    /// What was found instead.
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

/// What a run found so far.
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

    /// The value of an answer that must be there.
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

    /// Runs a part of the suite. A panic is a finding, and the next part goes on.
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
    /// A dialect with sessions as its agent writes them, each undamaged.
    pub fn new(dialect: &'static dyn Dialect, samples: Vec<DialectSample>) -> DialectSuite {
        DialectSuite {
            dialect,
            samples,
            strangers: Vec::new(),
            certainty: Match::Certain,
        }
    }

    /// Adds sessions of other agents, which the dialect must not take for its own.
    #[must_use]
    pub fn with_foreign(mut self, strangers: Vec<DialectSample>) -> DialectSuite {
        self.strangers.extend(strangers);
        self
    }

    /// Says how sure the dialect must at least be of its own sessions: less than certain where
    /// several agents write the same lines.
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
            // Damage is done to some: it costs a hundred readings a sample.
            let parts = PARTS.iter().take(if nth < DAMAGED { 4 } else { 3 });
            for (what, part) in parts {
                let what = format!("{what} of {}", sample.id);
                findings.part(&what, |findings| part(self, sample, findings));
            }
        }
        findings.part("appending", |findings| appending::run(self, findings));
        findings.list
    }

    /// Runs every rule, and stops the test with a list of what is broken.
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
