//! Every plan, interrupted at every call: the old state or the new one.

use std::path::PathBuf;
use std::sync::Arc;

use boswell_dialect::{Draft, EditRequest, StoreRequest};
use boswell_model::{Slot, Tip};
use boswell_store::locks::Owner;
use boswell_store::operations::{Executed, RecoveryOutcome, Runner};
use boswell_store::{Error, NewSession, Wait};
use boswell_testkit::disk;
use boswell_testkit::hooked_disk::{DiskCall, Hook, HookedDisk};
use boswell_testkit::make::myagents::MyAgentsShape;

use crate::myagents::shop::{ROW, RunnersDie, Shop, talk};
use crate::myagents::support::{FailingDisk, Fault, Then, Tree};

type Make = fn() -> Shop;

/// The request: about the session of the shop, or about the whole store.
enum Wanted {
    Of(EditRequest),
    All(StoreRequest),
}

impl Wanted {
    fn run(&self, shop: &Shop, disk: FailingDisk) -> Result<Executed, Error> {
        let runner = shop.runner_on(disk);
        match self {
            Wanted::Of(request) => runner.execute(&shop.store(), &shop.location(), request),
            Wanted::All(request) => runner.execute_store(&shop.store(), request),
        }
    }
}

fn plans() -> Vec<(&'static str, Make, Wanted)> {
    let of_session = plans_of_session()
        .into_iter()
        .map(|(name, make, wanted)| (name, make, Wanted::Of(wanted)));
    let of_store = plans_of_store()
        .into_iter()
        .map(|(name, make, wanted)| (name, make, Wanted::All(wanted)));
    of_session.chain(of_store).collect()
}

fn plans_of_store() -> Vec<(&'static str, Make, StoreRequest)> {
    let new = || {
        StoreRequest::Create(
            NewSession::in_project("/新")
                .with_id("new-one")
                .titled("red"),
        )
    };
    let wrong: Make = || {
        let shop = Shop::with(
            &ROW.replace("\"messageCount\":2", "\"messageCount\":9"),
            &talk(),
        );
        shop.place.put("sessions/lost.jsonl", &talk());
        shop
    };
    vec![
        ("new", || Shop::with(ROW, &talk()), new()),
        (
            "new with a damaged index",
            || Shop::of(MyAgentsShape::IndexCutInRow),
            new(),
        ),
        ("new without an index", Shop::empty, new()),
        ("index", wrong, StoreRequest::Index),
        (
            "index that is damaged",
            || Shop::of(MyAgentsShape::IndexTruncated),
            StoreRequest::Index,
        ),
        (
            "move",
            || Shop::with(ROW, &talk()),
            StoreRequest::Move {
                from: "/p".into(),
                to: "/q".into(),
            },
        ),
    ]
}

fn plans_of_session() -> Vec<(&'static str, Make, EditRequest)> {
    let rewind = |slot| EditRequest::Rewind(Tip::At(Slot(slot)));
    let new = NewSession::default().with_id("fork-of-s");
    let talking: Make = || Shop::with(ROW, &talk());
    vec![
        (
            "append",
            talking,
            EditRequest::Append(vec![Draft::user("x")]),
        ),
        (
            "append to a document",
            || Shop::of(MyAgentsShape::LegacyJson),
            EditRequest::Append(vec![Draft::user("x")]),
        ),
        (
            "title with a damaged index",
            || Shop::of(MyAgentsShape::IndexWithNull),
            EditRequest::Title("t".into()),
        ),
        ("rewind", talking, rewind(2)),
        ("rewind with an intent", talking, rewind(0)),
        (
            "fork",
            talking,
            EditRequest::Fork {
                at: Tip::At(Slot(1)),
                new,
            },
        ),
        (
            "delete",
            || Shop::of(MyAgentsShape::E3),
            EditRequest::Delete,
        ),
        (
            "migrate",
            || Shop::of(MyAgentsShape::EmptyWithLegacy),
            EditRequest::Migrate,
        ),
    ]
}

/// Returns the contents of the store without lock folders: the next process breaks those of a dead
/// one.
fn state(shop: &Shop) -> Tree {
    shop.place
        .tree()
        .into_iter()
        .filter(|(key, it)| it.is_some() && !key.contains(".lock"))
        .collect()
}

#[test]
fn interrupted_at_every_step_of_every_plan_it_is_the_old_state_or_the_new_one() {
    for (name, make, wanted) in plans() {
        let (old, new, calls) = {
            let (shop, counting) = (make(), FailingDisk::never());
            let old = state(&shop);
            wanted.run(&shop, counting.clone()).unwrap();
            (old, state(&shop), counting.calls())
        };
        assert!(calls > 20, "{name}: only {calls} calls");
        let (mut forward, mut back) = (0, 0);
        for at in 0..calls {
            let fault = [Fault::NotDone, Fault::Half, Fault::Done][at % 3];
            let shop = make();
            let ran = wanted.run(&shop, FailingDisk::at(at, fault, Then::Dead));
            for one in shop.runner().recover().unwrap() {
                match one.outcome {
                    RecoveryOutcome::Forward => forward += 1,
                    RecoveryOutcome::Back => back += 1,
                    RecoveryOutcome::Unsettled(error) => {
                        panic!("{name} {at} {fault:?}: {error}: {:?}", error.reason())
                    }
                }
            }
            let is = state(&shop);
            assert!(
                is == old || is == new,
                "{name}: mixed after {at} {fault:?} {ran:?}: {is:#?}"
            );
            assert!(
                ran.is_err() || is != old,
                "{name}: what was acknowledged is there: {at}"
            );
            let recorded = shop.runner().operations().unwrap().0.len();
            assert_eq!(recorded, usize::from(is != old), "{name}: {at} {fault:?}");
        }
        assert!(forward + back > 3, "{name}: {forward} {back}");
    }
}

#[test]
fn an_append_cut_short_is_settled_though_the_app_wrote_its_index_meanwhile() {
    let calls = {
        let (shop, counting) = (Shop::with(ROW, &talk()), FailingDisk::never());
        let append = EditRequest::Append(vec![Draft::user("x")]);
        shop.runner_on(counting.clone())
            .execute(&shop.store(), &shop.location(), &append)
            .unwrap();
        counting.calls()
    };
    let mut shapes = std::collections::BTreeSet::new();
    for at in 0..calls {
        let shop = Shop::with(ROW, &talk());
        let broken = FailingDisk::at(at, Fault::NotDone, Then::Dead);
        let append = EditRequest::Append(vec![Draft::user("x")]);
        let _ = shop
            .runner_on(broken)
            .execute(&shop.store(), &shop.location(), &append);
        let theirs =
            shop.place
                .read("sessions.json")
                .replacen("\"id\"", "\"favorite\":true,\"id\"", 1);
        shop.place.put("sessions.json", &theirs);
        for one in shop.runner().recover().unwrap() {
            assert!(
                !matches!(one.outcome, RecoveryOutcome::Unsettled(_)),
                "{at}: {one:?}"
            );
        }
        let (lines, row) = (shop.lines().len(), shop.row());
        assert_eq!(row["favorite"], true, "{at}: theirs stays");
        assert_eq!(
            row["stats"]["messageCount"],
            lines - 2,
            "{at}: rows and sums agree"
        );
        shapes.insert(lines);
        shop.append(vec![Draft::user("next")]);
        assert_eq!(shop.lines().len(), lines + 1, "{at}: and it goes on");
    }
    assert_eq!(
        shapes.into_iter().collect::<Vec<_>>(),
        [4, 5],
        "both ends were reached"
    );
}

#[test]
fn what_makes_or_removes_a_session_is_settled_whole_though_the_app_wrote_its_index_meanwhile() {
    let with_others: Make = || Shop::of(MyAgentsShape::E3);
    let new = NewSession::default().with_id("fork-of-it");
    for (name, id, request) in [
        (
            "fork",
            Some("fork-of-it"),
            EditRequest::Fork {
                at: Tip::At(Slot(1)),
                new,
            },
        ),
        ("delete", None, EditRequest::Delete),
    ] {
        let (mut there, mut gone) = (0, 0);
        for at in (0..400).step_by(2) {
            let shop = with_others();
            let broken = FailingDisk::at(at, Fault::NotDone, Then::Dead);
            let ran = shop
                .runner_on(broken)
                .execute(&shop.store(), &shop.location(), &request);
            if ran.is_ok() {
                break;
            }
            let id = id.unwrap_or(&shop.id).to_owned();
            let theirs = shop
                .place
                .read("sessions.json")
                .replace("\"agentDir\"", "\"favorite\": true,\n    \"agentDir\"");
            shop.place.put("sessions.json", &theirs);
            for one in shop.runner().recover().unwrap() {
                assert!(
                    !matches!(one.outcome, RecoveryOutcome::Unsettled(_)),
                    "{name} {at}: {one:?}"
                );
            }
            let file = shop
                .place
                .tree()
                .contains_key(&format!("sessions/{id}.jsonl"));
            let row = shop.rows().iter().any(|row| row["id"] == id.as_str());
            assert_eq!(
                file, row,
                "{name} {at}: a row without its transcript, or one without a row"
            );
            let others = shop
                .rows()
                .iter()
                .filter(|row| row["id"] != id.as_str())
                .all(|row| row["favorite"] == true);
            assert!(others, "{name} {at}: theirs stays");
            *(if file { &mut there } else { &mut gone }) += 1;
        }
        assert!(
            there > 0 && gone > 0,
            "{name}: both ends were reached: {there} {gone}"
        );
    }
}

/// A disk on which another process takes the index lock as soon as a file of this name is renamed
/// into place.
#[derive(Debug, Clone)]
pub(crate) struct Thief {
    pub(crate) after: &'static str,
    pub(crate) root: PathBuf,
}

impl Thief {
    pub(crate) fn runner(&self, shop: &Shop) -> Runner {
        let owner = Owner {
            pid: 4242,
            program: "test".into(),
        };
        Runner::new(
            Arc::new(HookedDisk::real(Arc::new(self.clone()))),
            shop.place.home(),
            shop.place.id_source.clone(),
            owner,
        )
        .with_processes(Arc::new(RunnersDie))
        .waiting(Wait::No)
    }
}

impl Hook for Thief {
    fn after(&self, call: &DiskCall<'_>, _bytes: usize) {
        let DiskCall::Rename { to, .. } = call else {
            return;
        };
        if to
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(self.after))
        {
            disk::write(&self.root.join("sessions.lock/owner"), b"node:77:1\n");
        }
    }
}
