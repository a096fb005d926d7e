//! Checkpoints: files are restored unchanged, and later changes are not overwritten without a
//! request.

use std::path::{Path, PathBuf};

use boswell_store::checkpoint::Checkpoints;
use boswell_store::checkpoint::{
    CUSTOM_TYPE, Captured, Done, FileDiff, FileSnapshot, Moment, OnBranch, OnConflict,
    RestoreRefusal, Restored, Skipped, State, TextDiff,
};
use boswell_store::disk::{Disk, OpenMode, RealDisk, durable};
use boswell_store::model::json::{Json, Raw};
use boswell_store::{Draft, ErrorKind, Home, NewSession};

struct Lab {
    folder: tempfile::TempDir,
    checkpoints: Checkpoints,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        durable::make_folders(&RealDisk, &folder.path().join("project/src")).unwrap();
        Lab {
            folder,
            checkpoints: home.checkpoints(),
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn write(&self, path: &str, text: &str) {
        durable::put(&RealDisk, &self.root().join(path), text.as_bytes(), "w").unwrap();
    }

    fn text(&self, path: &str) -> Option<String> {
        durable::read(&RealDisk, &self.root().join(path))
            .unwrap()
            .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    fn capture(&self, paths: &[&str], moment: Moment) -> FileSnapshot {
        let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
        self.checkpoints
            .capture(&self.root(), &paths, moment)
            .unwrap()
    }

    fn restore(&self, state: &State, on_conflict: OnConflict) -> Restored {
        self.checkpoints
            .restore(state, &self.root(), on_conflict)
            .unwrap()
    }
}

#[test]
fn snapshots_read_back_from_a_session() {
    let lab = Lab::new();
    lab.write("src/a.rs", "one\n");
    let snapshot = lab.capture(&["src/a.rs", "none", "src", "../x"], Moment::Before);
    let json = snapshot.to_json().to_bytes();
    assert_eq!(
        FileSnapshot::from_json(Raw::parse(&json).unwrap()).unwrap(),
        snapshot
    );
    let contents: Vec<_> = snapshot
        .files
        .iter()
        .map(|file| (file.path.as_str(), &file.content))
        .collect();
    assert!(matches!(
        contents[0],
        ("src/a.rs", Captured::File { len: 4, .. })
    ));
    assert_eq!(contents[1], ("none", &Captured::Absent));
    assert_eq!(contents[2], ("src", &Captured::Skipped(Skipped::Folder)));
    assert_eq!(contents[3], ("../x", &Captured::Skipped(Skipped::Outside)));
    let bad = br#"{"files":[{"path":"a","blob":"blob:sha256:1"}],"at":"2026-01-01T00:00:00Z"}"#;
    assert_eq!(
        FileSnapshot::from_json(Raw::parse(bad).unwrap())
            .unwrap_err()
            .kind(),
        ErrorKind::Damaged
    );
}

#[test]
fn first_capture_after_an_entry_is_the_state_at_it() {
    let lab = Lab::new();
    lab.write("a", "0");
    let first = lab.capture(&["a"], Moment::Before);
    lab.write("a", "1");
    let second = lab.capture(&["a", "new"], Moment::Before);
    lab.write("a", "2");
    lab.write("new", "n");
    let third = lab.capture(&["a", "new"], Moment::After);
    let on = |id, snapshot| OnBranch { id, snapshot };
    let branch = [
        on("p1", None),
        on("c1", Some(&first)),
        on("p2", None),
        on("c2", Some(&second)),
        on("c3", Some(&third)),
        on("p3", None),
    ];
    assert_eq!(
        State::at(&branch, "p1").unwrap().file("a").unwrap().then,
        first.files[0].content
    );
    let second_state = State::at(&branch, "p2").unwrap();
    assert_eq!(
        second_state.file("a").unwrap().then,
        second.files[0].content
    );
    assert_eq!(
        second_state.file("a").unwrap().known.len(),
        3,
        "every captured content is known"
    );
    assert_eq!(second_state.file("new").unwrap().then, Captured::Absent);
    assert_eq!(State::at(&branch, "p3").unwrap().files().count(), 0);
    assert!(State::at(&branch, "elsewhere").unwrap_err().is_not_found());
    assert_eq!(
        second_state.only(&["ne"]).files().count(),
        0,
        "half a name is another file"
    );
}

#[test]
fn differences_are_told_by_file() {
    let lab = Lab::new();
    lab.write("changed", "a\nb\n");
    lab.write("same", "s");
    lab.write("gone", "g");
    lab.write("binary", "x");
    let state = State::before([&lab.capture(
        &["changed", "same", "gone", "new", "binary"],
        Moment::Before,
    )]);
    lab.write("changed", "a\nc\n");
    lab.write("new", "n");
    lab.write("binary", "\0");
    RealDisk.remove(&lab.root().join("gone")).unwrap();
    let diff = lab.checkpoints.diff(&state, &lab.root());
    let of = |path: &str| &diff.iter().find(|(name, _)| name == path).unwrap().1;
    assert!(
        matches!(of("changed"), FileDiff::Changed(TextDiff::Hunks(text)) if text == "@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
    );
    assert!(matches!(of("same"), FileDiff::Unchanged));
    assert!(matches!(of("gone"), FileDiff::Missing));
    assert!(matches!(of("new"), FileDiff::New));
    assert!(matches!(of("binary"), FileDiff::Changed(TextDiff::Binary)));
}

#[test]
fn restored_files_have_their_content_and_mode_and_it_can_be_taken_back() {
    let lab = Lab::new();
    lab.write("src/a", "before");
    RealDisk
        .open(&lab.root().join("src/a"), OpenMode::Append)
        .unwrap()
        .set_mode_and_time(0o755, 0)
        .unwrap();
    let before = lab.capture(&["src/a", "src/new"], Moment::Before);
    lab.write("src/a", "after");
    lab.write("src/new", "made by the agent");
    let after = lab.capture(&["src/a", "src/new"], Moment::After);
    let restored = lab.restore(&State::before([&before, &after]), OnConflict::Stop);
    assert!(restored.refused.is_empty(), "{:?}", restored.refused);
    assert_eq!(
        restored.done,
        [
            ("src/a".to_owned(), Done::Written),
            ("src/new".to_owned(), Done::Removed)
        ]
    );
    assert_eq!(
        (lab.text("src/a").as_deref(), lab.text("src/new")),
        (Some("before"), None)
    );
    #[cfg(unix)]
    assert_eq!(
        RealDisk
            .stat(&lab.root().join("src/a"))
            .unwrap()
            .unwrap()
            .mode,
        0o755
    );
    let back = lab.restore(&restored.undo_state(), OnConflict::Stop);
    assert_eq!(back.done.len(), 2, "{:?}", back.refused);
    assert_eq!(lab.text("src/a").as_deref(), Some("after"));
    assert_eq!(lab.text("src/new").as_deref(), Some("made by the agent"));
}

#[test]
fn somebody_elses_change_is_a_conflict_and_stops_everything() {
    let lab = Lab::new();
    lab.write("a", "before");
    lab.write("b", "before");
    let before = lab.capture(&["a", "b"], Moment::Before);
    lab.write("a", "agent");
    lab.write("b", "agent");
    let after = lab.capture(&["a", "b"], Moment::After);
    lab.write("b", "the user's own work");
    let state = State::before([&before, &after]);
    let stopped = lab.restore(&state, OnConflict::Stop);
    assert!(stopped.done.is_empty());
    assert!(
        matches!(stopped.refused.as_slice(), [(path, RestoreRefusal::Conflict)] if path == "b")
    );
    assert_eq!(
        lab.text("a").as_deref(),
        Some("agent"),
        "nothing was written"
    );
    let skipped = lab.restore(&state, OnConflict::Skip);
    assert_eq!(skipped.done, [("a".to_owned(), Done::Written)]);
    let forced = lab.restore(&state, OnConflict::Overwrite);
    assert_eq!(forced.done, [("b".to_owned(), Done::Written)]);
    lab.restore(&forced.undo_state(), OnConflict::Stop);
    assert_eq!(
        lab.text("b").as_deref(),
        Some("the user's own work"),
        "and even that is not lost"
    );
}

#[cfg(unix)]
#[test]
fn links_are_neither_captured_nor_written_through() {
    let lab = Lab::new();
    lab.write("dir-file", "x");
    let outside = lab.folder.path().join("outside");
    durable::make_folders(&RealDisk, &outside).unwrap();
    durable::create(&RealDisk, &outside.join("secret"), b"s").unwrap();
    std::os::unix::fs::symlink(&outside, lab.root().join("link")).unwrap();
    let captured = lab.capture(&["link/secret", "link"], Moment::Before);
    assert!(
        captured
            .files
            .iter()
            .all(|file| file.content == Captured::Skipped(Skipped::Link))
    );
    lab.write("src/secret", "s2");
    let mut forged = lab.capture(&["src/secret"], Moment::Before);
    forged.files[0].path = "link/secret".to_owned();
    let restored = lab.restore(&State::before([&forged]), OnConflict::Overwrite);
    assert!(matches!(
        restored.refused.as_slice(),
        [(_, RestoreRefusal::Skipped(Skipped::Link))]
    ));
    assert_eq!(
        durable::read(&RealDisk, &outside.join("secret"))
            .unwrap()
            .unwrap(),
        b"s"
    );
}

#[test]
fn forged_paths_write_nothing_outside_the_project_or_into_git() {
    let lab = Lab::new();
    lab.write("a", "evil");
    for path in [
        "../evil",
        "/evil",
        "a/../../evil",
        ".git/hooks/pre-commit",
        "sub/.Git/config",
        "",
    ] {
        let mut forged = lab.capture(&["a"], Moment::Before);
        forged.files[0].path = path.to_owned();
        let restored = lab.restore(&State::before([&forged]), OnConflict::Overwrite);
        assert!(restored.done.is_empty(), "{path}");
        assert_eq!(restored.refused.len(), 1, "{path}");
    }
    assert!(
        RealDisk
            .stat(&lab.folder.path().join("evil"))
            .unwrap()
            .is_none()
    );
    assert!(RealDisk.stat(&lab.root().join(".git")).unwrap().is_none());
}

#[test]
fn file_whose_content_is_lost_is_refused_and_the_others_come_back() {
    let lab = Lab::new();
    lab.write("a", "one");
    lab.write("b", "two");
    let before = lab.capture(&["a", "b"], Moment::Before);
    let Captured::File { blob, .. } = &before.files[0].content else {
        panic!("a file")
    };
    RealDisk
        .remove(&lab.folder.path().join("home/blobs").join(blob.to_string()))
        .unwrap();
    RealDisk.remove(&lab.root().join("a")).unwrap();
    RealDisk.remove(&lab.root().join("b")).unwrap();
    let restored = lab.restore(&State::before([&before]), OnConflict::Stop);
    assert!(
        matches!(restored.refused.as_slice(), [(path, RestoreRefusal::Failed(error))] if path == "a" && error.is_not_found())
    );
    assert_eq!(lab.text("b").as_deref(), Some("two"));
}

#[test]
fn state_is_read_from_a_session_and_damaged_snapshots_are_told() {
    let lab = Lab::new();
    let store = Home::at(lab.folder.path().join("home")).sessions().unwrap();
    let writer = store.create(NewSession::in_project("/project")).unwrap();
    lab.write("a", "before");
    let asked = writer.append(Draft::user("change a")).unwrap();
    let snapshot = lab.capture(&["a"], Moment::Before);
    writer
        .append(Draft::custom(CUSTOM_TYPE, snapshot.to_json()))
        .unwrap();
    lab.write("a", "after");
    writer
        .append(Draft::custom(
            CUSTOM_TYPE,
            lab.capture(&["a"], Moment::After).to_json(),
        ))
        .unwrap();
    writer.append(Draft::assistant("done")).unwrap();
    let broken = writer
        .append(Draft::custom(CUSTOM_TYPE, Json::object().with("files", 1)))
        .unwrap();
    writer
        .append(Draft::custom("somebody.else", Json::object()))
        .unwrap();
    let session = writer.session().unwrap();
    let found = State::in_session(&session, asked.entry.as_str()).unwrap();
    assert_eq!(
        found.state,
        State::before([&snapshot, &lab.capture(&["a"], Moment::After)])
    );
    let damaged: Vec<&str> = found
        .damaged
        .iter()
        .map(|(entry, _)| entry.as_str())
        .collect();
    assert_eq!(damaged, [broken.entry.as_str()]);
    assert_eq!(
        lab.restore(&found.state, OnConflict::Stop).done,
        [("a".to_owned(), Done::Written)]
    );
    assert!(
        State::in_session(&session, "nowhere")
            .unwrap_err()
            .is_not_found()
    );
}
