//! The [`ComposeLog`] power: sessions that are not one file of records.

use boswell_model::{Framing, Result};

use crate::{Dialect, FileIdentity, FileInfo, FileKind, Files, SessionLocation};

/// An agent with a file for each event, with Markdown, or with records that are a prompt and its
/// answer in one. The store composes the log of such a session when it is opened: lines of JSON,
/// one per entry.
///
/// Every file of the session may be rewritten, so each state counts as another file: nothing
/// continues where an earlier read ended.
pub trait ComposeLog: Dialect {
    /// Returns the files that the log at a key is made of; empty if the file at the key is the log,
    /// or if there is none.
    fn sources(&self, files: &dyn Files, key: &str) -> Result<Vec<FileInfo>>;

    /// Returns the log at a key: records as lines, and bytes that are no records as lines too, so
    /// that they are reported.
    fn compose(&self, files: &dyn Files, key: &str) -> Result<Vec<u8>>;
}

/// Returns the state of a log that is made of these files; `None` if there are none.
pub fn composed_info(key: &str, sources: &[FileInfo]) -> Option<FileInfo> {
    sources.first()?;
    // FNV-1a over what identifies the state of each file.
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    let mut mix = |value: u64| state = (state ^ value).wrapping_mul(0x0100_0000_01b3);
    for source in sources {
        source.key.bytes().for_each(|byte| mix(u64::from(byte)));
        mix(source.size);
        if let Some(identity) = source.identity {
            mix(identity.file.1);
            mix(identity.modified as u64);
            mix(identity.changed as u64);
        }
    }
    let modified = sources.iter().filter_map(|source| source.modified).max();
    let identity = FileIdentity {
        file: (0, state),
        modified: modified.map_or(0, |at| i128::from(at.millis()) * 1_000_000),
        changed: 0,
    };
    Some(FileInfo {
        key: key.to_owned(),
        kind: FileKind::File,
        size: sources.iter().map(|source| source.size).sum(),
        modified,
        identity: sources
            .iter()
            .all(|source| source.identity.is_some())
            .then_some(identity),
    })
}

/// Appends JSON as one line: line ends between its tokens mean nothing, and inside strings they are
/// escaped. Bytes that are not JSON become a line that is reported as such.
pub(crate) fn push_line(json: &[u8], out: &mut Vec<u8>) {
    let one_line = json.trim_ascii().iter().map(|byte| match byte {
        b'\n' | b'\r' => b' ',
        byte => *byte,
    });
    out.extend(one_line);
    out.push(b'\n');
}

/// Returns the location of a session whose log is made of these files; `None` if there are none.
pub(crate) fn composed_location(
    id: impl Into<String>,
    key: &str,
    sources: &[FileInfo],
) -> Option<SessionLocation> {
    let info = composed_info(key, sources)?;
    Some(SessionLocation::of_file(id, info, Framing::Lines))
}
