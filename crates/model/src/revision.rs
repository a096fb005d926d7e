//! A revision: a token for one state of a session, which callers store and compare.

use std::fmt;
use std::str::FromStr;

use crate::{Advice, Error, ErrorKind};

/// The state of a session's log: the identity of the file, and its length.
///
/// A log that grows stays the same file, so its revisions differ in their ends. A file that
/// replaced the log has another inode, so it is another revision even if it has the same length.
/// Printed as `4096-1a2b3c4d`; callers should treat it as opaque.
///
/// ```
/// use boswell_model::Revision;
///
/// let known: Revision = "4096-1a2b3c4d".parse()?;
/// assert_eq!(known.to_string(), "4096-1a2b3c4d");
/// assert!(known.fits(&known) && !known.fits(&known.with_end(8192)));
/// assert!("yesterday".parse::<Revision>().is_err());
/// # Ok::<(), boswell_model::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Revision {
    file: Option<u32>,
    end: u64,
}

impl Revision {
    /// Returns the state of a log that ends at `end`, in the file with that device and inode;
    /// `None` if the backend has no files.
    pub fn of_log(file: Option<(u64, u64)>, end: u64) -> Revision {
        // The device is left out: its number may change after a reboot.
        let file = file.map(|(_, inode)| folded(mixed(inode)));
        Revision { file, end }
    }

    /// Returns the state of a document that is always rewritten as a whole, last at `modified`
    /// (nanoseconds). Its length may stay the same and its inode may be reused, so the time is part
    /// of the token.
    pub fn of_document(file: Option<(u64, u64)>, modified: i128, end: u64) -> Revision {
        let time = (modified as u64) ^ ((modified >> 64) as u64);
        let file = file.map(|(_, inode)| folded(mixed(mixed(inode) ^ time)));
        Revision { file, end }
    }

    /// Creates a revision of which only the end is known. It matches any file that ends there.
    pub fn at_end(end: u64) -> Revision {
        Revision { file: None, end }
    }

    /// Returns the length of the log.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns a revision of the same file with another end.
    #[must_use]
    pub fn with_end(self, end: u64) -> Revision {
        Revision { end, ..self }
    }

    /// Whether a log with the revision `actual` is in this state. A revision of which only the end
    /// is known matches any file.
    pub fn fits(&self, actual: &Revision) -> bool {
        self.end == actual.end && self.is_same_file(actual)
    }

    /// Whether both revisions are of the same file, as far as both know their file.
    pub fn is_same_file(&self, other: &Revision) -> bool {
        match (self.file, other.file) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        }
    }
}

/// Mixes the bits of a number (the finalizer of splitmix64), so that neighbouring inodes give
/// different tokens.
fn mixed(number: u64) -> u64 {
    let x = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn folded(number: u64) -> u32 {
    (number ^ (number >> 32)) as u32
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file {
            Some(file) => write!(f, "{}-{file:08x}", self.end),
            None => write!(f, "{}", self.end),
        }
    }
}

impl FromStr for Revision {
    type Err = Error;

    /// Parses the output of [`Display`](fmt::Display); a number alone matches any file that ends
    /// there.
    fn from_str(text: &str) -> Result<Revision, Error> {
        let (end, file) = match text.split_once('-') {
            Some((end, file)) if file.len() == 8 => (end, Some(u32::from_str_radix(file, 16))),
            _ => (text, None),
        };
        match (end.parse(), file.transpose()) {
            (Ok(end), Ok(file)) => Ok(Revision { file, end }),
            _ => Err(Error::new(
                ErrorKind::Invalid,
                format!("`{}` is not a revision", text.escape_debug()),
            )
            .advising(Advice::UseListedRevision)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_of_the_same_length_is_another_revision() {
        let before = Revision::of_log(Some((1, 1000)), 4096);
        let after = Revision::of_log(Some((1, 1001)), 4096);
        assert_ne!(before, after);
        assert_ne!(before, before.with_end(4097));
        assert_eq!(before, Revision::of_log(Some((2, 1000)), 4096));
    }

    #[test]
    fn a_document_that_was_rewritten_at_the_same_length_is_another_revision() {
        let file = Some((1, 1000));
        let before = Revision::of_document(file, 1_700_000_000_000_000_000, 80);
        let after = Revision::of_document(file, 1_700_000_000_000_000_001, 80);
        assert_ne!(before, after);
    }

    #[test]
    fn a_revision_survives_being_printed() {
        let revision = Revision::of_log(Some((1, 77)), 12);
        let text = revision.to_string();
        assert_eq!(text.parse::<Revision>().unwrap(), revision);
        assert_eq!(text.parse::<Revision>().unwrap().to_string(), text);
        for bad in ["", "x", "12-", "12-xyz", "-12", "12-00000000000"] {
            assert!(bad.parse::<Revision>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_number_alone_fits_any_file_that_ends_there() {
        let revision = Revision::of_log(Some((1, 77)), 12);
        assert!("12".parse::<Revision>().unwrap().fits(&revision));
        assert!(!"13".parse::<Revision>().unwrap().fits(&revision));
    }
}
