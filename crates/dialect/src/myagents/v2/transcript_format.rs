//! Which of the two formats a session has: decided by its row and by the files that exist.

use boswell_model::json::Raw;

/// The format of a session's transcript. It is fixed when the session is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TranscriptFormat {
    /// The index has no row: the app does not show it.
    Unindexed,
    /// Rows in `sessions/`.
    Legacy,
    /// Operations in `sessions-v2/`.
    Operations,
    /// Files of both formats, or of the one that the row does not state. The app reads neither.
    Conflict,
    /// The row states a format that is not known.
    Unsupported,
}

/// Which files of a session exist.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TranscriptFiles {
    /// A file of the older format.
    pub(crate) legacy: bool,
    /// A log of operations.
    pub(crate) operations: bool,
}

impl TranscriptFormat {
    /// Decides as the app does.
    pub(crate) fn of(row: Option<Raw<'_>>, files: TranscriptFiles) -> Self {
        let Some(row) = row else {
            return TranscriptFormat::Unindexed;
        };
        match row.get("transcriptFormat") {
            None if files.operations => TranscriptFormat::Conflict,
            None => TranscriptFormat::Legacy,
            Some(stated) if stated.f64() == Some(2.0) && files.legacy => TranscriptFormat::Conflict,
            Some(stated) if stated.f64() == Some(2.0) => TranscriptFormat::Operations,
            Some(_) => TranscriptFormat::Unsupported,
        }
    }
}
