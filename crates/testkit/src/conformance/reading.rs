//! The contract of read-only backends.

use std::sync::Arc;

use boswell_dialect::{Depth, Dialect, SessionLocation, by_name};
use boswell_model::{Error, ErrorKind, Slot};
use boswell_store::backend::{Backend, ObjectReader};
use boswell_store::repair::check;
use boswell_store::{Session, Store};

use super::ok;
use crate::FileList;
use crate::make::pi;

/// Creates a backend with these objects: key and bytes.
pub type Make<'m> = dyn Fn(&[(String, Vec<u8>)]) -> Arc<dyn Backend> + 'm;

/// Runs all checks of reading.
pub fn backend_reads(make: &Make<'_>) {
    names_and_objects(make);
    positions(make);
    sessions(make);
    exports(make);
    revisions(make);
    summaries(make);
}

/// Listings are sorted and complete; a missing object is reported as missing.
pub fn names_and_objects(make: &Make<'_>) {
    let objects = ["b.json", "a/x.jsonl", "a/y/z.txt", "a.jsonl"]
        .map(|key| (key.to_owned(), b"{}\n".to_vec()));
    let backend = make(&objects);
    let keys = |folder: &str| {
        ok(backend.list(folder))
            .into_iter()
            .map(|info| info.key)
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(""), ["a", "a.jsonl", "b.json"]);
    assert_eq!(keys("a"), ["a/x.jsonl", "a/y"]);
    assert_eq!(
        keys("nowhere"),
        [] as [&str; 0],
        "a folder that is not there is empty"
    );
    let info = ok(backend.stat("a/x.jsonl")).expect("it is there");
    assert!(
        info.is_file() && info.size == 3,
        "the size of an object is its length in bytes"
    );
    assert!(ok(backend.stat("a")).is_some_and(|info| info.is_folder()));
    assert_eq!(ok(backend.stat("nothing")), None);
    assert!(
        backend
            .open("nothing")
            .is_err_and(|error| error.is_not_found())
    );
    assert!(!backend.describe("a.jsonl").is_empty());
    assert_eq!(ok(ok(backend.open("b.json")).read(0, 99)), b"{}\n");
}

/// Lines come in order, at growing positions, and can be read again from any of them.
pub fn positions(make: &Make<'_>) {
    let log = log();
    let object = ok(make(&[("s.jsonl".to_owned(), log.clone())]).open("s.jsonl"));
    let end = ok(object.end());
    let lines = lines_from(object.as_ref(), 0, 1);
    let mut whole = Vec::new();
    for (count, line) in (1..).zip(&lines) {
        whole.extend_from_slice(&line.bytes);
        assert_eq!(line.number, count, "lines are counted from 1");
        assert!(line.at < end, "the end lies behind every line");
    }
    assert_eq!(whole, log, "lines are the log");
    assert!(
        lines.windows(2).all(|two| two[0].at < two[1].at),
        "positions grow"
    );
    for (index, line) in lines.iter().enumerate() {
        read_at_position(object.as_ref(), line);
        let rest = lines_from(object.as_ref(), line.at, line.number);
        assert_eq!(rest, lines[index..], "reading goes on from any line");
    }
    for window in [1, 100, 1 << 20] {
        let forth: Vec<_> = lines.iter().map(|it| (it.at, it.bytes.clone())).collect();
        let back = lines_backwards(object.as_ref(), lines[0].at, window);
        assert_eq!(back, forth, "read backwards, {window} bytes at a time");
    }
    assert_eq!(
        lines_from(object.as_ref(), end, 99),
        [],
        "nothing comes behind the end"
    );
}

fn read_at_position(object: &dyn ObjectReader, line: &Line) {
    let len = line.bytes.len() as u64;
    assert_eq!(
        ok(object.read(line.at, len)),
        line.bytes,
        "a line is read at its position"
    );
    let start = ok(object.read(line.at, 5));
    assert_eq!(start, line.bytes[..5], "and its beginning");
}

/// A line as a reader hands it out.
#[derive(Debug, PartialEq)]
struct Line {
    at: u64,
    number: u64,
    bytes: Vec<u8>,
}

fn lines_from(object: &dyn ObjectReader, at: u64, number: u64) -> Vec<Line> {
    let mut lines = Vec::new();
    ok(object.lines(at, number, &mut |line| {
        lines.push(Line {
            at: line.at,
            number: line.number,
            bytes: line.bytes.to_vec(),
        })
    }));
    lines
}

/// Lines from the end to the position `first`, read in steps of complete lines.
fn lines_backwards(object: &dyn ObjectReader, first: u64, window: u64) -> Vec<(u64, Vec<u8>)> {
    let mut to = ok(object.end());
    let mut back = Vec::new();
    while to > first {
        let mut block = Vec::new();
        let from = ok(object.lines_before(to, window, &mut |line| {
            block.push((line.at, line.bytes.to_vec()))
        }));
        assert_eq!(
            block.first().map(|line| line.0),
            Some(from),
            "a step begins with its first line"
        );
        block.extend(back);
        (to, back) = (from, block);
    }
    back
}

/// Sessions of every shape: heads, payloads on demand, leaf, branch, context, checks.
pub fn sessions(make: &Make<'_>) {
    for shape in pi::PiShape::ALL {
        let made = pi::file(*shape, pi::PiFlavour::Pi, pi::PiLayout::of("/proj/app"), 7);
        let (session, _) = read(make, &made.files);
        let (reference, _) = read(&memory, &made.files);
        assert_eq!(seen(&session), seen(&reference), "{shape:?}");
        let lines: Vec<&[u8]> = made
            .bytes()
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .collect();
        for slot in session.log().slots() {
            let entry = ok(session.entry(slot));
            assert!(
                lines.contains(&entry.bytes.as_slice()) && entry.view.is_some(),
                "{shape:?}: an entry is its line"
            );
        }
    }
}

/// An export contains every byte.
pub fn exports(make: &Make<'_>) {
    let made = pi::file(
        pi::PiShape::EveryEntry,
        pi::PiFlavour::Pi,
        pi::PiLayout::of("/proj/app"),
        7,
    );
    let (session, _) = read(make, &made.files);
    let mut out = Vec::new();
    ok(session.export(&mut |piece| {
        out.extend_from_slice(piece);
        Ok(())
    }));
    assert_eq!(
        out.escape_ascii().to_string(),
        made.bytes().escape_ascii().to_string(),
        "an export is the log"
    );
    let mut pieces = 0;
    let stopped = session.export(&mut |_| {
        pieces += 1;
        Err(Error::new(ErrorKind::Unavailable, "the pipe is closed"))
    });
    assert!(
        stopped.is_err() && pieces == 1,
        "a reader that goes away ends the export"
    );
}

/// A revision changes with every line, and with nothing else.
pub fn revisions(make: &Make<'_>) {
    let made = pi::file(
        pi::PiShape::Linear,
        pi::PiFlavour::Pi,
        pi::PiLayout::of("/proj/app"),
        7,
    );
    let mut last = None;
    let ends = made
        .bytes()
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1);
    for end in ends {
        let mut files = FileList::new();
        files.add(made.main.clone(), &made.bytes()[..end]);
        let session = read(make, &files).0;
        let revision = session.revision();
        assert!(
            Some(revision.end()) > last,
            "{revision} follows an end at {last:?}"
        );
        assert_eq!(revision, session.revision(), "and stays while the log does");
        last = Some(revision.end());
    }
}

/// A summary is the same for every backend, for small logs and for large ones.
pub fn summaries(make: &Make<'_>) {
    for turns in [3, 2_000] {
        let mut session = pi::PiSession::start(pi::PiFlavour::Pi, "/proj/app", 7);
        session.header_v3(None);
        (0..turns).for_each(|_| drop(session.turn()));
        let mut files = FileList::new();
        files.add(
            "--proj-app--/2026-10-05T08-00-00-000Z_01990000-1234-7abc-8def-0123456789ab.jsonl",
            session.into_bytes(),
        );
        let [summary, reference] = [make, &memory].map(|make| {
            let (_, (store, location)) = read(make, &files);
            ok(store.summary(&location))
        });
        let shown = |s: &boswell_store::store::Summary| {
            (
                s.name(),
                s.leaf.clone(),
                s.meta.last_active,
                s.meta.created,
                s.complete,
            )
        };
        assert_eq!(shown(&summary), shown(&reference), "{turns} turns");
        assert!(!summary.complete || summary.records == reference.records);
    }
}

fn log() -> Vec<u8> {
    (0..40)
        .map(|n| {
            format!(
                "{{\"type\":\"message\",\"n\":{n},\"text\":\"{}\"}}\n",
                "x".repeat(n)
            )
        })
        .collect::<String>()
        .into()
}

fn memory(objects: &[(String, Vec<u8>)]) -> Arc<dyn Backend> {
    let mut backend = boswell_store::backend::MemoryBackend::default();
    for (key, bytes) in objects {
        backend.put(key, bytes.clone(), None);
    }
    Arc::new(backend)
}

fn dialect() -> &'static dyn Dialect {
    by_name("pi").expect("pi is registered")
}

/// Reads the one session among these files.
fn read(make: &Make<'_>, files: &FileList) -> (Session, (Store, SessionLocation)) {
    let objects: Vec<_> = files
        .list
        .iter()
        .map(|file| (file.path.clone(), file.bytes.clone()))
        .collect();
    let store = Store::on(dialect(), make(&objects), "conformance");
    let mut location = ok(store.list()).sessions;
    assert_eq!(location.len(), 1, "a listing finds the session");
    let location = location.remove(0);
    (ok(store.read(&location, Depth::Facts)), (store, location))
}

/// Returns everything that is read of a session, in a form that does not depend on the backend.
fn seen(session: &Session) -> Vec<String> {
    let log = session.log();
    let label = |slot: Slot| log.label(slot).into_owned();
    let mut seen: Vec<String> = log
        .entries()
        .map(|(slot, head)| {
            format!(
                "{} {} {:?} {}",
                label(slot),
                head.line,
                head.kind,
                log.word(slot)
            )
        })
        .collect();
    seen.push(format!("leaf {:?}", ok(session.leaf()).map(label)));
    let tip = ok(session.tip());
    seen.push(format!(
        "branch {:?}",
        ok(session.branch(tip))
            .into_iter()
            .map(label)
            .collect::<Vec<_>>()
    ));
    let context = ok(session.context(tip));
    seen.push(format!("settings {:?}", context.settings));
    for item in &context.items {
        seen.push(format!("{:?}", ok(session.render(item)).message));
    }
    let meta = session.meta();
    seen.push(format!(
        "{:?} {:?} {} {:?}",
        meta.title, meta.first_prompt, meta.messages, meta.last_active
    ));
    let report = ok(check(session));
    seen.push(format!("{} of {}", report.reachable, report.total));
    seen.extend(report.problems.iter().map(|problem| format!("{problem:?}")));
    seen
}
