//! Files that belong to a session besides its log.

use boswell_model::json::Object;
use boswell_model::{Result, SessionMeta, SessionView, Slot};

use crate::{
    Dialect, Files, FilesAtEntry, MemoryFile, Orphan, SessionLocation, SideFile, Subagent,
};

/// An agent that keeps more of a session than its log: attachments, outputs, subagents, copies of
/// the project's files, memory.
pub trait SideFiles: Dialect {
    /// Files that belong to a session besides its log.
    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>>;

    /// What side files of the session say about it (a title file, an archive mark); called
    /// after the log was read.
    fn collect_side_meta(
        &self,
        _files: &dyn Files,
        _location: &SessionLocation,
        _meta: &mut SessionMeta,
    ) -> Result<()> {
        Ok(())
    }

    /// Files of sessions that are not among those that were found.
    fn orphans(&self, _files: &dyn Files, _found: &[SessionLocation]) -> Result<Vec<Orphan>> {
        Ok(Vec::new())
    }

    /// Keys of the folders that the agent makes as locks, as far as there are some, in the order in
    /// which they are taken.
    fn lock_folders(&self, _files: &dyn Files) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Memory files of every project of the store.
    fn memory(&self, _files: &dyn Files) -> Result<Vec<MemoryFile>> {
        Ok(Vec::new())
    }

    /// Files of the project as they were at an entry, where the agent keeps copies of them.
    fn files_at(
        &self,
        _location: &SessionLocation,
        _view: &SessionView<'_>,
        _entry: Slot,
    ) -> Result<Option<FilesAtEntry>> {
        Ok(None)
    }

    /// Subagents of a session, with the calls that started them.
    fn subagents(
        &self,
        _files: &dyn Files,
        _location: &SessionLocation,
        _view: &SessionView<'_>,
    ) -> Result<Vec<Subagent>> {
        Ok(Vec::new())
    }

    /// Key of the file that holds the whole output of a tool, where the record has only its
    /// beginning.
    fn full_output_key(&self, _location: &SessionLocation, _object: &Object<'_>) -> Option<String> {
        None
    }
}
