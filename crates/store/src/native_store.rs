//! Making, opening and changing sessions of a store that can be written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::ForkOrigin;
use boswell_dialect::{
    Body, Depth, Draft, EditRequest, EntryStamp, ForkScope, IdSource, NewLog, NewSession, Parent,
    SessionLocation, Step, Visibility, by_name, unsupported,
};
use boswell_model::json::Json;
use boswell_model::{
    Advice, Error, ErrorKind, Framing, Instant, RequestInput, Result, SessionRef, Tip,
};

use crate::backend::{BackendFiles, FsBackend};
use crate::disk::{Disk, MemoryDisk, RealDisk, StatKind, durable};
use crate::lease::Wait;
use crate::open_writer::Opened;
use crate::system_ids::SystemIds;
use crate::writer::{Durability, Expect, Receipt, SessionWriter};
use crate::{Session, Store};

impl Store {
    /// Boswell's own store in a folder, which is made if it is not there.
    pub fn open(home: impl Into<PathBuf>) -> Result<Store> {
        Store::open_on(Arc::new(RealDisk), Arc::new(SystemIds), home)
    }

    /// Boswell's own store in memory: nothing is kept.
    pub fn in_memory() -> Result<Store> {
        Store::open_on(
            Arc::new(MemoryDisk::default()),
            Arc::new(SystemIds),
            "/boswell",
        )
    }

    /// Boswell's own store on a given disk, with given time and chance.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        id_source: Arc<dyn IdSource>,
        home: impl Into<PathBuf>,
    ) -> Result<Store> {
        let home = home.into();
        let Some(dialect) = by_name("boswell") else {
            return Err(Error::new(
                ErrorKind::Internal,
                "boswell's own dialect is missing",
            ));
        };
        let there = disk
            .stat(&home)
            .map_err(|error| Error::io(home.display(), "look at", error))?;
        if there.is_none_or(|stat| stat.kind != StatKind::Folder) {
            durable::make_folders(disk.as_ref(), &home)?;
        }
        let backend = Arc::new(FsBackend::on(Arc::clone(&disk), &home));
        Ok(Store::on(dialect, backend, &home).writable(disk, id_source, home.join("locks")))
    }

    /// Makes a session. The writer holds its lease.
    pub fn create(&self, new: NewSession) -> Result<SessionWriter> {
        let writing = self.writing()?;
        let append = self.dialect().appender()?;
        let id = new
            .id
            .clone()
            .unwrap_or_else(|| append.session_id(writing.id_source.as_ref()));
        self.is_valid(&id)?;
        // The name of the log contains its creation time, and so does an id that we create: each
        // can be derived from the other.
        let born = if new.id.is_none() {
            uuid_v7_time(&id)
        } else {
            None
        };
        let now = born.unwrap_or_else(|| writing.id_source.now());
        let log = self.first_lines(&new, &id, now)?;
        self.create_log(&id, log, new.visible)
    }

    /// How the log of a new session begins: its header, and its title.
    pub(crate) fn first_lines(&self, new: &NewSession, id: &str, now: Instant) -> Result<NewLog> {
        let append = self.dialect().appender()?;
        let mut log = append.new_log(new, id, now)?;
        log.key = append.resolve_key(&BackendFiles(self.backend()), log.key)?;
        if let Some(title) = &new.title
            && let Ok(record) = self.title_record(title, now)
        {
            log.bytes.extend_from_slice(&record);
            log.bytes.push(b'\n');
        }
        Ok(log)
    }

    fn is_valid(&self, id: &str) -> Result<()> {
        if self.dialect().id_is_valid(id) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` cannot be the id of a session", id.escape_debug()),
        )
        .advising(Advice::Omit(RequestInput::SessionId)))
    }

    pub(crate) fn create_log(
        &self,
        id: &str,
        log: NewLog,
        visible_when: Visibility,
    ) -> Result<SessionWriter> {
        let writing = self.writing()?;
        // Two makers of one id must not both succeed: the lease decides before the file is there.
        // The first look only spares the lease of a session that has been there for long.
        self.is_free(id)?;
        let session = Arc::new(SessionRef::new(self.dialect().name(), id));
        let lease = self.lease(&session, Wait::No)?;
        self.is_free(id)?;
        let answered = || {
            let mut records = log
                .bytes
                .split(|byte| *byte == b'\n')
                .filter(|record| !record.is_empty());
            records.any(|record| Draft::new(Body::Native(record.to_vec())).is_answer())
        };
        let (key, visible) = match visible_when {
            Visibility::WithFirstAnswer if !answered() => (pending_key(&log.key), Some(log.key)),
            _ => (log.key, None),
        };
        writing.logs.create(&key, &log.bytes, &lease)?;
        self.writer_on(
            &session,
            Opened {
                key,
                visible,
                just_made: true,
            },
            Some(lease),
        )
    }

    fn is_free(&self, id: &str) -> Result<()> {
        if self.find(id).is_err() && self.pending(id)?.is_none() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!("there is a session {id} already"),
        )
        .advising(Advice::append_or_other_id(id)))
    }

    fn title_record(&self, title: &str, now: Instant) -> Result<Vec<u8>> {
        let id_source = &self.writing()?.id_source;
        let settled = EntryStamp {
            id: &id_source.hex16(),
            parent: None,
            at: now,
        };
        self.dialect()
            .appender()?
            .encoded(&Draft::new(Body::Title(title.to_owned())), settled)
    }

    /// Adds an entry that does not move the leaf: a title, a label, a tag, a
    /// status. Needs no lease.
    pub fn annotate(&self, id: &str, draft: Draft) -> Result<Receipt> {
        let moves = !matches!(draft.parent, Parent::Tip)
            || !matches!(
                draft.body,
                Body::Title(_) | Body::Label { .. } | Body::Custom { .. }
            );
        if moves {
            return Err(Error::new(
                ErrorKind::Invalid,
                "only what leaves the conversation where it is can be added without its lease",
            ));
        }
        self.annotator(id)?
            .append_with(draft, Expect::Any, Durability::Fsync)
    }

    /// Adds tags to a session of boswell's own and removes others. Needs no lease.
    ///
    /// The entry says what changed, so that of several processes that tag a session at once none
    /// undoes what another did.
    pub fn retag(&self, id: &str, add: &[String], remove: &[String]) -> Result<Receipt> {
        let facts = self.dialect().facts();
        if !facts.is_own {
            return Err(unsupported(
                facts.name,
                "be tagged in its own log",
                "execute `EditRequest::Tags` with a runner",
            ));
        }
        let session = self.session(id)?;
        self.annotate(
            id,
            boswell_dialect::pi::retag(&session.meta().tags, add, remove),
        )
    }

    /// The session with that id, as it is now.
    pub fn session(&self, id: &str) -> Result<Session> {
        match self.find(id) {
            Ok(location) => self.read(&location, Depth::Facts),
            Err(error) => match self.pending(id)? {
                Some(key) => self.read(&located_at(id, &key, 0), Depth::Facts),
                None => Err(error),
            },
        }
    }

    /// Where the session with that id is, from names alone.
    pub fn find(&self, id: &str) -> Result<SessionLocation> {
        if let Some(location) = self.find_by_birth(id)? {
            return Ok(location);
        }
        self.whole()
            .list()?
            .sessions
            .into_iter()
            .find(|location| location.id == id)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::NotFound,
                    format!("there is no session `{}`", id.escape_debug()),
                )
                .advising(Advice::list_all())
            })
    }

    /// Looks where a session with an id that we made would be, without listing all others.
    fn find_by_birth(&self, id: &str) -> Result<Option<SessionLocation>> {
        let Some(born) = uuid_v7_time(id).filter(|_| self.dialect().facts().is_own) else {
            return Ok(None);
        };
        let new = NewSession::in_project("x");
        let append = self.dialect().powers().append;
        let Some(Ok(log)) = append.map(|append| append.new_log(&new, id, born)) else {
            return Ok(None);
        };
        let Some((_, name)) = log.key.rsplit_once('/') else {
            return Ok(None);
        };
        for folder in self
            .backend()
            .list("sessions")?
            .into_iter()
            .filter(|info| info.is_folder())
        {
            if let Some(info) = self
                .backend()
                .stat(&format!("{}/{name}", folder.key))?
                .filter(|info| info.is_file())
            {
                return Ok(Some(SessionLocation::at(id, &info, Framing::Lines)));
            }
        }
        Ok(None)
    }

    /// Makes a new session from a branch of another one, or from all of it, with lineage. Labels of
    /// its entries come along.
    pub fn fork(&self, id: &str, at: Option<&str>, new: NewSession) -> Result<SessionWriter> {
        let source = self.session(id)?;
        let at = match at {
            Some(entry) => Tip::At(source.find(entry)?),
            None => source.tip()?,
        };
        let visible = new.visible;
        let new = NewSession {
            parent: Some(self.lineage(&source, new.copies)),
            ..new
        };
        let planned = self.plan_for(&source, &EditRequest::Fork { at, new })?;
        if !planned.plan.steps.iter().all(|step| {
            matches!(
                step,
                Step::Put { .. } | Step::MakeFolder { .. } | Step::Verify { .. }
            )
        }) {
            let what = "be forked without changing files that are there";
            return Err(unsupported(
                self.dialect().name(),
                what,
                "execute `EditRequest::Fork` with a runner",
            ));
        }
        let mut files = planned
            .plan
            .steps
            .into_iter()
            .filter_map(|step| match step {
                Step::Put { key, bytes, .. } => Some((key, bytes)),
                _ => None,
            });
        let (Some(id), Some((key, bytes))) = (planned.session, files.next()) else {
            return Err(Error::new(
                ErrorKind::Internal,
                "a fork was planned without a log",
            ));
        };
        self.is_valid(&id)?;
        let side_files: Vec<_> = files.collect();
        if self.files().is_none() && !side_files.is_empty() {
            let what = "have side files in a store that is not a folder";
            return Err(unsupported(
                self.dialect().name(),
                what,
                "fork it in a store of files",
            ));
        }
        let writer = self.create_log(&id, NewLog { key, bytes }, visible)?;
        if let Some(files) = self.files() {
            let disk = files.disk.as_ref();
            for (key, bytes) in side_files {
                let path = self.root().join(key);
                durable::make_folders(disk, path.parent().unwrap_or(Path::new("")))?;
                durable::put(disk, &path, &bytes, &self.id_source().hex16())?;
            }
        }
        Ok(writer)
    }

    /// How a fork names the session that it comes from: agents draw the tree of forks by paths of
    /// files, xcsh and oh-my-pi by the id where all of a session was copied.
    pub fn lineage(&self, source: &Session, copies: ForkScope) -> String {
        let by_path = match self.dialect().facts().fork_origin {
            ForkOrigin::Path => true,
            ForkOrigin::PathOfBranch => copies == ForkScope::Branch,
            ForkOrigin::Id => false,
        };
        match source.path().filter(|_| by_path) {
            Some(path) => path.to_owned(),
            None => source.reference().id,
        }
    }
}

impl SessionWriter {
    /// Stands as before a prompt, and returns the prompt's text.
    pub fn rewind(&self, prompt: &str) -> Result<String> {
        let session = self.session()?;
        let slot = session.prompt(prompt)?;
        let text = session
            .entry(slot)?
            .view
            .map(|view| view.text())
            .unwrap_or_default();
        match session.tree().parent(slot) {
            Some(parent) => self.branch(&session.log().label(parent))?,
            None => self.reset()?,
        };
        Ok(text)
    }

    /// Replaces what came before an entry by a summary. The settings in force follow it, so that no
    /// reader has to look further back.
    pub fn compact(&self, summary: &str, first_kept: &str, tokens_before: u64) -> Result<Receipt> {
        let (mut session, mut tip) = self.read_for_context(None)?;
        if session.log().find(first_kept).is_none() {
            // Before what the last compaction kept, or nowhere.
            session = self.session()?;
            tip = session.tip()?;
        }
        let kept = session.find(first_kept)?;
        if !tip
            .slot()
            .is_some_and(|tip| session.tree().path(tip).contains(&kept))
        {
            // Readers keep nothing when they do not meet the entry on their way up.
            let what = format!(
                "the entry `{}` is not on the branch that is compacted",
                first_kept.escape_debug()
            );
            return Err(Error::new(ErrorKind::Invalid, what)
                .advising(Advice::ShowSession { session: None }));
        }
        let first_kept = session.log().label(kept);
        let settings = session.context(tip)?.settings;
        // Last, so that it counts for all of them. Only our own sessions are read by it.
        let restated = session
            .dialect()
            .facts()
            .is_own
            .then(|| boswell_dialect::pi::restate(&settings));
        let body = Body::Compaction {
            summary: summary.to_owned(),
            first_kept: first_kept.into_owned(),
            tokens_before,
        };
        let mut drafts = vec![Draft::new(body)];
        // Dialects without roles keep no table of models.
        let alone = settings
            .model
            .filter(|_| settings.models.is_empty())
            .map(|model| ("default".to_owned(), model));
        for (role, model) in settings.models.into_iter().chain(alone) {
            drafts.push(Draft::new(Body::Model {
                model,
                role: Some(role).filter(|r| r != "default"),
            }));
        }
        drafts.extend(
            settings
                .thinking_level
                .map(|level| Draft::new(Body::ThinkingLevel(level))),
        );
        drafts.extend(settings.mode.map(|mode| {
            Draft::new(Body::Mode {
                mode,
                data: settings.mode_data.map(|json| Json::Raw(json.into_bytes())),
            })
        }));
        drafts.extend(restated);
        let mut receipts = self.append_all(drafts, Expect::Any, Durability::Fsync)?;
        Ok(receipts.remove(0))
    }
}

/// The time in a UUID of version 7.
pub(crate) fn uuid_v7_time(id: &str) -> Option<Instant> {
    let parted = id
        .bytes()
        .enumerate()
        .all(|(at, byte)| (byte == b'-') == matches!(at, 8 | 13 | 18 | 23));
    let sound = id.len() == 36 && parted && id.get(14..15) == Some("7");
    let hex = |digits: &str| i64::from_str_radix(digits, 16).ok();
    let (high, low) = id.get(..8).zip(id.get(9..13)).filter(|_| sound)?;
    Some(Instant::from_millis(hex(high)? << 16 | hex(low)?))
}

fn pending_key(visible: &str) -> String {
    let (folder, name) = split_key(visible);
    format!("{folder}.{name}.pending")
}

/// The folder of a key, with its slash, and the name in it.
pub(crate) fn split_key(key: &str) -> (&str, &str) {
    key.split_at(key.rfind('/').map_or(0, |slash| slash + 1))
}

/// A log by its key alone.
pub(crate) fn located_at(id: &str, key: &str, size: u64) -> SessionLocation {
    SessionLocation {
        key: Some(key.to_owned()),
        ..SessionLocation::of(id, Framing::Lines, size)
    }
}
