//! Large values in boswell's own folder, by the digest of their bytes.

use boswell_model::{Error, ErrorKind, Result};
use boswell_store::blobs::BlobId;

use crate::{App, AppResult};

impl App {
    /// Stores bytes under their SHA-256, which the caller states; they are durable when this
    /// returns. Returns whether they are new.
    ///
    /// # Errors
    ///
    /// Invalid if the digest is not that of the bytes, Denied if nothing may be written.
    pub fn put_blob(&self, digest: &str, bytes: &[u8]) -> AppResult<bool> {
        self.answer(|cx| {
            cx.may_write()?;
            let stated = parse(digest)?;
            let actual = BlobId::of(bytes);
            if stated != actual {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    format!("the bytes have the digest {actual}, not {stated}"),
                ));
            }
            let blobs = cx.own_home()?.blobs();
            let is_new = !blobs.has(&stated)?;
            blobs.put(bytes)?;
            Ok(is_new)
        })
    }

    /// Returns the bytes of a stored value, checked against their digest.
    ///
    /// # Errors
    ///
    /// Invalid for a text that is not a digest, NotFound if there is no such value, Damaged if its
    /// bytes changed.
    pub fn blob(&self, digest: &str) -> AppResult<Vec<u8>> {
        self.answer(|cx| cx.own_home()?.blobs().get(&parse(digest)?))
    }
}

fn parse(digest: &str) -> Result<BlobId> {
    BlobId::parse(digest).ok_or_else(|| {
        let what = format!("`{}` is not a SHA-256 in hex", digest.escape_debug());
        Error::new(ErrorKind::Invalid, what).advising("use 64 digits in lower case")
    })
}
