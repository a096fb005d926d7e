use super::super::file_edit::Replacement;
use super::*;

fn edited(at: i64, edit: usize, kind: EditKind) -> Event {
    Event {
        at,
        path: "/a".to_owned(),
        act: Act::Edit {
            edit,
            kind,
            before: None,
        },
    }
}

fn write(text: &str) -> EditKind {
    EditKind::Write(text.to_owned())
}

fn replace(old: &str, new: &str) -> EditKind {
    EditKind::Edit(vec![Replacement {
        old: old.to_owned(),
        new: new.to_owned(),
        all: false,
    }])
}

fn committed(at: i64, commit: usize, text: &str, parents: &[&str]) -> Event {
    Event {
        at,
        path: "/a".to_owned(),
        act: Act::Commit(CommittedText {
            commit,
            text: Some(text.to_owned()),
            blob: format!("blob {commit}"),
            parents: parents.iter().map(|it| it.to_string()).collect(),
            from: None,
        }),
    }
}

fn edits_of(events: &[Event], text: &str) -> Vec<Option<usize>> {
    let last = LastState {
        path: "/a",
        text,
        head: None,
        trees: &WorkingTrees::default(),
    };
    let lines = replay(events, &last);
    assert!(lines.is_text(text));
    lines.0.iter().map(|line| line.edit).collect()
}

#[test]
fn edits_on_edits_are_followed() {
    let events = [
        edited(1, 0, write("alpha\nbeta\ngamma\n")),
        edited(2, 1, replace("beta", "beta two")),
        edited(3, 2, replace("gamma\n", "gamma\ndelta\n")),
    ];
    let lines = edits_of(&events, "alpha\nbeta two\ngamma\ndelta\n");
    assert_eq!(lines, [Some(0), Some(1), Some(0), Some(2)]);
}

#[test]
fn what_a_hand_changed_between_is_unexplained() {
    let events = [
        edited(1, 0, write("alpha\nbeta\ngamma\n")),
        // The hand's line is known only because the file has it in the end.
        edited(
            2,
            1,
            replace("by hand\ngamma\n", "by hand\ninserted\ngamma\n"),
        ),
    ];
    let lines = edits_of(&events, "alpha\nbeta\nby hand\ninserted\ngamma\n");
    assert_eq!(lines, [Some(0), Some(0), None, Some(1), Some(0)]);
}

#[test]
fn a_line_that_a_hand_wrote_again_is_not_claimed() {
    let events = [
        edited(1, 0, write("alpha\nbeta\n")),
        committed(2, 0, "alpha\n", &[]),
    ];
    assert_eq!(edits_of(&events, "alpha\nbeta\n"), [Some(0), None]);
}

#[test]
fn a_file_that_existed_before_is_rebuilt_from_its_present_text() {
    let events = [
        edited(1, 0, replace("two", "zwei")),
        edited(2, 1, replace("vier", "fünf")),
    ];
    // The second edit failed to stay: a hand replaced its line.
    let lines = edits_of(&events, "one\nzwei\nthree\nsechs\n");
    assert_eq!(lines, [None, Some(0), None, None]);
}

#[test]
fn a_commit_of_the_same_second_is_before_the_edit_that_it_lacks() {
    let events = [
        edited(1, 0, write("alpha\n")),
        edited(500, 1, replace("alpha\n", "alpha\nbeta\n")),
        committed(999, 0, "alpha\n", &[]),
        committed(5_000, 1, "alpha\nbeta\n", &["blob 0"]),
    ];
    assert_eq!(edits_of(&events, "alpha\nbeta\n"), [Some(0), Some(1)]);
}

#[test]
fn both_sides_of_a_merge_are_kept() {
    let events = [
        committed(1, 0, "one\ntwo\nthree\n", &[]),
        edited(2, 0, replace("one\n", "one\nfrom main\n")),
        committed(3, 1, "one\nfrom main\ntwo\nthree\n", &["blob 0"]),
        committed(4, 2, "one\ntwo\nthree\nby hand\n", &["blob 0"]),
        committed(
            5,
            3,
            "one\nfrom main\ntwo\nthree\nby hand\n",
            &["blob 1", "blob 2"],
        ),
    ];
    let lines = edits_of(&events, "one\nfrom main\ntwo\nthree\nby hand\n");
    assert_eq!(lines, [None, Some(0), None, None, None]);
}

#[test]
fn a_rename_takes_the_lines_along() {
    let mut first = edited(1, 0, write("alpha\n"));
    first.path = "/old".to_owned();
    let mut rename = edited(2, 1, EditKind::Rename("/a".to_owned()));
    rename.path = "/old".to_owned();
    let events = [
        first.clone(),
        rename,
        edited(3, 2, replace("alpha\n", "alpha\nbeta\n")),
    ];
    assert_eq!(edits_of(&events, "alpha\nbeta\n"), [Some(0), Some(2)]);
    // A hand renamed it; only the commit says so.
    let mut commit = committed(9, 0, "alpha\nbeta\n", &[]);
    if let Act::Commit(commit) = &mut commit.act {
        commit.from = Some("/old".to_owned());
    }
    let events = [
        first,
        edited(3, 2, replace("alpha\n", "alpha\nbeta\n")),
        commit,
    ];
    assert_eq!(edits_of(&events, "alpha\nbeta\n"), [Some(0), Some(2)]);
}

#[test]
fn a_read_that_shows_a_part_changes_nothing() {
    let seen = Event {
        at: 2,
        path: "/a".to_owned(),
        act: Act::Seen {
            text: "alpha\n(2 more lines)\n".to_owned(),
            extent: SeenExtent::Likely,
        },
    };
    let events = [edited(1, 0, write("alpha\nbeta\ngamma\n")), seen];
    let lines = edits_of(&events, "alpha\nbeta\ngamma\n");
    assert_eq!(lines, [Some(0), Some(0), Some(0)]);
}

fn seen(at: i64, text: &str, extent: SeenExtent) -> Event {
    let text = text.to_owned();
    Event {
        at,
        path: "/a".to_owned(),
        act: Act::Seen { text, extent },
    }
}

#[test]
fn what_a_session_saw_before_it_wrote_the_file_again_is_not_claimed() {
    let text = "alpha\nnew one\nbeta\nby hand\n";
    for (shown, extent) in [
        ("alpha\nbeta\nby hand\n", SeenExtent::Whole),
        // The last line is new: this may also be a part of the file, with a remark.
        ("alpha\nbeta\nby hand\n", SeenExtent::Likely),
        ("beta\nby hand\n", SeenExtent::Part),
    ] {
        let events = [
            edited(1, 0, write("alpha\nbeta\n")),
            seen(2, shown, extent),
            edited(3, 1, write(text)),
        ];
        let lines = edits_of(&events, text);
        assert_eq!(lines, [Some(0), Some(1), Some(0), None], "{extent:?}");
        // An edit between does not make it known.
        let events = [
            edited(1, 0, write("alpha\nbeta\n")),
            seen(2, shown, extent),
            edited(3, 1, replace("alpha\n", "alpha\nnew one\n")),
            edited(4, 2, write(text)),
        ];
        let lines = edits_of(&events, text);
        assert_eq!(lines, [Some(0), Some(1), Some(0), None], "{extent:?}");
    }
    // Nothing is known of the file but what was read.
    let events = [
        seen(1, "by hand\n", SeenExtent::Part),
        edited(2, 0, write(text)),
    ];
    assert_eq!(edits_of(&events, text), [Some(0), Some(0), Some(0), None]);
}

#[test]
fn a_removed_line_that_a_hand_wrote_again_is_not_claimed() {
    let events = [
        edited(1, 0, write("alpha\nreturn None;\nbeta\n")),
        committed(2, 0, "alpha\nreturn None;\nbeta\n", &[]),
        edited(3, 1, replace("return None;\n", "")),
        committed(4, 1, "alpha\nreturn None;\nbeta\ngamma\n", &["blob 0"]),
    ];
    let lines = edits_of(&events, "alpha\nreturn None;\nbeta\ngamma\n");
    assert_eq!(lines, [Some(0), None, Some(0), None]);
}

/// Lines of a file in `/w/main`, where sessions work in other working trees.
fn edits_in_trees(events: &[Event], text: &str) -> Vec<Option<usize>> {
    let trees = WorkingTrees::of(&["/w/main", "/w/one", "/w/two"]);
    let last = LastState {
        path: "/w/main/a",
        text,
        head: None,
        trees: &trees,
    };
    let lines = replay(events, &last);
    lines.0.iter().map(|line| line.edit).collect()
}

fn in_tree(tree: &str, mut event: Event) -> Event {
    event.path = format!("/w/{tree}/a");
    event
}

#[test]
fn edits_in_another_working_tree_come_with_its_commits() {
    let events = [
        in_tree("main", committed(1, 0, "one\ntwo\n", &[])),
        in_tree("one", edited(2, 0, replace("one\n", "one\nfrom one\n"))),
        // A hand wrote the last line there.
        in_tree(
            "main",
            committed(3, 1, "one\nfrom one\ntwo\nby hand\n", &["blob 0"]),
        ),
        in_tree(
            "one",
            edited(4, 1, write("one\nfrom one\ntwo\nby hand\nnew one\n")),
        ),
        in_tree(
            "main",
            committed(5, 2, "one\nfrom one\ntwo\nby hand\nnew one\n", &["blob 1"]),
        ),
    ];
    let lines = edits_in_trees(&events, "one\nfrom one\ntwo\nby hand\nnew one\n");
    assert_eq!(lines, [None, Some(0), None, None, Some(1)]);
}

#[test]
fn two_working_trees_have_each_their_own_state() {
    let base = "first line\nsecond line\nthird line\n";
    let one = "first line\nof tree one\nsecond line\nthird line\n";
    let two = "first line\nsecond line\nthird line\nof tree two\nby hand\n";
    let both = "first line\nof tree one\nsecond line\nthird line\nof tree two\nby hand\n";
    let insert = |line: &str, new: &str| replace(line, &format!("{line}{new}"));
    let events = [
        in_tree("main", committed(1, 0, base, &[])),
        in_tree("one", edited(2, 0, insert("first line\n", "of tree one\n"))),
        in_tree("two", edited(3, 1, insert("third line\n", "of tree two\n"))),
        in_tree("main", committed(4, 1, one, &["blob 0"])),
        in_tree("main", committed(5, 2, two, &["blob 0"])),
        in_tree("main", committed(6, 3, both, &["blob 1", "blob 2"])),
    ];
    let lines = edits_in_trees(&events, both);
    assert_eq!(lines, [None, Some(0), None, None, Some(1), None]);
}
