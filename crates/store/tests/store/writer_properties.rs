//! Random calls to a writer, each compared with a reference that is a list.
//!
//! Failing seeds are recorded in `writer_properties.regressions` and tried first in later runs.

mod appending;
mod calls;
mod reference;
mod running;

use std::path::Path;
use std::sync::Arc;

use crate::counting::Counting;
use crate::pi_lines::pi_lines;
use crate::picture::Picture;
use boswell_dialect::by_name;
use boswell_model::Revision;
use boswell_store::backend::ObjectReader;
use boswell_store::disk::{Disk, MemoryDisk};
use boswell_store::writer::{Parent, Visibility};
use boswell_store::{
    ErrorKind, Home, NewSession, Receipt, Result, SessionWriter, Store, WritableStore,
};
use boswell_testkit::fault_disk::FaultDisk;
use boswell_testkit::rows::RowBackend;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use calls::call;

/// The model of all assistant messages.
const ANSWERING: &str = "p/m9";

#[derive(Debug, Clone, PartialEq)]
enum What {
    Says(&'static str, String),
    Compaction { summary: String, kept: String },
    Label(String, Option<String>),
    Title(String),
    Model(String),
    Thinking(String),
    Silent,
}

#[derive(Debug, Clone)]
struct Entry {
    id: String,
    parent: Option<String>,
    what: What,
}

#[derive(Debug, Clone, Default)]
struct Reference {
    entries: Vec<Entry>,
    shown: bool,
}

/// A random call. Entries are chosen by a number modulo their count.
#[derive(Debug, Clone)]
enum Call {
    Append(Place, Said),
    Os(Said),
    Batch(Vec<(Place, Said)>),
    Branch(usize),
    Reset,
    Summary(Option<usize>, String),
    Rewind(usize),
    Label(usize, Option<String>),
    Title(String),
    Compact(usize, String),
    Given(u8, Place, Said),
    Native(u8, Said),
    ExpectRevision { right: bool, said: Said },
    ExpectLeaf { right: bool, said: Said },
    Nowhere(Said),
    Annotate(Said),
    Fork(Option<usize>),
    Reopen(bool),
}

#[derive(Debug, Clone)]
enum Place {
    Tip,
    Root,
    Below(usize),
    /// The entry before it in the batch.
    Before,
}

#[derive(Debug, Clone)]
enum Said {
    User(String),
    Assistant(String),
    Extension(String),
    Custom(u8),
    Title(String),
    Model(u8),
    Thinking(u8),
}

const HOME: &str = "/home/store";
const ID: &str = "a_session.1";

/// Where the session is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ground {
    Files,
    Rows,
}

struct Run {
    store: WritableStore,
    other: WritableStore,
    writer: SessionWriter,
    reference: Reference,
}

impl Run {
    fn start(ground: Ground, visible: Visibility, seed: u64) -> Run {
        let (store, other) = match ground {
            Ground::Files => {
                let inner = MemoryDisk::default();
                for folder in ["/", "/home"] {
                    inner.make_folder(Path::new(folder)).unwrap();
                }
                let disk: Arc<dyn Disk> = FaultDisk::new(Arc::new(inner), seed).disk();
                let open = |start| {
                    Home::on(Arc::clone(&disk), Arc::new(Counting::from(start)), HOME)
                        .sessions()
                        .unwrap()
                };
                (open(0), open(1 << 20))
            }
            Ground::Rows => {
                let rows = Arc::new(RowBackend::default());
                let store = Store::on(by_name("boswell").unwrap(), rows.clone(), HOME);
                let open = |start| {
                    let id_source = Arc::new(Counting::from(start));
                    WritableStore::on_logs(store.clone(), rows.clone(), id_source)
                };
                (open(0), open(1 << 20))
            }
        };
        let new = NewSession {
            visible,
            ..NewSession::in_project("/proj/demo").with_id(ID)
        };
        let writer = store.create(new).unwrap();
        let reference = Reference {
            shown: visible == Visibility::AtOnce,
            ..Reference::default()
        };
        Run {
            store,
            other,
            writer,
            reference,
        }
    }

    fn pick(&self, number: usize) -> Option<String> {
        let count = self.reference.entries.len();
        (count > 0).then(|| self.reference.entries[number % count].id.clone())
    }

    /// Returns the draft's parent, and the parent in the reference; `before` is the last entry of
    /// the batch so far.
    fn place(&self, place: &Place, before: Option<&str>) -> (Parent, Option<String>) {
        let tip = before.map(str::to_owned).or_else(|| self.reference.tip());
        match place {
            Place::Root => (Parent::Root, None),
            Place::Below(number) => match self.pick(*number) {
                Some(id) => (Parent::Entry(id.as_str().into()), Some(id)),
                None => (Parent::Tip, tip),
            },
            Place::Before => match before {
                Some(id) => (Parent::Entry(id.into()), Some(id.to_owned())),
                None => (Parent::Tip, tip),
            },
            Place::Tip => (Parent::Tip, tip),
        }
    }

    fn refused<T: std::fmt::Debug>(&self, result: Result<T>, kind: ErrorKind, before: &[u8]) {
        assert_eq!(result.unwrap_err().kind(), kind);
        assert_eq!(self.bytes(), before, "a refused call wrote something");
    }

    fn log(&self, writer: &SessionWriter) -> Box<dyn ObjectReader> {
        let path = writer.path();
        self.store
            .backend()
            .open(path.strip_prefix(HOME).unwrap().to_str().unwrap())
            .unwrap()
    }

    fn bytes_of(&self, writer: &SessionWriter) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.log(writer)
            .lines(0, 1, &mut |line| bytes.extend_from_slice(line.bytes))
            .unwrap();
        bytes
    }

    fn bytes(&self) -> Vec<u8> {
        self.bytes_of(&self.writer)
    }

    /// Returns the current revision of the log.
    fn revision(&self) -> Revision {
        let log = self.log(&self.writer);
        Revision::of_log(log.identity().unwrap(), log.end().unwrap())
    }

    fn appended(&mut self, receipt: &Receipt, parent: Option<String>, what: What) {
        assert!(!receipt.deduplicated);
        assert_eq!(receipt.revision, self.revision());
        self.reference.add(receipt.entry.as_str(), parent, what);
    }

    fn check(&self) {
        let wanted = self.reference.picture();
        let session = self.writer.session().unwrap();
        assert_eq!(Picture::of(&session), wanted);
        assert_eq!(
            Picture::of(&self.other.session(ID).unwrap()),
            wanted,
            "by its id"
        );
        assert!(session.log().gaps.is_empty());
        let lines = pi_lines(&self.bytes());
        assert_eq!(lines.len(), self.reference.entries.len() + 1);
        assert_eq!(
            self.store.find(ID).is_ok(),
            self.reference.shown,
            "visible or not"
        );
        let settings = session.context(session.tip().unwrap()).unwrap().settings;
        assert_eq!(settings.model, self.reference.model());
    }
}

fn config() -> ProptestConfig {
    let kept = FileFailurePersistence::Direct("tests/store/writer_properties.regressions");
    // `PROPTEST_CASES` sets the number of cases.
    let cases = ProptestConfig::default().cases / 2;
    ProptestConfig {
        cases,
        failure_persistence: Some(Box::new(kept)),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_writer_does_what_a_list_would_do(
        calls in proptest::collection::vec(call(), 1..40),
        deferred in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let visible = if deferred { Visibility::WithFirstAnswer } else { Visibility::AtOnce };
        for ground in [Ground::Files, Ground::Rows] {
            let mut run = Run::start(ground, visible, seed);
            run.check();
            for call in &calls {
                run.run(call);
                run.check();
            }
        }
    }
}

/// Runs calls of a case that failed once.
fn tell(calls: &[Call]) {
    for ground in [Ground::Files, Ground::Rows] {
        let mut run = Run::start(ground, Visibility::AtOnce, 0);
        for call in calls {
            run.run(call);
            run.check();
        }
    }
}

fn user(text: &str) -> Said {
    Said::User(text.to_owned())
}

#[test]
fn a_label_on_an_entry_that_is_not_forked_stays_behind() {
    let label = Call::Label(1, Some("on the mark of a branch".to_owned()));
    let calls = [Call::Append(Place::Tip, user("a")), Call::Branch(0), label];
    tell(
        &[
            &calls[..],
            &[Call::Append(Place::Tip, user("b")), Call::Fork(None)],
        ]
        .concat(),
    );
}

#[test]
fn a_compaction_that_keeps_from_an_entry_that_is_not_forked_keeps_as_much_in_the_fork() {
    let answer = Said::Assistant("b".to_owned());
    let calls = [
        Call::Append(Place::Tip, user("a")),
        Call::Branch(0),
        Call::Append(Place::Tip, answer),
    ];
    let compact = Call::Compact(1, "sum".to_owned());
    tell(
        &[
            &calls[..],
            &[
                compact,
                Call::Append(Place::Tip, user("c")),
                Call::Fork(None),
            ],
        ]
        .concat(),
    );
}

#[test]
fn the_model_in_force_is_said_again_after_a_compaction() {
    let calls = [
        Call::Append(Place::Tip, Said::Model(1)),
        Call::Append(Place::Tip, user("a")),
    ];
    tell(
        &[
            &calls[..],
            &[Call::Compact(1, "sum".to_owned()), Call::Fork(None)],
        ]
        .concat(),
    );
}

#[test]
fn a_revision_that_others_made_is_right_also_for_one_who_has_not_seen_it() {
    tell(&[
        Call::Annotate(Said::Custom(0)),
        Call::ExpectRevision {
            right: true,
            said: user("a"),
        },
    ]);
}
