//! The destination of an export.

use boswell_model::Result;

use super::ExportSink;
use crate::Cancel;

/// The sink of a face, and whether it still takes something.
pub(super) struct ExportOutput<'s> {
    sink: ExportSink<'s>,
    cancel: &'s Cancel,
    is_closed: bool,
}

impl<'s> ExportOutput<'s> {
    /// Writes to a sink until it closes or the request is cancelled.
    pub(super) fn new(sink: ExportSink<'s>, cancel: &'s Cancel) -> ExportOutput<'s> {
        ExportOutput {
            sink,
            cancel,
            is_closed: false,
        }
    }

    /// Whether nothing more is taken: what is written from now on is dropped.
    pub(super) fn is_ended(&self) -> bool {
        self.is_closed || self.is_cancelled()
    }

    /// Whether the face gave up the request.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Writes bytes as they are.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if !self.is_ended() && !bytes.is_empty() {
            self.is_closed = !(self.sink)(bytes)?;
        }
        Ok(())
    }

    /// Writes one line of text that is harmless already.
    pub(super) fn line(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }
}
