//! One session per write operation.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Capability, EditRequest, ForkScope, StoreRequest};
use boswell_store::disk::RealDisk;
use boswell_store::locks::Owner;
use boswell_store::model::json::Json;
use boswell_store::operations::Runner;
use boswell_store::writer::{AssistantMessage, Parent, Visibility};
use boswell_store::{
    Body, Draft, Durability, Expect, Home, NewSession, Outcome, Part, Session, SessionWriter,
    Store, WritableStore,
};

use crate::counting::Counting;

/// A session written by one operation, with its file.
pub(super) struct Made {
    pub(super) what: &'static str,
    pub(super) path: PathBuf,
    pub(super) session: Session,
}

type Act = fn(&WritableStore, &SessionWriter) -> boswell_store::Result<()>;

fn talk(writer: &SessionWriter) -> boswell_store::Result<()> {
    writer.append(Draft::user("why is the build red?").with_id("u1"))?;
    let answer = AssistantMessage {
        content: vec![
            Part::Thinking {
                text: "hm".to_owned(),
                signature: Some("sig".to_owned()),
            },
            Part::Text("let me look".to_owned()),
            Part::Call {
                id: "c1".to_owned(),
                name: "bash".to_owned(),
                input: Json::object().with("command", "make").into(),
            },
        ],
        provider: Some("anthropic".to_owned()),
        model: Some("claude".to_owned()),
        ..AssistantMessage::default()
    };
    writer.append(Draft::answer(answer).with_id("a1"))?;
    writer.append(Draft::tool_result("c1", "bash", "no rule\nto make target").with_id("r1"))?;
    writer.append(Draft::assistant("the rule is missing").with_id("a2"))?;
    writer.append(Draft::user("add it 🦀").with_id("u2"))?;
    writer
        .append(Draft::assistant("done").with_id("a3"))
        .map(drop)
}

const ACTS: &[(&str, Act)] = &[
    ("nothing", |_, _| Ok(())),
    ("a prompt alone", |_, writer| {
        writer.append(Draft::user("hello")).map(drop)
    }),
    ("append", |_, writer| talk(writer)),
    ("a batch", |_, writer| {
        let batch = vec![
            Draft::user("one"),
            Draft::assistant("two"),
            Draft::user("three"),
        ];
        writer
            .append_all(batch, Expect::Any, Durability::Fsync)
            .map(drop)
    }),
    ("below an entry", |_, writer| {
        talk(writer)?;
        writer
            .append(Draft::user("otherwise").below(Parent::Entry("a1".into())))
            .map(drop)
    }),
    ("branch", |_, writer| {
        talk(writer)?;
        writer.branch("a1").map(drop)
    }),
    ("branch and go on", |_, writer| {
        talk(writer)?;
        writer.branch("u1")?;
        writer.append(Draft::assistant("another answer")).map(drop)
    }),
    ("branch with summary", |_, writer| {
        talk(writer)?;
        writer.branch_with_summary(Some(&"u1".into()), "tried the rule")?;
        writer.append(Draft::user("now differently")).map(drop)
    }),
    ("branch with summary from the root", |_, writer| {
        talk(writer)?;
        writer
            .branch_with_summary(None, "tried all of it")
            .map(drop)
    }),
    ("reset", |_, writer| {
        talk(writer)?;
        writer.reset().map(drop)
    }),
    ("rewind", |_, writer| {
        talk(writer)?;
        writer.rewind("u2")?;
        writer.append(Draft::user("add another")).map(drop)
    }),
    ("rewind to the start", |_, writer| {
        talk(writer)?;
        writer.rewind("u1").map(drop)
    }),
    ("labels", |store, writer| {
        talk(writer)?;
        let label = |target: &str, label: Option<&str>| {
            Draft::new(Body::Label {
                target: target.into(),
                label: label.map(str::to_owned),
            })
        };
        writer.append(label("u1", Some("start")))?;
        writer.append(label("a1", Some("gone")))?;
        writer.append(label("a1", None))?;
        store
            .annotate(&writer.reference().id, label("u2", Some("second")))
            .map(drop)
    }),
    ("titles", |store, writer| {
        talk(writer)?;
        store
            .annotate(
                &writer.reference().id,
                Draft::new(Body::Title("  The red\tbuild  ".to_owned())),
            )
            .map(drop)
    }),
    ("compaction", |_, writer| {
        talk(writer)?;
        writer.append(Draft::new(Body::Model {
            model: "openai/gpt/5".to_owned(),
            role: None,
        }))?;
        writer.append(Draft::new(Body::ThinkingLevel("high".to_owned())))?;
        writer.compact("the build was red", "a2", 1234)?;
        writer.append(Draft::user("and now?")).map(drop)
    }),
    ("custom", |_, writer| {
        talk(writer)?;
        writer.append(Draft::custom(
            "my.state",
            Json::Raw(b"{\n \"n\": 1,\n \"list\": [1, 2]\n}".to_vec()),
        ))?;
        let content = vec![
            Part::Text("seen".to_owned()),
            Part::image("AAAA", "image/png"),
        ];
        writer
            .append(Draft::new(Body::CustomMessage {
                kind: "my.note".to_owned(),
                content,
                display: true,
            }))
            .map(drop)
    }),
    ("settings", |_, writer| {
        writer.append(Draft::new(Body::Model {
            model: "local".to_owned(),
            role: None,
        }))?;
        writer.append(Draft::new(Body::Mode {
            mode: "plan".to_owned(),
            data: Some(Json::object().with("x", 1)),
        }))?;
        writer
            .append(Draft::new(Body::ThinkingLevel("low".to_owned())))
            .map(drop)
    }),
    ("tags and status", |store, writer| {
        talk(writer)?;
        let whole = Json::object().with("tags", Json::Array(vec!["red".into()]));
        store.annotate(&writer.reference().id, Draft::custom("boswell.tags", whole))?;
        // The same record as from `Store::retag`, which the other dialects of the family must load
        // too.
        let red = ["red".to_owned()];
        let changed = boswell_dialect::pi::retag(&red, &["build".to_owned()], &red);
        store.annotate(&writer.reference().id, changed)?;
        let status = Json::object()
            .with("status", "error")
            .with("error", "no network");
        store
            .annotate(
                &writer.reference().id,
                Draft::custom("boswell.status", status),
            )
            .map(drop)
    }),
    ("a native record", |_, writer| {
        let answer = br#"{"type":"message", "message":{"role":"assistant","content":[{"type":"text","text":"bare"}],"api":"a","provider":"p","model":"m","stopReason":"stop","timestamp":1}}"#;
        writer.append(Draft::user("q"))?;
        writer
            .append(Draft::new(Body::Native(answer.to_vec())))
            .map(drop)
    }),
];

/// Opens a store of a flavour. `start` differs for each opening, so that no id is created twice.
pub(super) fn open_as(dialect: &str, home: &Path, start: u64) -> WritableStore {
    let (disk, id_source) = (Arc::new(RealDisk), Arc::new(Counting::from(start)));
    if dialect == "boswell" {
        return Home::on(disk, id_source, home).sessions().unwrap();
    }
    let dialect = boswell_dialect::by_name(dialect).unwrap();
    let parent = home.parent().unwrap();
    Home::on(disk, id_source, parent).writable(Store::in_folder(dialect, home))
}

pub(super) fn make_all(dialect: &str, home: &Path) -> Vec<Made> {
    let store = open_as(dialect, home, 0);
    let mut made = Vec::new();
    let mut keep = |what, id: &str| {
        let session = store.session(id).unwrap();
        made.push(Made {
            what,
            path: PathBuf::from(session.path().unwrap()),
            session,
        });
    };
    for (number, (what, act)) in ACTS.iter().enumerate() {
        if *what == "titles" && dialect == "omp" {
            // Its title is in the header: see the tests of plans.
            continue;
        }
        let id = format!("session-{number}");
        let new = NewSession::in_project("/proj/demo")
            .with_id(&id)
            .titled("a title");
        let writer = store
            .create(if number % 2 == 0 {
                new
            } else {
                NewSession { title: None, ..new }
            })
            .unwrap();
        act(&store, &writer).unwrap_or_else(|error| unreachable!("{what}: {error}"));
        if number % 3 == 0 {
            writer.finish(Outcome::Completed).unwrap();
        } else {
            writer.release().unwrap();
        }
        keep(what, &id);
        if !["nothing", "settings"].contains(what) {
            let fork = store
                .fork(
                    &id,
                    None,
                    NewSession::default().with_id(format!("fork-{number}")),
                )
                .unwrap();
            fork.append(Draft::user("in the fork")).unwrap();
            keep("a fork", &format!("fork-{number}"));
            let new = NewSession {
                copies: ForkScope::Everything,
                ..NewSession::in_project("/proj/other")
            };
            let whole = store
                .fork(&id, None, new.with_id(format!("whole-{number}")))
                .unwrap();
            whole.append(Draft::user("in the copy")).unwrap();
            keep("a whole copy", &format!("whole-{number}"));
        }
    }
    let new = NewSession {
        visible: Visibility::WithFirstAnswer,
        ..NewSession::in_project("/proj/demo").with_id("deferred")
    };
    let writer = store.create(new).unwrap();
    talk(&writer).unwrap();
    keep("deferred", "deferred");
    made.extend(planned(&store, home));
    made
}

const V1: &str = concat!(
    r#"{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00Z","cwd":"/proj/demo"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:01Z","message":{"role":"user","content":"first"}}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:02Z","message":{"role":"hookMessage","customType":"h","content":"second","display":true}}"#,
    "\n",
    r#"{"type":"compaction","timestamp":"2025-01-01T00:00:03Z","summary":"sum","firstKeptEntryIndex":2,"tokensBefore":7}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:04Z","message":{"role":"assistant","content":[{"type":"text","text":"third"}],"api":"a","provider":"p","model":"m","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"total":0}},"stopReason":"stop","timestamp":4}}"#,
    "\n"
);

/// Returns sessions changed by plans: migrated, forked before that, moved, and titled in the
/// header.
fn planned(store: &WritableStore, home: &Path) -> Vec<Made> {
    let id_source: Arc<Counting> = Arc::new(Counting::from(1 << 40));
    let runner = Runner::new(
        Arc::new(RealDisk),
        home.with_file_name("runner"),
        id_source,
        Owner::this("test"),
    );
    let old = home.join("sessions/--proj-demo--/2025-01-01T00-00-00-000Z_old.jsonl");
    boswell_testkit::disk::write(&old, V1.as_bytes());
    let fork = store
        .fork("old", None, NewSession::default().with_id("fork-of-old"))
        .unwrap();
    fork.release().unwrap();
    runner
        .execute(store, &store.find("old").unwrap(), &EditRequest::Migrate)
        .unwrap();
    let writer = store
        .create(NewSession::in_project("/proj/moved/from").with_id("moved"))
        .unwrap();
    talk(&writer).unwrap();
    writer.release().unwrap();
    let from = PathBuf::from(store.session("moved").unwrap().path().unwrap());
    boswell_testkit::disk::write(&from.with_extension("").join("1.bash.log"), b"out");
    let request = StoreRequest::Move {
        from: "/proj/moved".to_owned(),
        to: "/srv/here".to_owned(),
    };
    runner.execute_store(store, &request).unwrap();
    let now = store.session("moved").unwrap();
    assert!(!from.exists() && !from.parent().unwrap().exists());
    assert_eq!(now.meta().project.as_deref(), Some("/srv/here/from"));
    assert!(
        now.path().unwrap().contains("/--srv-here-from--/"),
        "{:?}",
        now.path()
    );
    assert!(
        PathBuf::from(now.path().unwrap())
            .with_extension("")
            .join("1.bash.log")
            .exists()
    );
    let mut all = vec![
        ("a fork of version 1", "fork-of-old"),
        ("migrated", "old"),
        ("moved", "moved"),
    ];
    if store.dialect().powers().plans(Capability::Title) {
        let title = EditRequest::Title("by plan".to_owned());
        runner
            .execute(store, &store.find("moved").unwrap(), &title)
            .unwrap();
        all.push(("titled", "moved"));
    }
    let made = |(what, id): (&'static str, &str)| {
        let session = store.session(id).unwrap();
        Made {
            what,
            path: PathBuf::from(session.path().unwrap()),
            session,
        }
    };
    all.into_iter().map(made).collect()
}
