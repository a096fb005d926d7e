//! Jot with one defect each: the suite must detect every one, by the rule that it breaks.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use boswell_dialect::{
    Append, Capabilities, Capability, Dialect, DialectFacts, Discovered, Draft, EntryStamp,
    Environment, Files, Match, NewLog, NewSession, Powers, Sample, SessionFacts, Support,
};
use boswell_model::json::Object;
use boswell_model::{
    Context, ContextItem, EntryKind, Head, Instant, Interner, Log, Message, Result, SessionMeta,
    SessionView, Slot, Tip, View,
};
use boswell_testkit::conformance::{DialectRule, DialectSuite};
use boswell_testkit::toys::{jsonl::Jot, samples};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    AcceptsOptionsAsIds,
    AppendLosesText,
    AppendWithoutPower,
    BranchOrderChanges,
    ClaimsEveryFile,
    ContextPointsNowhere,
    DropsParents,
    ForgetsSessions,
    PanicsOnOddRecords,
    PowerWithoutCapability,
    RendersNothing,
    TipIsElsewhere,
    ToolResultsAreMessages,
}

#[derive(Debug)]
struct Mutant {
    fault: Fault,
    asked: AtomicUsize,
}

static UNSTATED: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
    ]),
    ..DialectFacts::new("jot", "Jot")
};

impl Mutant {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }
}

impl Dialect for Mutant {
    fn facts(&self) -> &'static DialectFacts {
        if self.is(Fault::PowerWithoutCapability) {
            &UNSTATED
        } else {
            Jot.facts()
        }
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        Jot.roots(env)
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Jot.discover(files)?;
        if self.is(Fault::ForgetsSessions) {
            found.sessions.pop();
        }
        Ok(found)
    }

    fn id_is_valid(&self, id: &str) -> bool {
        self.is(Fault::AcceptsOptionsAsIds) || Jot.id_is_valid(id)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        match self.fault {
            Fault::ClaimsEveryFile => Match::Certain,
            _ => Jot.recognises(sample),
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        Jot.is_record(object)
    }

    fn head(&self, object: &Object<'_>, head: &mut Head, names: &mut Interner) {
        if self.is(Fault::PanicsOnOddRecords) {
            assert!(object.get("jot").is_some(), "every line is one of mine");
        }
        Jot.head(object, head, names);
        if self.is(Fault::ToolResultsAreMessages) && head.kind == EntryKind::User {
            head.kind = EntryKind::ToolResult;
        }
    }

    fn collect_meta(
        &self,
        object: &Object<'_>,
        head: &Head,
        names: &mut Interner,
        meta: &mut SessionMeta,
    ) {
        Jot.collect_meta(object, head, names, meta);
    }

    fn link(&self, log: &Log) -> Vec<Option<Slot>> {
        let mut links = Jot.link(log);
        if self.is(Fault::DropsParents) {
            links.pop();
        }
        links
    }

    fn tip(&self, view: &SessionView<'_>) -> Result<Tip> {
        match self.fault {
            Fault::TipIsElsewhere => Ok(Tip::Root),
            _ => Jot.tip(view),
        }
    }

    fn branch(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        let mut branch = Jot.branch(view, tip)?;
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        if self.is(Fault::BranchOrderChanges) && asked % 2 == 1 {
            branch.reverse();
        }
        Ok(branch)
    }

    fn view(&self, object: &Object<'_>) -> View {
        Jot.view(object)
    }

    fn context(&self, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
        let mut context = Jot.context(view, tip)?;
        if self.is(Fault::ContextPointsNowhere) {
            context.items.push(ContextItem::stored(Slot(9_999)));
        }
        Ok(context)
    }

    fn render(&self, item: &ContextItem, records: &[Object<'_>]) -> Message {
        match self.fault {
            Fault::RendersNothing => Message::new("", None),
            _ => Jot.render(item, records),
        }
    }

    fn powers(&self) -> Powers<'_> {
        match self.fault {
            Fault::AppendWithoutPower => Powers::default(),
            _ => Powers {
                append: Some(self),
                ..Jot.powers()
            },
        }
    }
}

impl Append for Mutant {
    fn can_append(&self, meta: &SessionMeta) -> Result<()> {
        Jot.can_append(meta)
    }

    fn encode(
        &self,
        draft: &Draft,
        stamp: EntryStamp<'_>,
        session: Option<SessionFacts<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut record = Vec::new();
        Jot.encode(draft, stamp, session, &mut record)?;
        if self.is(Fault::AppendLosesText) {
            let text = String::from_utf8_lossy(&record).replace("red", "green");
            record = text.into_bytes();
        }
        out.extend_from_slice(&record);
        Ok(())
    }

    fn new_log(&self, new: &NewSession, id: &str, now: Instant) -> Result<NewLog> {
        Jot.new_log(new, id, now)
    }
}

/// Returns the rules that a mutant breaks, each once.
fn broken_by(fault: Fault) -> Vec<DialectRule> {
    let asked = AtomicUsize::new(0);
    let mutant: &'static Mutant = Box::leak(Box::new(Mutant { fault, asked }));
    let suite = DialectSuite::new(mutant, samples::jot()).with_foreign(samples::opal());
    let mut rules = Vec::new();
    for finding in suite.findings() {
        if !rules.contains(&finding.rule) {
            rules.push(finding.rule);
        }
    }
    rules
}

#[test]
fn the_mutant_without_a_fault_conforms() {
    assert_eq!(broken_by(Fault::None), []);
}

#[test]
fn every_fault_is_found_by_its_rule() {
    use DialectRule::*;
    let faults = [
        (Fault::AcceptsOptionsAsIds, IdsAreValid),
        (Fault::AppendLosesText, AppendedReadsBack),
        (Fault::AppendWithoutPower, FactsAgreeWithPowers),
        (Fault::BranchOrderChanges, BranchIsStable),
        (Fault::ClaimsEveryFile, RecognisesItsOwn),
        (Fault::ContextPointsNowhere, ContextRenders),
        (Fault::DropsParents, ParentsExist),
        (Fault::ForgetsSessions, ListingIsComplete),
        (Fault::PanicsOnOddRecords, NeverPanics),
        (Fault::PowerWithoutCapability, FactsAgreeWithPowers),
        (Fault::RendersNothing, ContextRenders),
        (Fault::TipIsElsewhere, TipIsOnItsBranch),
        (Fault::ToolResultsAreMessages, HeadsAgreeWithViews),
    ];
    for (fault, rule) in faults {
        let broken = broken_by(fault);
        assert!(broken.contains(&rule), "{fault:?} breaks {broken:?}");
    }
}
