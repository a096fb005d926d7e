//! Tests of the index and the search as a whole, on sources in memory and on
//! generated and real files.

mod crash;
mod life;
mod recall;
mod stats;
mod support;

use crate::{Counting, Effort, Field, Hit, Index, Order, Query, Results, Source, SourceReader};

fn build(index: &Index, sources: &[Source], reader: &dyn SourceReader) -> crate::Progress {
    index
        .update(&mut sources.iter().cloned(), reader, &mut || true)
        .unwrap()
}

fn search(index: &Index, query: &Query, sources: &[Source], reader: &dyn SourceReader) -> Results {
    index
        .search(
            query,
            sources,
            reader,
            &Effort {
                workers: 2,
                go_on: &|| true,
            },
        )
        .unwrap()
}

/// Every hit of a query in the language.
fn all(text: &str) -> Query {
    Query {
        limit: usize::MAX >> 1,
        ..Query::parse(text, None).unwrap()
    }
}

/// The sessions of the hits, each once, in order.
fn sessions(results: &Results) -> Vec<String> {
    let mut ids: Vec<String> = results
        .hits
        .iter()
        .map(|hit| hit.reference.id.clone())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(results.sessions.number, ids.len() as u64);
    ids
}

fn key(hit: &Hit) -> (usize, u32) {
    (hit.source, hit.slot.map_or(u32::MAX, |slot| slot.0))
}

fn ordered(query: &Query, order: Order, limit: usize, counting: Counting) -> Query {
    Query {
        order,
        limit,
        counting,
        ..query.clone()
    }
}
