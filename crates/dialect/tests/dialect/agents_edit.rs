//! Changes of agents whose sessions are files: what a plan writes is read back, and nothing else
//! changes.

use boswell_dialect::{
    Depth, Dialect, Draft, EditRequest, Files, MemoryFiles, NewSession, Parent, PlanInput, Planned,
    Reader, SessionLocation, Step, StoreRequest, by_name,
};
use boswell_model::json::{Object, Scanned};
use boswell_model::{EntryKind, ErrorKind, Result, Tip};
use boswell_testkit::ids::SeededIds;
use boswell_testkit::make::{copilot, gemini, kimi, qwen};

const CWD: &str = "/proj/app";

struct World {
    dialect: &'static dyn Dialect,
    files: MemoryFiles,
    ids: SeededIds,
}

impl World {
    fn new(name: &str, made: &boswell_testkit::Made) -> World {
        let mut files = MemoryFiles::default();
        for file in &made.files.list {
            files.put(&file.path, file.bytes.clone(), None);
        }
        World {
            dialect: by_name(name).unwrap(),
            files,
            ids: SeededIds::new(3),
        }
    }

    fn find(&self, id: &str) -> SessionLocation {
        let found = self.dialect.discover(&self.files).unwrap();
        let mut sessions = found.sessions.into_iter();
        sessions.find(|it| it.id == id).unwrap()
    }

    fn bytes(&self, id: &str) -> Vec<u8> {
        let key = self.find(id).key.unwrap();
        self.files.read(&key, 0, usize::MAX).unwrap()
    }

    /// Plans a request that depends on the session as it is read.
    fn plan(
        &self,
        id: &str,
        request: impl Fn(&boswell_model::SessionView<'_>) -> EditRequest,
    ) -> Result<Planned> {
        let location = self.find(id);
        let bytes = self.bytes(id);
        let read = Reader::read(self.dialect, &location, &bytes, Depth::Pairs);
        let view = read.view(&bytes);
        let asked = PlanInput {
            files: &self.files,
            location: &location,
            view,
            meta: &read.meta,
            id_source: &self.ids,
            running_app: None,
        };
        self.dialect.planner()?.plan(&asked, &request(&view))
    }

    fn apply(&mut self, planned: &Planned) {
        for step in &planned.plan.steps {
            match step {
                Step::Append { key, bytes } => {
                    let mut old = self.files.read(key, 0, usize::MAX).unwrap_or_default();
                    old.extend_from_slice(bytes);
                    self.files.put(key, old, None);
                }
                Step::Put { key, bytes, .. } => self.files.put(key, bytes.clone(), None),
                other => unreachable!("{other:?}"),
            }
        }
    }

    fn change(
        &mut self,
        id: &str,
        request: impl Fn(&boswell_model::SessionView<'_>) -> EditRequest,
    ) -> Planned {
        let planned = self.plan(id, request).unwrap();
        self.apply(&planned);
        planned
    }

    /// The texts of the context: what the agent would send.
    fn sent(&self, id: &str) -> Vec<String> {
        let location = self.find(id);
        let bytes = self.bytes(id);
        let read = Reader::read(self.dialect, &location, &bytes, Depth::Facts);
        let view = read.view(&bytes);
        let tip = self.dialect.tip(&view).unwrap();
        let context = self.dialect.context(&view, tip).unwrap();
        let texts = context.items.iter().map(|item| {
            let message = rendered(self.dialect, &view, item);
            // A document is indented, so values are compared, not bytes.
            let values = message
                .content
                .iter()
                .map(|part| serde_json::from_str::<serde_json::Value>(&part.to_string()).unwrap());
            serde_json::Value::Array(values.collect()).to_string()
        });
        texts.collect()
    }

    fn new_session(&mut self) -> String {
        let request = StoreRequest::Create(NewSession::in_project(CWD));
        let planner = self.dialect.planner().unwrap();
        let planned = planner
            .plan_store(&self.files, &request, &self.ids)
            .unwrap();
        self.apply(&planned);
        planned.session.unwrap()
    }
}

/// Renders a message that may consist of several records.
fn rendered(
    dialect: &dyn Dialect,
    view: &boswell_model::SessionView<'_>,
    item: &boswell_model::ContextItem,
) -> boswell_model::Message {
    let payloads: Vec<_> = item.slots().map(|it| view.payload(it).unwrap()).collect();
    let mut scanned: Vec<Scanned> = payloads.iter().map(|_| Scanned::default()).collect();
    for (scanned, bytes) in scanned.iter_mut().zip(&payloads) {
        scanned.scan(bytes).unwrap();
    }
    let pairs = scanned.iter().zip(&payloads);
    let records: Vec<Object<'_>> = pairs.map(|(it, bytes)| it.object(bytes)).collect();
    dialect.render(item, &records)
}

fn say(text: &str) -> EditRequest {
    EditRequest::Append(vec![Draft::user(text), Draft::assistant("as you say")])
}

#[test]
fn what_is_appended_is_sent_after_what_was_there() {
    let worlds = [
        World::new("kimi", &kimi::session(kimi::KimiShape::ALL[0], CWD, 5)),
        World::new(
            "gemini",
            &gemini::session(gemini::GeminiShape::Resumed, CWD, 5),
        ),
        World::new(
            "copilot",
            &copilot::session(copilot::CopilotShape::Plain, CWD, 5),
        ),
    ];
    let ids = [
        kimi::session(kimi::KimiShape::ALL[0], CWD, 5).id,
        gemini::session(gemini::GeminiShape::Resumed, CWD, 5).id,
        copilot::session(copilot::CopilotShape::Plain, CWD, 5).id,
    ];
    for (mut world, id) in worlds.into_iter().zip(ids) {
        let (before, sent) = (world.bytes(&id), world.sent(&id));
        let planned = world.change(&id, |_| say("and now \"this\"?\n第二"));
        assert_eq!(planned.entries.len(), 2);
        assert!(world.bytes(&id).starts_with(&before), "old bytes stay");
        let now = world.sent(&id);
        assert_eq!(now[..sent.len()], sent);
        assert_eq!(now.len(), sent.len() + 2);
        assert!(now[sent.len()].contains("and now"), "{now:?}");
        let again = world.plan(&id, |_| {
            EditRequest::Append(vec![Draft::user("x").with_id(planned.entries[0].as_str())])
        });
        assert_eq!(
            (again.as_ref().unwrap().already, again.unwrap().plan.steps),
            (1, vec![])
        );
    }
}

#[test]
fn a_new_session_can_be_appended_to_and_found() {
    for (name, made) in [
        ("kimi", kimi::session(kimi::KimiShape::ALL[0], CWD, 5)),
        (
            "gemini",
            gemini::session(gemini::GeminiShape::Plain, CWD, 5),
        ),
        (
            "copilot",
            copilot::session(copilot::CopilotShape::Plain, CWD, 5),
        ),
    ] {
        let mut world = World::new(name, &made);
        let id = world.new_session();
        world.change(&id, |_| say("hello"));
        assert_eq!(world.sent(&id).len(), 2, "{name}");
        let location = world.find(&id);
        let mut meta = Reader::read(world.dialect, &location, &world.bytes(&id), Depth::Facts).meta;
        let side = world
            .dialect
            .add_side_meta(&world.files, &location, &mut meta);
        side.unwrap();
        assert_eq!(meta.id.as_deref(), Some(&*id), "{name}");
        assert_eq!(meta.project.as_deref(), Some(CWD), "{name}");
    }
}

#[test]
fn a_prompt_in_the_middle_cannot_be_appended_to() {
    let made = copilot::session(copilot::CopilotShape::Plain, CWD, 5);
    let world = World::new("copilot", &made);
    let refused = world.plan(&made.id, |view| {
        let (slot, _) = view
            .log
            .entries()
            .find(|(_, head)| head.kind == EntryKind::User)
            .unwrap();
        let parent = Parent::Entry(view.log.label(slot).as_ref().into());
        EditRequest::Append(vec![Draft::user("x").below(parent)])
    });
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unsupported);
}

/// The last prompt that is still in the conversation.
fn last_prompt(world: &World, view: &boswell_model::SessionView<'_>) -> boswell_model::Slot {
    let tip = world.dialect.tip(view).unwrap();
    let branch = world.dialect.branch(view, tip).unwrap();
    let is_prompt = |slot: &&boswell_model::Slot| view.log.kind(**slot) == EntryKind::User;
    *branch.iter().rev().find(is_prompt).unwrap()
}

#[test]
fn a_rewind_drops_the_last_prompt_and_keeps_every_byte() {
    let rewound = gemini::session(gemini::GeminiShape::Rewound, CWD, 5);
    let branched = qwen::session(qwen::QwenShape::Rewound, CWD, 5);
    for (name, made) in [("gemini", &rewound), ("qwen", &branched)] {
        let mut world = World::new(name, made);
        let (before, sent) = (world.bytes(&made.id), world.sent(&made.id));
        let prompt = {
            let location = world.find(&made.id);
            let read = Reader::read(world.dialect, &location, &before, Depth::Heads);
            last_prompt(&world, &read.view(&before))
        };
        world.change(&made.id, |_| EditRequest::Rewind(Tip::At(prompt)));
        assert!(world.bytes(&made.id).starts_with(&before), "{name}");
        let now = world.sent(&made.id);
        assert_eq!(
            now,
            sent[..sent.len() - 2],
            "{name}: prompt and answer are dropped"
        );
    }
}

#[test]
fn a_fork_has_the_conversation_under_an_id_of_its_own() {
    for (name, made) in [
        (
            "gemini",
            gemini::session(gemini::GeminiShape::Compressed, CWD, 5),
        ),
        (
            "gemini",
            gemini::session(gemini::GeminiShape::Document, CWD, 5),
        ),
        ("qwen", qwen::session(qwen::QwenShape::Compressed, CWD, 5)),
        (
            "copilot",
            copilot::session(copilot::CopilotShape::Plain, CWD, 5),
        ),
        ("kimi", kimi::session(kimi::KimiShape::ALL[0], CWD, 5)),
    ] {
        let mut world = World::new(name, &made);
        let sent = world.sent(&made.id);
        let tip = {
            let bytes = world.bytes(&made.id);
            let location = world.find(&made.id);
            let read = Reader::read(world.dialect, &location, &bytes, Depth::Heads);
            world.dialect.tip(&read.view(&bytes)).unwrap()
        };
        let planned = world.change(&made.id, |_| EditRequest::Fork {
            at: tip,
            new: NewSession::in_project(CWD),
        });
        let fork = planned.session.unwrap();
        assert_ne!(fork, made.id);
        assert_eq!(world.sent(&fork), sent, "{name}");
    }
}

#[test]
fn a_document_of_gemini_is_not_appended_to() {
    let made = gemini::session(gemini::GeminiShape::Document, CWD, 5);
    let world = World::new("gemini", &made);
    let refused = world.plan(&made.id, |_| say("x")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.advice().is_some());
}

#[test]
fn a_session_that_gemini_deletes_at_its_next_start_is_known() {
    let made = gemini::session(gemini::GeminiShape::Resumed, CWD, 5);
    let world = World::new("gemini", &made);
    let runtime = world.dialect.powers().runtime.unwrap();
    assert!(runtime.deletes_at_next_start(&world.find(&made.id)));
    let found = world.dialect.discover(&world.files).unwrap().sessions;
    let stubs: Vec<_> = found
        .iter()
        .filter(|it| it.hidden == Some("empty"))
        .collect();
    assert_eq!((found.len(), stubs.len()), (2, 1));
    let alone = gemini::session(gemini::GeminiShape::Tools, CWD, 5);
    let world = World::new("gemini", &alone);
    assert!(!runtime.deletes_at_next_start(&world.find(&alone.id)));
    let planned = World::new("gemini", &made).plan(&made.id, |_| EditRequest::Delete);
    assert_eq!(
        planned.unwrap().plan.steps.len(),
        2,
        "the empty file goes too"
    );
}

#[test]
fn a_title_of_copilot_and_kimi_is_in_the_side_file_of_the_log() {
    for (name, made) in [
        (
            "copilot",
            copilot::session(copilot::CopilotShape::Plain, CWD, 5),
        ),
        ("kimi", kimi::session(kimi::KimiShape::ALL[0], CWD, 5)),
    ] {
        let mut world = World::new(name, &made);
        let before = world.bytes(&made.id);
        world.change(&made.id, |_| EditRequest::Title("a: \"b\" 标题".to_owned()));
        assert_eq!(world.bytes(&made.id), before, "{name}");
        let location = world.find(&made.id);
        let mut meta = Reader::read(world.dialect, &location, &before, Depth::Facts).meta;
        let side = world
            .dialect
            .add_side_meta(&world.files, &location, &mut meta);
        side.unwrap();
        assert_eq!(meta.title.as_deref(), Some("a: \"b\" 标题"), "{name}");
    }
}
