//! Records: heads, views, parents, bytes.

use boswell_dialect::{Depth, MemoryFiles, may_pair};
use boswell_model::{EntryKind, Flags, Head, ProblemKind, Slot, View};
use boswell_store::repair::check;
use boswell_store::{Session, Store};

use super::DialectRule::{ExportIsTheLog, HeadsAgreeWithViews, ParentsExist, ReadingIsRepeatable};
use super::{DialectSample, DialectSuite, Findings};

pub(super) fn run(suite: &DialectSuite, sample: &DialectSample, findings: &mut Findings) {
    let store = sample.store(suite.dialect);
    let located = findings.answer(ReadingIsRepeatable, &sample.id, sample.located(&store));
    let Some(location) = located.flatten() else {
        return;
    };
    let mut read = |depth| {
        let session = store.read(&location, depth);
        findings.answer(ReadingIsRepeatable, &sample.id, session)
    };
    let (Some(first), Some(second), Some(heads)) =
        (read(Depth::Pairs), read(Depth::Pairs), read(Depth::Heads))
    else {
        return;
    };
    let [once, twice] = [&first, &second].map(seen);
    findings.expect(ReadingIsRepeatable, once == twice, || {
        let mut both = once.iter().zip(&twice);
        let other = both.find(|(one, two)| one != two);
        format!("{}: two readings differ: {other:?}", sample.id)
    });
    let same = words(&first) == words(&heads);
    findings.expect(ReadingIsRepeatable, same, || {
        format!("{}: the depth changes the heads", sample.id)
    });
    summarised(sample, &store, &first, findings);
    for (slot, head) in first.log().entries() {
        record(sample, &first, (slot, head), findings);
    }
    parents(sample, &first, findings);
    exported(sample, &first, findings);
}

/// Returns the heads as text. Symbols are resolved, because their numbers depend on what else was
/// read.
fn words(session: &Session) -> Vec<String> {
    let log = session.log();
    let name = |name: Option<_>| name.map(|name| log.names.text(name));
    let words = log.entries().map(|(_, head)| {
        let names = [head.id, head.parent, head.group, head.word].map(name);
        let Head { at, len, line, .. } = head;
        format!(
            "{at} {len} {line} {:?} {:?} {names:?}",
            head.kind, head.time
        )
    });
    words.collect()
}

/// Returns everything that is read of a session, as text.
pub(super) fn seen(session: &Session) -> Vec<String> {
    let mut seen = words(session);
    // The tally is a map without an order, so its total is compared instead.
    let mut meta = session.meta().clone();
    seen.push(format!("{:?}", std::mem::take(&mut meta.usage).total()));
    seen.push(format!("{meta:?}"));
    seen.push(format!("{:?}", session.pairs()));
    let parents = session.log().slots().map(|it| session.tree().parent(it));
    seen.push(format!("{:?}", parents.collect::<Vec<_>>()));
    let report = check(session).map(|report| report.problems);
    seen.push(format!("{report:?}"));
    seen
}

fn summarised(sample: &DialectSample, store: &Store, session: &Session, findings: &mut Findings) {
    let summary = store.summary(session.location());
    let Some(summary) = findings.answer(ReadingIsRepeatable, &sample.id, summary) else {
        return;
    };
    let leaf = session.leaf().ok().flatten();
    let leaf = leaf.map(|slot| session.log().label(slot).into_owned());
    let same = !summary.complete || summary.leaf == leaf;
    findings.expect(ReadingIsRepeatable, same, || {
        format!(
            "{}: the summary says {:?}, the session {leaf:?}",
            sample.id, summary.leaf
        )
    });
}

fn record(
    sample: &DialectSample,
    session: &Session,
    (slot, head): (Slot, &Head),
    findings: &mut Findings,
) {
    let label = format!("{} {}", sample.id, session.log().label(slot));
    let entry = findings.answer(HeadsAgreeWithViews, &label, session.entry(slot));
    let Some(view) = entry.and_then(|entry| entry.view) else {
        findings.expect(HeadsAgreeWithViews, false, || {
            format!("{label}: the bytes of the head are not a record")
        });
        return;
    };
    for (what, broken) in disagreements(head, &view) {
        findings.expect(HeadsAgreeWithViews, !broken, || {
            format!("{label} of kind {:?} {what}", head.kind)
        });
    }
}

fn disagreements(head: &Head, view: &View) -> [(&'static str, bool); 4] {
    let pairs = view.calls().next().is_some() || view.results().next().is_some();
    let shows_nothing = view.parts.is_empty() && view.remark.is_none();
    let hidden = head.flags.has(Flags::HIDDEN);
    [
        (
            "has calls or results that nobody looks for",
            pairs && !may_pair(head.kind),
        ),
        (
            "is a tool's answer without a result",
            head.kind == EntryKind::ToolResult && view.results().next().is_none(),
        ),
        (
            "is conversation and shows nothing",
            head.kind.is_conversation() && !hidden && shows_nothing,
        ),
        (
            "is a message of nobody",
            head.kind == EntryKind::Header && !view.text().is_empty(),
        ),
    ]
}

fn parents(sample: &DialectSample, session: &Session, findings: &mut Findings) {
    let (log, tree) = (session.log(), session.tree());
    findings.expect(ParentsExist, tree.len() == log.heads.len(), || {
        format!(
            "{}: {} links for {} records",
            sample.id,
            tree.len(),
            log.heads.len()
        )
    });
    let report = findings.answer(ParentsExist, &sample.id, check(session));
    let problems = report.map(|report| report.problems).unwrap_or_default();
    let by_id = log.by_id();
    for (slot, head) in log.entries() {
        let missing = head
            .parent
            .is_some_and(|parent| by_id.last(parent).is_none());
        let mut reports = problems.iter();
        let reported =
            reports.any(|it| it.slot == Some(slot) && it.kind == ProblemKind::MissingParent);
        findings.expect(ParentsExist, !missing || reported, || {
            format!(
                "{} {}: its parent is missing and not reported",
                sample.id,
                log.label(slot)
            )
        });
        let inside = tree
            .parent(slot)
            .is_none_or(|up| up.index() < log.heads.len());
        findings.expect(ParentsExist, inside, || {
            format!("{} {}: its parent is no record", sample.id, log.label(slot))
        });
    }
}

fn exported(sample: &DialectSample, session: &Session, findings: &mut Findings) {
    let mut bytes = Vec::new();
    let done = session.export(&mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    });
    findings.answer(ExportIsTheLog, &sample.id, done);
    let key = session.location().key.as_deref();
    let file = key.and_then(|key| sample.files.get(key));
    // A log that is made of several files is no file.
    let file = file.filter(|_| !is_of_several(sample, session, key));
    let same = file.is_none_or(|file| bytes == file);
    findings.expect(ExportIsTheLog, same, || {
        format!("{}: {} bytes were exported", sample.id, bytes.len())
    });
}

fn is_of_several(sample: &DialectSample, session: &Session, key: Option<&str>) -> bool {
    let compose = session.dialect().powers().compose;
    let (Some(compose), Some(key)) = (compose, key) else {
        return false;
    };
    let mut files = MemoryFiles::default();
    for file in &sample.files.list {
        files.put(&file.path, file.bytes.clone(), None);
    }
    compose.sources(&files, key).is_ok_and(|it| it.len() > 1)
}
