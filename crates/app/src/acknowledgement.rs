//! The acknowledgement of a change to a session: a receipt, an operation, or a note.

use boswell_store::Receipt;

use crate::planned_change::OperationShape;
use crate::shape::shape;

shape! {
    /// An entry that was written.
    ReceiptShape: "receipt" {
        /// the session
        session: String,
        /// the entry
        entry: String,
        /// opaque string: revision of the log after this entry
        revision: String,
        /// whether the entry was written by an earlier append
        deduplicated: bool,
        /// what it survives: the end of the process (`os`) or of the machine (`fsync`)
        durable: &'static str,
    }

    /// An annotation that the agent's format cannot store, so boswell stores it as a note.
    NoteShape: "note" {
        /// the session
        session: String,
        /// what was stored: `rename`, `tag`, `label`, `status`
        what: Option<&'static str>,
    }
}

impl From<&Receipt> for ReceiptShape {
    fn from(receipt: &Receipt) -> ReceiptShape {
        ReceiptShape {
            session: receipt.session.to_string(),
            entry: receipt.entry.to_string(),
            revision: receipt.revision.to_string(),
            deduplicated: receipt.deduplicated,
            durable: receipt.durable.word(),
        }
    }
}

/// How a change was made, which depends on the format of the session.
#[derive(Debug, Clone)]
pub enum Acknowledgement {
    /// An entry was appended to the session's log.
    Receipt(ReceiptShape),
    /// A plan was executed, which can be undone.
    Operation(OperationShape),
    /// The change is in boswell's notes; the agent does not see it.
    Note(NoteShape),
}
