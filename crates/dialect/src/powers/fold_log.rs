//! The [`FoldLog`] power: logs whose lines are operations on earlier messages.

use boswell_model::json::Object;
use boswell_model::{Framing, Line, Result};

use crate::{Dialect, SessionLocation};

/// Passes every line of a log, in order, to a sink.
pub type LineSource<'r> = &'r mut dyn FnMut(LineSink<'_>) -> Result<()>;

/// Receives the lines of a log.
pub type LineSink<'s> = &'s mut dyn FnMut(Line<'_>);

/// An agent with logs of operations. A message is made by many lines, so such a log is folded
/// before it is read: the store hands out the folded document in place of the file.
///
/// The file grows by lines, yet every line may change earlier messages. So the document counts as
/// rewritten with each change, and nothing continues where an earlier read ended.
pub trait FoldLog: Dialect {
    /// Whether the file at a key is such a log. `first` are its first bytes, which decide for a
    /// file outside a store.
    fn folds(&self, key: &str, first: &[u8]) -> bool;

    /// Returns the framing of the folded document.
    fn folded_framing(&self) -> Framing;

    /// Returns the folded document. `read` passes every line of the log to its sink; it is called
    /// once or twice.
    ///
    /// # Errors
    ///
    /// Those of `read`, and [`Damaged`](boswell_model::ErrorKind::Damaged) if the agent would
    /// refuse the whole log.
    fn fold(&self, key: &str, read: LineSource<'_>) -> Result<Vec<u8>>;

    /// Returns a sentence about what of the log is not in its conversation, from the header of the
    /// folded document; `None` if all of it is.
    fn shortfall(&self, header: &Object<'_>) -> Option<String>;

    /// Fails if the agent does not show the session at all: its files contradict its index row, or
    /// the row states a format that is not known.
    ///
    /// # Errors
    ///
    /// [`Damaged`](boswell_model::ErrorKind::Damaged), with the reason.
    fn require_readable(&self, location: &SessionLocation) -> Result<()>;
}
