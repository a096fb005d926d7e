//! Files of version 1 are read as they are and migrated on request.

use boswell_testkit::{corpus, disk};

use crate::pi_lab::{FAMILY, Lab, V1, text_of};

#[test]
fn reading_version_1_shows_the_migrated_view_and_changes_nothing() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        assert_eq!(lab.context("old"), ["sum", "second", "third"], "{dialect}");
        lab.run(&["migrate", "old"])
            .ends(2)
            .says("nothing was changed");
        assert_eq!(text_of(&lab.old()), V1);
        lab.run(&["append", "old", "--user", "x"])
            .ends(2)
            .says("migrate");
        assert_eq!(text_of(&lab.old()), V1);
    }
}

#[test]
fn migrating_counts_in_and_out_and_can_be_undone() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let before = std::fs::metadata(lab.old()).unwrap().modified().unwrap();
        lab.run(&["migrate", "old", "--apply"])
            .ends(0)
            .says("5 records before, 5 after");
        let now = text_of(&lab.old());
        assert!(
            now.contains("\"version\":3") && !now.contains("firstKeptEntryIndex"),
            "{now}"
        );
        assert_eq!(
            now.matches("{\"type\":\"mess\n").count(),
            1,
            "the damaged line stays"
        );
        assert_eq!(
            std::fs::metadata(lab.old()).unwrap().modified().unwrap(),
            before,
            "agents sort by it"
        );
        assert_eq!(lab.context("old"), ["sum", "second", "third"], "{dialect}");
        lab.run(&["append", "old", "--user", "more"]).ends(0);
        lab.run(&["undo", "--keep-new"]);
        let lab = Lab::new(dialect);
        lab.run(&["migrate", "old", "--apply"]).ends(0);
        lab.run(&["undo"]).ends(0);
        assert_eq!(text_of(&lab.old()), V1, "{dialect}");
        lab.run(&["migrate", "0b7e"])
            .ends(0)
            .says("version 3 already");
    }
}

#[test]
fn real_sessions_of_version_1_are_the_same_after_migrating() {
    let Some(root) = corpus::require_or_skip(corpus::CORPUS) else {
        return;
    };
    for name in [
        "pi-mono-large-session.jsonl",
        "pi-mono-before-compaction.jsonl",
    ] {
        let lab = Lab::new("pi");
        let bytes = disk::read(&root.join("pi").join(name));
        let path = lab.plant(
            &format!("--real--/{name}"),
            std::str::from_utf8(&bytes).unwrap(),
        );
        let told = |session: &str| {
            let lines = lab
                .run(&["context", session, "--json"])
                .ends(0)
                .of_type("message");
            lines
                .into_iter()
                .map(|line| (line["role"].clone(), line["content"].clone()))
                .collect::<Vec<_>>()
        };
        let session = path.to_str().unwrap();
        let before = told(session);
        assert!(before.len() > 100, "{name}: {}", before.len());
        lab.run(&["migrate", session, "--apply"]).ends(0);
        assert_eq!(told(session), before, "{name}");
        assert_eq!(
            text_of(&path).lines().count(),
            bytes.iter().filter(|byte| **byte == b'\n').count(),
            "{name}"
        );
        lab.run(&["undo"]).ends(0);
        assert_eq!(disk::read(&path), bytes, "{name}");
    }
}
