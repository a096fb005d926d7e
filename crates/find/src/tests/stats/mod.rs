//! Statistics: after any sequence of changes, the stored and updated totals are equal to a count of
//! everything from scratch.

mod honest;
mod world;

use std::collections::BTreeMap;

use boswell_model::Instant;
use boswell_store::store::Stores;
use proptest::prelude::*;

use crate::catalog::{Catalog, CatalogRow, WantedRows};
use crate::stats::{By, Prices, Sum};
use honest::Honest;
use world::{Change, World};

const EVERY: [By; 7] = [
    By::Total,
    By::Day,
    By::Week,
    By::Month,
    By::Project,
    By::Agent,
    By::Model,
];

/// Whole dollars per token, so that the order of addition cannot matter.
const PRICES: &str = r#"{"m0":{"input":1e6,"output":2e6,"cache_write":4e6,"cache_write_1h":8e6},"m1":{"input":3e6,"output":5e6},
    "gpt-5.4":{"input":1e6,"output":1e6}}"#;

/// Selects conversations by the places of their sides.
type Meant<'w> = Box<dyn Fn(&[usize]) -> bool + 'w>;

fn filters<'w>(stores: &'w Stores, entries: &'w [CatalogRow]) -> Vec<(&'static str, Meant<'w>)> {
    let of_dialect = |name: &'static str| -> Meant<'w> {
        Box::new(move |sides| {
            sides
                .iter()
                .any(|side| stores.get(entries[*side].store).unwrap().dialect().name() == name)
        })
    };
    let odd = |id: &str| id.bytes().fold(0, |sum: u32, byte| sum + u32::from(byte)) % 2 == 1;
    vec![
        ("all", Box::new(|_| true)),
        ("claude", of_dialect("claude")),
        ("myagents", of_dialect("myagents")),
        (
            "some",
            Box::new(move |sides| odd(&entries[sides[0]].location.id)),
        ),
        (
            "others",
            Box::new(move |sides| !odd(&entries[sides[0]].location.id)),
        ),
    ]
}

fn look(catalog: &mut Catalog, stores: &Stores, at: i64) -> Vec<CatalogRow> {
    let refreshed = catalog.refresh(stores, Instant::from_millis(at)).unwrap();
    assert!(refreshed.unwritten.is_none());
    let mut entries = refreshed.entries;
    catalog
        .read_missing(stores, &mut entries, WantedRows::Whole, 1, &|| true)
        .unwrap();
    entries
}

/// A time long after all changes: no file state is too young to trust.
const LATER: i64 = 4_000_000_000_000;

fn answers(
    catalog: &Catalog,
    stores: &Stores,
    entries: &[CatalogRow],
) -> BTreeMap<String, BTreeMap<String, Sum>> {
    let prices = Prices::parse(PRICES.as_bytes()).unwrap();
    let mut out = BTreeMap::new();
    for (name, meant) in filters(stores, entries) {
        for by in EVERY {
            let tally = catalog.tally(stores, entries, by, &*meant).unwrap();
            out.insert(format!("{name} by {by:?}"), tally.sums(&prices));
        }
    }
    out
}

fn honest(stores: &Stores, entries: &[CatalogRow]) -> BTreeMap<String, BTreeMap<String, Sum>> {
    let prices = Prices::parse(PRICES.as_bytes()).unwrap();
    let mut out = BTreeMap::new();
    for (name, meant) in filters(stores, entries) {
        let honest = Honest::new(stores, entries, &*meant);
        for by in EVERY {
            out.insert(format!("{name} by {by:?}"), honest.sums(by, &prices));
        }
    }
    out
}

fn follow(changes: &[Change]) {
    let mut world = World::default();
    let stores = world.stores();
    let file = world.path("catalog.db");
    for (step, change) in changes.iter().enumerate() {
        world.make(change);
        // Opens the catalog as a new process would, with what the previous one left.
        let mut catalog = Catalog::open(&file).unwrap();
        let entries = look(&mut catalog, &stores, LATER + step as i64 * 10_000);
        let (kept, honest) = (
            answers(&catalog, &stores, &entries),
            honest(&stores, &entries),
        );
        for (which, sums) in &honest {
            assert_eq!(&kept[which], sums, "{which} after step {step}, {change:?}");
        }
        assert_eq!(
            answers(&catalog, &stores, &entries),
            kept,
            "asked again after step {step}"
        );
    }
    // The same result from the files alone.
    let mut remake = Catalog::in_memory().unwrap();
    let entries = look(&mut remake, &stores, LATER);
    let mut catalog = Catalog::open(&file).unwrap();
    let known = look(&mut catalog, &stores, LATER + 1_000_000);
    assert_eq!(
        answers(&remake, &stores, &entries),
        answers(&catalog, &stores, &known)
    );
}

#[test]
fn a_fork_that_spent_nothing_lets_the_program_in_front_of_it_speak() {
    follow(&world::an_idle_fork_with_a_front());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn after_any_changes_the_sums_are_those_of_a_count_from_nothing(changes in world::changes(14)) {
        follow(&changes);
    }
}
