//! The context from the end of a log equals that from the whole log.

use boswell_dialect::{Draft, NewSession, by_name};
use boswell_model::json::Json;
use boswell_model::{Payloads, Settings, Slot};
use proptest::prelude::*;

use super::*;
use crate::Session;
use crate::backend::{Backend, MemoryBackend};

/// A log in memory, as a source of payloads.
struct Bytes<'b>(&'b [u8]);

impl Payloads for Bytes<'_> {
    fn payload(&self, at: u64, len: u64) -> boswell_model::Result<std::borrow::Cow<'_, [u8]>> {
        self.0.payload(at, len)
    }
}

fn own() -> &'static dyn Dialect {
    by_name("boswell").unwrap()
}

/// One line of a random log. Numbers choose earlier entries, or none.
#[derive(Debug, Clone)]
enum Item {
    User(usize),
    Answer {
        model: bool,
        long: bool,
    },
    Compaction {
        kept: usize,
    },
    Restated {
        thinking: bool,
    },
    Thinking(u8),
    Mode,
    Leaf(usize),
    Label,
    /// An entry with an id that was used before.
    Again(usize),
    NoId,
    UnknownParent,
    /// An entry whose parent is the next one in the file.
    Forward,
    Garbage,
    Glued,
    SecondHeader,
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        12 => (0usize..60).prop_map(Item::User),
        12 => (any::<bool>(), any::<bool>()).prop_map(|(model, long)| Item::Answer { model, long }),
        4 => (0usize..60).prop_map(|kept| Item::Compaction { kept }),
        6 => any::<bool>().prop_map(|thinking| Item::Restated { thinking }),
        3 => (0u8..3).prop_map(Item::Thinking),
        2 => Just(Item::Mode),
        2 => (0usize..60).prop_map(Item::Leaf),
        2 => Just(Item::Label),
        1 => (0usize..60).prop_map(Item::Again),
        1 => Just(Item::NoId),
        1 => Just(Item::UnknownParent),
        1 => Just(Item::Forward),
        1 => Just(Item::Garbage),
        1 => Just(Item::Glued),
        1 => Just(Item::SecondHeader),
    ]
}

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"S\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"cwd\":\"/p\"}\n";

/// Writes a log line by line.
struct Pen {
    text: String,
    ids: Vec<String>,
    next: usize,
}

impl Pen {
    fn new(header: &str) -> Pen {
        Pen {
            text: header.to_owned(),
            ids: Vec::new(),
            next: 0,
        }
    }

    fn back(&self, steps: usize) -> Option<&String> {
        self.ids
            .len()
            .checked_sub(1 + steps)
            .and_then(|at| self.ids.get(at))
    }

    fn entry(&mut self, id: Option<String>, parent: Option<&str>, kind: &str, rest: &str) {
        let parent = parent.map_or_else(|| "null".to_owned(), |parent| format!("\"{parent}\""));
        let id_field = id
            .as_ref()
            .map(|id| format!("\"id\":\"{id}\","))
            .unwrap_or_default();
        self.text += &format!(
            "{{\"type\":\"{kind}\",{id_field}\"parentId\":{parent},\"timestamp\":\"2026-01-01T00:00:00Z\"{rest}}}\n"
        );
        self.ids.extend(id);
    }

    fn under_tip(&mut self, kind: &str, rest: &str) {
        let (id, tip) = (self.fresh(), self.ids.last().cloned());
        self.entry(Some(id), tip.as_deref(), kind, rest);
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("e{}", self.next)
    }

    fn message(role: &str, text: &str, more: &str) -> String {
        format!(
            ",\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]{more}}}"
        )
    }

    fn write(&mut self, item: &Item) {
        let number = self.next;
        let says = |text: &str| Pen::message("user", &format!("{text} {number}"), "");
        match item {
            Item::User(back) => {
                // Mostly a child of the tip, sometimes a branch.
                let parent = self.back(if back % 5 == 0 { back / 5 } else { 0 }).cloned();
                let id = self.fresh();
                self.entry(Some(id), parent.as_deref(), "message", &says("asks"));
            }
            Item::Answer { model, long } => {
                let model = if *model {
                    format!(",\"provider\":\"p\",\"model\":\"m{number}\"")
                } else {
                    String::new()
                };
                let text = format!("答 {number} {}", "x".repeat(if *long { 900 } else { 3 }));
                self.under_tip("message", &Pen::message("assistant", &text, &model));
            }
            Item::Compaction { kept } => {
                let kept = self
                    .back(kept / 4)
                    .cloned()
                    .unwrap_or_else(|| "nowhere".to_owned());
                let rest = format!(
                    ",\"summary\":\"sum {number}\",\"firstKeptEntryId\":\"{kept}\",\"tokensBefore\":1"
                );
                self.under_tip("compaction", &rest);
            }
            Item::Restated { thinking } => {
                let settings = Settings {
                    model: Some(format!("p/r{number}")),
                    thinking_level: thinking.then(|| "high".to_owned()),
                    ..Settings::default()
                };
                let Draft {
                    body: boswell_dialect::Body::Custom { kind, data },
                    ..
                } = boswell_dialect::pi::restate(&settings)
                else {
                    unreachable!()
                };
                let data = data.unwrap_or(Json::Null).to_string();
                self.under_tip(
                    "custom",
                    &format!(",\"customType\":\"{kind}\",\"data\":{data}"),
                );
            }
            Item::Thinking(level) => self.under_tip(
                "thinking_level_change",
                &format!(",\"thinkingLevel\":\"l{level}\""),
            ),
            Item::Mode => self.under_tip("mode_change", &format!(",\"mode\":\"mode{number}\"")),
            Item::Leaf(back) => {
                let (id, to) = (self.fresh(), self.back(*back).cloned());
                self.entry(
                    Some(id),
                    to.as_deref(),
                    "custom",
                    ",\"customType\":\"boswell.leaf\"",
                );
            }
            Item::Label => self.under_tip("label", ",\"targetId\":\"e1\",\"label\":\"x\""),
            Item::Again(back) => {
                let (id, tip) = (self.back(*back).cloned(), self.ids.last().cloned());
                self.entry(
                    id.or(Some("e1".to_owned())),
                    tip.as_deref(),
                    "message",
                    &says("again"),
                );
            }
            Item::NoId => {
                let tip = self.ids.last().cloned();
                self.entry(None, tip.as_deref(), "message", &says("nameless"));
            }
            Item::UnknownParent => {
                let id = self.fresh();
                self.entry(Some(id), Some("nobody"), "message", &says("orphan"));
            }
            Item::Forward => {
                let id = self.fresh();
                let next = format!("e{}", self.next + 1);
                self.entry(Some(id), Some(&next), "message", &says("forward"));
            }
            Item::Garbage => self.text += "{\"type\":\"mess\n",
            Item::Glued => {
                self.under_tip("message", &says("glued"));
                self.text.pop();
            }
            Item::SecondHeader => self.text += HEADER,
        }
    }
}

fn location(size: usize) -> SessionLocation {
    crate::store::native::located_at("s", "s.jsonl", size as u64)
}

/// Returns the content of a context in a form that does not depend on how much was read.
fn said(read: &ReadSession, bytes: &[u8], tip: Tip) -> Vec<String> {
    let payloads = Bytes(bytes);
    let view = read.view(&payloads);
    let label = |slot: Slot| read.log.label(slot).into_owned();
    let context = own().context(&view, tip).unwrap();
    let mut said = vec![
        format!("{:?}", context.settings),
        format!("leaf {:?}", own().leaf(&view, tip).map(label)),
    ];
    said.push(format!("tip {:?}", tip.slot().map(label)));
    for item in &context.items {
        // The header is passed along with old messages; it is the same line in both.
        let of: Vec<String> = item
            .slots()
            .filter_map(|slot| read.log.head(slot))
            .map(|head| format!("{}+{}", head.at, head.len))
            .collect();
        said.push(format!("{of:?} {:?}", item.form));
    }
    said
}

fn whole(bytes: &[u8], at: Option<&str>) -> (ReadSession, Option<Tip>) {
    let read = Reader::read(own(), &location(bytes.len()), bytes, Depth::Heads);
    let payloads = Bytes(bytes);
    let tip = match at {
        None => own().tip(&read.view(&payloads)).ok(),
        Some(name) => read.log.find(name).map(Tip::At),
    };
    (read, tip)
}

fn from_the_end(bytes: &[u8], at: Option<&str>, block: u64) -> Option<EnoughRead> {
    let mut backend = MemoryBackend::default();
    backend.put("s.jsonl", bytes.to_vec(), None);
    let object = backend.open("s.jsonl").unwrap();
    let measure = Measure {
        small: 0,
        block,
        in_vain: u64::MAX,
    };
    enough_in_steps(own(), object.as_ref(), &location(bytes.len()), at, measure).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_end_of_a_log_says_what_the_whole_log_says(
        items in proptest::collection::vec(item(), 0..60),
        block in prop_oneof![Just(1u64), Just(300), Just(2_000)],
        torn in 0usize..4,
        old in 0usize..12,
        at in proptest::option::weighted(0.3, 1usize..40),
    ) {
        let mut pen = Pen::new(&if old == 0 { HEADER.replace("\"version\":3", "\"version\":2") } else { HEADER.to_owned() });
        items.iter().for_each(|item| pen.write(item));
        let mut bytes = pen.text.into_bytes();
        if torn == 0 {
            bytes.truncate(bytes.len() - 7);
        }
        let at = at.map(|number| format!("e{number}"));
        if let Some(EnoughRead { read, tip, end }) = from_the_end(&bytes, at.as_deref(), block) {
            let (all, whole_tip) = whole(&bytes, at.as_deref());
            prop_assert_eq!(end, bytes.len() as u64);
            prop_assert_eq!(said(&read, &bytes, tip), said(&all, &bytes, whole_tip.unwrap()));
        }
    }
}

/// Returns a log of many exchanges with a compaction near the end, followed by the settings.
fn long_log(turns: usize) -> Vec<u8> {
    let mut pen = Pen::new(HEADER);
    let answer = Item::Answer {
        model: true,
        long: true,
    };
    pen.write(&Item::Mode);
    for _ in 0..turns {
        pen.write(&Item::User(1));
        pen.write(&answer);
    }
    pen.write(&Item::Compaction { kept: 4 });
    pen.write(&Item::Restated { thinking: true });
    pen.write(&Item::User(1));
    pen.write(&answer);
    pen.text.into_bytes()
}

#[test]
fn of_a_long_log_only_the_end_is_read() {
    let bytes = long_log(1_000);
    let enough = from_the_end(&bytes, None, 1_000).unwrap();
    assert!(
        enough.read.log.bytes < 6_000,
        "{} of {} bytes were read",
        enough.read.log.bytes,
        bytes.len()
    );
    assert!(!enough.read.log.whole);
    let (all, tip) = whole(&bytes, None);
    assert_eq!(
        said(&enough.read, &bytes, enough.tip),
        said(&all, &bytes, tip.unwrap())
    );
}

#[test]
fn without_restated_settings_or_with_damage_the_whole_log_is_read() {
    let text = String::from_utf8(long_log(50)).unwrap();
    let without = text
        .lines()
        .filter(|line| !line.contains("boswell.settings"))
        .collect::<Vec<_>>()
        .join("\n")
        + "\n";
    // Without the line, its child needs another parent.
    let without = without.replace("\"parentId\":\"e103\"", "\"parentId\":\"e102\"");
    assert!(from_the_end(without.as_bytes(), None, 1_000).is_none());
    for damaged in [
        format!("{text}{{\"torn"),
        format!("{text}\0\0\0\n"),
        text.replacen("\"version\":3", "\"version\":1", 1),
    ] {
        assert!(from_the_end(damaged.as_bytes(), None, 1_000).is_none());
    }
    assert!(from_the_end(text.as_bytes(), None, 1_000).is_some());
    assert!(
        from_the_end(text.as_bytes(), Some("#3"), 1_000).is_none(),
        "lines are not counted from the end"
    );
}

#[test]
fn a_session_that_was_compacted_is_resumed_from_its_end() {
    let store = crate::Home::in_memory().unwrap().sessions().unwrap();
    let writer = store.create(NewSession::in_project("/p")).unwrap();
    for turn in 0..150 {
        let asked = writer.append(Draft::user(format!("ask {turn}"))).unwrap();
        writer.append(Draft::user("x".repeat(20_000))).unwrap();
        if turn == 140 {
            writer.compact("in short", &asked.entry, 1).unwrap();
        }
    }
    let (session, tip) = writer.read_for_context(None).unwrap();
    assert!(
        !session.log().whole && session.log().heads.len() < 120,
        "{}",
        session.log().heads.len()
    );
    let whole = writer.session().unwrap();
    let rendered = |session: &Session, tip: Tip| {
        let context = session.context(tip).unwrap();
        let messages = context
            .items
            .iter()
            .map(|item| format!("{:?}", session.render(item).unwrap().message));
        (
            context.settings,
            messages.collect::<Vec<_>>(),
            session.revision(),
        )
    };
    assert_eq!(
        rendered(&session, tip),
        rendered(&whole, whole.tip().unwrap())
    );
    let location = store.find(&writer.reference().id).unwrap();
    assert!(
        !store
            .read_for_context(&location, None)
            .unwrap()
            .0
            .log()
            .whole
    );
}
