//! The table of totals follows the sessions that it sums up.

use boswell_model::Instant;
use boswell_testkit::{bench_corpus, corpus};

use super::super::WantedRows;
use super::*;
use crate::stats::By;

struct Lab {
    folder: tempfile::TempDir,
    stores: Stores,
    catalog: Catalog,
}

impl Lab {
    fn new() -> Lab {
        let folder = tempfile::tempdir().unwrap();
        bench_corpus::generate(folder.path(), 6, 0.1, 3, false);
        let mut stores = Stores::default();
        stores.add("claude", folder.path().join(".claude")).unwrap();
        let catalog = Catalog::open(&folder.path().join("catalog.db")).unwrap();
        Lab {
            folder,
            stores,
            catalog,
        }
    }

    fn tally(&mut self) -> Result<Tally> {
        let now = Instant::from_millis(4_000_000_000_000);
        let mut entries = self.catalog.refresh(&self.stores, now)?.entries;
        self.catalog
            .read_missing(&self.stores, &mut entries, WantedRows::Whole, 1, &|| true)?;
        self.catalog
            .tally(&self.stores, &entries, By::Day, &|_| true)
    }

    fn rows(&self, table: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        self.catalog
            .db
            .query_row(&sql, [], |row| row.get(0))
            .unwrap()
    }
}

#[test]
fn accounts_of_sessions_that_are_gone_are_closed_and_those_of_stores_that_are_left_out_stay() {
    let mut lab = Lab::new();
    let all = lab.tally().unwrap();
    assert_eq!((lab.rows("account"), lab.rows("claim")), (6, 6));
    let store = std::mem::take(&mut lab.stores);
    assert_eq!(
        lab.tally().unwrap(),
        Tally::default(),
        "nothing is looked at"
    );
    assert_eq!(lab.rows("account"), 6);
    lab.stores = store;
    assert_eq!(lab.tally().unwrap(), all);
    let log = corpus::files(&lab.folder.path().join(".claude/projects")).remove(0);
    std::fs::remove_file(log).unwrap();
    assert_ne!(lab.tally().unwrap(), all);
    assert_eq!((lab.rows("account"), lab.rows("claim")), (5, 5));
}

#[test]
fn messages_that_a_copy_holds_too_are_shared_until_the_totals_are_rebuilt() {
    let mut lab = Lab::new();
    let all = lab.tally().unwrap();
    assert_eq!(lab.rows("shared"), 0);
    let log = corpus::files(&lab.folder.path().join(".claude/projects")).remove(0);
    let copy = lab
        .folder
        .path()
        .join(".claude/projects/-copy")
        .join(log.file_name().unwrap());
    boswell_testkit::disk::write(&copy, &boswell_testkit::disk::read(&log));
    lab.tally().unwrap();
    let shared = lab.rows("shared");
    assert!(shared > 0 && shared % 2 == 0, "{shared}");
    std::fs::remove_file(&copy).unwrap();
    assert_eq!(lab.tally().unwrap(), all);
    assert_eq!(lab.rows("shared"), shared / 2, "one holder is left");
}

#[test]
fn an_account_that_is_not_as_it_was_is_told() {
    for hurt in [
        "UPDATE account SET sums=substr(sums, 2)",
        "UPDATE account SET head=x'00'",
        "UPDATE account SET state=0; UPDATE usage SET items=x'00'",
        "UPDATE account SET state=0; UPDATE kept SET facts=x'00'",
    ] {
        let mut lab = Lab::new();
        lab.tally().unwrap();
        lab.catalog.db.execute_batch(hurt).unwrap();
        assert_eq!(
            lab.tally().unwrap_err().kind(),
            ErrorKind::Damaged,
            "{hurt}"
        );
    }
}

#[test]
fn where_nothing_can_be_written_the_answer_is_the_same() {
    let mut lab = Lab::new();
    let all = lab.tally().unwrap();
    lab.catalog
        .db
        .execute_batch("DELETE FROM account; PRAGMA query_only=1")
        .unwrap();
    assert_eq!(lab.tally().unwrap(), all);
    assert_eq!(lab.rows("account"), 0);
}
