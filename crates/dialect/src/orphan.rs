//! What is left of sessions that are not there any more.

use boswell_model::Result;

use crate::{FileInfo, FileKind, Files};

/// Levels of folders that are looked into. No agent nests deeper, and a link that leads back up
/// must not be followed for ever.
const DEEPEST: usize = 8;

/// Files that belonged to a session of which there is no log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// The session, as far as names tell it.
    pub session: Option<String>,
    /// What they are, in a few words: `copies of files`.
    pub what: &'static str,
    /// The one file, or the folder that holds them all.
    pub key: String,
    /// Every file.
    pub files: Vec<String>,
    /// Every folder, each before the one that it lies in.
    pub folders: Vec<String>,
    /// Bytes in all files.
    pub bytes: u64,
}

impl Orphan {
    /// A single file.
    pub fn file(info: &FileInfo, session: Option<&str>, what: &'static str) -> Orphan {
        Orphan {
            session: session.map(str::to_owned),
            what,
            key: info.key.clone(),
            files: vec![info.key.clone()],
            folders: Vec::new(),
            bytes: info.size,
        }
    }

    /// Everything below a folder; none if there is no file.
    pub fn folder(
        files: &dyn Files,
        key: &str,
        session: Option<&str>,
        what: &'static str,
    ) -> Result<Option<Orphan>> {
        let mut found = Orphan {
            session: session.map(str::to_owned),
            what,
            key: key.to_owned(),
            files: Vec::new(),
            folders: Vec::new(),
            bytes: 0,
        };
        let mut open = vec![(key.to_owned(), 1)];
        while let Some((folder, depth)) = open.pop() {
            for info in files.list(&folder)? {
                if info.is_folder() && depth < DEEPEST {
                    open.push((info.key, depth + 1));
                } else if info.is_file() || info.kind == FileKind::Link {
                    // A link that leads elsewhere is named, so that all of them are left alone.
                    found.bytes += info.size;
                    found.files.push(info.key);
                }
            }
            found.folders.push(folder);
        }
        // Folders were met from above; they go when they are empty.
        found.folders.reverse();
        Ok((!found.files.is_empty()).then_some(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    #[test]
    fn a_folder_is_told_with_its_files_and_the_deepest_folder_first() {
        let mut files = MemoryFiles::default();
        for key in ["a/s/1.txt", "a/s/t/2.txt", "a/s/t/u/3.txt", "a/other"] {
            files.put(key, "xy", None);
        }
        let found = Orphan::folder(&files, "a/s", Some("s"), "files")
            .unwrap()
            .unwrap();
        assert_eq!((found.files.len(), found.bytes), (3, 6));
        assert_eq!(found.folders, ["a/s/t/u", "a/s/t", "a/s"]);
        assert_eq!(
            Orphan::folder(&files, "nowhere", None, "files").unwrap(),
            None
        );
    }
}
