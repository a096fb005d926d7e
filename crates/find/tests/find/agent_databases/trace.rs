//! Reading leaves no trace, and a database that cannot be read hides nothing else.

use std::collections::BTreeMap;
use std::time::SystemTime;

use boswell_model::ErrorKind;
use boswell_testkit::corpus;

use super::*;

type State = BTreeMap<PathBuf, (Vec<u8>, SystemTime, u64)>;

/// Returns bytes, times and inodes of every file below the root.
fn state(lab: &Lab) -> State {
    let one = |path: PathBuf| {
        let meta = path.symlink_metadata().unwrap();
        let inode = std::os::unix::fs::MetadataExt::ino(&meta);
        let bytes = std::fs::read(&path).unwrap();
        (path, (bytes, meta.modified().unwrap(), inode))
    };
    let files = corpus::files(&lab.folder.path().join("root"));
    files.into_iter().map(one).collect()
}

/// Lists, reads, exports and checks everything.
fn use_all(lab: &Lab) -> usize {
    let sessions = lab.sessions();
    for session in &sessions {
        let context = session.context(session.tip().unwrap()).unwrap();
        assert!(context.items.len() <= 4 * session.log().heads.len());
        session.export(&mut |_| Ok(())).unwrap();
        lab.store.summary(session.location()).unwrap();
    }
    sessions.len()
}

#[test]
fn reading_real_databases_changes_no_byte_time_or_inode() {
    let Some(labs) = real() else { return };
    for (from, _, lab) in &labs {
        let before = state(lab);
        assert!(use_all(lab) > 0, "{from}");
        assert_eq!(before, state(lab), "{from}");
        assert!(!lab.folder.path().join("copies").exists(), "{from}");
    }
}

#[test]
fn reading_while_an_agent_has_the_database_open_changes_nothing() {
    let Some(labs) = real() else { return };
    let mut tried = 0;
    for (from, key, lab) in &labs {
        if !matches!(key.rsplit('.').next(), Some("db" | "sqlite3")) {
            continue;
        }
        let count = lab.sessions().len();
        let writer = Connection::open(lab.path(key)).unwrap();
        writer.pragma_update(None, "journal_mode", "WAL").unwrap();
        writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        // A newer schema than this program knows: other tables, and other columns.
        writer
            .execute_batch("CREATE TABLE later (a); INSERT INTO later VALUES (1)")
            .unwrap();
        let before = state(lab);
        assert!(
            before
                .keys()
                .any(|it| it.to_string_lossy().ends_with("-wal"))
        );
        assert_eq!(use_all(lab), count, "{from}");
        assert_eq!(before, state(lab), "{from}");
        // The agent goes on as if nobody had looked, also while a transaction is open.
        writer
            .execute_batch("BEGIN IMMEDIATE; INSERT INTO later VALUES (2)")
            .unwrap();
        assert_eq!(use_all(lab), count, "{from}");
        writer.execute_batch("COMMIT").unwrap();
        tried += 1;
    }
    assert!(tried > 5, "{tried}");
}

/// A database of opencode with one session.
pub(super) fn opencode(lab: &Lab, name: &str, session: &str) -> Connection {
    let db = Connection::open(lab.path(name)).unwrap();
    db.execute_batch(super::scale::SCHEMA).unwrap();
    super::scale::add_session(&db, session, 3, "a");
    db
}

#[test]
fn a_damaged_database_is_reported_and_hides_no_other() {
    let lab = Lab::empty("opencode");
    drop(opencode(&lab, "opencode.db", "ses_1"));
    std::fs::write(lab.path("opencode-dev.db"), "x".repeat(5000)).unwrap();
    let listing = lab.store.list().unwrap();
    assert_eq!(listing.sessions.len(), 1);
    assert_eq!(listing.unlisted.len(), 1, "{:?}", listing.unlisted);
    assert_eq!(listing.unlisted[0].0, "opencode-dev.db");
    assert!(listing.unlisted[0].1.detail.contains("damaged"));
}

#[test]
fn a_page_that_is_overwritten_is_an_error_and_no_panic() {
    let lab = Lab::empty("opencode");
    let db = opencode(&lab, "opencode.db", "ses_1");
    super::scale::add_session(&db, "ses_2", 200, &"long ".repeat(400));
    drop(db);
    let path = lab.path("opencode.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..half + 4096].fill(0x5a);
    std::fs::write(&path, bytes).unwrap();
    let listing = lab.store.list().unwrap();
    for location in &listing.sessions {
        if let Err(error) = lab.store.read(location, Depth::Pairs) {
            assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
        }
    }
    assert!(!listing.sessions.is_empty() || !listing.unlisted.is_empty());
}

#[test]
fn a_locked_database_is_read_as_it_was() {
    let lab = Lab::empty("opencode");
    let db = opencode(&lab, "opencode.db", "ses_1");
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(lab.sessions().len(), 1);
}

#[test]
fn a_session_is_read_to_its_end_while_the_agent_adds_to_it() {
    let lab = Lab::empty("opencode");
    let db = opencode(&lab, "opencode.db", "ses_1");
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    super::scale::add_session(&db, "ses_2", 200, "a");
    let location = lab.store.find("ses_2").unwrap();
    let session = lab.store.read(&location, Depth::Heads).unwrap();
    // The log is open now, and the agent goes on.
    super::scale::add_session(&db, "ses_3", 5, "a");
    let count = session.log().heads.len();
    let mut lines = 0;
    session
        .export(&mut |_| {
            lines += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!((lines, count), (201, 201));
    assert_eq!(lab.sessions().len(), 3);
}

#[test]
fn a_part_without_its_message_is_a_record_of_its_own() {
    let lab = Lab::empty("opencode");
    let db = opencode(&lab, "opencode.db", "ses_1");
    db.execute_batch("DELETE FROM message WHERE id = 'msg_ses_1_1'")
        .unwrap();
    let session = lab.sessions().remove(0);
    let mut exported = String::new();
    session
        .export(&mut |line| {
            exported.push_str(&String::from_utf8_lossy(line));
            Ok(())
        })
        .unwrap();
    assert_eq!(exported.lines().count(), 4, "{exported}");
    let last = exported.lines().next_back().unwrap();
    assert!(last.starts_with("{\"$table\":\"part\""), "{last}");
}
