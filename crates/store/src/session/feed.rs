//! Passes the lines of a log, or a document as a whole, to a reader.

use boswell_dialect::{Reader, SessionLocation};
use boswell_model::{Error, ErrorKind, Framing, Result};

use super::blob_refs::BlobRefs;
use crate::backend::ObjectReader;

/// A larger document is not read into memory.
const LARGEST_DOCUMENT: u64 = 1 << 30;

/// Passes everything in `object` to the reader, and returns the position after it.
pub(super) fn feed(
    reader: &mut Reader<'_>,
    object: &dyn ObjectReader,
    location: &SessionLocation,
    naming: Option<&mut BlobRefs>,
) -> Result<u64> {
    match naming {
        _ if location.framing != Framing::Lines => {}
        None => return object.lines(0, 1, &mut |line| reader.line(line)),
        Some(naming) => {
            return object.lines(0, 1, &mut |line| {
                naming.look(&line);
                reader.line(line);
            });
        }
    }
    let end = object.end()?;
    if end > LARGEST_DOCUMENT {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "session {} is a single document of {end} bytes",
                location.id
            ),
        )
        .because(
            "such a file must be read as a whole, and this one is larger than any agent writes",
        ));
    }
    reader.document(&object.read(0, end)?);
    Ok(end)
}
