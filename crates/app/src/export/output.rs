//! The destination of an export.

use boswell_model::Result;

use super::ExportSink;
use crate::Cancel;

/// The sink of a face, and whether it still accepts data.
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

    /// Whether the sink accepts no more: further data is dropped.
    pub(super) fn is_ended(&self) -> bool {
        self.is_closed || self.is_cancelled()
    }

    /// Whether the face cancelled the request.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Writes bytes unchanged.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if !self.is_ended() && !bytes.is_empty() {
            self.is_closed = !(self.sink)(bytes)?;
        }
        Ok(())
    }

    /// Writes one line of text that was already escaped.
    pub(super) fn line(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }
}
