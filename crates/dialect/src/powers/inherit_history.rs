//! The [`InheritHistory`] power: logs that continue another log without a copy of its lines.

use boswell_model::Result;
use boswell_model::json::Object;

use crate::{Dialect, Files, SessionLocation};

/// The log that another log continues, up to a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryBase {
    /// Id of the log, as its file is named.
    pub id: String,
    /// Position in that log after the last line that belongs to the history.
    pub end: u64,
}

/// An agent whose forks refer to the log that they continue.
pub trait InheritHistory: Dialect {
    /// Returns the log that the log with this first record continues; `None` if the log contains
    /// its whole history.
    fn history_base(&self, first: &Object<'_>) -> Option<HistoryBase>;

    /// Returns the key of the log with an id, which the log at `location` continues.
    fn base_key(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        id: &str,
    ) -> Result<Option<String>>;

    /// Returns the id of a session that continues the log at `location`, if there is one: no byte
    /// of that log may move.
    fn continued_by(&self, files: &dyn Files, location: &SessionLocation)
    -> Result<Option<String>>;
}
