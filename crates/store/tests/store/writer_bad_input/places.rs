//! Places that cannot be written: other formats, files, links, folders without permission, stores
//! opened read-only.

use std::path::PathBuf;
use std::sync::Arc;

use boswell_store::disk::MemoryDisk;
use boswell_store::disk::SystemIds;
use boswell_store::{Body, Draft, ErrorKind, Home, NewSession, Store, Wait, WritableStore};

use super::{ID, home, refused};

/// Writes a file where the log of a session with that id would be.
fn plant(store: &WritableStore, id: &str, text: &str) -> PathBuf {
    let path = store.root().join(format!(
        "sessions/--proj-demo--/2026-10-05T08-00-00-000Z_{id}.jsonl"
    ));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn other_versions_of_the_format_are_read_and_not_written() {
    let (folder, store, _) = home();
    let header = |version: &str| {
        format!(
            "{{\"type\":\"session\",{version}\"id\":\"x\",\"timestamp\":\"2026-10-05T08:00:00.000Z\",\"cwd\":\"/w\"}}\n"
        )
    };
    let user = "{\"type\":\"message\",\"timestamp\":\"2026-10-05T08:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";
    let cases = [
        ("v99", header("\"version\":99,") + user, ErrorKind::TooNew),
        ("v1", header("") + user, ErrorKind::Unsupported),
        ("empty", String::new(), ErrorKind::Unsupported),
        (
            "torn",
            "{\"type\":\"sess".to_owned(),
            ErrorKind::Unsupported,
        ),
    ];
    for (id, text, kind) in cases {
        plant(&store, id, &text);
        store.session(id).unwrap();
        // A lease may be taken before the header is read; the sessions do not change.
        let sessions = folder.path().join("home/sessions");
        refused(&sessions, kind, || store.writer(id, Wait::No));
        refused(&sessions, kind, || {
            store.annotate(id, Draft::new(Body::Title("t".to_owned())))
        });
    }
}

#[test]
fn a_home_that_is_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "mine").unwrap();
    refused(folder.path(), ErrorKind::Invalid, || {
        Home::at(folder.path().join("file")).sessions()
    });
    refused(folder.path(), ErrorKind::Invalid, || {
        Home::at(folder.path().join("file/below")).sessions()
    });
}

#[cfg(unix)]
#[test]
fn a_log_that_is_no_regular_file_is_never_written() {
    let (folder, store, path) = home();
    let outside = folder.path().join("outside.jsonl");
    std::fs::copy(&path, &outside).unwrap();
    let link = path.with_file_name("2026-10-05T08-00-00-000Z_link.jsonl");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let pipe = path.with_file_name("2026-10-05T08-00-00-000Z_pipe.jsonl");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::fs::create_dir(path.with_file_name("2026-10-05T08-00-00-000Z_folder.jsonl")).unwrap();
    let locks = folder.path().join("home/locks");
    for id in ["link", "pipe", "folder"] {
        let before = std::fs::read(&outside).unwrap();
        let error = store.writer(id, Wait::No).unwrap_err();
        assert!(
            matches!(
                error.kind(),
                ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::Denied
            ),
            "{id}: {error}"
        );
        assert_eq!(std::fs::read(&outside).unwrap(), before, "{id}");
    }
    // A lock that was planted as a symbolic link is not followed either.
    let lock = locks.join("boswell-here.lock");
    std::fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink(folder.path().join("planted"), &lock).unwrap();
    assert!(store.writer(ID, Wait::No).is_err());
    assert!(!folder.path().join("planted").exists());
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_is_denied() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, store, _) = home();
    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(closed.join("probe"), "x").is_ok() {
        eprintln!("SKIPPED: this user may write everywhere, so no folder is read-only");
        return;
    }
    refused(folder.path(), ErrorKind::Denied, || {
        Home::at(closed.join("home")).sessions()
    });
    let sessions = folder.path().join("home/sessions/--proj-demo--");
    std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(0o500)).unwrap();
    refused(&sessions, ErrorKind::Denied, || {
        store.create(NewSession::in_project("/proj/demo").with_id("new"))
    });
    std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_store_that_only_reads_sees_what_another_wrote() {
    // That it cannot write is proven by the example of `Store` that must not compile.
    let (_folder, store, _) = home();
    let reading = Store::in_folder(store.dialect(), store.root());
    assert_eq!(reading.session(ID).unwrap().log().heads.len(), 3);
}

#[test]
fn a_store_in_memory_works_like_any_other() {
    let store = Home::on(
        Arc::new(MemoryDisk::default()),
        Arc::new(SystemIds),
        "/boswell",
    )
    .sessions()
    .unwrap();
    let writer = store
        .create(NewSession::in_project("/w").with_id(ID))
        .unwrap();
    writer.append(Draft::user("x").with_id("u1")).unwrap();
    assert_eq!(
        writer
            .append(Draft::user("y").with_id("u1"))
            .unwrap_err()
            .kind(),
        ErrorKind::Conflict
    );
    assert_eq!(
        store.writer(ID, Wait::No).unwrap_err().kind(),
        ErrorKind::Busy
    );
}
