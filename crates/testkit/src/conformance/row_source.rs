//! The contract of every row source.

use boswell_dialect::{Cell, RowKey, RowSelect, RowSource};

use super::ok;
use crate::memory_rows::{MemoryRows, StoredCell};

/// Opens a source whose tables contain these rows.
pub type MakeRows<'m> = dyn Fn(&MemoryRows) -> Box<dyn RowSource> + 'm;

/// Runs all checks of a row source.
pub fn row_source(make: &MakeRows<'_>) {
    let mut rows = MemoryRows::default();
    let late = insert(&mut rows, "a", 20, StoredCell::text("late"));
    insert(&mut rows, "b", 15, StoredCell::Null);
    let early = insert(&mut rows, "a", 10, StoredCell::Bytes(vec![0, 255]));
    let same = insert(&mut rows, "a", 10, StoredCell::text("\u{1f9ea}\n"));
    let source = make(&rows);
    assert_eq!(ok(source.tables()), ["note"]);
    let of = |owner| RowSelect {
        table: "note",
        only: Some((owner, "a")),
        order: &["at"],
    };
    ordered(source.as_ref(), &of("owner"), &[early, same, late]);
    for nothing in [
        RowSelect {
            table: "nowhere",
            ..of("owner")
        },
        of("nothing"),
    ] {
        assert_eq!(
            ok(source.keys(&nothing)),
            [],
            "what is not there has no rows"
        );
        assert_eq!(ok(source.stamp(&nothing, None)).rows, 0);
    }
    has_data(source.as_ref(), late, Cell::Text("late"));
    has_data(source.as_ref(), early, Cell::Bytes(&[0, 255]));
    has_data(source.as_ref(), same, Cell::Text("\u{1f9ea}\n"));
    assert!(
        !ok(source.row("note", RowKey(i64::MAX), &mut |_| ())),
        "no such row"
    );
    stamps(make, rows, &of("owner"), late);
}

fn insert(rows: &mut MemoryRows, owner: &str, at: i64, data: StoredCell) -> RowKey {
    let (owner, at) = (StoredCell::text(owner), StoredCell::Integer(at));
    rows.insert("note", &[("owner", owner), ("at", at), ("data", data)])
}

fn has_data(source: &dyn RowSource, key: RowKey, data: Cell<'_>) {
    let mut seen = false;
    let found = ok(source.row("note", key, &mut |columns| {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            ["owner", "at", "data"],
            "columns come in their order"
        );
        seen = columns[2].1 == data;
    }));
    assert!(found && seen, "a row is found by its key, with its values");
}

fn ordered(source: &dyn RowSource, select: &RowSelect<'_>, keys: &[RowKey]) {
    let found = ok(source.keys(select));
    assert_eq!(
        found, keys,
        "rows come in the order that was asked for, equal ones by their keys"
    );
    let all = RowSelect {
        only: None,
        order: &[],
        ..*select
    };
    assert_eq!(
        ok(source.keys(&all)).len(),
        keys.len() + 1,
        "without a filter all rows come"
    );
}

/// A stamp stays while the rows do, and differs after each kind of change.
fn stamps(make: &MakeRows<'_>, mut rows: MemoryRows, select: &RowSelect<'_>, key: RowKey) {
    let stamp = |rows: &MemoryRows| ok(make(rows).stamp(select, Some("at")));
    let first = stamp(&rows);
    assert_eq!(first.rows, 3);
    assert_eq!(first, stamp(&rows), "the same rows have the same stamp");
    rows.update("note", key, "at", StoredCell::Integer(99));
    let changed = stamp(&rows);
    assert_ne!(first, changed, "a row was changed");
    rows.insert(
        "note",
        &[
            ("owner", StoredCell::text("b")),
            ("at", StoredCell::Integer(100)),
        ],
    );
    assert_eq!(changed, stamp(&rows), "a row of somebody else was added");
    rows.remove("note", key);
    assert_ne!(changed, stamp(&rows), "a row was removed");
}
