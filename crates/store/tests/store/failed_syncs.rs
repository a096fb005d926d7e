//! Commands whose Nth sync fails, for every N: acknowledged means durable, and a failed command can
//! be repeated.
//!
//! The disk loses unsynced data at a crash, so an ignored sync failure is detected: the command
//! reports success, the machine crashes, and the change is missing.

mod additions;
mod removal;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use boswell_dialect::{NewSession, SessionLocation, by_name};
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::backend::FsBackend;
use boswell_store::disk::IdSource;
use boswell_store::disk::{Disk, durable};
use boswell_store::locks::Locks;
use boswell_store::locks::Owner;
use boswell_store::memory::Memories;
use boswell_store::notes::Notes;
use boswell_store::operations::Runner;
use boswell_store::{Draft, Home, Store, Wait, WritableStore};
use boswell_testkit::crash_disk::{CrashDisk, Keep};
use boswell_testkit::fault_disk::FaultDisk;
use boswell_testkit::ids::SeededIds;

const HOME: &str = "/u/home";
const STORE: &str = "/u/claude";
const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const OWN: &str = "own";
const PROJECT: &str = "/w";

/// Syncs that may fail without the command failing, each with the reason. There must be no others.
const IGNORABLE: [(&str, &str); 1] = [(
    "/u/home/ops",
    "the operation is recorded: an intent that is back after a crash is settled by the next command",
)];

/// A home and a store on a disk.
struct Place {
    disk: Arc<dyn Disk>,
    id_source: Arc<dyn IdSource>,
    runner: Runner,
    claude: WritableStore,
    own: WritableStore,
}

impl Place {
    /// Opens the home; `seed` makes the ids of each run different.
    fn on(disk: Arc<dyn Disk>, seed: u64) -> Result<Place> {
        let id_source: Arc<dyn IdSource> = Arc::new(SeededIds::new(seed));
        let owner = Owner {
            pid: 1,
            program: "test".into(),
        };
        let runner =
            Runner::new(Arc::clone(&disk), HOME, Arc::clone(&id_source), owner).waiting(Wait::No);
        let backend = Arc::new(FsBackend::on(Arc::clone(&disk), STORE));
        let claude = Store::on(by_name("claude").unwrap(), backend, STORE);
        let home = Home::on(Arc::clone(&disk), Arc::clone(&id_source), HOME);
        let (claude, own) = (home.writable(claude), home.sessions()?);
        Ok(Place {
            disk,
            id_source,
            runner,
            claude,
            own,
        })
    }

    fn locks(&self) -> Locks {
        let owner = Owner {
            pid: 1,
            program: "test".into(),
        };
        Locks::new(
            Arc::clone(&self.disk),
            Path::new(HOME).join("locks"),
            owner,
            Arc::clone(&self.id_source),
        )
    }

    fn home(&self) -> Home {
        Home::on(Arc::clone(&self.disk), Arc::clone(&self.id_source), HOME)
    }

    fn notes(&self) -> Result<Notes> {
        Notes::load(Arc::clone(&self.disk), Path::new(HOME), self.locks())
    }

    fn memories(&self) -> Memories {
        self.home().memories()
    }

    fn location(&self) -> Result<SessionLocation> {
        let found = self
            .claude
            .list()?
            .sessions
            .into_iter()
            .find(|location| location.id == ID);
        found.ok_or_else(|| Error::new(ErrorKind::NotFound, "there is no such session"))
    }

    fn read(&self, key: &str) -> Option<Vec<u8>> {
        durable::read(self.disk.as_ref(), &Path::new(STORE).join(key)).unwrap()
    }

    /// Checks that the copies that undo needs exist and are complete.
    fn copies_are_whole(&self) {
        let vault = self.runner.vault();
        for record in vault.list().unwrap().0 {
            vault.restore(&record).unwrap();
        }
    }
}

fn session() -> SessionRef {
    SessionRef::new("claude", ID)
}

fn log_key() -> String {
    format!("projects/-w/{ID}.jsonl")
}

fn files() -> Vec<(String, String)> {
    let line = |id: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":null,"sessionId":"{ID}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","version":"2.1.0","message":{{"role":"user","content":"{text}"}}}}"#
        ) + "\n"
    };
    vec![
        (log_key(), line("u1", "why?")),
        (
            format!("projects/-w/{ID}/subagents/agent-a.jsonl"),
            line("s1", "look"),
        ),
        (
            format!("projects/-w/{ID}/tool-results/b1.txt"),
            "whole\n".to_owned(),
        ),
    ]
}

/// A command, with the state before it and the expected change.
struct Case {
    prepare: fn(&Place) -> Result<()>,
    act: fn(&Place) -> Result<()>,
    /// Whether the change was made; panics if it was made partly.
    is_made: fn(&Place) -> bool,
    /// Minimum number of syncs that can fail.
    syncs: u64,
}

fn nothing(_: &Place) -> Result<()> {
    Ok(())
}

impl Case {
    /// Returns a disk on which the command can run.
    fn disk(&self) -> CrashDisk {
        let disk = CrashDisk::new(1);
        for (key, text) in files() {
            let path = Path::new(STORE).join(key);
            durable::make_folders(&disk, path.parent().unwrap()).unwrap();
            durable::create(&disk, &path, text.as_bytes()).unwrap();
        }
        durable::make_folders(&disk, Path::new(HOME)).unwrap();
        let place = Place::on(Arc::new(disk.clone()), 1).unwrap();
        let writer = place
            .own
            .create(NewSession::in_project(PROJECT).with_id(OWN))
            .unwrap();
        writer
            .append(Draft::user("hello").with_id("first"))
            .unwrap();
        writer.release().unwrap();
        (self.prepare)(&place).unwrap();
        drop(place);
        disk.settle();
        disk
    }

    /// Runs the next command on a machine, which recovers an unfinished operation.
    fn next(disk: &CrashDisk, seed: u64) -> Place {
        let place = Place::on(Arc::new(disk.clone()), seed).unwrap();
        for recovered in place.runner.recover().unwrap() {
            assert!(
                !matches!(
                    recovered.outcome,
                    boswell_store::operations::RecoveryOutcome::Unsettled(_)
                ),
                "{recovered:?}"
            );
        }
        place
    }

    /// Checks that an acknowledged change exists, whichever unsynced data the crash kept.
    fn survives(&self, disk: &CrashDisk, what: &str) {
        for keep in Keep::flavours(1) {
            let after = disk.after_crash(keep);
            assert!(
                (self.is_made)(&Case::next(&after, 3)),
                "{what}, then a crash that kept {keep:?}: it is gone"
            );
        }
    }

    /// As above, on a system that drops the bytes of the file whose sync failed, but still shows
    /// them until a crash.
    fn with_every_sync_lying(&self) {
        let mut refused = 0;
        for n in 1.. {
            let disk = self.disk();
            disk.lie_on_sync_after(n);
            let outcome = Place::on(Arc::new(disk.clone()), 2).and_then(|place| (self.act)(&place));
            if disk.calls() < n {
                break;
            }
            let what = format!("from call {n} on, the first sync of a file lied");
            if outcome.is_err() {
                refused += 1;
                let place = Case::next(&disk, 4);
                let made = (self.is_made)(&place);
                let again = (self.act)(&place);
                assert!(
                    made || again.is_ok(),
                    "{what}, and it cannot be done again: {again:?}"
                );
            }
            self.survives(&disk, &what);
        }
        assert!(refused > 0, "no sync of a file failed");
    }

    fn with_every_sync_failing(&self) {
        let (mut struck, mut ignored) = (0, BTreeSet::new());
        for n in 1.. {
            let disk = self.disk();
            let faulty = FaultDisk::counting(Arc::new(disk.clone()));
            faulty.fail_sync(n);
            let outcome = Place::on(faulty.disk(), 2).and_then(|place| (self.act)(&place));
            let Some(path) = faulty.struck() else { break };
            struck += 1;
            let what = format!("sync {n}, of `{}`, failed", path.display());
            if outcome.is_ok() {
                ignored.insert(path.display().to_string());
                self.survives(&disk, &what);
                continue;
            }
            for keep in Keep::flavours(1) {
                // Old or new, never a mixture: `is_made` panics for anything else.
                (self.is_made)(&Case::next(&disk.after_crash(keep), 3));
            }
            let place = Case::next(&disk, 4);
            let made = (self.is_made)(&place);
            match (self.act)(&place) {
                Ok(()) => {}
                Err(error) => assert!(
                    made,
                    "{what}, and it cannot be done again: {error} ({:?})",
                    error.reason()
                ),
            }
            drop(place);
            self.survives(&disk, &format!("{what}, and it was done again"));
        }
        assert!(struck >= self.syncs, "only {struck} syncs could fail");
        let known: BTreeSet<String> = IGNORABLE
            .iter()
            .map(|(path, _)| (*path).to_owned())
            .collect();
        assert!(
            ignored.is_subset(&known),
            "these failed and the command said yes: {ignored:?}"
        );
    }
}

/// Whether all files of the session are deleted; panics if only some are.
fn is_gone(place: &Place) -> bool {
    let there: Vec<bool> = files()
        .iter()
        .map(|(key, _)| place.read(key).is_some())
        .collect();
    assert!(
        there.iter().all(|it| *it == there[0]),
        "half of it is gone: {there:?}"
    );
    place.copies_are_whole();
    let (operations, _) = place.runner.operations().unwrap();
    assert!(
        there[0] || operations.last().is_some_and(|op| op.undoable),
        "nobody knows how to take it back"
    );
    !there[0]
}

#[test]
fn a_folder_that_is_not_ours_to_sync_stops_nobody_and_a_dying_disk_does() {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, Unsupported};
    let make = |error: fn() -> std::io::Error| {
        let disk = FaultDisk::counting(Arc::new(CrashDisk::new(1)));
        durable::make_folders(disk.disk().as_ref(), Path::new("/u")).unwrap();
        disk.fail_sync_with(1, error);
        let made = durable::make_folders(disk.disk().as_ref(), Path::new("/u/home"));
        assert_eq!(disk.struck().as_deref(), Some(Path::new("/")));
        made.map(drop)
    };
    assert!(
        make(|| PermissionDenied.into()).is_ok(),
        "the folder above belongs to somebody else"
    );
    assert!(make(|| ReadOnlyFilesystem.into()).is_ok() && make(|| Unsupported.into()).is_ok());
    let error = make(|| std::io::Error::from_raw_os_error(5)).unwrap_err();
    assert_eq!(error.to_string(), "cannot sync the folder `/`");
}

fn restore(place: &Place) -> Result<()> {
    place.runner.restore(&session()).map(drop)
}
