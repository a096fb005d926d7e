//! Every plan, interrupted at every call: afterwards the store is in the old or the new state,
//! never in a mixture.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use boswell_dialect::{Draft, EditRequest, NewSession, StoreRequest};
use boswell_store::Wait;
use boswell_store::operations::RecoveryOutcome;
use boswell_testkit::crash_disk::{CrashDisk, everywhere};
use boswell_testkit::files::Batch;
use boswell_testkit::make::{clinvoker, oas};

use crate::front::oas::first_prompt;
use crate::front::support::{Place, fork, plant};

type Act = Box<dyn Fn(&Place) -> bool>;

fn files(disk: &CrashDisk) -> BTreeMap<String, Vec<u8>> {
    let ours = |path: &str| path.starts_with("store/") && !path.ends_with("store.lock");
    disk.snapshot()
        .into_iter()
        .filter(|(path, _)| ours(path))
        .collect()
}

fn place(disk: &CrashDisk, dialect: &str) -> Place {
    let place = Place::on(Arc::new(disk.clone()), dialect, Path::new("/"), 5);
    let runner = place.runner.clone().waiting(Wait::No);
    Place { runner, ..place }
}

fn interrupted(dialect: &'static str, batch: &Batch, what: &str, act: &Act) {
    let prepare = |disk: &CrashDisk| plant(disk, Path::new("/"), batch);
    let whole = CrashDisk::new(3);
    prepare(&whole);
    let old = files(&whole);
    assert!(act(&place(&whole, dialect)), "{what}");
    let new = files(&whole);
    assert_ne!(old, new, "{what}");
    let checked = everywhere(
        3,
        prepare,
        |disk| act(&place(disk, dialect)),
        |crash| {
            for one in place(&crash.disk, dialect).runner.recover().unwrap() {
                let settled = !matches!(one.outcome, RecoveryOutcome::Unsettled(_));
                assert!(
                    settled,
                    "{what} at {} {:?}: {one:?}",
                    crash.call, crash.keep
                );
            }
            let is = files(&crash.disk);
            assert!(
                is == old || is == new,
                "{what}: mixed at {} {:?}: {:?}",
                crash.call,
                crash.keep,
                is.keys()
            );
            if *crash.outcome {
                assert!(is == new, "{what}: acknowledged and lost at {}", crash.call);
            }
        },
    );
    assert!(checked > 100, "{what}: {checked}");
}

fn on(id: &str, make: impl Fn(&Place) -> EditRequest + 'static) -> Act {
    let id = id.to_owned();
    Box::new(move |place| {
        let Ok(listing) = place.store.list() else {
            return false;
        };
        if !listing.sessions.iter().any(|location| location.id == id) {
            return false;
        }
        place.carry_out(&id, &make(place)).is_ok()
    })
}

#[test]
fn every_plan_of_clinvoker_leaves_the_old_state_or_the_new_one_wherever_it_is_interrupted() {
    let whole = clinvoker::store(clinvoker::ClinvokerIndexState::Right, 7);
    let documents: Vec<serde_json::Value> = whole
        .sessions
        .iter()
        .take(2)
        .map(|made| serde_json::from_slice(made.bytes()).unwrap())
        .collect();
    let batch = clinvoker::finish(clinvoker::ClinvokerIndexState::Stale, &documents);
    let id = batch.sessions[1].id.clone();
    let forked = id.clone();
    let acts: Vec<(&str, Act)> = vec![
        ("title", on(&id, |_| EditRequest::Title("会话".into()))),
        ("tags", on(&id, |_| EditRequest::Tags(vec!["x".into()]))),
        (
            "status",
            on(&id, |_| EditRequest::Status {
                status: "paused".into(),
                message: None,
            }),
        ),
        (
            "fork",
            on(&id, move |place| {
                fork(place, &forked, NewSession::default())
            }),
        ),
        ("delete", on(&id, |_| EditRequest::Delete)),
        (
            "new",
            Box::new(|place: &Place| {
                place
                    .carry_out_store(&StoreRequest::Create(NewSession::in_project("/p")))
                    .is_ok()
            }),
        ),
        (
            "index",
            Box::new(|place: &Place| place.carry_out_store(&StoreRequest::Index).is_ok()),
        ),
    ];
    for (what, act) in &acts {
        interrupted("clinvoker", &batch, what, act);
    }
}

#[test]
fn every_plan_of_open_agent_sdk_leaves_the_old_state_or_the_new_one_wherever_it_is_interrupted() {
    let place = oas::OasLayout::Project("/p");
    let made = oas::session(place, true, 1, 3);
    let id = made.id.clone();
    let mut shared = boswell_testkit::FileList::new();
    // A row of a session that does not exist, and no row of the one that does.
    shared.add(
        "projects/-p/sessions-index.json",
        oas::index(&[oas::session(place, false, 0, 9)]),
    );
    let batch = Batch {
        sessions: vec![made],
        shared,
    };
    let forked = id.clone();
    let acts: Vec<(&str, Act)> = vec![
        (
            "fork",
            on(&id, move |place| {
                fork(place, &forked, NewSession::default())
            }),
        ),
        ("delete", on(&id, |_| EditRequest::Delete)),
        (
            "new",
            Box::new(|place: &Place| {
                let new = NewSession {
                    backend: Some("openai/gpt-4o".into()),
                    ..NewSession::in_project("/p")
                };
                place.carry_out_store(&StoreRequest::Create(new)).is_ok()
            }),
        ),
        (
            "append",
            on(&id, |_| {
                EditRequest::Append(vec![Draft::user("why?"), Draft::assistant("a flaky test")])
            }),
        ),
        ("rewind", on(&id, first_prompt)),
        (
            "index",
            Box::new(|place: &Place| place.carry_out_store(&StoreRequest::Index).is_ok()),
        ),
    ];
    for (what, act) in &acts {
        interrupted("oas", &batch, what, act);
    }
}
