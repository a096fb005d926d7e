//! The text of a file before a prompt, from the copies of its agent or from checkpoints of boswell.

use std::path::Path;

use boswell_model::{EntryKind, Slot};
use boswell_store::Session;
use boswell_store::checkpoint::{Captured, State};
use boswell_store::store::StoreId;

use super::file_commits::{LARGEST, text_of};
use crate::RequestContext;

/// The copies of a session.
#[derive(Debug)]
pub(super) struct FormerText<'s> {
    cx: &'s RequestContext,
    session: &'s Session,
    store: StoreId,
    project: &'s str,
}

impl<'s> FormerText<'s> {
    pub(super) fn new(
        cx: &'s RequestContext,
        session: &'s Session,
        store: StoreId,
        project: &'s str,
    ) -> FormerText<'s> {
        FormerText {
            cx,
            session,
            store,
            project,
        }
    }

    /// Returns the text of a file at a prompt.
    pub(super) fn at(&self, prompt: Slot, path: &str) -> Option<String> {
        match self.session.dialect().facts().is_own {
            true => self.checkpoint(prompt, path),
            false => self.copy(prompt, path),
        }
    }

    fn copy(&self, prompt: Slot, path: &str) -> Option<String> {
        let heads = &self.session.log().heads;
        if !heads
            .iter()
            .any(|head| head.kind == EntryKind::FileSnapshot)
        {
            return None;
        }
        let side_files = self.session.dialect().powers().side_files?;
        let view = self.session.view();
        let files = side_files.files_at(self.session.location(), &view, prompt);
        let files = files.ok()??.files;
        let (_, key) = files
            .into_iter()
            .find(|(name, _)| self.is_same(name, path))?;
        let bytes = self.cx.stores.get(self.store)?.file(&key?, LARGEST as u64);
        text_of(&bytes.ok()??)
    }

    fn checkpoint(&self, prompt: Slot, path: &str) -> Option<String> {
        let entry = self.session.log().label(prompt).into_owned();
        let found = State::in_session(self.session, &entry).ok()?;
        let mut files = found.state.files();
        let (_, tracked) = files.find(|(name, _)| self.is_same(name, path))?;
        let Captured::File { blob, .. } = &tracked.then else {
            return None;
        };
        text_of(&self.cx.own_home().ok()?.blobs().get(blob).ok()?)
    }

    /// Whether a name in the folder of the session is this file.
    fn is_same(&self, name: &str, path: &str) -> bool {
        let there = Path::new(self.project).join(name);
        let real = there.parent().and_then(|parent| parent.canonicalize().ok());
        let there = match (real, there.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => there,
        };
        there == Path::new(path)
    }
}
