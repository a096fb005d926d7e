//! Data derived from an excluded project is removed; the only copy of a session stays.

use std::path::PathBuf;

use boswell_testkit::disk;

use super::{HIDDEN, OPEN, SECRET, World, claude_log};

#[test]
fn excluding_removes_every_byte_that_was_derived() {
    for by_hand in [true, false] {
        let world = World::new();
        world.run(&["keep", "on", "--apply"]).ends(0);
        world.run(&["index"]).ends(0);
        world.run(&["search", SECRET]).ends(0);
        world.run(&["list", "--hidden"]).ends(0);
        assert!(
            !world.own_files_with(SECRET).is_empty(),
            "there is something to remove"
        );
        assert!(!world.own_files_with(HIDDEN).is_empty());
        let before = world.objects();
        if by_hand {
            world.exclude();
            world.run(&["list"]).ends(0);
        } else {
            world
                .run(&["config", "--exclude", "~/secret"])
                .ends(0)
                .says("1 session excluded");
        }
        assert_eq!(
            world.own_files_with(SECRET),
            [] as [PathBuf; 0],
            "by hand: {by_hand}"
        );
        assert_eq!(
            world.own_files_with(HIDDEN),
            [] as [PathBuf; 0],
            "by hand: {by_hand}"
        );
        assert!(
            world.objects() < before,
            "copies that were kept of it are gone"
        );
        assert!(
            world.run(&["search", OPEN]).ends(0).text().contains(OPEN),
            "the others are still found"
        );
        assert!(world.objects() > 0, "and kept");
        // Further commands bring nothing of it back.
        disk::write(
            &world.log("secret", HIDDEN),
            format!(
                "{}{}",
                claude_log(
                    HIDDEN,
                    &world.project("secret"),
                    SECRET,
                    "2026-01-03T00:00:00.000Z"
                ),
                claude_log(
                    HIDDEN,
                    &world.project("secret"),
                    "zanzibarword more",
                    "2026-01-03T00:00:01.000Z"
                )
            )
            .as_bytes(),
        );
        for args in [
            &["list"][..],
            &["search", SECRET],
            &["index"],
            &["keep", "run"],
            &["stats"],
        ] {
            world.run(args);
        }
        assert_eq!(world.own_files_with(SECRET), [] as [PathBuf; 0]);
    }
}

#[test]
fn a_session_that_was_deleted_by_its_agent_is_removed_from_what_was_derived_too() {
    let world = World::new();
    world.run(&["index"]).ends(0);
    world.run(&["list"]).ends(0);
    std::fs::remove_file(world.log("secret", HIDDEN)).unwrap();
    world.run(&["list", "--hidden"]).ends(0);
    world.exclude();
    world.run(&["list"]).ends(0);
    assert_eq!(world.own_files_with(SECRET), [] as [PathBuf; 0]);
    assert!(
        !world.ids().contains(&HIDDEN.to_owned()),
        "not as a ghost either"
    );
}

#[test]
fn what_was_archived_and_the_last_copy_of_what_is_gone_stay_unlisted() {
    let world = World::new();
    let other = "dddddddd-0004-4001-8001-000000000004";
    world.plant(
        &world.project("secret"),
        other,
        SECRET,
        "2026-01-02T00:00:00.000Z",
    );
    world.run(&["keep", "on", "--apply"]).ends(0);
    std::fs::remove_file(world.log("secret", other)).unwrap();
    world.run(&["archive", HIDDEN, "--apply"]).ends(0);
    world.run(&["config", "--exclude", "~/secret"]).ends(0);
    let ids = world.ids();
    assert!(
        !ids.contains(&HIDDEN.to_owned()) && !ids.contains(&other.to_owned()),
        "{ids:?}"
    );
    world.run(&["config", "--include", "~/secret"]).ends(0);
    assert!(
        world.ids().contains(&HIDDEN.to_owned()),
        "the archive is still there"
    );
    for id in [HIDDEN, other] {
        world.run(&["restore", &format!("claude:{id}")]).ends(0);
        assert!(
            world
                .run(&["show", &format!("claude:{id}")])
                .ends(0)
                .text()
                .contains(SECRET)
        );
    }
}
