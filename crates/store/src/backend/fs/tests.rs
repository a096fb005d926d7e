//! Keys, links and special files below a root folder.

use super::*;

#[test]
fn keys_that_leave_the_root_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let backend = FsBackend::new(folder.path().join("root"));
    std::fs::write(folder.path().join("secret"), "x").unwrap();
    for key in ["../secret", "a/../../secret", "./x", "a/\0"] {
        assert_eq!(
            backend.open(key).unwrap_err().kind(),
            ErrorKind::Invalid,
            "{key}"
        );
    }
    assert!(backend.open("nothing").unwrap_err().is_not_found());
    assert!(backend.list("nothing").unwrap().is_empty());
}

#[cfg(unix)]
#[test]
fn pipes_folders_and_loops_are_seen_and_never_opened() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join("dir.jsonl")).unwrap();
    std::os::unix::fs::symlink("loop.jsonl", root.join("loop.jsonl")).unwrap();
    let status = std::process::Command::new("mkfifo")
        .arg(root.join("pipe.jsonl"))
        .status()
        .unwrap();
    assert!(status.success());
    let _socket = std::os::unix::net::UnixListener::bind(root.join("sock.jsonl")).unwrap();
    let backend = FsBackend::new(root);
    let kinds: Vec<_> = backend
        .list("")
        .unwrap()
        .into_iter()
        .map(|i| (i.key, i.kind))
        .collect();
    let other = FileKind::Other;
    let expected = [
        ("dir.jsonl", FileKind::Folder),
        ("loop.jsonl", other),
        ("pipe.jsonl", other),
        ("sock.jsonl", other),
    ];
    assert_eq!(kinds, expected.map(|(k, v)| (k.to_owned(), v)));
    for key in ["dir.jsonl", "loop.jsonl", "pipe.jsonl", "sock.jsonl"] {
        assert!(backend.open(key).is_err(), "{key}");
    }
}

#[test]
fn lines_come_whole_whatever_their_length() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(CHUNK * 2 + 17);
    let text = format!("a\n{long}\n\nlast");
    std::fs::write(folder.path().join("f"), &text).unwrap();
    let object = FsBackend::new(folder.path()).open("f").unwrap();
    let mut seen = Vec::new();
    object
        .lines(0, 1, &mut |line| {
            seen.push((line.at, line.number, line.bytes.len()))
        })
        .unwrap();
    let at = long.len() as u64;
    assert_eq!(
        seen,
        [
            (0, 1, 2),
            (2, 2, long.len() + 1),
            (at + 3, 3, 1),
            (at + 4, 4, 4)
        ]
    );
    assert_eq!(object.read(at + 4, 1 << 40).unwrap(), b"last");
    let mut tail = Vec::new();
    object
        .lines(at + 3, 3, &mut |line| tail.push(line.number))
        .unwrap();
    assert_eq!(tail, [3, 4]);
}

#[test]
fn records_that_are_asked_for_one_after_the_other_are_the_ones_that_stand_there() {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (0..3000)
        .map(|n| format!("{n}:{}\n", "x".repeat(n * 7 % 500)))
        .collect();
    let long = format!("{}\n", "y".repeat(AHEAD));
    let text = lines.concat() + &long + &lines.concat();
    std::fs::write(folder.path().join("f"), &text).unwrap();
    let object = FsBackend::new(folder.path()).open("f").unwrap();
    let mut places = Vec::new();
    object
        .lines(0, 1, &mut |line| {
            places.push((line.at, line.bytes.len() as u64 - 1))
        })
        .unwrap();
    let there = |at: u64, len: u64| {
        text.as_bytes()[usize::try_from(at).unwrap()..][..usize::try_from(len).unwrap()].to_vec()
    };
    let in_order = places.iter();
    let in_leaps = places
        .iter()
        .step_by(7)
        .chain(places.iter().rev().step_by(11));
    for (at, len) in in_order.chain(in_leaps) {
        assert_eq!(
            object.read(*at, *len).unwrap(),
            there(*at, *len),
            "{len} at {at}"
        );
    }
    let end = text.len() as u64;
    assert_eq!(object.read(end - 3, 2).unwrap(), there(end - 3, 2));
    assert_eq!(
        object.read(end - 1, 100).unwrap(),
        b"\n",
        "fewer when it ends before"
    );
    // Bytes that are appended later are read later.
    std::io::Write::write_all(
        &mut std::fs::OpenOptions::new()
            .append(true)
            .open(folder.path().join("f"))
            .unwrap(),
        b"new",
    )
    .unwrap();
    assert_eq!(object.read(end, 3).unwrap(), b"new");
}
