//! Delete, archive, restore, undo and purge.

use std::path::Path;

use boswell_dialect::EditRequest;
use boswell_model::Result;

use super::{Case, HOME, Place, files, is_gone, nothing, restore, session};

/// Whether all files of the session exist and are unchanged.
fn is_back(place: &Place) -> bool {
    let there = !is_gone(place);
    for (key, text) in files().into_iter().filter(|_| there) {
        assert_eq!(place.read(&key).as_deref(), Some(text.as_bytes()), "{key}");
    }
    there
}

fn delete(place: &Place) -> Result<()> {
    place
        .runner
        .execute(&place.claude, &place.location()?, &EditRequest::Delete)
        .map(drop)
}

fn archive(place: &Place) -> Result<()> {
    place
        .runner
        .archive(&place.claude, &place.location()?)
        .map(drop)
}

fn undo(place: &Place) -> Result<()> {
    let (operations, _) = place.runner.operations()?;
    place
        .runner
        .undo(&operations.first().unwrap().operation.id)
        .map(drop)
}

#[test]
fn delete_is_durable_when_it_says_so() {
    let case = Case {
        prepare: nothing,
        act: delete,
        is_made: is_gone,
        syncs: 40,
    };
    case.with_every_sync_failing();
    case.with_every_sync_lying();
}

#[test]
fn archive_is_durable_when_it_says_so() {
    let is_made = |place: &Place| is_gone(place) && !place.runner.archived().unwrap().is_empty();
    Case {
        prepare: nothing,
        act: archive,
        is_made,
        syncs: 40,
    }
    .with_every_sync_failing();
}

#[test]
fn restore_is_durable_when_it_says_so() {
    Case {
        prepare: archive,
        act: restore,
        is_made: is_back,
        syncs: 20,
    }
    .with_every_sync_failing();
}

#[test]
fn undo_is_durable_when_it_says_so() {
    Case {
        prepare: delete,
        act: undo,
        is_made: is_back,
        syncs: 20,
    }
    .with_every_sync_failing();
}

#[test]
fn purge_is_durable_when_it_says_so() {
    let purge = |place: &Place| place.runner.vault().purge(&session()).map(drop);
    let is_made = |place: &Place| {
        let vault = place.runner.vault();
        // Every byte of the copies, compressed or not.
        let objects = place
            .disk
            .list(&Path::new(HOME).join("vault/objects"))
            .unwrap();
        let left = objects.iter().any(|(bucket, _)| {
            !place
                .disk
                .list(&Path::new(HOME).join("vault/objects").join(bucket))
                .unwrap()
                .is_empty()
        });
        let inodes = place
            .disk
            .list(&Path::new(HOME).join("vault/inodes"))
            .unwrap();
        vault.of(&session()).unwrap().is_empty() && !left && inodes.is_empty()
    };
    Case {
        prepare: delete,
        act: purge,
        is_made,
        syncs: 10,
    }
    .with_every_sync_failing();
}
