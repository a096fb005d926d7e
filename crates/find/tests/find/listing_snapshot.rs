//! After any change of logs, a catalog that compares them with its listing snapshot finds the same
//! as one that reads all rows.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use boswell_find::{Catalog, CatalogRow, FilterKeys, SortKeys, WantedRows};
use boswell_model::{Instant, SessionRef};
use boswell_store::store::Stores;
use boswell_testkit::disk;

/// More than one part of a listing snapshot contains.
const SESSIONS: u64 = 700;

struct Lab {
    folder: tempfile::TempDir,
    stores: Stores,
    dice: u64,
    /// How often the clock was read.
    asked: u64,
}

impl Lab {
    fn new(seed: u64) -> Lab {
        let folder = tempfile::tempdir().unwrap();
        let mut stores = Stores::default();
        stores.add("claude", folder.path().join(".claude")).unwrap();
        let mut lab = Lab {
            folder,
            stores,
            dice: seed,
            asked: 0,
        };
        for number in 0..SESSIONS {
            lab.write(number, "first");
        }
        lab
    }

    /// Returns a number below `most`, which differs for each call.
    fn listing_snapshot(&mut self, most: u64) -> u64 {
        self.dice = self
            .dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) % most
    }

    fn path(&self, number: u64) -> PathBuf {
        let project = format!(".claude/projects/-p{}", number % 7);
        self.folder
            .path()
            .join(project)
            .join(format!("{number:08x}-0000-4000-8000-000000000000.jsonl"))
    }

    fn line(number: u64, text: &str) -> String {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{text}\",\"cwd\":\"/p/{}\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{{\"content\":\"{text}\"}}}}\n",
            number % 11
        )
    }

    fn write(&mut self, number: u64, text: &str) {
        disk::write(&self.path(number), Lab::line(number, text).as_bytes());
    }

    /// Changes a random session.
    fn change(&mut self) {
        let number = self.listing_snapshot(SESSIONS + 60);
        let path = self.path(number);
        let text = format!("t{}", self.listing_snapshot(1000));
        match self.listing_snapshot(6) {
            0 | 1 => match std::fs::OpenOptions::new().append(true).open(&path) {
                Ok(mut log) => log.write_all(Lab::line(number, &text).as_bytes()).unwrap(),
                Err(_) => self.write(number, &text),
            },
            2 => self.write(number, &text),
            3 => drop(std::fs::remove_file(&path)),
            4 => drop(std::fs::rename(&path, self.path(number + 7))),
            _ => {
                let other = self.path((number + 7) % SESSIONS);
                drop(std::fs::remove_file(&other));
                drop(std::fs::hard_link(&path, other));
            }
        }
    }

    fn catalog(&self, name: &str) -> Catalog {
        Catalog::open(&self.folder.path().join(name)).unwrap()
    }

    /// Returns the catalog's facts about every session, and about deleted ones.
    fn seen(
        &mut self,
        catalog: &mut Catalog,
        now: Instant,
        fill: bool,
    ) -> (Vec<Seen>, Vec<SessionRef>) {
        let mut entries = catalog.refresh(&self.stores, now).unwrap().entries;
        if fill {
            catalog
                .read_missing(&self.stores, &mut entries, WantedRows::Whole, 1, &|| true)
                .unwrap();
        }
        let gone = catalog
            .deleted_sessions()
            .unwrap()
            .into_iter()
            .map(|deleted_session| deleted_session.reference)
            .collect();
        (entries.iter().map(seen).collect(), gone)
    }

    /// Returns a later time on each call, sometimes before the files are old enough to be trusted.
    fn now(&mut self) -> Instant {
        self.asked += 1;
        let ahead = if self.listing_snapshot(4) == 0 {
            0
        } else {
            60 + self.asked
        };
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap() + Duration::from_secs(ahead);
        Instant::from_millis(i64::try_from(now.as_millis()).unwrap())
    }
}

type Seen = (
    Option<String>,
    u64,
    bool,
    Option<SortKeys>,
    Option<FilterKeys>,
);

fn seen(entry: &CatalogRow) -> Seen {
    let location = &entry.location;
    (
        location.key.clone(),
        entry.generation,
        entry.is_current(),
        entry.sort_keys(),
        entry.filter_keys().cloned(),
    )
}

fn copy_without_listing_snapshot(from: &Path, to: &Path) -> i64 {
    std::fs::copy(from, to).unwrap();
    let db = rusqlite::Connection::open(to).unwrap();
    let parts = db
        .query_row("SELECT count(*) FROM roll", [], |row| row.get(0))
        .unwrap();
    db.execute_batch("DELETE FROM roll").unwrap();
    parts
}

#[test]
fn a_listing_snapshot_never_changes_what_a_refresh_finds() {
    for seed in [1, 2, 3] {
        let mut lab = Lab::new(seed);
        let (with, without) = (
            lab.folder.path().join("with.db"),
            lab.folder.path().join("without.db"),
        );
        let mut most_parts = 0;
        for round in 0..40 {
            let changes = if lab.listing_snapshot(8) == 0 {
                150
            } else {
                lab.listing_snapshot(6)
            };
            (0..changes).for_each(|_| lab.change());
            let (now, fill) = (lab.now(), lab.listing_snapshot(3) > 0);
            drop(lab.catalog("with.db"));
            most_parts = most_parts.max(copy_without_listing_snapshot(&with, &without));
            let mut catalog = lab.catalog("without.db");
            let wanted = lab.seen(&mut catalog, now, fill);
            drop(catalog);
            let mut catalog = lab.catalog("with.db");
            assert_eq!(
                lab.seen(&mut catalog, now, fill),
                wanted,
                "seed {seed}, round {round}"
            );
            if lab.listing_snapshot(10) == 0
                && let Some(gone) = wanted.1.first()
            {
                catalog.forget(&|session, _| session == gone).unwrap();
            }
        }
        assert!(
            most_parts >= 3,
            "a head and two parts were compared: {most_parts}"
        );
    }
}

/// Opens the catalog as another program that knows its function, but not how it counts.
fn open_as_another_program(path: &std::path::Path) -> rusqlite::Connection {
    use rusqlite::functions::FunctionFlags;
    let db = rusqlite::Connection::open(path).unwrap();
    let flags = FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    db.create_scalar_function("row_crc", -1, flags, |_| Ok(0_i64))
        .unwrap();
    db
}

#[test]
fn a_damaged_listing_snapshot_is_ignored() {
    let mut lab = Lab::new(9);
    let path = lab.folder.path().join("with.db");
    let now = Instant::from_millis(4_000_000_000_000);
    for _ in 0..3 {
        let mut catalog = lab.catalog("with.db");
        lab.seen(&mut catalog, now, true);
    }
    let mut catalog = lab.catalog("with.db");
    let wanted = lab.seen(&mut catalog, now, false);
    drop(catalog);
    for hurt in [
        "UPDATE roll SET bytes=zeroblob(length(bytes)) WHERE part=0",
        "UPDATE roll SET bytes=zeroblob(length(bytes)) WHERE part=1",
        "UPDATE roll SET bytes=substr(bytes,1,length(bytes)-1) WHERE part=2",
        "DELETE FROM roll WHERE part=2",
        "UPDATE roll SET part=part+100 WHERE part=1",
    ] {
        let db = open_as_another_program(&path);
        assert_eq!(db.execute(hurt, []).unwrap(), 1, "{hurt}");
        drop(db);
        let mut catalog = lab.catalog("with.db");
        // The catalog notices the other program, and is rebuilt if it finds damage.
        assert_eq!(lab.seen(&mut catalog, now, true), wanted, "{hurt}");
        lab.seen(&mut catalog, now, false);
        drop(catalog);
        let db = rusqlite::Connection::open(&path).unwrap();
        let parts: i64 = db
            .query_row("SELECT count(*) FROM roll WHERE part<100", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(parts, 3, "it is written anew after: {hurt}");
    }
}
