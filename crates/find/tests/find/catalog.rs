//! The catalog on real files: which changes it detects, and which damage it survives.

mod damage;
mod totals;

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use boswell_find::{By, Catalog, CatalogRow, Prices, WantedRows};
use boswell_model::Instant;
use boswell_store::store::Stores;
use boswell_testkit::{bench_corpus, corpus, disk};

/// Returns a time long after every file was written, so that no file is too new to be trusted.
fn later(seconds: u64) -> Instant {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap() + Duration::from_secs(seconds);
    Instant::from_millis(i64::try_from(now.as_millis()).unwrap())
}

struct Lab {
    folder: tempfile::TempDir,
    stores: Stores,
}

impl Lab {
    fn new(sessions: usize) -> Lab {
        let folder = tempfile::tempdir().unwrap();
        bench_corpus::generate(folder.path(), sessions, 0.4, 3, false);
        let mut stores = Stores::default();
        stores.add("claude", folder.path().join(".claude")).unwrap();
        Lab { folder, stores }
    }

    fn catalog(&self) -> Catalog {
        Catalog::open(&self.folder.path().join("catalog.db")).unwrap()
    }

    fn logs(&self) -> Vec<PathBuf> {
        corpus::files(&self.folder.path().join(".claude"))
            .into_iter()
            .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
            .collect()
    }

    fn look(&self, catalog: &mut Catalog) -> Vec<CatalogRow> {
        let mut refreshed = catalog.refresh(&self.stores, later(60)).unwrap();
        assert!(refreshed.unwritten.is_none());
        catalog
            .fill(
                &self.stores,
                &mut refreshed.entries,
                WantedRows::Whole,
                2,
                &|| true,
            )
            .unwrap();
        refreshed.entries
    }

    fn summary(&self, entry: &CatalogRow) -> boswell_store::store::Summary {
        entry
            .summary(self.stores.get(entry.store).unwrap())
            .unwrap()
    }
}

fn generation(entries: &[CatalogRow], path: &Path) -> u64 {
    let name = path.file_name().unwrap().to_str().unwrap();
    entries
        .iter()
        .find(|entry| entry.location.key.as_deref().unwrap().ends_with(name))
        .unwrap()
        .generation
}

fn append(path: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(line.as_bytes()).unwrap();
}

#[test]
fn what_was_read_is_known_without_reading_again_and_equals_a_fresh_look() {
    let lab = Lab::new(12);
    let mut catalog = lab.catalog();
    lab.look(&mut catalog);
    drop(catalog);
    let mut catalog = lab.catalog();
    let mut entries = catalog.refresh(&lab.stores, later(70)).unwrap().entries;
    let filled = catalog
        .fill(&lab.stores, &mut entries, WantedRows::Whole, 2, &|| true)
        .unwrap();
    assert_eq!((filled.read, filled.complete), (0, true));
    for entry in &entries {
        let store = lab.stores.get(entry.store).unwrap();
        let (kept, fresh) = (
            lab.summary(entry),
            store
                .read(&entry.location, boswell_dialect::Depth::Facts)
                .unwrap(),
        );
        let meta = fresh.meta();
        assert!(kept.complete);
        assert_eq!(kept.meta.messages, meta.messages);
        assert_eq!(kept.meta.kinds, meta.kinds);
        assert_eq!(kept.meta.usage.total(), meta.usage.total());
        assert_eq!(kept.meta.first_prompt, meta.first_prompt);
        assert_eq!(
            kept.leaf,
            fresh
                .leaf()
                .unwrap()
                .map(|slot| fresh.log().label(slot).into_owned())
        );
    }
}

#[test]
fn growing_keeps_the_generation_and_every_other_change_raises_it() {
    let lab = Lab::new(8);
    let mut catalog = lab.catalog();
    let before = lab.look(&mut catalog);
    let logs = lab.logs();
    append(
        &logs[0],
        "{\"type\":\"user\",\"message\":{\"content\":\"more\"}}\n",
    );

    // Same size and same modification time: only the change time (ctime) differs.
    let modified = std::fs::metadata(&logs[1]).unwrap().modified().unwrap();
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&logs[1])
        .unwrap();
    file.seek(std::io::SeekFrom::Start(40)).unwrap();
    file.write_all(b"#").unwrap();
    file.set_modified(modified).unwrap();
    drop(file);

    let bytes = disk::read(&logs[2]);
    disk::write(&logs[2], &[]);
    disk::write(
        &logs[2],
        &[&bytes[..bytes.len() / 2], &vec![b' '; bytes.len()][..]].concat(),
    );

    let bytes = disk::read(&logs[3]);
    std::fs::remove_file(&logs[3]).unwrap();
    disk::write(&logs[3], &[&bytes[..], b"{\"type\":\"user\"}\n"].concat());

    let after = lab.look(&mut catalog);
    assert_eq!(
        generation(&after, &logs[0]),
        generation(&before, &logs[0]),
        "grown"
    );
    assert!(
        generation(&after, &logs[1]) > generation(&before, &logs[1]),
        "edited in place"
    );
    assert!(
        generation(&after, &logs[2]) > generation(&before, &logs[2]),
        "truncated and grown again"
    );
    // The new file may have the inode of the old one; its first bytes are equal, so it may count as
    // grown.
    let recreated = (generation(&before, &logs[3]), generation(&after, &logs[3]));
    assert!(recreated.1 >= recreated.0);
    for log in &logs[4..] {
        assert_eq!(generation(&after, log), generation(&before, log));
    }
    let grown = after.iter().find(|e| {
        e.location
            .key
            .as_deref()
            .unwrap()
            .ends_with(logs[0].file_name().unwrap().to_str().unwrap())
    });
    assert!(lab.summary(grown.unwrap()).complete);
}

#[test]
fn a_file_recreated_with_other_bytes_is_another_generation() {
    let lab = Lab::new(5);
    let mut catalog = lab.catalog();
    let before = lab.look(&mut catalog);
    let log = &lab.logs()[0];
    let longer = disk::read(log).len() + 500;
    std::fs::remove_file(log).unwrap();
    disk::write(
        log,
        format!("{{\"type\":\"user\",\"pad\":\"{}\"}}\n", "x".repeat(longer)).as_bytes(),
    );
    let after = lab.look(&mut catalog);
    assert!(generation(&after, log) > generation(&before, log));
}

#[test]
fn what_is_too_young_is_looked_at_again() {
    let lab = Lab::new(5);
    let mut catalog = lab.catalog();
    let log = &lab.logs()[0];
    append(
        log,
        "{\"type\":\"user\",\"message\":{\"content\":\"aaaa\"}}\n",
    );
    // By this clock, the file changed at this moment.
    let first = catalog.refresh(&lab.stores, later(0)).unwrap().entries;
    catalog
        .fill(
            &lab.stores,
            &mut first.clone(),
            WantedRows::Whole,
            1,
            &|| true,
        )
        .unwrap();
    let again = catalog.refresh(&lab.stores, later(60)).unwrap().entries;
    let young = |entries: &[CatalogRow]| entries.iter().filter(|entry| !entry.is_current()).count();
    assert!(
        young(&again) >= 1,
        "a file that was too young is read again once"
    );
    assert_eq!(
        generation(&first, log),
        generation(&again, log),
        "nothing changed, so the index holds"
    );
    lab.look(&mut catalog);
    let last = catalog.refresh(&lab.stores, later(90)).unwrap().entries;
    assert_eq!(young(&last), 0);
}

#[test]
fn garbage_and_other_versions_are_replaced() {
    let lab = Lab::new(5);
    let path = lab.folder.path().join("catalog.db");
    let before = lab.look(&mut lab.catalog());
    for garbage in [&b"garbage"[..], &vec![7; 40_000], b""] {
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(lab.folder.path().join(format!("catalog.db{ending}")));
        }
        disk::write(&path, garbage);
        let mut catalog = lab.catalog();
        let after = lab.look(&mut catalog);
        assert_eq!(after.len(), before.len());
        assert!(after.iter().all(CatalogRow::is_current));
        assert_ne!(
            after[0].generation, before[0].generation,
            "numbers given out before are not given out again"
        );
    }
    drop(lab.catalog());
    let mut bytes = disk::read(&path);
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    disk::write(&path, &bytes);
    assert_eq!(lab.look(&mut lab.catalog()).len(), before.len());
}

#[test]
fn pages_damaged_after_opening_are_noticed_and_rebuilt() {
    let lab = Lab::new(5);
    lab.look(&mut lab.catalog());
    let path = lab.folder.path().join("catalog.db");
    let mut bytes = disk::read(&path);
    let end = bytes.len();
    bytes[8192..end].fill(0xAB);
    disk::write(&path, &bytes);
    let mut catalog = lab.catalog();
    assert_eq!(lab.look(&mut catalog).len(), 5);
    assert_eq!(lab.look(&mut lab.catalog()).len(), 5);
}

#[test]
fn many_open_a_new_catalog_at_once_and_none_is_turned_away() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        let start = std::sync::Barrier::new(8);
        let open = || {
            start.wait();
            Catalog::open(&path).map(|_| ())
        };
        let opened: Vec<_> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            running
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(opened.iter().all(Result::is_ok), "{opened:?}");
    }
}

#[test]
fn two_at_once_agree() {
    let lab = Lab::new(40);
    let both: Vec<(Vec<CatalogRow>, _)> = std::thread::scope(|scope| {
        let one = || {
            let mut catalog = lab.catalog();
            let entries = lab.look(&mut catalog);
            let sums = catalog
                .tally(&lab.stores, &entries, By::Day, &|_| true)
                .unwrap()
                .sums(&Prices::default());
            (entries, sums)
        };
        let running: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let generations = |entries: &[CatalogRow]| {
        entries
            .iter()
            .map(|e| (e.location.key.clone(), e.generation))
            .collect::<Vec<_>>()
    };
    for (other, sums) in &both[1..] {
        assert_eq!(generations(other), generations(&both[0].0));
        assert_eq!(*sums, both[0].1);
    }
}

#[test]
fn a_session_that_is_gone_is_remembered_until_it_is_forgotten() {
    let lab = Lab::new(5);
    let mut catalog = lab.catalog();
    lab.look(&mut catalog);
    let log = &lab.logs()[2];
    std::fs::remove_file(log).unwrap();
    assert_eq!(lab.look(&mut catalog).len(), 4);
    let deleted_sessions = catalog.deleted_sessions().unwrap();
    let id = log.file_stem().unwrap().to_str().unwrap();
    assert_eq!(
        (
            deleted_sessions.len(),
            deleted_sessions[0].reference.id.as_str()
        ),
        (1, id)
    );
    let prompt = deleted_sessions[0].meta.first_prompt.clone().unwrap();
    catalog
        .forget(&|session, _| *session == deleted_sessions[0].reference)
        .unwrap();
    assert!(catalog.deleted_sessions().unwrap().is_empty());
    drop(catalog);
    let holds = |path: PathBuf| {
        let bytes = if path.exists() {
            disk::read(&path)
        } else {
            Vec::new()
        };
        String::from_utf8_lossy(&bytes).contains(prompt.get(..20).unwrap_or(&prompt))
    };
    for ending in ["", "-wal"] {
        assert!(
            !holds(lab.folder.path().join(format!("catalog.db{ending}"))),
            "nothing of a forgotten session stays"
        );
    }
}
