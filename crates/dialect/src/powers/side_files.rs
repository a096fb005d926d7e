//! The [`SideFiles`] power: files that belong to a session besides its log.

use boswell_model::json::Object;
use boswell_model::{Result, SessionMeta, SessionView, Slot};

use crate::{
    Dialect, Files, FilesAtEntry, MemoryFile, Orphan, SessionLocation, SideFile, Subagent,
};

/// An agent that stores more of a session than its log: attachments, outputs, subagents, file
/// history, memory.
pub trait SideFiles: Dialect {
    /// Returns the side files of a session.
    fn side_files(&self, files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>>;

    /// Adds the metadata that side files contain (a title file, an archive marker). Called after
    /// the log was read.
    fn collect_side_meta(
        &self,
        _files: &dyn Files,
        _location: &SessionLocation,
        _meta: &mut SessionMeta,
    ) -> Result<()> {
        Ok(())
    }

    /// Returns the files of sessions that are not in `_found`.
    fn orphans(&self, _files: &dyn Files, _found: &[SessionLocation]) -> Result<Vec<Orphan>> {
        Ok(Vec::new())
    }

    /// Returns the keys of existing lock folders that the agent creates, in the order in which they
    /// are acquired.
    fn lock_folders(&self, _files: &dyn Files) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Returns the memory files of every project in the store.
    fn memory(&self, _files: &dyn Files) -> Result<Vec<MemoryFile>> {
        Ok(Vec::new())
    }

    /// Returns the project files as they were at an entry, if the agent keeps copies; else `None`.
    fn files_at(
        &self,
        _location: &SessionLocation,
        _view: &SessionView<'_>,
        _entry: Slot,
    ) -> Result<Option<FilesAtEntry>> {
        Ok(None)
    }

    /// Returns the subagents of a session, with the calls that started them.
    fn subagents(
        &self,
        _files: &dyn Files,
        _location: &SessionLocation,
        _view: &SessionView<'_>,
    ) -> Result<Vec<Subagent>> {
        Ok(Vec::new())
    }

    /// Returns the key of the file with the complete output of a tool, if the record contains only
    /// its beginning.
    fn full_output_key(&self, _location: &SessionLocation, _object: &Object<'_>) -> Option<String> {
        None
    }
}
