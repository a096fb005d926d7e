//! A session that is one value of one row of a database: a document.

use boswell_dialect::{Cell, RowDocument, RowSelect, RowSource};
use boswell_model::{Error, ErrorKind, Line, Lines, Result};

use super::{ObjectReader, compressed, ends_of_bytes};

/// The first bytes of a value that is compressed with zstd.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The bytes of a document, decompressed.
#[derive(Debug)]
pub(super) struct RowDocumentBytes(Vec<u8>);

impl RowDocumentBytes {
    pub(super) fn open(source: &dyn RowSource, document: RowDocument, id: &str) -> Result<Self> {
        let select = RowSelect {
            table: document.table,
            only: Some((document.session, id)),
            order: &[],
        };
        let missing = || {
            let what = format!("the database has no session `{}`", id.escape_debug());
            Error::new(ErrorKind::NotFound, what)
        };
        // Of several rows with one id the last one was written last.
        let key = source.keys(&select)?.pop().ok_or_else(missing)?;
        let mut found = None;
        source.row(document.table, key, &mut |columns| {
            let cell = columns.iter().find(|(name, _)| *name == document.column);
            found = cell.map(|(_, cell)| match cell {
                Cell::Text(text) => text.as_bytes().to_vec(),
                Cell::Bytes(bytes) => bytes.to_vec(),
                _ => Vec::new(),
            });
        })?;
        let bytes = found.ok_or_else(missing)?;
        if bytes.starts_with(&ZSTD) {
            let unpacked = compressed::unpack(&bytes, id)?;
            return Ok(RowDocumentBytes(document.records(unpacked)));
        }
        Ok(RowDocumentBytes(document.records(bytes)))
    }
}

impl ObjectReader for RowDocumentBytes {
    fn end(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(self.0.len());
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let to = from.saturating_add(len).min(self.0.len());
        Ok(self.0.get(from..to).unwrap_or_default().to_vec())
    }

    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let mut lines = Lines::new(from, number);
        lines.push(&self.read(from, u64::MAX)?, sink);
        lines.finish(sink);
        self.end()
    }

    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool> {
        ends_of_bytes(self, window, sink)
    }
}
