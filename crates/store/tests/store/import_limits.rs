//! An import beyond the limits is refused with a reason before anything is written.

use std::sync::Arc;

use boswell_dialect::{Depth, by_name};
use boswell_model::json::Json;
use boswell_model::{Advice, ErrorKind};
use boswell_store::backend::MemoryBackend;
use boswell_store::operations::ImportLimits;
use boswell_store::{Home, NewSession, Session, Store};

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";

/// Creates a Claude session with that many prompts; the last one contains JSON nested that deep.
fn source(prompts: usize, depth: usize) -> Session {
    let mut log = String::new();
    for number in 0..prompts {
        let parent = if number == 0 {
            "null".to_owned()
        } else {
            format!("\"u{}\"", number - 1)
        };
        let extra = if number + 1 == prompts { depth - 1 } else { 0 };
        let nested = format!("{}{}", "[".repeat(extra), "]".repeat(extra));
        let nested = if extra == 0 { "0" } else { &nested };
        log += &format!(
            "{{\"parentUuid\":{parent},\"type\":\"user\",\"uuid\":\"u{number}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{ID}\",\"message\":{{\"role\":\"user\",\"content\":\"prompt {number}\"}},\"extra\":{nested}}}\n"
        );
    }
    let mut backend = MemoryBackend::default();
    backend.put(&format!("projects/-w/{ID}.jsonl"), log, None);
    let store = Store::on(by_name("claude").unwrap(), Arc::new(backend), "/claude");
    let location = store.list().unwrap().sessions.remove(0);
    store.read(&location, Depth::Facts).unwrap()
}

/// Imports the session within limits; returns the reason if it is refused.
#[track_caller]
fn refused(source: &Session, limits: ImportLimits) -> Option<String> {
    let store = Home::in_memory().unwrap().sessions().unwrap();
    match store.import_within(source, NewSession::in_project("/w"), Json::object(), limits) {
        Ok(writer) => {
            writer.release().unwrap();
            assert_eq!(store.list().unwrap().sessions.len(), 1);
            None
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(
                matches!(
                    error.advice(),
                    Some(Advice::ShowSession { session: Some(session) }) if session.starts_with("claude:")
                ),
                "{error}"
            );
            assert!(
                store.list().unwrap().sessions.is_empty(),
                "nothing was written"
            );
            Some(error.reason().unwrap_or_default().to_owned())
        }
    }
}

#[test]
fn each_limit_refuses_what_is_beyond_it_and_nothing_before() {
    let all = ImportLimits::default();
    let (five, deep) = (source(5, 2), source(2, 50));
    for (source, limits, why) in [
        (&five, ImportLimits { records: 5, ..all }, None),
        (&five, ImportLimits { records: 4, ..all }, Some("5 records")),
        (&deep, ImportLimits { depth: 50, ..all }, None),
        (
            &deep,
            ImportLimits { depth: 49, ..all },
            Some("the record u1 is nested deeper than 49"),
        ),
        (
            &five,
            ImportLimits {
                bytes: 100_000,
                ..all
            },
            None,
        ),
        (
            &five,
            ImportLimits { bytes: 500, ..all },
            Some("longer than 500 bytes"),
        ),
    ] {
        let reason = refused(source, limits);
        assert_eq!(reason.is_some(), why.is_some(), "{limits:?}: {reason:?}");
        assert!(
            why.is_none_or(|why| reason.as_ref().is_some_and(|it| it.contains(why))),
            "{limits:?}: {reason:?}"
        );
    }
}

#[test]
fn a_hundred_thousand_containers_within_each_other_are_refused_without_harm() {
    assert!(
        refused(&source(1, 100_000), ImportLimits::default())
            .is_some_and(|why| why.contains("nested deeper"))
    );
}
