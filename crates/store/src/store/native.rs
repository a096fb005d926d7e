//! Making, opening and changing sessions of a store that can be written.
//!
//! The first bytes of a new session (file name, header) come from the dialect. A session that is to
//! stay hidden until its first answer lies under a `.pending` name until then.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use boswell_dialect::{
    Body, Draft, EditRequest, EntryStamp, NewLog, NewSession, Parent, SUBJECT, SessionLocation,
    Step, Visibility, unsupported,
};
use boswell_model::json::Json;
use boswell_model::{
    Advice, EntryId, Error, ErrorKind, Framing, Instant, RequestInput, Result, SessionId,
    SessionRef, Tip,
};

use crate::WritableStore;
use crate::backend::{BackendFiles, LogName};
use crate::disk::durable;
use crate::locks::lease::Wait;
use crate::store::open_writer::Opened;
use crate::writer::{Durability, Expect, Receipt, SessionWriter};

impl WritableStore {
    /// Makes a session. The writer holds its lease.
    ///
    /// # Errors
    ///
    /// `Invalid` if the agent would not accept the id, `Conflict` if there is a session with it,
    /// `Busy` if another process has its lease, `Unsupported` if sessions of the dialect are not
    /// created this way; an I/O error if the log cannot be written.
    pub fn create(&self, new: NewSession) -> Result<SessionWriter> {
        let append = self.dialect().appender()?;
        let id = new
            .id
            .as_ref()
            .map_or_else(|| append.session_id(self.id_source()), ToString::to_string);
        self.is_valid(&id)?;
        // The name of the log contains its creation time, and so does an id that we create: each
        // can be derived from the other.
        let born = if new.id.is_none() {
            uuid_v7_time(&id)
        } else {
            None
        };
        let now = born.unwrap_or_else(|| self.id_source().now());
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
        self.add_metadata(&new.metadata, now, &mut log.bytes)?;
        Ok(log)
    }

    /// Adds the record with the metadata of a new session, if it has any: it is there as soon as
    /// the session is.
    fn add_metadata(
        &self,
        metadata: &BTreeMap<String, String>,
        now: Instant,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        if metadata.is_empty() {
            return Ok(());
        }
        let facts = self.dialect().facts();
        if !facts.is_own {
            return Err(unsupported(
                facts.name,
                "have metadata of boswell's",
                "make it in a store of boswell's own",
            ));
        }
        let mut pairs = Json::object();
        for (key, value) in metadata {
            pairs = pairs.with(key, value.as_str());
        }
        let stamp = EntryStamp {
            id: &self.id_source().hex16(),
            parent: None,
            at: now,
        };
        let draft = Draft::custom("boswell.meta", Json::object().with("metadata", pairs));
        bytes.extend(self.dialect().appender()?.encoded(&draft, stamp)?);
        bytes.push(b'\n');
        Ok(())
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
        let name = LogName {
            session: &session,
            key: &key,
            visible: visible.as_deref(),
            just_made: true,
        };
        self.logs().create(&name, &log.bytes, &lease)?;
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

    /// Deletes a session for good where sessions are not files: its log, and what the backend
    /// stores about it. Writers that have it open cannot append any more.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such session, `Busy` if another process has its lease,
    /// `Unsupported` where sessions are files: a [`Runner`](crate::operations::Runner) deletes
    /// those, and can undo it.
    pub fn delete(&self, id: impl Into<SessionId>, wait: Wait) -> Result<()> {
        let id = id.into();
        let key = match self.find(&id) {
            Ok(location) => location.key,
            Err(error) => Some(self.pending(id.as_str())?.ok_or(error)?),
        };
        let session = SessionRef::new(self.dialect().name(), id.as_str());
        let lease = self.lease(&session, wait)?;
        let name = LogName {
            session: &session,
            key: key.as_deref().unwrap_or_default(),
            visible: None,
            just_made: false,
        };
        self.logs().delete(&name, &lease)
    }

    fn title_record(&self, title: &str, now: Instant) -> Result<Vec<u8>> {
        let settled = EntryStamp {
            id: &self.id_source().hex16(),
            parent: None,
            at: now,
        };
        self.dialect()
            .appender()?
            .encoded(&Draft::new(Body::Title(title.to_owned())), settled)
    }

    /// Adds an entry that does not move the leaf: a title, a label, a tag, a
    /// status. Needs no lease.
    ///
    /// # Errors
    ///
    /// `Invalid` for an entry that moves the leaf, `NotFound` if there is no such session;
    /// otherwise those of [`SessionWriter::append`].
    pub fn annotate(&self, id: impl Into<SessionId>, draft: Draft) -> Result<Receipt> {
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
        self.annotator(id.into().as_str())?.append_with(
            draft,
            self.expectation(),
            Durability::Fsync,
        )
    }

    /// Adds tags to a session of boswell's own and removes others. Needs no lease.
    ///
    /// The entry says what changed, so that of several processes that tag a session at once none
    /// undoes what another did.
    ///
    /// # Errors
    ///
    /// `Unsupported` for sessions of other agents; otherwise those of
    /// [`annotate`](WritableStore::annotate).
    pub fn retag(
        &self,
        id: impl Into<SessionId>,
        add: &[String],
        remove: &[String],
    ) -> Result<Receipt> {
        let id = id.into();
        let facts = self.dialect().facts();
        if !facts.is_own {
            return Err(unsupported(
                facts.name,
                "be tagged in its own log",
                "execute `EditRequest::Tags` with a runner",
            ));
        }
        let session = self.session(&id)?;
        self.annotate(
            id,
            boswell_dialect::pi::retag(&session.meta().tags, add, remove),
        )
    }

    /// Makes a new session from a branch of another one, or from all of it, with lineage. Labels of
    /// its entries come along.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such session or entry, `Unsupported` if a fork changes files that
    /// are there; otherwise those of [`create`](WritableStore::create).
    pub fn fork(
        &self,
        id: impl Into<SessionId>,
        at: Option<&EntryId>,
        new: NewSession,
    ) -> Result<SessionWriter> {
        let source = self.session(id)?;
        self.require_revision(&source.revision())?;
        let at = match at {
            Some(entry) => Tip::At(source.find(entry)?),
            None => source.tip()?,
        };
        let visible = new.visible;
        let mut metadata = new.metadata.clone();
        // A copy is about the same person, and must be found when everything about one is erased.
        if let Some(subject) = source.meta().metadata.get(SUBJECT) {
            metadata
                .entry(SUBJECT.to_owned())
                .or_insert_with(|| subject.clone());
        }
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
        let (Some(id), Some((key, mut bytes))) = (planned.session, files.next()) else {
            return Err(Error::new(
                ErrorKind::Internal,
                "a fork was planned without a log",
            ));
        };
        self.is_valid(&id)?;
        if !metadata.is_empty() {
            self.add_metadata(&metadata, self.id_source().now(), &mut bytes)?;
        }
        let side_files: Vec<_> = files.collect();
        if self.own_disk().is_none() && !side_files.is_empty() {
            let what = "have side files in a store that is not a folder";
            return Err(unsupported(
                self.dialect().name(),
                what,
                "fork it in a store of files",
            ));
        }
        let writer = self.create_log(&id, NewLog { key, bytes }, visible)?;
        if let Some(disk) = self.own_disk() {
            let disk = disk.as_ref();
            for (key, bytes) in side_files {
                let path = self.root().join(key);
                durable::make_folders(disk, path.parent().unwrap_or(Path::new("")))?;
                durable::put(disk, &path, &bytes, &self.id_source().hex16())?;
            }
        }
        Ok(writer)
    }
}

impl SessionWriter {
    /// Stands as before a prompt, and returns the prompt's text.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such entry, `Invalid` if it is not a prompt; otherwise those of
    /// [`append`](SessionWriter::append).
    pub fn rewind(&self, prompt: impl Into<EntryId>) -> Result<String> {
        let session = self.session()?;
        let slot = session.prompt(prompt)?;
        let text = session
            .entry(slot)?
            .view
            .map(|view| view.text())
            .unwrap_or_default();
        match session.tree().parent(slot) {
            Some(parent) => self.branch(session.log().label(parent).as_ref())?,
            None => self.reset()?,
        };
        Ok(text)
    }

    /// Replaces what came before an entry by a summary. The settings in force follow it, so that no
    /// reader has to look further back.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such entry, `Invalid` if it is on another branch; otherwise those
    /// of [`append`](SessionWriter::append).
    pub fn compact(
        &self,
        summary: &str,
        first_kept: impl Into<EntryId>,
        tokens_before: u64,
    ) -> Result<Receipt> {
        let first_kept = first_kept.into();
        let (mut session, mut tip) = self.read_for_context(None)?;
        if session.log().find(first_kept.as_str()).is_none() {
            // Before what the last compaction kept, or nowhere.
            session = self.session()?;
            tip = session.tip()?;
        }
        let kept = session.find(&first_kept)?;
        if !tip
            .slot()
            .is_some_and(|tip| session.tree().path(tip).contains(&kept))
        {
            // Readers keep nothing when they do not meet the entry on their way up.
            let what = format!(
                "the entry `{}` is not on the branch that is compacted",
                first_kept.as_str().escape_debug()
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
            first_kept: first_kept.as_ref().into(),
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
