//! The pi family on real files.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the tests read the corpus, ask the environment where it is, and fail by panicking"
)]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use boswell_dialect::pi::Pi;
use boswell_dialect::{
    Depth, Dialect, ReadSession, Reader, Repairer, Sample, SessionLocation, recognise,
};
use boswell_model::json::{Object, scan_object};
use boswell_model::{Context, EntryKind, Framing, Gap, Payloads, Slot, SpanKind, Tip};

struct Bytes(Vec<u8>);

impl Payloads for Bytes {
    fn payload(&self, at: u64, len: u64) -> boswell_model::Result<Cow<'_, [u8]>> {
        self.0.payload(at, len)
    }
}

fn corpus() -> Option<PathBuf> {
    let value = std::env::var("BOSWELL_CORPUS")
        .ok()
        .filter(|v| !v.is_empty());
    if value.is_none() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "BOSWELL_CORPUS is not set, and CI must not skip this"
        );
        eprintln!("SKIPPED: BOSWELL_CORPUS is not set, so no real file was read");
    }
    value.map(PathBuf::from)
}

fn read(pi: Pi, bytes: &[u8]) -> ReadSession {
    let location = SessionLocation::of("x", Framing::Lines, bytes.len() as u64);
    Reader::read(&pi, &location, bytes, Depth::Facts)
}

struct Opened {
    session: ReadSession,
    bytes: Bytes,
}

impl Opened {
    fn file(name: &str) -> Option<Self> {
        let bytes = std::fs::read(corpus()?.join("pi").join(name)).unwrap();
        Some(Opened {
            session: read(Pi::PI, &bytes),
            bytes: Bytes(bytes),
        })
    }

    fn context(&self, at: Slot) -> Context {
        Pi::PI
            .context(&self.session.view(&self.bytes), Tip::At(at))
            .unwrap()
    }

    fn count(&self, kind: EntryKind) -> usize {
        self.session
            .log
            .heads
            .iter()
            .filter(|h| h.kind == kind)
            .count()
    }

    fn problems(&self) -> Vec<&'static str> {
        let mut problems = Vec::new();
        Pi::PI
            .check(
                &self.session.view(&self.bytes),
                &self.session.meta,
                &mut problems,
            )
            .unwrap();
        problems.iter().map(|p| p.kind.word()).collect()
    }

    /// Counts each stop reason of the assistant messages.
    fn stop_reasons(&self) -> BTreeMap<String, usize> {
        let view = self.session.view(&self.bytes);
        let mut counts = BTreeMap::new();
        for (slot, _) in self
            .session
            .log
            .entries()
            .filter(|(_, h)| h.kind == EntryKind::Assistant)
        {
            let reason = view.with_object(slot, |o| {
                Some(o.get("message")?.get("stopReason")?.text()?.into_owned())
            });
            *counts
                .entry(reason.unwrap().flatten().unwrap_or_default())
                .or_default() += 1;
        }
        counts
    }
}

fn kinds(session: &ReadSession) -> Vec<(&str, u64)> {
    session
        .meta
        .kinds
        .iter()
        .map(|(k, n)| (k.as_str(), *n))
        .collect()
}

#[test]
fn the_session_before_compaction_has_its_known_numbers() {
    let Some(opened) = Opened::file("pi-mono-before-compaction.jsonl") else {
        return;
    };
    let session = &opened.session;
    assert_eq!(session.log.lines, 1003);
    let expected = [
        ("compaction", 2),
        ("message", 990),
        ("model_change", 5),
        ("session", 1),
        ("thinking_level_change", 5),
    ];
    assert_eq!(kinds(session), expected);
    let roles = [
        EntryKind::User,
        EntryKind::Assistant,
        EntryKind::ToolResult,
        EntryKind::Shell,
    ];
    assert_eq!(roles.map(|r| opened.count(r)), [55, 484, 448, 3]);
    let reasons: Vec<_> = opened.stop_reasons().into_iter().collect();
    assert_eq!(
        reasons,
        [
            ("aborted", 18),
            ("error", 1),
            ("stop", 31),
            ("toolUse", 434)
        ]
        .map(|(r, n)| (r.to_owned(), n))
    );
    assert_eq!((session.meta.messages, session.meta.turns), (539, 55));
    assert!(
        session
            .meta
            .parent
            .as_deref()
            .is_some_and(|p| p.ends_with(".jsonl")),
        "branchedFrom is its parent"
    );
    assert_eq!(session.meta.format_version, Some(1));
    assert_eq!(opened.problems(), [] as [&str; 0]);
}

#[test]
fn the_compactions_of_version_1_keep_from_their_known_targets() {
    let Some(opened) = Opened::file("pi-mono-before-compaction.jsonl") else {
        return;
    };
    let log = &opened.session.log;
    for (compaction, kept) in [(Slot(359), Slot(293)), (Slot(628), Slot(551))] {
        assert_eq!(log.kind(compaction), EntryKind::Compaction);
        let context = opened.context(compaction);
        assert_eq!(context.items[0].slot, compaction);
        assert_eq!(context.items[1].slot, kept);
        assert_eq!(log.kind(kept), EntryKind::User);
    }
}

#[test]
fn the_large_session_has_its_known_numbers() {
    let Some(opened) = Opened::file("pi-mono-large-session.jsonl") else {
        return;
    };
    let session = &opened.session;
    assert_eq!(session.log.lines, 1019);
    assert_eq!(
        kinds(session),
        [
            ("message", 914),
            ("model_change", 1),
            ("session", 1),
            ("thinking_level_change", 103)
        ]
    );
    let roles = [EntryKind::User, EntryKind::Assistant, EntryKind::ToolResult];
    assert_eq!(roles.map(|r| opened.count(r)), [88, 453, 373]);
    let reasons: Vec<_> = opened.stop_reasons().into_iter().collect();
    assert_eq!(
        reasons,
        [
            ("aborted", 21),
            ("error", 1),
            ("stop", 65),
            ("toolUse", 366)
        ]
        .map(|(r, n)| (r.to_owned(), n))
    );
    assert!(
        session
            .meta
            .models
            .iter()
            .any(|m| m == "openai/gpt-5.1-codex")
    );
    assert!(session.meta.usage.total().cost.is_some_and(|c| c > 0.0));
    assert_eq!(session.meta.parent, None);
}

#[test]
fn every_file_of_the_family_opens_and_nothing_is_lost() {
    let Some(corpus) = corpus() else { return };
    for entry in std::fs::read_dir(corpus.join("pi")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = Bytes(std::fs::read(&path).unwrap());
        for pi in [Pi::PI, Pi::OMP, Pi::XCSH, Pi::BOSWELL] {
            let session = read(pi, &bytes.0);
            let view = session.view(&bytes);
            let lines = bytes
                .0
                .split(|b| *b == b'\n')
                .filter(|l| !l.trim_ascii().is_empty())
                .count();
            let garbage =
                |kind| matches!(kind, SpanKind::Gap(Gap::Garbage | Gap::Nul | Gap::Pending));
            let lost = session.log.gaps.iter().filter(|g| garbage(g.kind)).count();
            assert_eq!(session.log.heads.len() + lost, lines, "{}", path.display());
            let tip = pi.tip(&view).unwrap();
            assert!(pi.leaf(&view, tip).is_some(), "{}", path.display());
            let context = pi.context(&view, tip).unwrap();
            assert!(context.items.len() <= session.log.heads.len());
            for slot in session.log.slots() {
                let shown = view.with_object(slot, |o| pi.view(o)).unwrap().unwrap();
                assert!(!shown.parts.is_empty() || shown.remark.is_some() || shown.model.is_some());
            }
        }
    }
}

#[test]
fn what_the_small_files_say_is_known() {
    let Some(drift) = Opened::file("agent-sessions-schema-drift.jsonl") else {
        return;
    };
    assert_eq!(drift.problems(), [] as [&str; 0]);
    assert_eq!(
        drift.session.meta.kinds.get("compact"),
        Some(&1),
        "an unknown type is kept"
    );
    let full = Opened::file("getspecstory-full-format.jsonl").unwrap();
    assert_eq!(full.session.meta.title.as_deref(), Some("My test session"));
    assert_eq!(
        full.session.meta.labels_now().get("u1"),
        Some(&"checkpoint-1")
    );
    assert_eq!(
        full.session.meta.parent.as_deref(),
        Some("/orig/session.jsonl")
    );
    let slot = Opened::file("ctx-pi-omp-v17.4.0-title-slot.jsonl").unwrap();
    assert_eq!(
        slot.problems(),
        [] as [&str; 0],
        "a title slot is no damage"
    );
    assert_eq!(
        (
            slot.session.meta.title.as_deref(),
            slot.session.meta.messages
        ),
        (None, 2)
    );
    let claw = Opened::file("../openclaw/agent-sessions-large.jsonl").unwrap();
    assert_eq!(
        (claw.session.meta.messages, claw.session.meta.format_version),
        (4, Some(3))
    );
    let headless = Opened::file("resume-fixtures-pi.jsonl").unwrap();
    assert_eq!(headless.problems(), ["bad_header", "missing_id"]);
}

/// Returns the dialect of a file, recognised by its beginning.
fn owner(bytes: &[u8]) -> &'static str {
    let lines: Vec<_> = bytes.split(|b| *b == b'\n').take(40).collect();
    let scanned: Vec<_> = lines
        .iter()
        .filter_map(|line| {
            let mut members = Vec::new();
            scan_object(line, &mut members)
                .ok()
                .map(|end| (&line[..end], members))
        })
        .collect();
    let records: Vec<_> = scanned
        .iter()
        .map(|(line, members)| Object::new(line, members))
        .collect();
    recognise(&Sample {
        name: "x.jsonl",
        folders: &[],
        records: &records,
    })
    .name()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) = paths.partition(|path| path.is_dir());
    folders
        .iter()
        .for_each(|folder| files.extend(files_below(folder)));
    files
}

/// Files in the format of the family. OpenClaw writes the lines of pi's version 3.
const FAMILY: [(&str, &str); 9] = [
    ("openclaw/agent-sessions-large.jsonl", "pi"),
    ("openclaw/agent-sessions-small.jsonl", "pi"),
    (
        "openclaw/deja-vu-a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d.checkpoint.11111111-2222-4333-8444-555555555555.jsonl",
        "pi",
    ),
    ("pi/agent-sessions-schema-drift.jsonl", "pi"),
    ("pi/agentsview-testdata-pi.jsonl", "pi"),
    ("pi/ctx-pi-omp-v17.4.0-title-slot.jsonl", "omp"),
    ("pi/getspecstory-full-format.jsonl", "pi"),
    ("pi/pi-mono-before-compaction.jsonl", "pi"),
    ("pi/pi-mono-large-session.jsonl", "pi"),
];

/// Files in the folders of the family with another format: Droid's store, a format that pi never
/// wrote, an index.
const NOT_FAMILY: [&str; 3] = [
    "openclaw/deja-vu-sessions.json",
    "pi/agent-sessions-session-store-small.jsonl",
    "pi/resume-fixtures-pi.jsonl",
];

#[test]
fn every_file_of_the_corpus_is_told_apart() {
    let Some(corpus) = corpus() else { return };
    let is_family = |owner| ["pi", "omp", "xcsh", "boswell"].contains(&owner);
    let owner_of = |name: &str| owner(&std::fs::read(corpus.join(name)).unwrap());
    for (name, expected) in FAMILY {
        assert_eq!(owner_of(name), expected, "{name}");
    }
    for name in NOT_FAMILY {
        assert!(!is_family(owner_of(name)), "{name}");
    }
    let mut others = 0;
    for file in files_below(&corpus) {
        let name = file.strip_prefix(&corpus).unwrap().display().to_string();
        if name.starts_with("pi/") || name.starts_with("openclaw/") {
            continue;
        }
        assert!(
            !is_family(owner_of(&name)),
            "{name} is not a file of the family"
        );
        others += 1;
    }
    assert!(
        others > 100,
        "the corpus has other agents' files too: {others}"
    );
}
