//! The guarantees of a row source, tested with the one in memory.

use boswell_dialect::{RowKey, RowSelect, RowSource};
use boswell_testkit::conformance::row_source;
use boswell_testkit::memory_rows::{MemoryRows, StoredCell};

#[test]
fn rows_in_memory_keep_the_promises_of_a_source() {
    row_source(&|rows| Box::new(rows.clone()));
}

#[derive(Debug)]
struct Unsorted(MemoryRows);

impl RowSource for Unsorted {
    fn tables(&self) -> boswell_model::Result<Vec<String>> {
        self.0.tables()
    }

    fn keys(&self, select: &RowSelect<'_>) -> boswell_model::Result<Vec<RowKey>> {
        self.0.keys(&RowSelect {
            order: &[],
            ..*select
        })
    }

    fn row(
        &self,
        table: &str,
        key: RowKey,
        sink: &mut dyn FnMut(&[boswell_dialect::Column<'_>]),
    ) -> boswell_model::Result<bool> {
        self.0.row(table, key, sink)
    }

    fn stamp(
        &self,
        select: &RowSelect<'_>,
        changed: Option<&str>,
    ) -> boswell_model::Result<boswell_dialect::RowStamp> {
        self.0.stamp(select, changed)
    }
}

#[test]
#[should_panic(expected = "in the order that was asked for")]
fn a_source_that_does_not_sort_is_found() {
    row_source(&|rows| Box::new(Unsorted(rows.clone())));
}

#[test]
fn a_clone_does_not_see_what_is_changed_later() {
    let mut rows = MemoryRows::default();
    rows.insert("t", &[("a", StoredCell::Null)]);
    let snapshot = rows.clone();
    rows.insert("t", &[("a", StoredCell::Null)]);
    assert_eq!((snapshot.places().len(), rows.places().len()), (1, 2));
}
