//! Forks a branch of a session into a new session.
//!
//! In the style of the client's `/branch`, lines keep their ids and state their origin; in the
//! style of the SDK, each line gets a new id. In both styles the new log contains one branch and
//! nothing else: records that shared a line get lines of their own, and a missing parent is
//! replaced by the line before. Data of the source alone (its title, tag, settings, file history)
//! is not copied.

use std::collections::{HashMap, HashSet};

use boswell_model::json::{Json, Raw, remove_member, set_member};
use boswell_model::{Advice, EntryKind, Error, ErrorKind, Framing, Result, SessionView, Slot, Tip};

use super::plan::{free_id, log_key, side_folder, whole_session};
use super::{Claude, branch, chain, metadata, set_leaf};
use crate::{
    Depth, Dialect, ForkStyle, NewSession, Plan, PlanInput, Planned, Precondition, Reader,
    SessionLocation, Step,
};

/// Plans a fork of the branch that ends at `at`.
pub(super) fn fork(asked: &PlanInput<'_>, at: Tip, new: &NewSession) -> Result<Planned> {
    whole_session(asked.location, "be forked")?;
    let source = log_key(asked.location)?;
    let id = (new.id.as_ref()).map_or_else(|| asked.id_source.uuid_v4(), ToString::to_string);
    free_id(asked.files, &id)?;
    let fork = Fork::of(asked, at, &id, new.style)?;
    let mut bytes = fork.lines()?;
    if let Some(leaf) = fork
        .leaf()
        .filter(|leaf| stands_at(&bytes, &id).as_ref() != Some(leaf))
    {
        bytes.extend(set_leaf::leaf_line(Some(&leaf), &id));
    }
    let key = match source.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{id}.jsonl"),
        None => format!("{id}.jsonl"),
    };
    let title = title(asked, new)?;
    bytes.extend(
        title
            .as_ref()
            .map(|title| fork.title_lines(title))
            .unwrap_or_default(),
    );
    let mut plan = Plan::new(
        "fork",
        format!("make the session {id} from {}", asked.location.id),
    )
    .requiring(Precondition::Absent { key: key.clone() })
    .step(Step::put(&key, bytes));
    if let Some(title) = title.filter(|_| new.style == ForkStyle::Client) {
        plan = plan.step(metadata::sidecar(&side_folder(&key), &title));
    }
    Ok(Planned {
        plan,
        session: Some(id),
        ..Planned::default()
    })
}

/// Returns the title of the fork. Copies with equal titles cannot be distinguished, so a fork
/// without a title of its own is marked as a fork.
fn title(asked: &PlanInput<'_>, new: &NewSession) -> Result<Option<String>> {
    if let Some(title) = &new.title {
        return metadata::clean_title(title).map(Some);
    }
    let meta = asked.meta;
    let known = match new.style {
        ForkStyle::Client => meta.title.as_deref(),
        ForkStyle::Sdk => meta
            .title
            .as_deref()
            .or(meta.first_prompt.as_deref())
            .or(Some("Forked session")),
    };
    let short = |text: &str| text.chars().take(200).collect::<String>();
    known
        .map(|known| metadata::clean_title(&format!("{} (fork)", short(known))))
        .transpose()
}

/// Returns the entry from which the client would continue a log of these bytes.
fn stands_at(bytes: &[u8], id: &str) -> Option<String> {
    let location = SessionLocation::of(id, Framing::Lines, bytes.len() as u64);
    let read = Reader::read(&Claude, &location, bytes, Depth::Heads);
    let payloads = bytes.to_vec();
    let view = read.view(&payloads);
    let tip = Claude.tip(&view).ok()?;
    tip.slot().map(|slot| read.log.label(slot).into_owned())
}

struct Fork<'a> {
    view: SessionView<'a>,
    source: &'a str,
    id: &'a str,
    style: ForkStyle,
    /// The lines of the branch in file order.
    slots: Vec<Slot>,
    /// For lines whose parent is not copied: the parent that replaces it.
    bridges: HashMap<Slot, Option<Slot>>,
    /// For each id of the source, its id in the fork.
    ids: HashMap<String, String>,
    end: Option<Slot>,
    now: String,
    title_id: String,
}

/// Returns for lines of a branch whose parent is not copied the parent that replaces it.
fn bridges(
    view: &SessionView<'_>,
    path: &[Slot],
    kept: &HashSet<Slot>,
) -> HashMap<Slot, Option<Slot>> {
    let mut bridges = HashMap::new();
    let mut before = None;
    for slot in path {
        let head = view.log.head(*slot);
        let named = head.is_some_and(|head| head.parent.is_some());
        let mut above = view.tree.ancestors(*slot).skip(1);
        let parent = above.find(|above| kept.contains(above));
        let direct = view.tree.parent(*slot);
        let is_direct = direct.is_some_and(|parent| kept.contains(&parent));
        let is_cut = view.log.kind(*slot) == EntryKind::Compaction;
        if named && !is_direct && !is_cut {
            bridges.insert(*slot, parent.or(before));
        }
        if kept.contains(slot) {
            before = Some(*slot);
        }
    }
    bridges
}

impl<'a> Fork<'a> {
    fn of(asked: &'a PlanInput<'_>, at: Tip, id: &'a str, style: ForkStyle) -> Result<Fork<'a>> {
        let view = asked.view;
        let path = branch::branch(&view, at)?;
        let is_said = |slot: &Slot| chain::is_message(view.log.kind(*slot));
        if !path.iter().any(is_said) {
            return Err(Error::new(
                ErrorKind::Invalid,
                "there is nothing to fork: that branch contains no message",
            )
            .advising(Advice::ShowTree));
        }
        let stays =
            |slot: &Slot| style == ForkStyle::Sdk && view.log.kind(*slot) == EntryKind::Progress;
        let kept: HashSet<Slot> = path.iter().filter(|slot| !stays(slot)).copied().collect();
        let bridges = bridges(&view, &path, &kept);
        let mut slots: Vec<Slot> = kept.into_iter().collect();
        slots.sort_unstable();
        let ids = match style {
            ForkStyle::Client => HashMap::new(),
            ForkStyle::Sdk => slots
                .iter()
                .map(|slot| {
                    (
                        view.log.label(*slot).into_owned(),
                        asked.id_source.uuid_v4(),
                    )
                })
                .collect(),
        };
        let (now, title_id) = (
            asked.id_source.now().to_rfc3339(),
            asked.id_source.uuid_v4(),
        );
        let end = at.slot().filter(|slot| slots.contains(slot));
        Ok(Fork {
            view,
            source: &asked.location.id,
            id,
            style,
            slots,
            bridges,
            ids,
            end,
            now,
            title_id,
        })
    }

    /// Returns the id that `id` has in the fork.
    fn called(&self, id: &str) -> String {
        self.ids.get(id).cloned().unwrap_or_else(|| id.to_owned())
    }

    fn leaf(&self) -> Option<String> {
        self.end.map(|slot| self.called(&self.view.log.label(slot)))
    }

    fn lines(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for slot in &self.slots {
            out.extend(self.line(*slot).map_err(|fault| {
                Error::new(
                    ErrorKind::Damaged,
                    "a line of the branch is not a JSON object",
                )
                .because(fault.to_string())
            })??);
            out.push(b'\n');
        }
        // These lines replace long results, and they apply to every copy of those results.
        for (slot, _) in self
            .view
            .log
            .entries()
            .filter(|(slot, _)| self.view.log.word(*slot) == "content-replacement")
        {
            let line = self.view.payload(slot)?;
            if let Ok(line) = set_member(&line, &["sessionId"], &quoted(self.id)) {
                out.extend(line);
                out.push(b'\n');
            }
        }
        Ok(out)
    }

    fn line(
        &self,
        slot: Slot,
    ) -> std::result::Result<Result<Vec<u8>>, boswell_model::json::SyntaxError> {
        let record = match self.view.payload(slot) {
            Ok(record) => record.into_owned(),
            Err(error) => return Ok(Err(error)),
        };
        let own = self.view.log.label(slot).into_owned();
        let mut line = record;
        for key in ["sessionId", "session_id"] {
            if key == "sessionId" || Raw::trusted(&line).get(key).is_some() {
                line = set_member(&line, &[key], &quoted(self.id))?;
            }
        }
        if let Some(parent) = self.bridges.get(&slot) {
            let parent = parent.map(|parent| self.view.log.label(parent).into_owned());
            line = set_member(
                &line,
                &["parentUuid"],
                &Json::from(parent.as_deref()).to_bytes(),
            )?;
        }
        let from = Json::object()
            .with("sessionId", self.source)
            .with("messageUuid", own.as_str());
        line = set_member(&line, &["forkedFrom"], &from.to_bytes())?;
        if self.style == ForkStyle::Sdk {
            line = self.renamed(line, slot, &own)?;
        }
        Ok(Ok(line))
    }

    /// Returns the line with the fork's own ids.
    fn renamed(
        &self,
        mut line: Vec<u8>,
        slot: Slot,
        own: &str,
    ) -> std::result::Result<Vec<u8>, boswell_model::json::SyntaxError> {
        line = set_member(&line, &["uuid"], &quoted(&self.called(own)))?;
        for key in ["parentUuid", "logicalParentUuid"] {
            let Some(id) = Raw::trusted(&line)
                .get(key)
                .and_then(|id| id.text())
                .map(|id| id.into_owned())
            else {
                continue;
            };
            line = set_member(
                &line,
                &[key],
                &Json::from(self.ids.get(&id).map(String::as_str)).to_bytes(),
            )?;
        }
        for key in ["teamName", "agentName", "slug", "sourceToolAssistantUUID"] {
            line = remove_member(&line, key)?;
        }
        line = set_member(&line, &["isSidechain"], b"false")?;
        if Some(&slot) == self.slots.last() {
            line = set_member(&line, &["timestamp"], &quoted(&self.now))?;
        }
        self.kept_renamed(line)
    }

    /// Renames the ids in the metadata of a compaction that preserved messages.
    fn kept_renamed(
        &self,
        mut line: Vec<u8>,
    ) -> std::result::Result<Vec<u8>, boswell_model::json::SyntaxError> {
        let meta = "compactMetadata";
        for (part, key) in [
            ("preservedSegment", "headUuid"),
            ("preservedSegment", "anchorUuid"),
            ("preservedSegment", "tailUuid"),
            ("preservedMessages", "anchorUuid"),
        ] {
            let id = Raw::trusted(&line)
                .at(&[meta, part, key])
                .and_then(|id| id.text())
                .map(|id| self.called(&id));
            if let Some(id) = id {
                line = set_member(&line, &[meta, part, key], &quoted(&id))?;
            }
        }
        for key in ["uuids", "allUuids"] {
            let list = Raw::trusted(&line)
                .at(&[meta, "preservedMessages", key])
                .map(|list| {
                    list.items()
                        .filter_map(|id| id.text())
                        .map(|id| Json::from(self.called(&id)))
                        .collect::<Vec<_>>()
                });
            if let Some(list) = list {
                line = set_member(
                    &line,
                    &[meta, "preservedMessages", key],
                    &Json::Array(list).to_bytes(),
                )?;
            }
        }
        Ok(line)
    }

    fn title_lines(&self, title: &str) -> Vec<u8> {
        if self.style == ForkStyle::Client {
            return metadata::title_lines(title, self.id);
        }
        let line = Json::object()
            .with("type", "custom-title")
            .with("sessionId", self.id)
            .with("customTitle", title)
            .with("uuid", &self.title_id)
            .with("timestamp", &self.now);
        let mut line = line.to_bytes();
        line.push(b'\n');
        line
    }
}

fn quoted(text: &str) -> Vec<u8> {
    Json::from(text).to_bytes()
}
