//! Orphans: files of sessions that no longer exist, which `clean` can remove.

use boswell_model::Result;

use crate::{FileInfo, FileKind, Files};

/// The maximal depth of folders. No agent nests deeper, and a link to a parent folder must not be
/// followed forever.
const DEEPEST: usize = 8;

/// Files that belonged to a session whose log does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Id of the session, if file names contain it.
    pub session: Option<String>,
    /// Short description: `copies of files`.
    pub what: &'static str,
    /// The only file, or the folder that contains all of them.
    pub key: String,
    /// Keys of all files.
    pub files: Vec<String>,
    /// Keys of all folders, each before its parent folder, so that they can be removed in this
    /// order.
    pub folders: Vec<String>,
    /// Total size of the files.
    pub bytes: u64,
}

impl Orphan {
    /// Creates an orphan of one file.
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

    /// Collects everything below a folder; `None` if it contains no files.
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
                    // A link that leads elsewhere is listed, so that the whole folder is left
                    // alone.
                    found.bytes += info.size;
                    found.files.push(info.key);
                }
            }
            found.folders.push(folder);
        }
        // Folders were visited top-down, but are removed bottom-up, when they are empty.
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
