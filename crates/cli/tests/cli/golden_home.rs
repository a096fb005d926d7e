//! A home that an earlier build wrote: list, read, recover, restore and undo give the recorded
//! results.
//!
//! `tests/golden/home` holds its files and says how they were made. What is tested here are names
//! that must never change: record types in logs, files of the home, JSON members in them, names of
//! locks, fields of `--json`, settings. Everything is compared by bytes, hashes or whole lines, so
//! a renamed one fails.
//!
//! Derived files (catalog, search index) are not part of it: each test begins without them, and
//! [`a_catalog_of_another_home_is_made_again`] with one that knows nothing of this home.

mod operations;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use boswell_store::Home;
use boswell_store::blobs::Attachments;
use boswell_store::checkpoint::{Captured, State};
use boswell_testkit::disk::{list, make_dir, read, set_mode, write};
use serde_json::Value;

use crate::bench::{Bench, Ran, bless};

const OWN: &str = "boswell:00000000-0001-7001-8001-00000000601d";
const FORK: &str = "boswell:00000000-0002-7001-8001-00000000601d";
const DOUBTFUL: &str = "boswell:00000000-0003-7001-8001-00000000601d";
const CLAUDE: &str = "claude:aaaaaaaa-0001-4001-8001-00000000601d";
const ARCHIVED: &str = "claude:aaaaaaaa-0005-4001-8001-00000000601d";
const DELETED: &str = "claude:aaaaaaaa-0006-4001-8001-00000000601d";
const PURGED: &str = "claude:aaaaaaaa-0007-4001-8001-00000000601d";
/// Its agent deleted it; only the copies from `keep` are left.
const KEPT: &str = "claude:aaaaaaaa-0008-4001-8001-00000000601d";
const ARCHIVED_PI: &str = "pi:aaaaaaaa-0009-4001-8001-00000000601d";
/// A rename of this session was killed before its second file was written.
const INTERRUPTED: &str = "clinvoker:0a0b0c0d0e0f0001";

/// Placeholder for the folder that contains the home.
const ROOT: &[u8] = b"@ROOT@";

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/home")
        .join(name)
}

/// Unpacks the home into a temporary folder, with modes and times.
fn unpack() -> Bench {
    let bench = Bench::new();
    let manifest = String::from_utf8(read(&golden("manifest.txt"))).unwrap();
    let entries: Vec<[&str; 4]> = manifest
        .lines()
        .map(|line| {
            line.splitn(4, ' ')
                .collect::<Vec<_>>()
                .try_into()
                .unwrap_or_else(|_| panic!("{line}"))
        })
        .collect();
    let root = bench.root().to_str().unwrap().as_bytes();
    for [kind, mode, modified, name] in &entries {
        let path = bench.root().join(name);
        if *kind == "d" {
            make_dir(&path);
            continue;
        }
        write(
            &path,
            &replaced(&read(&golden("tree").join(name)), ROOT, root),
        );
        let (seconds, nanos) = modified.split_once('.').unwrap();
        let since = Duration::new(seconds.parse().unwrap(), nanos[..9].parse().unwrap());
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + since).unwrap();
        set_mode(&path, u32::from_str_radix(mode, 8).unwrap());
    }
    for [_, mode, _, name] in entries.iter().rev().filter(|entry| entry[0] == "d") {
        set_mode(
            &bench.root().join(name),
            u32::from_str_radix(mode, 8).unwrap(),
        );
    }
    bench
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Compares output with the recorded one by whole lines, except for the page, which contains the
/// current time.
#[track_caller]
fn as_recorded(bench: &Bench, name: &str, ran: &Ran) {
    let root = bench.root().to_str().unwrap();
    let text = ran.text().replace(root, "@ROOT@");
    let lines: String = text
        .lines()
        .filter(|line| !line.contains(r#""type":"page""#))
        .map(|line| format!("{}\n", with_ends_of_revisions(line)))
        .collect();
    assert!(!lines.is_empty(), "{ran:?}");
    let path = golden("expected").join(name);
    if bless() {
        write(&path, lines.as_bytes());
    }
    pretty_lines(&lines, &String::from_utf8(read(&path)).unwrap(), name);
}

/// Returns a line whose revision contains only the end of the log, like the recorded ones: the
/// inode differs in every unpacked home.
fn with_ends_of_revisions(line: &str) -> String {
    let start = r#""revision":""#;
    let Some((before, rest)) = line.split_once(start) else {
        return line.to_owned();
    };
    let (revision, after) = rest.split_once('"').unwrap();
    let revision: boswell_model::Revision = revision.parse().unwrap();
    format!("{before}{start}{}\"{after}", revision.end())
}

#[track_caller]
fn pretty_lines(is: &str, recorded: &str, name: &str) {
    for (number, (is, recorded)) in is.lines().zip(recorded.lines()).enumerate() {
        assert_eq!(is, recorded, "{name}, line {}", number + 1);
    }
    assert_eq!(
        is.lines().count(),
        recorded.lines().count(),
        "{name}:\n{is}"
    );
}

fn number_of(folder: &Path, part: &str) -> usize {
    list(folder)
        .iter()
        .filter(|path| path.file_name().unwrap().to_str().unwrap().contains(part))
        .count()
}

#[test]
fn the_golden_home_is_listed_with_its_titles_tags_statuses_and_operations() {
    let bench = unpack();
    as_recorded(
        &bench,
        "list.jsonl",
        &bench.run(["list", "--hidden", "--json"]).ends(0),
    );
    as_recorded(&bench, "ops.jsonl", &bench.run(["ops", "--json"]).ends(0));
    as_recorded(
        &bench,
        "prompts.jsonl",
        &bench.run(["prompts", "--json"]).ends(0),
    );
    as_recorded(
        &bench,
        "memory.jsonl",
        &bench.run(["memory", "/golden/shop", "--json"]).ends(0),
    );
    as_recorded(
        &bench,
        "keep.jsonl",
        &bench.run(["keep", "status", "--json"]).ends(0),
    );
    let settings = bench.run(["config", "--json"]).ends(0).text();
    for value in ["36500d", "golden-model", "config.toml"] {
        assert!(settings.contains(value), "{settings}");
    }
}

#[test]
fn a_catalog_of_another_home_is_made_again() {
    let (bench, other) = (unpack(), Bench::new());
    make_dir(&other.own());
    other
        .run(["new", "--project", "/elsewhere", "--title", "Not golden"])
        .ends(0);
    other.run(["index"]).ends(0);
    write(
        &bench.own().join("catalog.db"),
        &read(&other.own().join("catalog.db")),
    );
    as_recorded(
        &bench,
        "list.jsonl",
        &bench.run(["list", "--hidden", "--json"]).ends(0),
    );
}

#[test]
fn sessions_of_the_golden_home_are_read_as_they_were() {
    let bench = unpack();
    as_recorded(
        &bench,
        "records.jsonl",
        &bench.run(["show", OWN, "--records", "--json"]).ends(0),
    );
    as_recorded(
        &bench,
        "context.jsonl",
        &bench.run(["context", OWN, "--json"]).ends(0),
    );
    as_recorded(
        &bench,
        "tree.jsonl",
        &bench.run(["tree", OWN, "--json"]).ends(0),
    );
    as_recorded(
        &bench,
        "fork.jsonl",
        &bench.run(["tree", FORK, "--json"]).ends(0),
    );
    as_recorded(
        &bench,
        "claude.jsonl",
        &bench.run(["tree", CLAUDE, "--json"]).ends(0),
    );
    let picture = bench.root().join("out");
    bench
        .run(["attachments", OWN, "--extract", picture.to_str().unwrap()])
        .ends(0);
    let extracted = list(&picture);
    assert_eq!(
        read(&extracted[0]),
        read(&list(&bench.own().join("blobs"))[0])
    );
}

#[test]
fn attachments_and_checkpoints_of_the_golden_home_are_found_by_the_library() {
    let bench = unpack();
    let store = Home::at(bench.own()).sessions().unwrap();
    let session = store.find(OWN.split_once(':').unwrap().1).unwrap();
    let session = store.read(&session, boswell_dialect::Depth::Facts).unwrap();
    let found = Attachments::list(&session).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    let attachment = &found[0].1;
    assert_eq!(
        (attachment.name.as_str(), attachment.mime.as_str()),
        ("amber.png", "image/png")
    );
    let attachments = Home::at(bench.own()).attachments();
    assert_eq!(
        attachments.read(attachment).unwrap(),
        read(&list(&bench.own().join("blobs"))[0])
    );

    let branch = session.branch(session.tip().unwrap()).unwrap();
    let first = session.log().label(branch[0]).into_owned();
    let state = State::in_session(&session, &first).unwrap();
    assert!(state.damaged.is_empty(), "{:?}", state.damaged);
    let Captured::File { blob, mode, len } = &state.state.file("amber.png").unwrap().then else {
        panic!("{state:?}")
    };
    assert_eq!((*blob, *mode, *len), (attachment.blob, 0o644, 2008));
}

#[test]
fn texts_of_the_golden_home_are_found_also_in_archived_sessions() {
    let bench = unpack();
    for (text, session, snippet) in [
        ("compiler", "", "use the golden compiler\n"),
        ("brass", CLAUDE, "polish the brass lamp"),
        (
            "\"kettle is archived\"",
            ARCHIVED_PI,
            "this kettle is archived",
        ),
        (
            "\"session is archived\"",
            ARCHIVED,
            "this session is archived",
        ),
        ("imported", "", "an imported question"),
        ("doubt", DOUBTFUL, "whether this is durable is in doubt"),
    ] {
        let hits = bench.run(["search", text, "--json"]).ends(0).of_type("hit");
        let is_it = |hit: &Value| {
            hit["snippet"] == snippet && (session.is_empty() || hit["session"] == session)
        };
        assert!(hits.iter().any(is_it), "{text}: {hits:?}");
    }
    for session in [DELETED, PURGED, KEPT] {
        bench.run(["show", session]).ends(2);
    }
}

#[test]
fn the_log_of_the_golden_home_whose_sync_failed_is_copied_before_it_is_written_to() {
    let bench = unpack();
    let own = bench.own();
    assert_eq!(number_of(&own.join("locks"), ".doubt"), 1);
    let doubtful = || {
        let logs = list(&own.join("sessions/--golden-shop--"));
        logs.into_iter()
            .find(|path| path.to_str().unwrap().contains("00000000-0003-"))
            .unwrap()
    };
    let before = read(&doubtful());
    bench.run(["append", DOUBTFUL, "--user", "and on"]).ends(0);
    assert_eq!(number_of(&own.join("locks"), ".doubt"), 0);
    assert!(read(&doubtful()).starts_with(&before));
    let second = list(&own.join("vault/inodes"))
        .into_iter()
        .find(|path| path.to_str().unwrap().contains("doubt-"));
    assert_eq!(
        read(&second.unwrap()),
        before,
        "the old file stays in the vault"
    );
}

#[test]
fn keeping_that_is_on_in_the_golden_home_is_switched_off_without_a_trace() {
    let bench = unpack();
    bench.run(["keep", "off"]).ends(0);
    assert_eq!(
        read(&bench.home().join(".claude/settings.json")),
        b"{\n  \"cleanupPeriodDays\": 99999\n}\n"
    );
    assert!(!bench.own().join("keep.json").exists());
}

#[test]
fn changes_to_the_golden_home_take_the_locks_that_are_there() {
    let bench = unpack();
    let locks = || list(&bench.own().join("locks"));
    let before = locks();
    bench
        .run(["append", OWN, "--user", "under the same locks"])
        .ends(0);
    bench.run(["tag", CLAUDE, "locked"]).ends(0);
    bench
        .run(["rename", INTERRUPTED, "Golden clinvoker, once more"])
        .ends(0);
    bench.run(["keep", "run"]).ends(0);
    // An earlier build that runs concurrently must not be able to write as well.
    assert!(!before.is_empty());
    assert_eq!(locks(), before);
}
