//! A repair with changes in place and in a fork is atomic: a crash leaves all of it or nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use boswell_dialect::pi::Pi;

use boswell_store::backend::FsBackend;
use boswell_store::disk::durable;
use boswell_store::locks::Owner;
use boswell_store::operations::{RecoveryOutcome, Runner};
use boswell_store::repair::RepairRequest;
use boswell_store::{Home, Store, Wait};
use boswell_testkit::crash_disk::{CrashDisk, everywhere};
use boswell_testkit::damage::{self, Damage};
use boswell_testkit::ids::SeededIds;
use boswell_testkit::make::pi;
use boswell_testkit::{Made, Rng};

const ROOT: &str = "/store";

/// Returns a session that needs both: two records on one line, and a missing parent.
fn session() -> (Made, Vec<u8>) {
    let made = pi::file(
        pi::PiShape::Linear,
        pi::PiFlavour::Pi,
        pi::PiLayout::of("/p"),
        3,
    );
    let glued = damage::apply(Damage::GluedRecords, made.bytes(), 3, &mut Rng::new(1));
    let broken = damage::apply(Damage::PhantomParent, &glued, 6, &mut Rng::new(1));
    (made, broken)
}

fn prepare(disk: &CrashDisk) {
    let (made, broken) = session();
    let path = Path::new(ROOT).join(&made.main);
    durable::make_folders(disk, path.parent().unwrap()).unwrap();
    durable::create(disk, &path, &broken).unwrap();
    durable::make_folders(disk, Path::new("/home/locks")).unwrap();
}

fn runner(disk: &CrashDisk) -> Runner {
    let owner = Owner {
        pid: 4242,
        program: "test".into(),
    };
    Runner::new(
        Arc::new(disk.clone()),
        "/home",
        Arc::new(SeededIds::new(1)),
        owner,
    )
    .waiting(Wait::No)
}

fn repair(disk: &CrashDisk) -> bool {
    let backend = Arc::new(FsBackend::on(Arc::new(disk.clone()), ROOT));
    let home = Home::on(Arc::new(disk.clone()), Arc::new(SeededIds::new(2)), "/home");
    let store = home.writable(Store::on(&Pi::PI, backend, ROOT));
    let Ok(location) = store.find(&session().0.id) else {
        return false;
    };
    runner(disk)
        .repair(&store, &location, &RepairRequest::default())
        .is_ok()
}

fn files(disk: &CrashDisk) -> BTreeMap<String, Vec<u8>> {
    disk.snapshot()
        .into_iter()
        .filter(|(path, _)| path.starts_with("store/") && path.ends_with(".jsonl"))
        .collect()
}

#[test]
fn a_crash_leaves_the_whole_repair_or_none_of_it() {
    let disk = CrashDisk::new(1);
    prepare(&disk);
    let old = files(&disk);
    assert!(repair(&disk));
    let new = files(&disk);
    assert_eq!(new.len(), old.len() + 1, "one fork was made");
    assert_ne!(
        new.get(old.keys().next().unwrap()),
        old.values().next(),
        "and the file itself was put in order"
    );
    let checked = everywhere(1, prepare, repair, |crash| {
        for one in runner(&crash.disk).recover().unwrap() {
            assert!(
                !matches!(one.outcome, RecoveryOutcome::Unsettled(_)),
                "{one:?} at {}",
                crash.call
            );
        }
        let is = files(&crash.disk);
        assert!(
            is == old || is == new,
            "half a repair at {} {:?}: {:?}",
            crash.call,
            crash.keep,
            is.keys()
        );
        assert!(
            !*crash.outcome || is == new,
            "what was acknowledged is there: {} {:?}",
            crash.call,
            crash.keep
        );
        let recorded = runner(&crash.disk).operations().unwrap().0;
        assert_eq!(
            recorded.len(),
            usize::from(is == new),
            "one operation at {}",
            crash.call
        );
        // Undo does not depend on where the crash was: a sample is sufficient.
        if let ([one], true) = (recorded.as_slice(), crash.call.is_multiple_of(16)) {
            runner(&crash.disk).undo(&one.operation.id).unwrap();
            assert!(
                files(&crash.disk) == old,
                "one undo takes all of it back: {} {:?}",
                crash.call,
                crash.keep
            );
        }
    });
    assert!(checked > 300, "{checked}");
}
