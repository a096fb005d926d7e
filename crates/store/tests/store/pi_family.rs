//! Stores of pi, oh-my-pi and xcsh through the library: the differences in creating, retrying and
//! forking.
#![expect(
    clippy::disallowed_methods,
    reason = "a test looks at real files and stops at the first surprise"
)]

use std::path::Path;
use std::sync::Arc;

use crate::counting::Counting;
use boswell_dialect::{ForkScope, by_name};
use boswell_store::disk::RealDisk;
use boswell_store::writer::Visibility;
use boswell_store::{Draft, Home, NewSession, Store, Wait, WritableStore};

const FAMILY: [&str; 3] = ["pi", "omp", "xcsh"];

fn store(dialect: &str, root: &Path) -> WritableStore {
    let id_source = Arc::new(Counting::from(0));
    let home = Home::on(Arc::new(RealDisk), id_source, root.with_file_name("home"));
    home.writable(Store::in_folder(by_name(dialect).unwrap(), root))
}

fn logs(root: &Path) -> Vec<String> {
    let folders = std::fs::read_dir(root.join("sessions"))
        .unwrap()
        .map(|folder| folder.unwrap().path());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
    files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect()
}

#[test]
fn a_session_that_waits_for_its_first_answer_appears_with_it_whole() {
    for dialect in FAMILY {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("agent");
        let store = store(dialect, &root);
        let new = NewSession {
            visible: Visibility::WithFirstAnswer,
            ..NewSession::in_project("/proj/demo")
        };
        let writer = store.create(new).unwrap();
        writer.append(Draft::user("first")).unwrap();
        writer.append(Draft::user("second")).unwrap();
        assert_eq!(
            logs(&root),
            [] as [String; 0],
            "{dialect}: nothing is in sight"
        );
        writer.append(Draft::assistant("answer")).unwrap();
        let text = std::fs::read_to_string(writer.path()).unwrap();
        assert_eq!(
            (logs(&root).len(), text.lines().count()),
            (1, 4),
            "{dialect}"
        );
        assert_eq!(text.matches("\"type\":\"session\"").count(), 1);
    }
}

#[test]
fn a_fork_before_the_first_answer_has_one_header_and_leaves_its_source_alone() {
    for dialect in FAMILY {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("agent");
        let store = store(dialect, &root);
        let writer = store
            .create(NewSession::in_project("/proj/demo").with_id("source"))
            .unwrap();
        writer
            .append(Draft::user("only a prompt").with_id("u1"))
            .unwrap();
        let source = writer.path();
        writer.release().unwrap();
        let before = std::fs::read(&source).unwrap();
        let new = NewSession {
            visible: Visibility::WithFirstAnswer,
            ..NewSession::default().with_id("fork")
        };
        let fork = store.fork("source", None, new).unwrap();
        assert_eq!(logs(&root).len(), 1, "{dialect}: it waits too");
        fork.append(Draft::custom(
            "state",
            boswell_store::model::json::Json::object(),
        ))
        .unwrap();
        fork.append(Draft::assistant("answer")).unwrap();
        let text = std::fs::read_to_string(fork.path()).unwrap();
        assert_eq!(text.matches("\"type\":\"session\"").count(), 1, "{dialect}");
        assert_eq!(
            (text.matches("\"id\":\"u1\"").count(), text.lines().count()),
            (1, 4),
            "{dialect}"
        );
        assert_eq!(std::fs::read(&source).unwrap(), before, "{dialect}");
        let header = text.lines().next().unwrap();
        assert!(
            header.contains("\"parentSession\":\"/") && header.contains("source.jsonl"),
            "by path: {header}"
        );
        let new = NewSession {
            copies: ForkScope::Everything,
            ..NewSession::default().with_id("whole")
        };
        let whole =
            std::fs::read_to_string(store.fork("source", None, new).unwrap().path()).unwrap();
        let by_id = whole
            .lines()
            .next()
            .unwrap()
            .contains("\"parentSession\":\"source\"");
        assert_eq!(by_id, dialect != "pi", "{whole}");
    }
}

#[test]
fn ids_look_like_those_of_their_neighbours() {
    for (dialect, len) in [("pi", 36), ("omp", 36), ("xcsh", 16)] {
        let folder = tempfile::tempdir().unwrap();
        let store = store(dialect, &folder.path().join("agent"));
        let writer = store.create(NewSession::in_project("/proj/demo")).unwrap();
        let id = writer.reference().id.clone();
        assert_eq!(id.len(), len, "{dialect}: {id}");
        assert!(
            writer
                .path()
                .to_str()
                .unwrap()
                .ends_with(&format!("Z_{id}.jsonl"))
        );
        assert_eq!(store.find(&id).unwrap().id, id);
    }
}

#[test]
fn writing_a_long_entry_twice_is_writing_it_once() {
    for dialect in FAMILY {
        let folder = tempfile::tempdir().unwrap();
        let store = store(dialect, &folder.path().join("agent"));
        let writer = store
            .create(NewSession::in_project("/proj/demo").with_id("s"))
            .unwrap();
        let long = || Draft::user("会🦀".repeat(200_000)).with_id("u1");
        assert!(!writer.append(long()).unwrap().deduplicated);
        assert!(writer.append(long()).unwrap().deduplicated, "{dialect}");
        writer.release().unwrap();
        let again = store.writer("s", Wait::No).unwrap();
        assert!(
            again.append(long()).unwrap().deduplicated,
            "{dialect}: also in another process"
        );
        assert!(
            again.append(Draft::user("other").with_id("u1")).is_err(),
            "{dialect}"
        );
        let session = store.session("s").unwrap();
        let context = session.context(session.tip().unwrap()).unwrap();
        let native = session
            .render(&context.items[0])
            .unwrap()
            .message
            .native
            .unwrap()
            .to_bytes();
        assert!(
            native.len() > 1_000_000,
            "{dialect}: it reads whole, {} bytes",
            native.len()
        );
    }
}
