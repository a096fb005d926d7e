//! Updates the conversation rows of the catalog after a refresh.
//!
//! The catalog finds what changed; here those conversations are computed as for a list, and stored.
//! All of this is derived: a failure only delays the first page of the next face.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::SystemTime;

use boswell_find::{
    ConversationChanges, ConversationRow, ConversationSide, ConversationTouches,
    ConversationUpdate, NewConversation, NotesState, SideName,
};
use boswell_model::{ErrorKind, Instant, Result, SessionRef};
use boswell_store::links::Conversation;
use boswell_store::store::{StoreId, Summary};

use super::SessionIndex;
use crate::RequestContext;
use crate::sessions::list::{Sorted, messages};
use crate::sessions::notes_overlay::NotesOverlay;

/// Conversations per transaction.
const BATCH: usize = 512;

/// Whether logs were read completely before conversations are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogsRead {
    /// Every log in its current state.
    AsTheyAre,
    /// Some only in an earlier state.
    Partly,
}

impl LogsRead {
    /// Every log, unless the request was cancelled.
    pub(crate) fn now(cx: &RequestContext) -> LogsRead {
        if cx.cancel.is_cancelled() {
            LogsRead::Partly
        } else {
            LogsRead::AsTheyAre
        }
    }
}

/// The notes, and whether they changed.
struct Noted {
    overlay: NotesOverlay,
    state: NotesState,
}

impl SessionIndex {
    /// Stores the rows of changed conversations, for the next face that shows them before it reads
    /// any file. Failures are left to the next request.
    pub(crate) fn keep_conversations(
        &mut self,
        cx: &RequestContext,
        read: LogsRead,
    ) -> ConversationChanges {
        if self.unkept.is_some() || self.catalog.is_in_memory() {
            return ConversationChanges::default();
        }
        self.try_to_keep(cx, read).unwrap_or_else(|error| {
            if error.kind() == ErrorKind::Damaged {
                // The next request computes them again.
                let _ = self.catalog.drop_conversations();
            }
            ConversationChanges::default()
        })
    }

    fn try_to_keep(&mut self, cx: &RequestContext, read: LogsRead) -> Result<ConversationChanges> {
        let scope = cx.conversation_scope();
        let as_of = (read == LogsRead::AsTheyAre).then_some(cx.now);
        let mark = notes_mark(cx);
        let is_noted = self.catalog.notes_mark(&scope)? == Some(mark);
        let mut noted = if is_noted {
            None
        } else {
            Some(Noted::read(cx, mark)?)
        };
        let unread = NotesState {
            mark,
            ..NotesState::default()
        };
        let state = noted.as_ref().map_or(&unread, |noted| &noted.state);
        let mut touches = self.catalog.conversation_touches(
            &cx.stores,
            &mut self.entries,
            &scope,
            (&self.listed, state),
        )?;
        if touches.is_current(as_of.unwrap_or(cx.now)) {
            return Ok(ConversationChanges::default());
        }
        if noted.is_none() && !touches.entries.is_empty() {
            noted = Some(Noted::read(cx, mark)?);
        }
        let noted = noted.unwrap_or_else(|| Noted {
            overlay: NotesOverlay::default(),
            state: unread,
        });
        self.write_touched(cx, &mut touches, &noted, as_of)
    }

    /// Works out the conversations that were touched and writes them down, a batch at a time.
    fn write_touched(
        &mut self,
        cx: &RequestContext,
        touches: &mut ConversationTouches,
        noted: &Noted,
        as_of: Option<Instant>,
    ) -> Result<ConversationChanges> {
        let mut changes = ConversationChanges::default();
        let mut new = Vec::new();
        for places in self.far(cx, touches, noted)?.chunks(BATCH) {
            for place in places {
                if let Some(front) = self.summary(cx, *place)? {
                    let alone = Conversation {
                        front,
                        linked: Vec::new(),
                        dangling: Vec::new(),
                    };
                    new.push(new_conversation(cx, alone, vec![*place], noted));
                }
                if let Some(entry) = self.entries.get_mut(*place) {
                    entry.let_go();
                }
            }
            self.put(cx, touches, &mut new, &mut changes)?;
        }
        let near = self.near(cx, touches)?;
        for part in worked_out(cx, near, noted) {
            new.push(part);
            if new.len() == BATCH {
                self.put(cx, touches, &mut new, &mut changes)?;
            }
        }
        let last = (ConversationUpdate::Last(as_of), cx.now);
        let done = self
            .catalog
            .put_conversations(touches, &self.entries, &new, last)?;
        join(&mut changes, done);
        Ok(changes)
    }

    fn put(
        &mut self,
        cx: &RequestContext,
        touches: &mut ConversationTouches,
        new: &mut Vec<NewConversation>,
        changes: &mut ConversationChanges,
    ) -> Result<()> {
        let part = (ConversationUpdate::Part, cx.now);
        let done = self
            .catalog
            .put_conversations(touches, &self.entries, new, part)?;
        new.clear();
        join(changes, done);
        Ok(())
    }

    /// Returns the sessions that are conversations of their own: they need not be in memory
    /// together. The others stay in `touched`.
    fn far(
        &mut self,
        cx: &RequestContext,
        touches: &mut ConversationTouches,
        noted: &Noted,
    ) -> Result<Vec<usize>> {
        if !touches.all {
            return Ok(Vec::new());
        }
        let Sorted { far, near } = Sorted::of(cx, self, &noted.overlay)?;
        touches.entries = near.into_keys().collect();
        Ok(far)
    }

    fn near(
        &mut self,
        cx: &RequestContext,
        touches: &ConversationTouches,
    ) -> Result<BTreeMap<usize, (StoreId, Summary)>> {
        let mut near = BTreeMap::new();
        for place in &touches.entries {
            if let Some(session) = self.summary(cx, *place)? {
                near.insert(*place, session);
            }
        }
        Ok(near)
    }
}

impl Noted {
    fn read(cx: &RequestContext, mark: i64) -> Result<Noted> {
        let overlay = NotesOverlay::read(cx)?;
        let sums = overlay.sums();
        Ok(Noted {
            overlay,
            state: NotesState { mark, sums },
        })
    }
}

/// Returns a number that changes with the file of the notes; 0 if there is none.
fn notes_mark(cx: &RequestContext) -> i64 {
    let path = cx.home.as_ref().map(|home| home.join("notes.jsonl"));
    let Some(file) = path.and_then(|path| std::fs::metadata(path).ok()) else {
        return 0;
    };
    let modified = file.modified().ok();
    let age = modified.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&file);
    #[cfg(not(unix))]
    let number = 0u64;
    let text = format!("{} {age:?} {number}", file.len());
    crate::sessions::notes_overlay::sum_of(&text)
}

/// Joins sessions into conversations, and computes the row of each.
fn worked_out(
    cx: &RequestContext,
    near: BTreeMap<usize, (StoreId, Summary)>,
    noted: &Noted,
) -> Vec<NewConversation> {
    let name = |store: StoreId, summary: &Summary| {
        let location = &summary.location;
        (store, location.key.clone(), location.id.clone())
    };
    let places: HashMap<_, usize> = (near.iter())
        .map(|(place, (store, summary))| (name(*store, summary), *place))
        .collect();
    let joined = cx.stores.joined(near.into_values().collect());
    let finish = |conversation: Conversation| {
        let sides = std::iter::once(&conversation.front).chain(&conversation.linked);
        let sides = sides
            .filter_map(|(store, summary)| places.get(&name(*store, summary)).copied())
            .collect();
        new_conversation(cx, conversation, sides, noted)
    };
    joined.into_iter().map(finish).collect()
}

/// What a list says of a conversation whose sessions have these places among the entries.
fn new_conversation(
    cx: &RequestContext,
    conversation: Conversation,
    sides: Vec<usize>,
    noted: &Noted,
) -> NewConversation {
    let sums = &noted.state.sums;
    let notes = (conversation.sides().take_while(|_| !sums.is_empty()))
        .filter_map(|side| sums.get(&side.reference))
        .fold(0i64, |all, sum| all.wrapping_add(*sum));
    NewConversation {
        names: names(cx, &conversation, &sides),
        row: row(cx, conversation, &noted.overlay),
        sides,
        notes,
    }
}

/// Returns the ids by which the sessions of a conversation refer to others, and their own.
fn names(cx: &RequestContext, conversation: &Conversation, places: &[usize]) -> Vec<SideName> {
    let mut names = Vec::new();
    let sides = std::iter::once(&conversation.front).chain(&conversation.linked);
    for ((store, summary), side) in sides.zip(places.iter().copied()) {
        let Some(store) = cx.stores.get(*store) else {
            continue;
        };
        let (dialect, id) = (store.dialect(), &summary.location.id);
        let links = dialect.linked_sessions(&summary.meta, id).into_iter();
        names.extend(links.map(|link| SideName {
            side,
            means: SessionRef::new(link.dialect, link.id),
            is_alias: false,
        }));
        let own = summary.meta.id.as_ref().filter(|own| *own != id);
        names.extend(own.map(|own| SideName {
            side,
            means: SessionRef::new(dialect.name(), own),
            is_alias: true,
        }));
    }
    names
}

/// Returns the row of a conversation. The status of boswell's own sessions depends on the current
/// time, so it is computed when the row is shown.
pub(crate) fn row(
    cx: &RequestContext,
    mut conversation: Conversation,
    notes: &NotesOverlay,
) -> ConversationRow {
    let open_status = crate::request_context::has_open_status(&conversation.front.1)
        && !notes.has_status(&conversation.front.1.reference);
    let sides = std::iter::once(&mut conversation.front).chain(&mut conversation.linked);
    notes.add_to(sides.map(|(_, summary)| summary));
    let front = &conversation.front.1;
    let meta = &front.meta;
    ConversationRow {
        agents: crate::list::agents_of(cx, &conversation),
        front: side(front),
        linked: conversation.sides().skip(1).map(side).collect(),
        name: front.name(),
        title_source: meta.title_source.clone(),
        open_status,
        pinned: meta.is_pinned(),
        archived: meta.archived || front.location.hidden == Some("archived"),
        damaged: front.gaps > 0,
        hidden: front.hidden().map(str::to_owned),
        created: meta.created,
        last_active: conversation.last_active(),
        front_active: front.last_active(),
        messages: messages(front),
        bytes: front.location.size,
        cost: crate::shape::usage_of(front).cost,
        revision: (front.location.key.is_some()).then(|| front.location.revision().to_string()),
    }
}

fn side(summary: &Summary) -> ConversationSide {
    let meta = &summary.meta;
    ConversationSide {
        reference: summary.reference.clone(),
        agent: meta.agent.clone(),
        project: meta.project.clone(),
        status: meta.status.clone(),
        git_branch: meta.git_branch.clone(),
        tags: meta.tags.clone(),
        models: meta.models.clone(),
        title: meta.title.clone(),
        summary: meta.summary.clone(),
        first_prompt: meta.first_prompt.clone(),
        last_prompt: meta.last_prompt.clone(),
    }
}

/// Adds the changes of a later step to those of earlier ones.
pub(crate) fn join(all: &mut ConversationChanges, mut more: ConversationChanges) {
    if !more.changed.is_empty() {
        let added: HashSet<&SessionRef> = all.added.iter().collect();
        let known = all.changed.iter().collect::<HashSet<_>>();
        more.changed
            .retain(|session| !added.contains(session) && !known.contains(session));
    }
    all.added.append(&mut more.added);
    all.changed.append(&mut more.changed);
    all.gone.append(&mut more.gone);
    all.writes += more.writes;
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use boswell_store::store::Stores;
    use boswell_testkit::disk;

    use super::*;
    use crate::App;
    use crate::sessions::index::Create;

    fn line(number: usize, text: &str) -> String {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{text}\",\"cwd\":\"/p/{number}\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{{\"content\":\"{text}\"}}}}\n"
        )
    }

    fn log(root: &Path, number: usize) -> std::path::PathBuf {
        root.join(format!(
            "claude/projects/-p/{number:08x}-0000-4000-8000-000000000000.jsonl"
        ))
    }

    /// Returns how many conversations are computed again after a refresh.
    fn touched(app: &App) -> (bool, usize) {
        let cx = app.request().unwrap();
        let mut index = SessionIndex::open(&cx, Create::Yes).unwrap().unwrap();
        index.read_for_list(&cx).unwrap();
        let state = NotesState {
            mark: notes_mark(&cx),
            ..NotesState::default()
        };
        let scope = cx.conversation_scope();
        let touches = index
            .catalog
            .conversation_touches(
                &cx.stores,
                &mut index.entries,
                &scope,
                (&index.listed, &state),
            )
            .unwrap();
        let found = (touches.all, touches.entries.len());
        index.keep_conversations(&cx, LogsRead::AsTheyAre);
        found
    }

    #[test]
    fn one_changed_session_among_many_is_worked_out_alone() {
        let temp = tempfile::tempdir().unwrap();
        let mut stores = Stores::default();
        stores.add("claude", temp.path().join("claude")).unwrap();
        let home = temp.path().join("boswell");
        for number in 0..600 {
            let path = log(temp.path(), number);
            disk::write(&path, line(number, "first").as_bytes());
        }
        let app = App::of_test(stores, Some(home), temp.path().to_path_buf());
        assert_eq!(touched(&app), (true, 600));
        assert_eq!(touched(&app), (false, 0));
        let changed = [line(7, "first"), line(7, "second")].concat();
        disk::write(&log(temp.path(), 7), changed.as_bytes());
        assert_eq!(touched(&app), (false, 1));
        std::fs::remove_file(log(temp.path(), 8)).unwrap();
        assert_eq!(touched(&app), (false, 0));
        assert_eq!(touched(&app), (false, 0));
        let folder = log(temp.path(), 9).with_extension("");
        disk::write(&folder.join("archived.json"), b"{\"archived\":true}");
        assert_eq!(touched(&app), (false, 1));
        assert_eq!(touched(&app), (false, 0));
    }
}
