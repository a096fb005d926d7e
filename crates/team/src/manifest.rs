//! What a session consists of, as it is sent: names, lengths and hashes, without content.

use boswell_model::json::{Json, Raw};
use boswell_model::{Error, ErrorKind, Result};
use sha2::{Digest as _, Sha256};

use crate::token::hex;

/// Length of every part of a file but its last one. Only the last part of a log changes when the
/// session goes on.
pub const PART: usize = 256 << 10;

/// A session may have so many files, and so many parts.
const MOST_FILES: usize = 10_000;
const MOST_PARTS: usize = 100_000;
/// A longer name is none of an agent's file.
const LONGEST_NAME: usize = 1024;

/// A file of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamFile {
    /// Its path below the store's folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of the whole file.
    pub sha256: String,
    /// SHA-256 of each part, in order.
    pub parts: Vec<String>,
}

/// What a session consists of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TeamManifest {
    /// The agent's format.
    pub dialect: String,
    /// Its name.
    pub title: Option<String>,
    /// The project folder on the machine of its owner.
    pub folder: Option<String>,
    /// Whether secrets were replaced before it was pushed: it never goes over an original.
    pub redacted: bool,
    /// Time of its last entry, in milliseconds.
    pub active: Option<i64>,
    /// Its log, then its side files.
    pub files: Vec<TeamFile>,
}

/// A session of the team in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamSession {
    /// Whose it is.
    pub owner: String,
    /// `DIALECT:ID`.
    pub session: String,
    /// Its name.
    pub title: Option<String>,
    /// The project folder on the machine of its owner.
    pub folder: Option<String>,
    /// Whether secrets were replaced before it was pushed.
    pub redacted: bool,
    /// Time of its last entry, in milliseconds.
    pub active: Option<i64>,
    /// Its revision.
    pub revision: u64,
    /// Size of all files.
    pub bytes: u64,
    /// The projects that it is shared with; empty while it is its owner's alone.
    pub projects: Vec<String>,
}

/// Returns the name of a part: the SHA-256 of its bytes.
pub fn part_name(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

impl TeamFile {
    /// Describes a file.
    pub fn of(name: &str, bytes: &[u8]) -> TeamFile {
        TeamFile {
            name: name.to_owned(),
            bytes: bytes.len() as u64,
            sha256: part_name(bytes),
            parts: bytes.chunks(PART).map(part_name).collect(),
        }
    }
}

impl TeamManifest {
    /// Returns the JSON form. The same session gives the same bytes.
    pub fn to_json(&self) -> Json {
        let file = |file: &TeamFile| {
            Json::object()
                .with("name", file.name.as_str())
                .with("bytes", file.bytes)
                .with("sha256", file.sha256.as_str())
                .with("parts", texts(&file.parts))
        };
        Json::object()
            .with("dialect", self.dialect.as_str())
            .with_some("title", self.title.as_deref())
            .with_some("folder", self.folder.as_deref())
            .with("redacted", self.redacted)
            .with_some("active", self.active)
            .with("files", Json::Array(self.files.iter().map(file).collect()))
    }

    /// Returns the SHA-256 of the JSON form.
    pub fn hash(&self) -> String {
        part_name(&self.to_json().to_bytes())
    }

    /// Reads the JSON form, and checks every name and hash.
    ///
    /// # Errors
    ///
    /// `Invalid` if it is none.
    pub fn parse(bytes: &[u8]) -> Result<TeamManifest> {
        let raw = Raw::parse(bytes.trim_ascii()).map_err(|_| wrong("it is not JSON"))?;
        let files = raw.get("files").ok_or_else(|| wrong("it has no files"))?;
        let files: Vec<TeamFile> = files.items().map(|it| file(&it)).collect::<Result<_>>()?;
        require_files(&files)?;
        let dialect = text(&raw, "dialect").filter(|it| !it.is_empty());
        Ok(TeamManifest {
            dialect: dialect.ok_or_else(|| wrong("it has no dialect"))?,
            title: text(&raw, "title").map(plain),
            folder: text(&raw, "folder").map(plain),
            redacted: raw
                .get("redacted")
                .and_then(|it| it.bool())
                .unwrap_or(false),
            active: raw.get("active").and_then(|it| it.i64()),
            files,
        })
    }
}

/// Refuses a manifest without files, with too many, or with one name twice.
fn require_files(files: &[TeamFile]) -> Result<()> {
    let parts: usize = files.iter().map(|file| file.parts.len()).sum();
    if files.is_empty() || files.len() > MOST_FILES || parts > MOST_PARTS {
        return Err(wrong("it has no files, or too many"));
    }
    let mut names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair.first() == pair.last()) {
        return Err(wrong("two of its files have one name"));
    }
    Ok(())
}

fn text(raw: &Raw<'_>, key: &str) -> Option<String> {
    Some(raw.get(key)?.text()?.into_owned())
}

/// A database stores no NUL, and a title needs no more than this.
fn plain(text: String) -> String {
    text.replace('\0', "").chars().take(1000).collect()
}

fn file(raw: &Raw<'_>) -> Result<TeamFile> {
    let name = text(raw, "name").filter(|name| is_plain_name(name));
    let sum = text(raw, "sha256").filter(|sum| is_hash(sum));
    let bytes = raw.get("bytes").and_then(|it| it.u64());
    let (Some(name), Some(sha256), Some(bytes)) = (name, sum, bytes) else {
        return Err(wrong("a file lacks a plain name, its length or its hash"));
    };
    let parts = raw
        .get("parts")
        .ok_or_else(|| wrong("a file has no parts"))?;
    let part = |it: Raw<'_>| it.text().map(|it| it.into_owned()).filter(|it| is_hash(it));
    let parts: Option<Vec<String>> = parts.items().map(part).collect();
    Ok(TeamFile {
        name,
        bytes,
        sha256,
        parts: parts.ok_or_else(|| wrong("a part is not named by its hash"))?,
    })
}

/// Whether a name is a path below a folder, of names that every file system has.
fn is_plain_name(name: &str) -> bool {
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    let is_plain = |c: char| !c.is_control() && c != '\\';
    name.len() <= LONGEST_NAME && name.split('/').all(is_part) && name.chars().all(is_plain)
}

/// Whether a text is a SHA-256 in lower-case digits.
pub(crate) fn is_hash(text: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 64 && text.bytes().all(digit)
}

impl TeamSession {
    /// Returns the JSON form.
    pub fn to_json(&self) -> Json {
        Json::object()
            .with("owner", self.owner.as_str())
            .with("session", self.session.as_str())
            .with_some("title", self.title.as_deref())
            .with_some("folder", self.folder.as_deref())
            .with("redacted", self.redacted)
            .with_some("active", self.active)
            .with("revision", self.revision)
            .with("bytes", self.bytes)
            .with("projects", texts(&self.projects))
    }

    /// Reads the JSON form; `None` if it is none.
    pub fn parse(raw: &Raw<'_>) -> Option<TeamSession> {
        let text = |key: &str| raw.get(key).and_then(|it| Some(it.text()?.into_owned()));
        let projects = raw.get("projects")?;
        Some(TeamSession {
            owner: text("owner")?,
            session: text("session")?,
            title: text("title"),
            folder: text("folder"),
            redacted: raw.get("redacted")?.bool()?,
            active: raw.get("active").and_then(|it| it.i64()),
            revision: raw.get("revision")?.u64()?,
            bytes: raw.get("bytes")?.u64()?,
            projects: projects
                .items()
                .filter_map(|it| Some(it.text()?.into_owned()))
                .collect(),
        })
    }
}

pub(crate) fn texts(list: &[String]) -> Json {
    Json::Array(list.iter().map(|it| it.as_str().into()).collect())
}

fn wrong(why: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, "this does not describe a session").because(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str) -> TeamManifest {
        TeamManifest {
            dialect: "claude".to_owned(),
            title: Some("a title".to_owned()),
            files: vec![TeamFile::of(name, &vec![7; PART + 1])],
            ..TeamManifest::default()
        }
    }

    #[test]
    fn a_manifest_survives_its_json_form_and_only_the_last_part_of_a_longer_file_differs() {
        let one = manifest("projects/-w/a.jsonl");
        assert_eq!(TeamManifest::parse(&one.to_json().to_bytes()).unwrap(), one);
        let longer = TeamFile::of("a", &vec![7; PART + 2]);
        assert_eq!(longer.parts.len(), 2);
        assert_eq!(longer.parts[0], one.files[0].parts[0]);
        assert_ne!(longer.parts[1], one.files[0].parts[1]);
    }

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        for name in ["../a", "/a", "a//b", "a/..", "", "a\\b", "a\nb"] {
            let bytes = manifest(name).to_json().to_bytes();
            assert!(TeamManifest::parse(&bytes).is_err(), "{name:?}");
        }
    }
}
