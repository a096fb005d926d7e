//! A search covers everything that `show --tools full` prints: every word of every view is in the
//! extracted text of its entry, in all dialects.
//!
//! Not searched, on purpose: images and other files inside messages (only their type is shown),
//! plain keys of JSON, the words that a dialect itself adds to a one-line description, and records
//! that are not entries (headers and markers of the current leaf), which no transcript shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use boswell_dialect::Depth;
use boswell_find::extract;
use boswell_model::json::{Object, scan_object};
use boswell_model::{EntryKind, Part, View};
use boswell_store::Session;
use boswell_store::store::Stores;
use boswell_testkit::home::TestHome;
use boswell_testkit::make::codex::{CodexShape, rollout};
use boswell_testkit::{corpus, disk};
use serde_json::Value;

type Words = BTreeSet<String>;

/// Descriptions without content of the record, although one of its strings may equal one of their
/// words: a failed request of Claude Code has the string `model`.
const FIXED: [&str; 1] = ["an error of the API, not sent to the model"];

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Collects the strings of a value, except those under `type` and `subtype`, which name its kind.
fn strings<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "type" | "subtype"))
            .for_each(|(_, value)| strings(value, into)),
        _ => {}
    }
}

/// Collects the words of JSON, or of text that is not JSON.
fn json_words(json: &str, into: &mut Words) {
    match serde_json::from_str::<Value>(json) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            let mut texts = Vec::new();
            strings(&value, &mut texts);
            into.extend(texts.into_iter().flat_map(words));
        }
        _ => into.extend(words(json)),
    }
}

fn shown_words(view: &View, record: &[u8], kind: EntryKind) -> Words {
    let mut shown = Words::new();
    for part in &view.parts {
        match part {
            Part::Text(text) | Part::Thinking { text, .. } | Part::Result { text, .. } => {
                shown.extend(words(text));
            }
            Part::Call { name, input, .. } => {
                shown.extend(words(name));
                json_words(input.text(), &mut shown);
            }
            Part::Other { json, .. } => json_words(json, &mut shown),
            // Base64, or a name that is not shown.
            Part::Media { .. } => {}
            other => unreachable!("a kind of block that this test does not know: {other:?}"),
        }
    }
    let is_entry = !matches!(kind, EntryKind::Header | EntryKind::Leaf);
    let remark = view.remark.as_deref();
    let remark = remark.filter(|remark| is_entry && !FIXED.contains(remark));
    if let Some(remark) = remark {
        let record = serde_json::from_slice::<Value>(record).unwrap_or_default();
        let mut texts = Vec::new();
        strings(&record, &mut texts);
        // Whole strings, because the record may contain the dialect's own words by coincidence.
        texts.retain(|text| remark.contains(text));
        shown.extend(texts.into_iter().flat_map(words));
    }
    shown
}

/// Returns the words of a session that are shown and not covered, with their entry.
pub(crate) fn uncovered(session: &Session) -> Vec<String> {
    let mut missing = Vec::new();
    for slot in session.log().slots() {
        let entry = session.entry(slot).unwrap();
        let Some(view) = &entry.view else { continue };
        let head = &session.log().heads[slot.0 as usize];
        let mut members = Vec::new();
        scan_object(&entry.bytes, &mut members).unwrap();
        let object = Object::new(&entry.bytes, &members);
        let mut covered = Words::new();
        let mut push = |_, text: &str| covered.extend(words(text));
        extract(session.dialect(), &object, head.kind, head.flags, &mut push);
        let shown = shown_words(view, &entry.bytes, head.kind);
        let lost: Vec<_> = shown.difference(&covered).take(4).cloned().collect();
        if !lost.is_empty() {
            missing.push(format!("{} {lost:?}", session.log().label(slot)));
        }
    }
    missing
}

/// Examines files of known dialects; returns the number of sessions per dialect, and the words that
/// are not covered.
fn look(files: impl IntoIterator<Item = PathBuf>) -> (BTreeMap<&'static str, usize>, Vec<String>) {
    let (mut counts, mut missing) = (BTreeMap::new(), Vec::new());
    for path in files {
        let Ok((store, location)) = Stores::default().at_path(&path) else {
            continue;
        };
        let dialect = store.dialect().name();
        let Ok(session) = store.read(&location, Depth::Heads) else {
            continue;
        };
        if dialect == "unknown" {
            continue;
        }
        *counts.entry(dialect).or_default() += 1;
        let lost = uncovered(&session);
        if let Some(first) = lost.first() {
            let name = path.display();
            missing.push(format!("{dialect} {name}: {} entries, {first}", lost.len()));
        }
    }
    (counts, missing)
}

fn real_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = corpus::files(folder);
    files.retain(|path| corpus::not_lines(path, &disk::read(path)).is_none());
    files
}

#[test]
fn every_word_that_is_shown_of_real_sessions_is_searched() {
    for variable in [corpus::CORPUS, corpus::CAPTURES] {
        let Some(folder) = corpus::require_or_skip(variable) else {
            continue;
        };
        let (counts, missing) = look(real_files(&folder));
        assert!(counts.len() > 1, "{variable}: {counts:?}");
        assert!(
            missing.is_empty(),
            "{variable}: {} of {counts:?} sessions are not covered:\n{}",
            missing.len(),
            missing.join("\n")
        );
    }
}

#[test]
fn every_word_that_is_shown_of_generated_sessions_is_searched() {
    let root = tempfile::tempdir().unwrap();
    let home = TestHome::build(root.path(), 17);
    let mut files: Vec<PathBuf> = home.planted.iter().map(|it| it.path.clone()).collect();
    for shape in CodexShape::ALL {
        let made = rollout(*shape, "/proj/shown", None, 17);
        let folder = root.path().join(format!("codex-{shape:?}"));
        made.files.write_to(&folder);
        files.push(folder.join(&made.main));
    }
    let (counts, missing) = look(files);
    let known: Vec<_> = counts.keys().copied().collect();
    for dialect in [
        "claude",
        "codex",
        "pi",
        "omp",
        "xcsh",
        "myagents",
        "clinvoker",
        "oas",
    ] {
        assert!(known.contains(&dialect), "{dialect} {counts:?}");
    }
    assert!(missing.is_empty(), "{counts:?}\n{}", missing.join("\n"));
}
