use std::collections::BTreeSet;
use std::sync::Arc;

use boswell_dialect::SessionLocation;
use boswell_model::Framing;
use boswell_store::store::StoreId;

use super::super::{ConversationSide, ConversationTouches, ConversationUpdate, NewConversation};
use super::*;
use crate::catalog::CatalogRow;
use crate::catalog::seen_folders::SeenFolders;

const ORDERS: [ConversationOrder; 5] = [
    ConversationOrder::Active,
    ConversationOrder::Created,
    ConversationOrder::Messages,
    ConversationOrder::Size,
    ConversationOrder::Name,
];
/// One scope has the sessions of both stores, the other those of one.
const SCOPES: [&str; 2] = ["both stores", "one store"];

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

/// Rows of which many have the same key in every order; of some it is unknown.
fn row(number: usize) -> ConversationRow {
    let dialect = ["claude", "codex"][number % 2];
    let group = number % 7;
    ConversationRow {
        front: ConversationSide {
            reference: SessionRef::new(dialect, format!("{:03}", 97 * number % 211)),
            ..ConversationSide::default()
        },
        name: format!("Name {}", number % 5),
        hidden: number.is_multiple_of(11).then(|| "archived".to_owned()),
        created: (group > 0).then(|| at(group as i64)),
        last_active: (!number.is_multiple_of(6)).then(|| at((number % 6) as i64)),
        messages: (group > 1).then_some(group as u64),
        bytes: (number % 3) as u64,
        ..ConversationRow::default()
    }
}

fn fill(catalog: &mut Catalog) {
    let folders = Arc::new(SeenFolders::default());
    let entry = |number: usize| {
        let location = SessionLocation::of(number.to_string(), Framing::Lines, 0);
        let mut entry = CatalogRow::new(StoreId(number % 2), location, &folders, &mut |_| false);
        entry.row = number as i64 + 1;
        entry
    };
    let entries: Vec<CatalogRow> = (0..200).map(entry).collect();
    for (scope, step) in [(SCOPES[0], 1), (SCOPES[1], 2)] {
        let conversation = |number| NewConversation {
            row: row(number),
            sides: vec![number],
            ..NewConversation::default()
        };
        let new: Vec<NewConversation> = (0..200).step_by(step).map(conversation).collect();
        let mut touches = ConversationTouches {
            scope: scope.to_owned(),
            ..ConversationTouches::default()
        };
        let last = (ConversationUpdate::Last(Some(at(9))), at(9));
        catalog
            .put_conversations(&mut touches, &entries, &new, last)
            .unwrap();
    }
}

fn query(order: ConversationOrder) -> ConversationQuery<'static> {
    ConversationQuery {
        order,
        hidden: false,
        since: None,
        until: None,
        after: None,
        offset: 0,
        limit: 9,
        takes: None,
    }
}

/// Every sort of page of an order: first and later ones, with times and with hidden rows.
fn queries(order: ConversationOrder) -> Vec<ConversationQuery<'static>> {
    let session = row(20).front.reference;
    let afters = [
        None,
        Some(ConversationCursor::Behind(Some(2), session.clone())),
        Some(ConversationCursor::Session(session)),
    ];
    let mut queries = Vec::new();
    for after in afters {
        for hidden in [false, true] {
            for (since, until) in [
                (None, None),
                (Some(at(2)), None),
                (Some(at(2)), Some(at(4))),
            ] {
                queries.push(ConversationQuery {
                    after: after.clone(),
                    hidden,
                    since,
                    until,
                    ..query(order)
                });
            }
        }
    }
    queries
}

#[test]
fn every_page_is_a_range_of_an_index_and_nothing_is_sorted() {
    let mut catalog = Catalog::in_memory().unwrap();
    fill(&mut catalog);
    for (order, scope) in ORDERS.iter().flat_map(|it| [(*it, 1), (*it, 2)]) {
        for query in queries(order) {
            let (sql, values) = catalog.select(scope, &query).unwrap();
            let mut explain = catalog
                .db
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                .unwrap();
            let plan: Vec<String> = explain
                .query_map(rusqlite::params_from_iter(values), |row| row.get(3))
                .unwrap()
                .map(rusqlite::Result::unwrap)
                .collect();
            let range = format!(
                "SEARCH conversation USING INDEX conversation_by_{} (scope=?",
                order.column()
            );
            let is_range = plan.len() == 1 && plan[0].starts_with(&range);
            assert!(is_range, "{plan:?} of {sql}");
            if query.after.is_some() {
                // The place where a page begins is found, not counted off.
                assert!(plan[0].contains(">"), "{plan:?} of {sql}");
            }
        }
    }
}

#[test]
fn what_a_page_leaves_out_is_decided_by_its_index() {
    let mut catalog = Catalog::in_memory().unwrap();
    fill(&mut catalog);
    for order in ORDERS {
        let index = format!("conversation_by_{}", order.column());
        let columns: BTreeSet<String> = catalog
            .db
            .prepare(&format!("PRAGMA index_info({index})"))
            .unwrap()
            .query_map([], |row| row.get(2))
            .unwrap()
            .map(rusqlite::Result::unwrap)
            .collect();
        for used in [
            "scope",
            order.column(),
            "dialect",
            "session",
            "hidden",
            "active",
        ] {
            assert!(columns.contains(used), "{index} has no {used}");
        }
    }
}

/// The order of a list, worked out without the catalog.
fn sorted(order: ConversationOrder, rows: &mut [ConversationRow]) {
    let key = |row: &ConversationRow| {
        let number = |number: Option<i64>| (number.map_or(i64::MAX, |it| -it), String::new());
        let millis = |at: Option<Instant>| number(at.map(Instant::millis));
        let (key, name) = match order {
            ConversationOrder::Active => millis(row.last_active),
            ConversationOrder::Created => millis(row.created),
            ConversationOrder::Messages => number(row.messages.map(|it| it as i64)),
            ConversationOrder::Size => number(Some(row.bytes as i64)),
            ConversationOrder::Name => (0, row.name.to_lowercase()),
        };
        (key, name, row.front.reference.clone())
    };
    rows.sort_by_key(key);
}

#[test]
fn pages_follow_each_other_in_order_where_many_rows_have_one_key() {
    let mut catalog = Catalog::in_memory().unwrap();
    fill(&mut catalog);
    for (order, (scope, step)) in
        (ORDERS.into_iter()).flat_map(|it| [(it, (SCOPES[0], 1)), (it, (SCOPES[1], 2))])
    {
        let mut wanted: Vec<ConversationRow> = (0..200).step_by(step).map(row).collect();
        wanted.retain(|row| row.hidden.is_none());
        sorted(order, &mut wanted);
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let asked = ConversationQuery {
                after,
                ..query(order)
            };
            let page = catalog.conversation_page(scope, &asked).unwrap().unwrap();
            assert_eq!(page.scope.shown, wanted.len() as u64);
            let last = page.rows.last().map(|row| row.front.reference.clone());
            found.extend(page.rows);
            if !page.more {
                break;
            }
            after = last.map(ConversationCursor::Session);
        }
        assert_eq!(found, wanted, "{order:?}");
    }
}
