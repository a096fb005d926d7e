//! Real processes on one session: killed, many concurrently, with readers and with a writer that
//! uses no locks.
#![expect(
    clippy::disallowed_methods,
    reason = "a test plants, looks and stops at the first surprise"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::hammer::hammer;
use boswell_store::{Draft, ErrorKind, NewSession, SessionWriter, Wait, WritableStore};
use boswell_testkit::Rng;
use serde_json::Value;
use tempfile::TempDir;

const ID: &str = "shared";

struct Bench {
    folder: TempDir,
    store: WritableStore,
    log: PathBuf,
}

impl Bench {
    /// Creates a home with one session, whose first entry has the id `first`.
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let store = boswell_store::Home::at(folder.path().join("home"))
            .sessions()
            .unwrap();
        let writer = store
            .create(NewSession::in_project("/proj/demo").with_id(ID))
            .unwrap();
        writer
            .append(Draft::user("hello").with_id("first"))
            .unwrap();
        let log = writer.path();
        writer.release().unwrap();
        Bench { folder, store, log }
    }

    fn command(&self, role: &str, name: &str, count: usize, batch: usize) -> Command {
        let session = if role == "foreign" {
            self.log.to_str().unwrap()
        } else {
            ID
        };
        let mut command = Command::new(hammer());
        command
            .arg(role)
            .arg(self.folder.path().join("home"))
            .args([session, name]);
        command.args([count.to_string(), batch.to_string()]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn start(&self, role: &str, name: &str, count: usize, batch: usize) -> Child {
        self.command(role, name, count, batch).spawn().unwrap()
    }

    /// Returns the complete lines of the file without the header, and the number of torn ones.
    fn lines(&self) -> (Vec<Value>, usize) {
        let bytes = std::fs::read(&self.log).unwrap();
        let lines: Vec<&[u8]> = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .collect();
        let values: Vec<Value> = lines
            .iter()
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        let torn = lines.len() - values.len();
        (values.into_iter().skip(1).collect(), torn)
    }

    /// Checks that every entry exists once and that those of each writer are in order; returns how
    /// many each writer has.
    fn judge(&self) -> BTreeMap<String, usize> {
        let mut seen = BTreeSet::new();
        let mut next: BTreeMap<String, usize> = BTreeMap::new();
        for line in self.lines().0 {
            assert!(
                seen.insert(line["id"].to_string()),
                "the id {} is there twice",
                line["id"]
            );
            let id = name_of(&line);
            let Some((name, number)) = id.rsplit_once('-') else {
                continue;
            };
            let next = next.entry(name.to_owned()).or_default();
            assert_eq!(
                number.parse::<usize>().unwrap(),
                *next,
                "`{id}` is out of order"
            );
            *next += 1;
        }
        next
    }
}

/// Returns the name of an entry: the first word of its text, else its id.
fn name_of(line: &Value) -> String {
    let content = &line["message"]["content"];
    let text = content.as_str().or_else(|| content[0]["text"].as_str());
    text.and_then(|text| text.split_once(' '))
        .map_or(line["id"].as_str().unwrap(), |(name, _)| name)
        .to_owned()
}

/// Returns the output of a process that exited successfully.
fn output(mut child: Child) -> Vec<String> {
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn what_a_killed_process_had_acknowledged_is_there() {
    let mut rng = Rng::new(20_26);
    let mut killed_midway = 0;
    for session in 0..10 {
        let home = Bench::new();
        let mut acknowledged: Vec<String> = Vec::new();
        for round in 0..20 {
            let mut child = home.start(
                "drive",
                &format!("r{session}.{round}"),
                10_000,
                1 + round % 3,
            );
            let mut receipts = BufReader::new(child.stdout.take().unwrap());
            let wanted = rng.below(30);
            let mut line = String::new();
            while acknowledged
                .iter()
                .filter(|id| id.starts_with(&format!("r{session}.{round}-")))
                .count()
                < wanted
            {
                line.clear();
                assert!(
                    receipts.read_line(&mut line).unwrap() > 0,
                    "it ended by itself"
                );
                acknowledged.push(line.trim_end().to_owned());
            }
            child.kill().unwrap();
            child.wait().unwrap();
            // Receipts that it printed before it died count too.
            let mut rest = String::new();
            receipts.read_to_string(&mut rest).unwrap();
            let whole = rest.rfind('\n').map_or("", |end| &rest[..end]);
            acknowledged.extend(whole.lines().map(str::to_owned));
            let (lines, torn) = home.lines();
            killed_midway += usize::from(torn > 0);
            let ids: Vec<&str> = lines
                .iter()
                .filter_map(|line| line["id"].as_str())
                .collect();
            let found: BTreeSet<&str> = ids.iter().copied().collect();
            assert_eq!(found.len(), ids.len(), "doubled in round {round}");
            let lost: Vec<&String> = acknowledged
                .iter()
                .filter(|id| !found.contains(id.as_str()))
                .collect();
            assert!(lost.is_empty(), "lost in round {round}: {lost:?}");
        }
        home.judge();
        // The lease ended with its process, and the next entry is on a separate line.
        let writer = home.store.writer(ID, Wait::No).unwrap();
        writer
            .append(Draft::user("after all").with_id("last"))
            .unwrap();
        assert_eq!(home.lines().0.last().unwrap()["id"], "last");
        let session = home.store.session(ID).unwrap();
        assert_eq!(
            session.log().gaps.is_empty(),
            home.lines().1 == 0,
            "torn lines are reported"
        );
    }
    println!("200 rounds, {killed_midway} with a torn line in the file");
}

#[test]
fn eight_processes_that_share_a_session_lose_and_double_nothing() {
    let home = Bench::new();
    let reader = home.start("read", "", 0, 0);
    let writers: Vec<Child> = (0..8)
        .map(|n| home.start("share", &format!("w{n}"), 1000, 10))
        .collect();
    for (n, writer) in writers.into_iter().enumerate() {
        let receipts = output(writer);
        let wanted: Vec<String> = (0..1000).map(|number| format!("w{n}-{number}")).collect();
        assert_eq!(receipts, wanted);
    }
    assert!(output(reader)[0].starts_with("looks "));
    let counts = home.judge();
    assert_eq!(counts, (0..8).map(|n| (format!("w{n}"), 1000)).collect());
    let (lines, torn) = home.lines();
    assert_eq!((lines.len(), torn), (8001, 0));
    // The parent of each entry is the one before it, whichever process wrote that.
    assert!(
        lines
            .windows(2)
            .all(|pair| pair[1]["parentId"] == pair[0]["id"]),
        "the chain is broken"
    );
}

#[test]
fn titles_labels_and_tags_of_others_do_not_disturb_the_driver() {
    let home = Bench::new();
    let reader = home.start("read", "", 0, 0);
    let driver = home.start("drive", "d", 1000, 1);
    let others: Vec<Child> = (0..7)
        .map(|n| home.start("annotate", &format!("n{n}"), 60, 1))
        .collect();
    for other in others {
        assert_eq!(output(other).len(), 60);
    }
    let said = output(driver);
    assert_eq!(said.len(), 1001);
    assert_eq!(said.last().unwrap(), "races 0", "all of us take the lock");
    output(reader);
    let counts = home.judge();
    assert_eq!(counts.values().sum::<usize>(), 1000 + 7 * 60);
    let (lines, torn) = home.lines();
    assert_eq!(torn, 0);
    assert!(
        lines
            .windows(2)
            .all(|pair| pair[1]["parentId"] == pair[0]["id"]),
        "the chain is broken"
    );
    let session = home.store.session(ID).unwrap();
    let context = session.context(session.tip().unwrap()).unwrap();
    assert_eq!(
        context.items.len(),
        1001,
        "the whole conversation is on the branch"
    );
    assert!(session.meta().title.is_some() && session.meta().tags.len() == 1);
    assert!(session.meta().labels_now().contains_key("first"));
}

#[test]
fn notes_find_a_session_also_in_the_moment_in_which_it_becomes_visible() {
    for round in 0..5 {
        let mut home = Bench::new();
        let folder = home.log.parent().unwrap().to_owned();
        std::fs::remove_file(&home.log).unwrap();
        let mut driver = home.start("defer", "first", 40, 1);
        let mut receipts = BufReader::new(driver.stdout.take().unwrap());
        let mut line = String::new();
        receipts.read_line(&mut line).unwrap();
        assert_eq!(line, "created\n");
        // Titles and tags only, which need no parent entry.
        let others: Vec<Child> = (0..3)
            .map(|n| home.start("note", &format!("n{n}"), 30, 1))
            .collect();
        for other in others {
            assert_eq!(output(other).len(), 30, "round {round}");
        }
        let mut rest = String::new();
        receipts.read_to_string(&mut rest).unwrap();
        assert!(driver.wait().unwrap().success());
        assert_eq!(rest.lines().count(), 40);
        let names: Vec<PathBuf> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        let [log] = names.as_slice() else {
            unreachable!("{names:?}")
        };
        assert!(log.extension().unwrap() == "jsonl");
        home.log.clone_from(log);
        assert_eq!(home.judge().values().sum::<usize>(), 40 + 3 * 30);
        assert_eq!(home.lines().1, 0);
    }
}

#[test]
fn a_writer_without_locks_tears_none_of_our_entries() {
    let mut races = 0;
    for round in 0..10 {
        let home = Bench::new();
        let foreign = home.start("foreign", "f", 4000, 1);
        let said = output(home.start("drive", "d", 1500, 1));
        output(foreign);
        races += said
            .last()
            .unwrap()
            .strip_prefix("races ")
            .unwrap()
            .parse::<u64>()
            .unwrap();
        let (lines, _) = home.lines();
        let ours: Vec<&str> = lines
            .iter()
            .filter_map(|line| line["id"].as_str())
            .filter(|id| id.starts_with("d-"))
            .collect();
        let wanted: Vec<String> = (0..1500).map(|number| format!("d-{number}")).collect();
        assert_eq!(ours, wanted, "round {round}");
        let text = std::fs::read_to_string(&home.log).unwrap();
        let whole = (0..4000).filter(|number| number % 4 != 3);
        let lost: Vec<usize> = whole
            .filter(|number| !text.contains(&format!("\"f-{number}\"")))
            .collect();
        assert!(
            lost.is_empty(),
            "lines of the other writer are gone: {lost:?}"
        );
        if races > 0 && round > 1 {
            break;
        }
    }
    assert!(races > 0, "the two never met");
}

// ---- one after the other ----

fn opened(home: &Bench) -> SessionWriter {
    // A process that a concurrent test starts holds every lock of this one for a moment, between
    // fork and exec.
    home.store
        .writer(ID, Wait::For(std::time::Duration::from_secs(5)))
        .unwrap()
}

#[test]
fn a_second_writer_is_told_who_holds_the_lease() {
    let home = Bench::new();
    let mut holder = home.start("hold", "", 0, 0);
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "held\n");
    let error = home.store.writer(ID, Wait::No).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(
        error
            .reason()
            .unwrap()
            .contains(&format!("pid {}", holder.id())),
        "{:?}",
        error.reason()
    );
    let short = Wait::For(std::time::Duration::from_millis(20));
    assert_eq!(
        home.store.writer(ID, short).unwrap_err().kind(),
        ErrorKind::Busy
    );
    let note = home.store.annotate(
        ID,
        Draft::new(boswell_store::Body::Title("named".to_owned())),
    );
    note.unwrap();
    // A waiting process continues as soon as the holder is gone, even if that was killed.
    let waiting = home.start("share", "w", 1, 1);
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(output(waiting), ["w-0"]);
}

#[test]
fn a_log_that_was_replaced_or_removed_fences_its_writer_off() {
    let home = Bench::new();
    let writer = opened(&home);
    let copy = home.log.with_extension("copy");
    std::fs::copy(&home.log, &copy).unwrap();
    std::fs::rename(&copy, &home.log).unwrap();
    let before = std::fs::read(&home.log).unwrap();
    for _ in 0..2 {
        let error = writer.append(Draft::user("too late")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.to_string().contains("replaced"), "{error}");
    }
    drop(writer);
    assert_eq!(std::fs::read(&home.log).unwrap(), before);
    let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&home.log).unwrap());
    let writer = opened(&home);
    let now = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&home.log).unwrap());
    assert_eq!(now, inode, "somebody else's file needs no copy");
    writer.append(Draft::user("again")).unwrap();
    std::fs::remove_file(&home.log).unwrap();
    assert_eq!(
        writer.append(Draft::user("gone")).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert!(!home.log.exists(), "a removed log is not made again");
}

#[test]
fn a_log_that_was_cut_shorter_fences_its_writer_off() {
    let home = Bench::new();
    let writer = opened(&home);
    writer.append(Draft::user("to be cut")).unwrap();
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(&home.log)
        .unwrap();
    file.set_len(file.metadata().unwrap().len() - 5).unwrap();
    let before = std::fs::read(&home.log).unwrap();
    let error = writer.append(Draft::user("too late")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("shorter"), "{error}");
    assert_eq!(std::fs::read(&home.log).unwrap(), before);
    drop(writer);
    opened(&home)
        .append(Draft::user("again").with_id("again"))
        .unwrap();
    let after = std::fs::read(&home.log).unwrap();
    assert!(
        after.starts_with(&before) && after[before.len()] == b'\n',
        "the torn line stays on its own"
    );
}

#[test]
fn a_failed_sync_of_another_writer_stops_this_one_until_the_log_is_copied() {
    let home = Bench::new();
    let writer = opened(&home);
    let in_doubt = home.folder.path().join("home/locks/boswell-shared.doubt");
    std::fs::hard_link(&home.log, &in_doubt).unwrap();
    let inode =
        |path: &PathBuf| std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).unwrap());
    let (bytes, old) = (std::fs::read(&home.log).unwrap(), inode(&home.log));
    assert_eq!(
        writer.append(Draft::user("unsure")).unwrap_err().kind(),
        ErrorKind::Unavailable
    );
    assert_eq!(
        writer.append(Draft::user("unsure")).unwrap_err().kind(),
        ErrorKind::Unavailable
    );
    drop(writer);
    assert_eq!(std::fs::read(&home.log).unwrap(), bytes);
    let writer = opened(&home);
    assert!(inode(&home.log) != old && !in_doubt.exists());
    assert_eq!(std::fs::read(&home.log).unwrap(), bytes);
    writer.append(Draft::user("sure again")).unwrap();
}

#[test]
fn threads_that_share_a_writer_lose_and_double_nothing() {
    let home = Bench::new();
    let writer = opened(&home);
    std::thread::scope(|scope| {
        for n in 0..8 {
            let writer = writer.clone();
            scope.spawn(move || {
                for number in 0..50 {
                    let receipt = writer
                        .append(Draft::user("t").with_id(format!("t{n}-{number}")))
                        .unwrap();
                    assert_eq!(receipt.entry, format!("t{n}-{number}"));
                }
            });
        }
    });
    let counts = home.judge();
    assert_eq!(counts, (0..8).map(|n| (format!("t{n}"), 50)).collect());
}
