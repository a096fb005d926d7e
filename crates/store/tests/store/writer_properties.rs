//! Random calls to a writer, each compared with a reference that keeps a list.
//!
//! Failing seeds are kept in `writer_properties.regressions` and tried first ever after.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::counting::Counting;
use crate::pi_lines::pi_lines;
use crate::picture::Picture;
use boswell_dialect::by_name;
use boswell_store::disk::{Disk, MemoryDisk};
use boswell_store::{
    Answer, Body, Draft, Durability, ErrorKind, Expect, NewSession, ObjectReader, Outcome, Parent,
    Receipt, Result, SessionWriter, Store, Visibility, Wait,
};
use boswell_testkit::fault_disk::FaultDisk;
use boswell_testkit::rows::RowBackend;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// The model that gives all answers.
const ANSWERING: &str = "p/m9";

// ---- the reference ----

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

impl Reference {
    fn add(&mut self, id: &str, parent: Option<String>, what: What) {
        self.shown |= matches!(what, What::Says("assistant", _));
        self.entries.push(Entry {
            id: id.to_owned(),
            parent,
            what,
        });
    }

    fn get(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    fn tip(&self) -> Option<String> {
        self.entries.last().map(|entry| entry.id.clone())
    }

    fn path(&self) -> Vec<&Entry> {
        let mut path: Vec<&Entry> =
            std::iter::successors(self.entries.last(), |e| self.get(e.parent.as_ref()?)).collect();
        path.reverse();
        path
    }

    fn last<T>(&self, pick: impl Fn(&What) -> Option<T>) -> Option<T> {
        self.path().iter().rev().find_map(|entry| pick(&entry.what))
    }

    /// The model in force: the one chosen or the one that answered, whichever is later.
    fn model(&self) -> Option<String> {
        self.last(|what| match what {
            What::Model(model) => Some(model.clone()),
            What::Says("assistant", _) => Some(ANSWERING.to_owned()),
            _ => None,
        })
    }

    fn context(&self) -> Vec<(String, String)> {
        let path = self.path();
        let said = |entry: &&Entry| match &entry.what {
            What::Says(role, text) => Some(((*role).to_owned(), text.clone())),
            _ => None,
        };
        let compacted = path
            .iter()
            .rposition(|entry| matches!(entry.what, What::Compaction { .. }));
        let Some(at) = compacted else {
            return path.iter().filter_map(said).collect();
        };
        let What::Compaction { summary, kept } = &path[at].what else {
            return Vec::new();
        };
        let from = path
            .iter()
            .position(|entry| entry.id == *kept)
            .unwrap_or(at);
        let summary = ("compactionSummary".to_owned(), summary.clone());
        std::iter::once(summary)
            .chain(path[from..].iter().filter_map(said))
            .collect()
    }

    fn picture(&self) -> Picture {
        let mut labels = BTreeMap::new();
        let mut title = None;
        for entry in &self.entries {
            match &entry.what {
                What::Label(target, Some(label)) => {
                    drop(labels.insert(target.clone(), label.clone()))
                }
                What::Label(target, None) => drop(labels.remove(target)),
                What::Title(text) => title = Some(text.clone()),
                _ => {}
            }
        }
        let text_pieces = |e: &&&Entry| matches!(e.what, What::Says(..) | What::Compaction { .. });
        Picture {
            entries: self
                .entries
                .iter()
                .map(|e| (e.id.clone(), e.parent.clone()))
                .collect(),
            tip: self.tip(),
            leaf: self
                .path()
                .iter()
                .rev()
                .find(text_pieces)
                .map(|e| e.id.clone()),
            labels,
            title,
            context: self.context(),
        }
    }
}

// ---- the calls ----

/// Entries are picked by a number, counted from the first and round again.
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
    /// Below the entry before it in the batch.
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

impl Said {
    fn body(&self) -> (Body, What) {
        let part = |text: &str| vec![boswell_store::Part::Text(text_pieces(text))];
        let says = |role, text: &str| What::Says(role, text_pieces(text));
        match self {
            Said::User(text) => (Body::User(part(text)), says("user", text)),
            Said::Assistant(text) => {
                let (provider, model) = ANSWERING.split_once('/').unwrap();
                let (provider, model) = (Some(provider.to_owned()), Some(model.to_owned()));
                let answer = Answer {
                    content: part(text),
                    provider,
                    model,
                    ..Answer::default()
                };
                (Draft::answer(answer).body, says("assistant", text))
            }
            Said::Extension(text) => {
                let body = Body::CustomMessage {
                    kind: "x".to_owned(),
                    content: part(text),
                    display: true,
                };
                (body, says("custom", text))
            }
            Said::Custom(n) => (
                Draft::custom(
                    "x",
                    boswell_store::model::json::Json::object().with("n", u32::from(*n)),
                )
                .body,
                What::Silent,
            ),
            Said::Title(text) => (Body::Title(text.clone()), What::Title(text.clone())),
            Said::Model(n) => (
                Body::Model {
                    model: format!("p/m{n}"),
                    role: None,
                },
                What::Model(format!("p/m{n}")),
            ),
            Said::Thinking(n) => {
                let level = ["off", "low", "high"][usize::from(*n) % 3].to_owned();
                (Body::ThinkingLevel(level.clone()), What::Thinking(level))
            }
        }
    }
}

/// What begins with this stands for a text of many pages, so that a failing case can be read.
const LONG: &str = "long:";

fn text_pieces(text: &str) -> String {
    text.strip_prefix(LONG)
        .map_or_else(|| text.to_owned(), |letter| letter.repeat(20_000))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,12}",
        1 => "[ -~]{1,40}",
        1 => Just("line\nend \"quoted\" \\ \u{2028} 名前 🦀 \u{1}".to_owned()),
        1 => "[a-z]{1}".prop_map(|letter| format!("{LONG}{letter}")),
    ]
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        4 => text().prop_map(Said::User),
        3 => text().prop_map(Said::Assistant),
        1 => text().prop_map(Said::Extension),
        1 => any::<u8>().prop_map(Said::Custom),
        1 => "[a-z]{1,9}".prop_map(Said::Title),
        1 => (0..3u8).prop_map(Said::Model),
        1 => (0..3u8).prop_map(Said::Thinking),
    ]
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        5 => Just(Place::Tip),
        1 => Just(Place::Root),
        2 => any::<usize>().prop_map(Place::Below),
        1 => Just(Place::Before),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let label = proptest::option::weighted(0.8, "[a-z]{1,6}");
    let id = 0..4u8;
    prop_oneof![
        6 => (place(), said()).prop_map(|(place, said)| Call::Append(place, said)),
        2 => said().prop_map(Call::Os),
        3 => proptest::collection::vec((place(), said()), 1..5).prop_map(Call::Batch),
        3 => any::<usize>().prop_map(Call::Branch),
        1 => Just(Call::Reset),
        2 => (proptest::option::weighted(0.8, any::<usize>()), text()).prop_map(|(at, text)| Call::Summary(at, text)),
        2 => any::<usize>().prop_map(Call::Rewind),
        2 => (any::<usize>(), label).prop_map(|(at, label)| Call::Label(at, label)),
        1 => "[a-z]{1,9}".prop_map(Call::Title),
        2 => (any::<usize>(), text()).prop_map(|(at, text)| Call::Compact(at, text)),
        4 => (id.clone(), place(), said()).prop_map(|(id, place, said)| Call::Given(id, place, said)),
        2 => (id, said()).prop_map(|(id, said)| Call::Native(id, said)),
        2 => (any::<bool>(), said()).prop_map(|(right, said)| Call::ExpectRevision { right, said }),
        2 => (any::<bool>(), said()).prop_map(|(right, said)| Call::ExpectLeaf { right, said }),
        1 => said().prop_map(Call::Nowhere),
        3 => said().prop_map(Call::Annotate),
        1 => proptest::option::of(any::<usize>()).prop_map(Call::Fork),
        2 => any::<bool>().prop_map(Call::Reopen),
    ]
}

// ---- both together ----

const HOME: &str = "/home/store";
const ID: &str = "a_session.1";

/// Where the session is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ground {
    Files,
    Rows,
}

struct Run {
    store: Store,
    other: Store,
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
                    Store::open_on(Arc::clone(&disk), Arc::new(Counting::from(start)), HOME)
                        .unwrap()
                };
                (open(0), open(1 << 20))
            }
            Ground::Rows => {
                let rows = Arc::new(RowBackend::default());
                let store = Store::on(by_name("boswell").unwrap(), rows.clone(), HOME);
                let open = |start| {
                    store
                        .clone()
                        .writable_in(rows.clone(), Arc::new(Counting::from(start)))
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

    /// What the draft's parent is, and what the reference takes for it; `before` is the last entry
    /// of the batch so far.
    fn place(&self, place: &Place, before: Option<&str>) -> (Parent, Option<String>) {
        let tip = before.map(str::to_owned).or_else(|| self.reference.tip());
        match place {
            Place::Root => (Parent::Root, None),
            Place::Below(number) => match self.pick(*number) {
                Some(id) => (Parent::Entry(id.clone()), Some(id)),
                None => (Parent::Tip, tip),
            },
            Place::Before => match before {
                Some(id) => (Parent::Entry(id.to_owned()), Some(id.to_owned())),
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

    /// The revision of the log as it is.
    fn revision(&self) -> String {
        self.log(&self.writer).end().unwrap().to_string()
    }

    fn appended(&mut self, receipt: &Receipt, parent: Option<String>, what: What) {
        assert!(!receipt.deduplicated);
        assert_eq!(receipt.revision, self.revision());
        self.reference.add(&receipt.entry, parent, what);
    }

    fn append(
        &mut self,
        draft: Draft,
        expect: Expect,
        durability: Durability,
        parent: Option<String>,
        what: What,
    ) {
        let receipt = self.writer.append_with(draft, expect, durability).unwrap();
        assert_eq!(receipt.durable, durability);
        self.appended(&receipt, parent, what);
    }

    fn batch(&mut self, drafts: &[(Place, Said)]) {
        let mut wanted = Vec::new();
        let mut given = Vec::new();
        let start = self.reference.entries.len();
        for (n, (place, said)) in drafts.iter().enumerate() {
            // Only an entry with an id of ours can be pointed at inside the batch.
            let id = format!("batch-{start}-{n}");
            let before = n.checked_sub(1).map(|n| format!("batch-{start}-{n}"));
            let (parent, above) = self.place(place, before.as_deref());
            let (body, what) = said.body();
            given.push(Draft::new(body).with_id(&id).below(parent));
            wanted.push((id, above, what));
        }
        let receipts = self
            .writer
            .append_all(given.clone(), Expect::Any, Durability::Fsync)
            .unwrap();
        assert_eq!(receipts.len(), wanted.len());
        for (receipt, (id, parent, what)) in receipts.iter().zip(wanted) {
            assert!(receipt.entry == id && !receipt.deduplicated);
            self.reference.add(&id, parent, what);
        }
        assert_eq!(receipts.last().unwrap().revision, self.revision());
        let before = self.bytes();
        let again = self
            .writer
            .append_all(given, Expect::Any, Durability::Fsync)
            .unwrap();
        assert!(again.iter().all(|receipt| receipt.deduplicated));
        assert_eq!(
            self.bytes(),
            before,
            "a batch that was there already wrote something"
        );
    }

    fn given(&mut self, id: &str, draft: Draft, parent: Option<String>, what: What) {
        let before = self.bytes();
        let tip = draft.parent == Parent::Tip;
        match self.reference.get(id).cloned() {
            None => self.append(draft, Expect::Any, Durability::Fsync, parent, what),
            Some(known)
                if known.what == what
                    && what != What::Silent
                    && (tip || known.parent == parent) =>
            {
                let receipt = self.writer.append(draft).unwrap();
                assert!(receipt.deduplicated && receipt.entry == id);
                assert_eq!(
                    self.bytes(),
                    before,
                    "an entry that was there already was written again"
                );
            }
            // Two silent ones may or may not be the same; the reference does
            // not know their content.
            Some(known) if known.what == What::Silent && what == What::Silent => {
                let _ = self.writer.append(draft);
                assert_eq!(self.bytes(), before);
            }
            Some(_) => self.refused(self.writer.append(draft), ErrorKind::Conflict, &before),
        }
    }

    fn compact(&mut self, number: usize, summary: &str) {
        let before = self.bytes();
        let Some(kept) = self.pick(number) else {
            return;
        };
        let result = self.writer.compact(summary, &kept, 7);
        if !self.reference.path().iter().any(|entry| entry.id == kept) {
            return self.refused(result, ErrorKind::Invalid, &before);
        }
        let model = self.reference.model();
        let level = self.reference.last(|what| {
            if let What::Thinking(l) = what {
                Some(l.clone())
            } else {
                None
            }
        });
        let receipt = result.unwrap();
        let parent = self.reference.tip();
        self.reference.add(
            &receipt.entry,
            parent,
            What::Compaction {
                summary: summary.to_owned(),
                kept,
            },
        );
        let settings = model
            .map(What::Model)
            .into_iter()
            .chain(level.map(What::Thinking));
        let lines = pi_lines(&self.bytes());
        for what in settings {
            // Its id is the writer's; the file says it.
            let line = &lines[self.reference.entries.len() + 1];
            let (key, value) = match &what {
                What::Model(model) => ("model", model),
                What::Thinking(level) => ("thinkingLevel", level),
                _ => continue,
            };
            assert_eq!(line[key], value.as_str(), "{line}");
            let id = line["id"].as_str().unwrap().to_owned();
            self.reference.add(&id, self.reference.tip(), what);
        }
        // Last, all of them in one entry, which settles also what was never set.
        let line = &lines[self.reference.entries.len() + 1];
        assert_eq!(line["customType"], "boswell.settings", "{line}");
        assert_eq!(
            line["data"]["model"].as_str(),
            self.reference.model().as_deref(),
            "{line}"
        );
        let id = line["id"].as_str().unwrap().to_owned();
        self.reference.add(&id, self.reference.tip(), What::Silent);
    }

    fn fork(&self, at: Option<usize>) {
        let at = at.and_then(|number| self.pick(number));
        let mut source = self.reference.clone();
        if let Some(at) = &at {
            // The branch that ends there is what comes along; labels are those of today.
            let entry = source
                .entries
                .iter()
                .position(|entry| entry.id == *at)
                .unwrap();
            let last = source.entries.remove(entry);
            source.entries.push(last);
        }
        let new = NewSession {
            visible: Visibility::WithFirstAnswer,
            ..NewSession::default()
        };
        let fork = self.store.fork(ID, at.as_deref(), new).unwrap();
        let picture = Picture::of(&fork.session().unwrap());
        let (path, wanted) = (source.path(), source.picture());
        assert_eq!(picture.context, wanted.context);
        let kept: Vec<&str> = path.iter().map(|entry| entry.id.as_str()).collect();
        let labels = self
            .reference
            .picture()
            .labels
            .into_iter()
            .filter(|(id, _)| kept.contains(&id.as_str()));
        // A label on a label has nothing to stand on in the fork.
        let labels = labels.filter(|(id, _)| picture.entries.iter().any(|(have, _)| have == id));
        assert_eq!(picture.labels, labels.collect());
        let lines = pi_lines(&self.bytes_of(&fork));
        assert_eq!(lines[0]["parentSession"], ID);
        assert_eq!(lines[0]["cwd"], "/proj/demo");
        let answered = path
            .iter()
            .any(|entry| matches!(entry.what, What::Says("assistant", _)));
        assert_eq!(
            fork.path().extension().unwrap() == "jsonl",
            answered,
            "a fork with an answer is visible"
        );
        fork.append(Draft::user("goes on")).unwrap();
        let again = self.store.session(&fork.reference().id).unwrap();
        assert_eq!(Picture::of(&again).context.len(), wanted.context.len() + 1);
        fork.close(Outcome::Open).unwrap();
    }

    fn run(&mut self, call: &Call) {
        let before = self.bytes();
        let tip = self.reference.tip();
        match call {
            Call::Append(place, said) => {
                let ((parent, above), (body, what)) = (self.place(place, None), said.body());
                self.append(
                    Draft::new(body).below(parent),
                    Expect::Any,
                    Durability::Fsync,
                    above,
                    what,
                );
            }
            Call::Os(said) => {
                let (body, what) = said.body();
                self.append(Draft::new(body), Expect::Any, Durability::Os, tip, what);
            }
            Call::Batch(drafts) => self.batch(drafts),
            Call::Branch(number) => match self.pick(*number) {
                Some(id) => {
                    let receipt = self.writer.branch(&id).unwrap();
                    self.appended(&receipt, Some(id), What::Silent);
                }
                None => self.refused(self.writer.branch("nothing"), ErrorKind::NotFound, &before),
            },
            Call::Reset => {
                let receipt = self.writer.reset().unwrap();
                self.appended(&receipt, None, What::Silent);
            }
            Call::Summary(number, summary) => {
                let summary = &text_pieces(summary);
                let at = number.and_then(|number| self.pick(number));
                let receipt = self
                    .writer
                    .branch_with_summary(at.as_deref(), summary)
                    .unwrap();
                self.appended(&receipt, at, What::Says("branchSummary", summary.clone()));
            }
            Call::Rewind(number) => {
                let Some(id) = self.pick(*number) else { return };
                let entry = self.reference.get(&id).cloned().unwrap();
                match entry.what {
                    What::Says("user", text) => {
                        assert_eq!(self.writer.rewind(&id).unwrap(), text);
                        let made = pi_lines(&self.bytes()).last().unwrap()["id"]
                            .as_str()
                            .unwrap()
                            .to_owned();
                        self.reference.add(&made, entry.parent, What::Silent);
                    }
                    _ => self.refused(self.writer.rewind(&id), ErrorKind::Invalid, &before),
                }
            }
            Call::Label(number, label) => {
                let target = self.pick(*number).unwrap_or_else(|| "nothing".to_owned());
                let draft = Draft::new(Body::Label {
                    target: target.clone(),
                    label: label.clone(),
                });
                match self.reference.get(&target) {
                    Some(_) => self.append(
                        draft,
                        Expect::Any,
                        Durability::Fsync,
                        tip,
                        What::Label(target, label.clone()),
                    ),
                    None => self.refused(self.writer.append(draft), ErrorKind::NotFound, &before),
                }
            }
            Call::Title(title) => {
                let draft = Draft::new(Body::Title(title.clone()));
                self.append(
                    draft,
                    Expect::Any,
                    Durability::Fsync,
                    tip,
                    What::Title(title.clone()),
                );
            }
            Call::Compact(number, summary) => self.compact(*number, &text_pieces(summary)),
            Call::Given(id, place, said) => {
                let ((parent, above), (body, what)) = (self.place(place, None), said.body());
                let id = format!("given-{id}");
                self.given(
                    &id,
                    Draft::new(body).with_id(&id).below(parent),
                    above,
                    what,
                );
            }
            Call::Native(id, said) => {
                let Said::User(text) = said else { return };
                let text = text_pieces(text);
                let id = format!("native-{id}");
                let record = serde_json::json!({"type": "message", "id": id, "message": {"role": "user", "content": text}});
                let pretty = serde_json::to_vec_pretty(&record).unwrap();
                self.given(
                    &id,
                    Draft::new(Body::Native(pretty)),
                    tip,
                    What::Says("user", text),
                );
            }
            Call::ExpectRevision { right, said } => {
                let (body, what) = said.body();
                let revision = self.store.session(ID).unwrap().revision();
                if *right {
                    self.append(
                        Draft::new(body),
                        Expect::Revision(revision),
                        Durability::Os,
                        tip,
                        what,
                    );
                } else {
                    let stale =
                        Expect::Revision((revision.parse::<u64>().unwrap() - 1).to_string());
                    let result =
                        self.writer
                            .append_with(Draft::new(body), stale, Durability::Fsync);
                    self.refused(result, ErrorKind::Conflict, &before);
                }
            }
            Call::ExpectLeaf { right, said } => {
                let (body, what) = said.body();
                match self.reference.picture().leaf.filter(|_| *right) {
                    Some(leaf) => self.append(
                        Draft::new(body),
                        Expect::Leaf(leaf),
                        Durability::Fsync,
                        tip,
                        what,
                    ),
                    None => {
                        let other = Expect::Leaf("elsewhere".to_owned());
                        let result =
                            self.writer
                                .append_with(Draft::new(body), other, Durability::Fsync);
                        self.refused(result, ErrorKind::Conflict, &before);
                    }
                }
            }
            Call::Nowhere(said) => {
                // The whole batch is refused, also the part that would have been right.
                let right = Draft::new(said.body().0);
                let wrong = Draft::user("x").below(Parent::Entry("nothing".to_owned()));
                let result =
                    self.writer
                        .append_all(vec![right, wrong], Expect::Any, Durability::Fsync);
                self.refused(result, ErrorKind::NotFound, &before);
            }
            Call::Annotate(said) => {
                let (body, what) = said.body();
                let allowed = matches!(said, Said::Custom(_) | Said::Title(_));
                let result = self.other.annotate(ID, Draft::new(body));
                if !allowed {
                    return self.refused(result, ErrorKind::Invalid, &before);
                }
                self.appended(&result.unwrap(), tip, what);
            }
            Call::Fork(at) => self.fork(*at),
            Call::Reopen(done) => self.reopen(*done),
        }
    }

    fn reopen(&mut self, done: bool) {
        let busy = self.other.writer(ID, Wait::No).unwrap_err();
        assert_eq!(busy.kind(), ErrorKind::Busy);
        let outcome = if done {
            Outcome::Completed
        } else {
            Outcome::Open
        };
        let clone = self.writer.clone();
        clone.close(outcome).unwrap();
        if done {
            let made = pi_lines(&self.bytes()).last().unwrap()["id"]
                .as_str()
                .unwrap()
                .to_owned();
            let tip = self.reference.tip();
            self.reference.add(&made, tip, What::Silent);
            assert_eq!(
                self.store.session(ID).unwrap().meta().status.as_deref(),
                Some("completed")
            );
        }
        assert_eq!(
            self.writer.append(Draft::user("late")).unwrap_err().kind(),
            ErrorKind::Invalid
        );
        self.writer = self.other.writer(ID, Wait::No).unwrap();
        std::mem::swap(&mut self.store, &mut self.other);
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
    // `PROPTEST_CASES` asks for more.
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

/// Cases that failed once.
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
