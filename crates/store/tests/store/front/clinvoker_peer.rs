//! Boswell and a process that follows clinvoker's own protocol write to one store concurrently.

use std::process::{Command, Stdio};

use boswell_dialect::EditRequest;
use boswell_model::SessionMeta;
use boswell_store::disk::{Disk, LockMode, OpenMode, RealDisk};
use boswell_testkit::make::clinvoker::{ClinvokerIndexState, store};

use crate::front::clinvoker::index_is_right;
use crate::front::support::real;
use crate::hammer::example;

const UPDATES: usize = 500;

#[test]
fn five_hundred_updates_of_ours_and_of_a_process_with_their_protocol_lose_nothing() {
    let batch = store(ClinvokerIndexState::Right, 11);
    let ids: Vec<String> = batch.sessions.iter().map(|made| made.id.clone()).collect();
    let (_folder, place) = real("clinvoker", &batch);
    let turns = |id: &str| place.meta(id).stated.turns.unwrap();
    let (shared, theirs, mine) = (&ids[0], &ids[1], &ids[2]);
    let before = turns(shared) + turns(theirs);
    let mut process = Command::new(example("boswell-testkit", "clinvoker_peer"))
        .arg(place.root.join("sessions"))
        .arg(UPDATES.to_string())
        .args([shared, theirs])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let like = EditRequest::Tags(Vec::new());
    for number in 0..UPDATES {
        let tag = format!("t{number}");
        let add = |meta: &SessionMeta| {
            EditRequest::Tags(meta.tags.iter().cloned().chain([tag.clone()]).collect())
        };
        let id = if number % 2 == 0 { shared } else { mine };
        place
            .runner
            .execute_with(&place.store, &place.find(id), &like, &add)
            .unwrap();
    }
    assert!(process.wait().unwrap().success());
    assert_eq!(
        turns(shared) + turns(theirs),
        before + UPDATES as u64,
        "none of their updates is lost"
    );
    let tags = |id: &str| {
        place
            .meta(id)
            .tags
            .iter()
            .filter(|tag| tag.starts_with('t'))
            .count()
    };
    assert_eq!(
        (tags(shared), tags(mine)),
        (UPDATES / 2, UPDATES / 2),
        "none of ours is lost"
    );
    index_is_right(&place);
    let lock = RealDisk
        .open(&place.root.join("sessions/store.lock"), OpenMode::Lock)
        .unwrap();
    assert!(
        lock.try_lock(LockMode::Exclusive).unwrap(),
        "no stale lock stays"
    );
    let names = boswell_testkit::disk::list(&place.root.join("sessions"));
    let temps = names
        .iter()
        .filter(|path| path.to_string_lossy().contains(".boswell") || path.ends_with(".tmp-x"));
    assert_eq!(temps.count(), 0, "{names:?}");
}
