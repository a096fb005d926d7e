//! The files of a log and of a session as they are stored.

use boswell_dialect::{FileInfo, SessionLocation, unsupported};
use boswell_model::Result;

use crate::Store;
use crate::backend::BackendFiles;

impl Store {
    /// Returns the files that the log at a key is made of; empty if the file at the key is the log.
    pub(crate) fn log_files(&self, key: &str) -> Result<Vec<FileInfo>> {
        match self.dialect.powers().compose {
            Some(compose) => compose.sources(&BackendFiles(self.plain.as_ref()), key),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the keys of every file of a session: its log and its side files.
    ///
    /// # Errors
    ///
    /// `Unsupported` if sessions of the dialect consist of more than a log and its side files; an
    /// I/O error if a folder cannot be listed.
    pub fn session_files(&self, location: &SessionLocation) -> Result<Vec<String>> {
        let facts = self.dialect.facts();
        if !facts.log_is_session {
            return Err(unsupported(
                facts.name,
                "be deleted yet",
                "delete it with its own agent",
            ));
        }
        let mut keys: Vec<String> = location.key.iter().cloned().collect();
        let side_files = self.side_files(location)?;
        keys.extend(side_files.into_iter().map(|file| file.key));
        Ok(keys)
    }

    /// Returns a file as it is stored.
    pub(crate) fn stored_file(&self, key: &str) -> Result<Option<FileInfo>> {
        self.plain.stat(key)
    }
}
