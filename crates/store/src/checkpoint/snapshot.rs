//! Snapshots of project files, and their encoding in a session.

use boswell_model::json::{Json, Raw};
use boswell_model::{Error, ErrorKind, Instant, Result};

use crate::blobs::BlobId;

/// Project files at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSnapshot {
    /// The files, each once.
    pub files: Vec<CapturedFile>,
    /// Whether they were captured before or after an edit.
    pub moment: Moment,
    /// Time of the capture.
    pub at: Instant,
}

/// Whether a snapshot was taken before or after an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before an edit.
    Before,
    /// After an edit: what the agent itself wrote.
    After,
}

/// One file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedFile {
    /// Relative to the project, with `/`.
    pub path: String,
    /// What existed at the path.
    pub content: Captured,
}

/// What existed at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Captured {
    /// No file.
    Absent,
    /// A regular file.
    File {
        /// Content of the file.
        blob: BlobId,
        /// Permission bits of the file.
        mode: u32,
        /// Length in bytes.
        len: u64,
    },
    /// Something that was not captured.
    Skipped(Skipped),
}

/// Why something was not captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skipped {
    /// It is a symbolic link, or behind one.
    Link,
    /// It is a folder.
    Folder,
    /// It is neither file nor folder.
    Other,
    /// It could not be read.
    Unreadable,
    /// It is not below the project.
    Outside,
}

impl Skipped {
    /// Returns the reason as one word.
    pub fn word(self) -> &'static str {
        match self {
            Skipped::Link => "link",
            Skipped::Folder => "folder",
            Skipped::Other => "other",
            Skipped::Unreadable => "unreadable",
            Skipped::Outside => "outside",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        use Skipped::{Folder, Link, Other, Outside, Unreadable};
        [Link, Folder, Other, Unreadable, Outside]
            .into_iter()
            .find(|why| why.word() == word)
    }
}

impl FileSnapshot {
    /// Returns the data of the `custom` entry.
    pub fn to_json(&self) -> Json {
        let files: Vec<Json> = self.files.iter().map(CapturedFile::to_json).collect();
        let after = (self.moment == Moment::After).then_some(true);
        Json::object()
            .with("files", files)
            .with("at", self.at.to_rfc3339())
            .with_some("after", after)
    }

    /// Parses the data of a `custom` entry; unknown members are ignored.
    pub fn from_json(data: Raw<'_>) -> Result<Self> {
        let at = data
            .get("at")
            .and_then(|at| at.text())
            .and_then(|text| Instant::parse(&text));
        let files = data
            .get("files")
            .map(|files| files.items().map(CapturedFile::from_json).collect());
        let moment = match data.get("after").and_then(|after| after.bool()) {
            Some(true) => Moment::After,
            _ => Moment::Before,
        };
        match (at, files) {
            (Some(at), Some(Some(files))) => Ok(FileSnapshot { files, moment, at }),
            _ => Err(
                Error::new(ErrorKind::Damaged, "checkpoint entry cannot be understood")
                    .because(
                        "it lacks `at`, or one of its `files` has no path or a blob that is none",
                    )
                    .advising("files can still be taken from the other checkpoints of the session"),
            ),
        }
    }
}

impl CapturedFile {
    fn to_json(&self) -> Json {
        let file = Json::object().with("path", self.path.as_str());
        match &self.content {
            Captured::Absent => file.with("blob", Json::Null),
            Captured::File { blob, mode, len } => file
                .with("blob", blob.reference())
                .with("mode", *mode)
                .with("len", *len),
            Captured::Skipped(why) => file.with("blob", Json::Null).with("skipped", why.word()),
        }
    }

    fn from_json(file: Raw<'_>) -> Option<Self> {
        let path = file.get("path")?.text()?.into_owned();
        let blob = file.get("blob")?;
        let content = if let Some(why) = file.get("skipped") {
            // An unknown reason from a later version still means that nothing was captured.
            Captured::Skipped(Skipped::from_word(&why.text()?).unwrap_or(Skipped::Other))
        } else if blob.is_null() {
            Captured::Absent
        } else {
            let mode = file
                .get("mode")
                .and_then(|mode| mode.u64())
                .and_then(|mode| u32::try_from(mode).ok());
            Captured::File {
                blob: BlobId::from_reference(&blob.text()?)?,
                mode: mode.unwrap_or(0o600) & 0o777,
                len: file.get("len")?.u64()?,
            }
        };
        Some(CapturedFile { path, content })
    }
}
