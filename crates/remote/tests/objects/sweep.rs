//! A sweep deletes what no row names, and never anything else.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use boswell_store::{Draft, NewSession, Wait};

use crate::sessions::{Lab, lab, large, texts};

fn write(lab: &Lab, session: &str, text: &str) -> boswell_model::Result<()> {
    let new = NewSession::in_project("/p").with_id(session);
    let writer = lab.store.create(new)?;
    writer.append(Draft::user(text))?;
    writer.release()
}

fn whole(lab: &Lab, session: &str, text: &str) -> bool {
    texts(&lab.store, session).iter().all(|found| found == text)
}

#[test]
fn what_a_row_names_or_was_stored_a_moment_ago_stays() {
    let Some(lab) = lab() else { return };
    write(&lab, "kept", &large("kept")).unwrap();
    write(&lab, "gone", &large("gone")).unwrap();
    let (none, hour) = (Duration::ZERO, Duration::from_secs(3600));
    let nothing = lab.backend.sweep(none).unwrap();
    assert_eq!((nothing.listed, nothing.named, nothing.deleted), (2, 2, 0));
    lab.store.delete("gone", Wait::No).unwrap();
    let young = lab.backend.sweep(hour).unwrap();
    assert_eq!((young.young, young.deleted), (2, 0), "younger than an hour");
    let swept = lab.backend.sweep(none).unwrap();
    assert_eq!((swept.named, swept.deleted), (1, 1));
    assert!(swept.bytes > 250_000);
    assert_eq!(lab.keys().len(), 1);
    assert!(whole(&lab, "kept", &large("kept")));
    let tenant = &lab.tenant;
    let marks = lab.sql(&format!(
        "SELECT count(*) FROM boswell.blobs WHERE tenant = '{tenant}'"
    ));
    assert_eq!(marks, "1", "only the name of what is there is left");
    // Stored again, it is there again.
    write(&lab, "again", &large("gone")).unwrap();
    assert!(whole(&lab, "again", &large("gone")));
    assert_eq!(lab.keys().len(), 2);
}

#[test]
fn a_value_that_a_dead_sweep_has_marked_stays_in_its_line() {
    let Some(lab) = lab() else { return };
    let text = large("marked");
    write(&lab, "one", &text).unwrap();
    lab.store.delete("one", Wait::No).unwrap();
    let tenant = &lab.tenant;
    lab.sql(&format!(
        "UPDATE boswell.blobs SET log = '00000000-0000-0000-0000-000000000000', claimed = NULL \
         WHERE tenant = '{tenant}'"
    ));
    write(&lab, "two", &text).unwrap();
    let swept = lab.backend.sweep(Duration::ZERO).unwrap();
    assert_eq!((swept.listed, swept.deleted), (1, 0), "it is the other's");
    lab.objects.delete(&lab.keys()[0]).unwrap();
    assert!(whole(&lab, "two", &text), "it does not need the object");
}

#[test]
fn writers_and_deletions_that_race_with_sweeps_never_leave_a_line_without_its_value() {
    let Some(lab) = lab() else { return };
    let (done, swept, refused) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    // Few values, so that one is deleted while another writer stores it again. Four of them are
    // kept by a session from the sixth turn on.
    let values: Vec<String> = (0..6).map(|n| large(&format!("value {n}"))).collect();
    std::thread::scope(|scope| {
        let sweeps: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    while !done.load(Ordering::Acquire) {
                        let report = lab.backend.sweep(Duration::ZERO).unwrap();
                        swept.fetch_add(report.deleted, Ordering::AcqRel);
                    }
                })
            })
            .collect();
        let writers: Vec<_> = (0..4)
            .map(|thread| {
                let (lab, values, refused) = (&lab, &values, &refused);
                let swept = &swept;
                scope.spawn(move || {
                    let mut turn = 0;
                    // Until sweeps have hit values that others store again.
                    while turn < 12 || (turn < 150 && swept.load(Ordering::Acquire) < 8) {
                        let text = &values[(thread + turn) % values.len()];
                        let name = format!("s{thread}-{turn}");
                        if let Err(error) = write(lab, &name, text) {
                            assert!(error.to_string().contains("sweep"), "{error:?}");
                            refused.fetch_add(1, Ordering::AcqRel);
                        }
                        assert!(whole(lab, &name, text), "{name}");
                        if turn != 5 {
                            lab.store.delete(&name, Wait::No).unwrap();
                        }
                        turn += 1;
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Release);
        for sweep in sweeps {
            sweep.join().unwrap();
        }
    });
    for thread in 0..4 {
        let text = &values[(thread + 5) % values.len()];
        assert!(whole(&lab, &format!("s{thread}-5"), text));
    }
    assert!(swept.load(Ordering::Acquire) > 0, "sweeps found something");
}
