//! Symbolic links and unreadable folders: nothing outside the store is reported as an orphan.

use boswell_testkit::disk::{read, write};

use super::{GONE, HERE, claude, found, with_orphans};
use crate::bench::Bench;

#[cfg(unix)]
#[test]
fn what_links_lead_to_and_what_holds_keys_is_left_alone() {
    let bench = Bench::new();
    let root = with_orphans(&bench);
    let outside = bench.home().join("precious");
    write(&outside.join("thesis.txt"), b"years");
    std::os::unix::fs::symlink(
        &outside,
        root.join(format!("projects/-w/{GONE}/tool-results/link")),
    )
    .unwrap();
    write(
        &root.join(format!("file-history/{GONE}/session.key")),
        b"SECRET",
    );
    let kinds: Vec<_> = found(&bench, 1)
        .into_iter()
        .map(|(kind, _, _)| kind)
        .collect();
    assert_eq!(kinds, ["orphaned_file", "orphaned_file", "outside_link"]);
    let clear = bench
        .run(["clean", "--leftovers", "--agent", "claude", "--apply"])
        .ends(0);
    clear
        .clone()
        .says("links among them lead elsewhere")
        .says("keys among them");
    assert_eq!(read(&outside.join("thesis.txt")), b"years");
    assert!(
        root.join(format!("projects/-w/{GONE}/tool-results/b.txt"))
            .exists()
    );
    assert!(
        root.join(format!("file-history/{GONE}/session.key"))
            .exists()
    );
    let kept = crate::keep::below(&bench.root().join("boswell"));
    assert!(
        kept.iter()
            .all(|path| !read(path).windows(6).any(|it| it == b"SECRET")),
        "{kept:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_session_is_not_deleted_through_a_link_to_a_folder_elsewhere() {
    let bench = Bench::new();
    let root = with_orphans(&bench);
    let outside = bench.home().join("precious");
    write(&outside.join("thesis.txt"), b"years");
    write(
        &root.join(format!("projects/-w/{HERE}/subagents/agent-1.jsonl")),
        claude(HERE).as_bytes(),
    );
    std::os::unix::fs::symlink(&outside, root.join(format!("projects/-w/{HERE}/workflows")))
        .unwrap();
    for verb in [&["delete"] as &[&str], &["archive", "--apply"]] {
        let args: Vec<&str> = verb.iter().copied().chain([HERE]).collect();
        bench
            .run(&args)
            .ends(2)
            .says("is a link to a folder elsewhere")
            .says("remove the link");
        assert_eq!(read(&outside.join("thesis.txt")), b"years");
        assert!(
            root.join(format!("projects/-w/{HERE}/subagents/agent-1.jsonl"))
                .exists()
        );
    }
    std::fs::remove_file(root.join(format!("projects/-w/{HERE}/workflows"))).unwrap();
    bench.run(["delete", "--apply", HERE]).ends(0);
    assert_eq!(read(&outside.join("thesis.txt")), b"years");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_looked_into_hides_nothing_else() {
    let bench = Bench::new();
    let root = with_orphans(&bench);
    // A link to itself cannot be listed by any user, not even by root.
    boswell_testkit::disk::remove(&root.join("file-history"));
    std::os::unix::fs::symlink("tasks", root.join("tasks")).unwrap();
    write(
        &root.join(format!("projects/-w/{HERE}.jsonl")),
        claude(HERE).trim_end().get(..60).unwrap().as_bytes(),
    );
    let kinds: Vec<_> = found(&bench, 1)
        .into_iter()
        .map(|(kind, _, _)| kind)
        .collect();
    assert!(
        kinds.contains(&"torn_tail".to_owned()) && kinds.contains(&"unreadable".to_owned()),
        "{kinds:?}"
    );
    bench
        .run(["clean", "--leftovers", "--agent", "nobody"])
        .ends(2)
        .says("boswell stores");
}
