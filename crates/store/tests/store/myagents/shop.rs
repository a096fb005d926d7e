//! A MyAgents store to write to.

use std::sync::Arc;

use boswell_dialect::myagents::MyAgents;
use boswell_dialect::{Draft, EditRequest, Expected, SessionLocation, StoreRequest};
use boswell_model::{Revision, Slot, Tip};
use boswell_store::disk::{Disk, RealDisk};
use boswell_store::disk::{ProcessState, Processes};
use boswell_store::operations::{Executed, Runner};
use boswell_store::{Error, Home, NewSession, Store, WritableStore};
use boswell_testkit::jsonl;
use boswell_testkit::make::myagents::{self, MyAgentsShape};
use serde_json::Value;

use crate::myagents::support::{FailingDisk, Place};

/// The process id that a runner of these tests reports: no such process is alive.
const RUNNER: u32 = 4242;

#[derive(Debug)]
pub(crate) struct RunnersDie;

impl Processes for RunnersDie {
    fn process_state(&self, pid: u32) -> ProcessState {
        if pid == RUNNER {
            ProcessState::No
        } else {
            ProcessState::Yes
        }
    }
}

pub(crate) struct Shop {
    pub(crate) place: Place,
    /// Id of the session that the shape describes.
    pub(crate) id: String,
}

impl Shop {
    /// Generates a store in this state.
    pub(crate) fn of(shape: MyAgentsShape) -> Self {
        let place = Place::new();
        let batch = myagents::store(shape, 3);
        batch.write_to(&place.root());
        Shop {
            place,
            id: batch.sessions[0].id.clone(),
        }
    }

    /// Creates a store with one session `s` with this row and these lines.
    pub(crate) fn with(row: &str, lines: &str) -> Self {
        let place = Place::new();
        place.put("sessions.json", &format!("[{row}]"));
        if !lines.is_empty() {
            place.put("sessions/s.jsonl", lines);
        }
        Shop {
            place,
            id: "s".to_owned(),
        }
    }

    /// Creates an empty folder.
    pub(crate) fn empty() -> Self {
        let place = Place::new();
        boswell_testkit::disk::make_dir(&place.root());
        Shop {
            place,
            id: String::new(),
        }
    }

    pub(crate) fn store(&self) -> WritableStore {
        self.store_on(Arc::new(RealDisk))
    }

    pub(crate) fn store_on(&self, disk: Arc<dyn Disk>) -> WritableStore {
        Home::on(disk, self.place.id_source.clone(), self.place.home())
            .writable(Store::in_folder(&MyAgents, self.place.root()))
    }

    pub(crate) fn runner(&self) -> Runner {
        self.runner_on(FailingDisk::never())
    }

    pub(crate) fn runner_on(&self, disk: FailingDisk) -> Runner {
        self.place
            .runner_on(disk)
            .with_processes(Arc::new(RunnersDie))
    }

    pub(crate) fn location(&self) -> SessionLocation {
        self.store().find(&self.id).unwrap()
    }

    pub(crate) fn wants(&self, request: &EditRequest) -> Result<Executed, Error> {
        self.runner()
            .execute(&self.store(), &self.location(), request)
    }

    pub(crate) fn wants_of_store(&self, request: &StoreRequest) -> Result<Executed, Error> {
        self.runner().execute_store(&self.store(), request)
    }

    pub(crate) fn append(&self, drafts: Vec<Draft>) -> Executed {
        self.wants(&EditRequest::Append(drafts)).unwrap()
    }

    pub(crate) fn append_at(&self, revision: u64, drafts: Vec<Draft>) -> Result<Executed, Error> {
        self.wants(&EditRequest::AppendAfter {
            expect: Expected::Revision(Revision::at_end(revision)),
            drafts,
        })
    }

    /// Returns the text of each message, as it is read.
    pub(crate) fn said(&self) -> Vec<String> {
        let session = self.store().session(&self.id).unwrap();
        let messages = session.messages().unwrap();
        messages.iter().map(|message| message.text()).collect()
    }

    pub(crate) fn rewind(&self, slot: u32) -> Result<Executed, Error> {
        self.wants(&EditRequest::Rewind(Tip::At(Slot(slot))))
    }

    pub(crate) fn fork(&self, slot: u32) -> Result<Executed, Error> {
        self.wants(&EditRequest::Fork {
            at: Tip::At(Slot(slot)),
            new: NewSession::default(),
        })
    }

    pub(crate) fn row(&self) -> Value {
        self.row_of(&self.id)
    }

    pub(crate) fn row_of(&self, id: &str) -> Value {
        self.rows()
            .into_iter()
            .find(|row| row["id"] == id)
            .unwrap_or(Value::Null)
    }

    pub(crate) fn rows(&self) -> Vec<Value> {
        if !self
            .place
            .tree_names()
            .iter()
            .any(|name| name == "sessions.json")
        {
            return Vec::new();
        }
        serde_json::from_str(&self.place.read("sessions.json")).unwrap()
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        jsonl::parse(self.log().as_bytes())
    }

    pub(crate) fn log(&self) -> String {
        self.place.read(&format!("sessions/{}.jsonl", self.id))
    }

    /// Checks that no lock is left.
    pub(crate) fn has_no_locks(&self) {
        let left: Vec<String> = self
            .place
            .tree()
            .into_keys()
            .filter(|key| key.contains(".lock"))
            .collect();
        assert_eq!(left, [] as [String; 0]);
    }
}

/// Returns a row of a transcript.
pub(crate) fn line(id: &str, role: &str, content: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","role":"{role}","content":"{content}","timestamp":"2026-08-05T00:00:00.000Z"{more}}}"#
    ) + "\n"
}

/// Returns two prompts, each with a reply.
pub(crate) fn talk() -> String {
    let usage = r#","sdkUuid":"UUID","usage":{"inputTokens":10,"outputTokens":5}"#;
    [
        line("0", "user", "one", ""),
        line("1", "assistant", "first", &usage.replace("UUID", "a1")),
        line("2", "user", "two", ""),
        line("3", "assistant", "second", &usage.replace("UUID", "a3")),
    ]
    .concat()
}

pub(crate) const ROW: &str = r#"{"id":"s","agentDir":"/p","title":"Mine","createdAt":"2026-02-01T00:00:00.000Z","lastActiveAt":"2026-02-02T00:00:00.000Z","sdkSessionId":"33333333-3333-4333-8333-333333333333","unifiedSession":false,"stats":{"messageCount":2,"totalInputTokens":20,"totalOutputTokens":10},"providerEnvJson":"{\"k\":\"hunter2\"}","unknownKey":{"a":1.50}}"#;
