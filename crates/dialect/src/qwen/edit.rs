//! Changes of a session that are more than a record: rewinds, forks, deletion.

use boswell_model::json::{Json, set_member};
use boswell_model::{Advice, EntryKind, Error, ErrorKind, Result, Slot, Tip};

use crate::{
    Append, Capability, EditRequest, NewSession, PlanEdits, PlanInput, Planned, line_edits,
    unsupported,
};

use super::Qwen;
use super::append::{NAME, VERSION};

impl PlanEdits for Qwen {
    fn plans(&self, operation: Capability) -> bool {
        use Capability::{Branch, Delete, Fork, Rewind};
        matches!(operation, Branch | Delete | Fork | Rewind)
    }

    fn plan(&self, asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
        match request {
            EditRequest::Delete => line_edits::delete(asked, Vec::new()),
            EditRequest::Stand(tip) => stand(asked, tip.slot()),
            EditRequest::Rewind(Tip::At(prompt)) => {
                if asked.view.log.kind(*prompt) != EntryKind::User {
                    return Err(Error::new(
                        ErrorKind::Invalid,
                        "only a prompt of the user can be rewound to",
                    )
                    .advising(Advice::ShowSession { session: None }));
                }
                stand(asked, asked.view.tree.parent(*prompt))
            }
            EditRequest::Fork { at, new } => fork(self, asked, *at, new),
            _ => Err(line_edits::no_plan(NAME)),
        }
    }
}

/// Adds the record that a rewind leaves: the child of the entry to go on from.
fn stand(asked: &PlanInput<'_>, at: Option<Slot>) -> Result<Planned> {
    let log = asked.view.log;
    let parent = at.and_then(|slot| log.head(slot)?.id);
    let parent = parent.map(|id| log.names.text(id).to_owned());
    if at.is_some() && parent.is_none() {
        return Err(unsupported(
            NAME,
            "go back to there",
            "name an entry with an id",
        ));
    }
    let dropped = log
        .heads
        .len()
        .saturating_sub(at.map_or(0, |slot| slot.index() + 1));
    let record = Json::object()
        .with("uuid", asked.id_source.uuid_v4())
        .with("parentUuid", parent)
        .with("sessionId", asked.location.id.as_str())
        .with("timestamp", asked.id_source.now().to_rfc3339())
        .with("type", "system")
        .with_some("cwd", asked.meta.project.as_deref())
        .with(
            "version",
            asked.meta.agent_version.as_deref().unwrap_or(VERSION),
        )
        .with("subtype", "rewind")
        .with(
            "systemPayload",
            Json::object().with("truncatedCount", dropped as u64),
        );
    let mut bytes = record.to_bytes();
    bytes.push(b'\n');
    let what = format!("go back in {NAME}:{}", asked.location.id);
    line_edits::lines(asked, "rewind", &what, bytes)
}

/// Plans a fork: a new log that names its parent, with a copy of the branch under the new id.
fn fork(qwen: &Qwen, asked: &PlanInput<'_>, at: Tip, new: &NewSession) -> Result<Planned> {
    let id = line_edits::new_id(new, asked.id_source)?;
    let folder = Some(new.project.clone()).filter(|it| !it.is_empty());
    let project = folder.or_else(|| asked.meta.project.clone());
    let made = NewSession {
        project: project.unwrap_or_default(),
        parent: Some(asked.location.id.clone()),
        ..new.clone()
    };
    let log = qwen.new_log(&made, &id, asked.id_source.now())?;
    let mut bytes = log.bytes;
    let path = at.slot().map(|slot| asked.view.tree.path(slot));
    let own = Json::from(id.as_str()).to_bytes();
    for slot in path.unwrap_or_default() {
        let record = asked.view.payload(slot)?;
        let fault = |fault: boswell_model::json::SyntaxError| {
            Error::new(ErrorKind::Damaged, fault.to_string())
        };
        let copy = set_member(&record, &["sessionId"], &own).map_err(fault)?;
        bytes.extend(copy.iter().filter(|byte| !matches!(byte, b'\n' | b'\r')));
        bytes.push(b'\n');
    }
    let title = format!("fork {NAME}:{} as {id}", asked.location.id);
    line_edits::create(asked.files, ("fork", &title), (&id, log.key), bytes)
}
