//! The files of a log as they are stored.

use boswell_dialect::FileInfo;
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

    /// Returns a file as it is stored.
    pub(crate) fn stored_file(&self, key: &str) -> Result<Option<FileInfo>> {
        self.plain.stat(key)
    }
}
