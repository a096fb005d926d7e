//! The layout of a MyAgents store, and which of two files contains a session.
//!
//! `sessions.json` is the index and the folder `sessions.lock` its lock (`plan/mod.rs`),
//! `sessions/ID.jsonl` is the log of a session, `sessions/ID.json` the document of an old version:
//! where both are there, the lines win. `attachments/ID/` has the attachments of a session. Newer
//! versions write `sessions-v2/ID.jsonl` (`v2`), and their row says so.

use std::collections::BTreeMap;

use boswell_model::{Advice, Error, ErrorKind, Framing, Problem, ProblemKind, Result};

use crate::{Discovered, FileInfo, Files, SessionLocation, SideFile, SideKind};

use super::attachment::TOOL_FILES;
use super::row::Row;
use super::v2::{self, TranscriptFiles, TranscriptFormat};
use super::visibility::{self, Transcript};
use super::{id, index};

const FOLDER: &str = "sessions";
/// A log of at most this size is read to check whether it contains only line ends.
const LOOKED_INTO: u64 = 64;

/// The files of one session.
#[derive(Debug, Default)]
struct Transcripts {
    lines: Option<FileInfo>,
    legacy: Option<FileInfo>,
    operations: Option<FileInfo>,
}

/// How the records of a document are found, also of a folded log.
pub(crate) const DOCUMENT: Framing = Framing::Rows("messages");

/// Returns the framing of a file with this name: before 0.1.4 a session was one document, and a log
/// of operations is read as one.
pub(crate) fn framing(key: &str) -> Framing {
    if key.ends_with(".json") || v2::session_of(key).is_some() {
        DOCUMENT
    } else {
        Framing::Lines
    }
}

/// Finds every session: those in the index, and those that have only a file.
pub(crate) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    let mut on_disk = transcripts(files, &mut found.problems)?;
    let index = index::read(files, &mut found.problems)?;
    for (session, bytes) in index.rows {
        if !id::is_valid(&session) {
            let detail = format!("a row names the id {session:?}, which is none");
            found.problems.push((
                "sessions.json".to_owned(),
                Problem::of_file(ProblemKind::StaleIndex, detail),
            ));
            continue;
        }
        let of_session = on_disk.remove(&session).unwrap_or_default();
        let location = with_row(files, session, bytes, of_session, &mut found.problems)?;
        found.sessions.push(location);
    }
    if !index.exists && !on_disk.is_empty() {
        let detail = format!(
            "there is no index, but there are {} transcripts",
            on_disk.len()
        );
        found.problems.push((
            "sessions.json".to_owned(),
            Problem::of_file(ProblemKind::StaleIndex, detail),
        ));
    }
    for (session, of_session) in on_disk {
        let location = of_session.locate(files, session, None, &mut found.problems)?;
        if let (true, Some(key)) = (index.is_readable, &location.key) {
            let problem = Problem::of_file(
                ProblemKind::StaleIndex,
                "the index has no row for this transcript",
            );
            found.problems.push((key.clone(), problem));
        }
        found.sessions.push(location);
    }
    Ok(found)
}

fn with_row(
    files: &dyn Files,
    session: String,
    bytes: Vec<u8>,
    of_session: Transcripts,
    problems: &mut Vec<(String, Problem)>,
) -> Result<SessionLocation> {
    let row = Row::parse(&bytes);
    let mut location = of_session.locate(files, session, row, problems)?;
    if let Some(row) = row {
        let there = location.key.is_some() && location.size > 0;
        let transcript = if there {
            Transcript::Present
        } else {
            Transcript::Absent
        };
        location.hidden = visibility::hidden(row.0, transcript);
        // The first message creates the file; a row that counts messages must have one.
        let said = row
            .0
            .at(&["stats", "messageCount"])
            .and_then(|n| n.u64())
            .unwrap_or(0);
        let operations = TranscriptFormat::of(Some(row.0), TranscriptFiles::default())
            == TranscriptFormat::Operations;
        if location.key.is_none() && (said > 0 || operations) {
            let detail = format!(
                "the row of {} counts {said} prompts, but there is no transcript",
                location.id
            );
            problems.push((
                "sessions.json".to_owned(),
                Problem::of_file(ProblemKind::MissingFile, detail),
            ));
        }
    }
    location.row = Some(bytes);
    Ok(location)
}

/// Returns every file that is named like a transcript, by session.
fn transcripts(
    files: &dyn Files,
    problems: &mut Vec<(String, Problem)>,
) -> Result<BTreeMap<String, Transcripts>> {
    let mut out: BTreeMap<String, Transcripts> = BTreeMap::new();
    let both = [
        (FOLDER, ".jsonl"),
        (FOLDER, ".json"),
        (v2::FOLDER, ".jsonl"),
    ];
    for (folder, suffix) in both {
        for info in files.list(folder)? {
            let Some(session) = info.stem(suffix).filter(|_| !info.is_folder()) else {
                continue;
            };
            let trouble = if !id::is_valid(session) {
                Some(
                    "its name is not a session id, so it is not listed; it can be read by its path",
                )
            } else if !info.is_file() {
                Some("it is not a regular file")
            } else {
                None
            };
            if let Some(detail) = trouble {
                problems.push((
                    info.key.clone(),
                    Problem::of_file(ProblemKind::Unreadable, detail),
                ));
                continue;
            }
            let of_session = out.entry(session.to_owned()).or_default();
            let place = match (folder, suffix) {
                (v2::FOLDER, _) => &mut of_session.operations,
                (_, ".json") => &mut of_session.legacy,
                _ => &mut of_session.lines,
            };
            *place = Some(info);
        }
    }
    Ok(out)
}

impl Transcripts {
    /// Chooses the file that contains the session.
    ///
    /// If both exist, the app uses the line log. But if that log is empty, the migration was
    /// interrupted and only the document contains the conversation, so then we read the document.
    /// Files of both formats are a conflict: the one that the row does not state is chosen, by
    /// which [`require_readable`] knows.
    fn locate(
        self,
        files: &dyn Files,
        session: String,
        row: Option<Row<'_>>,
        problems: &mut Vec<(String, Problem)>,
    ) -> Result<SessionLocation> {
        let there = TranscriptFiles {
            legacy: self.lines.is_some() || self.legacy.is_some(),
            operations: self.operations.is_some(),
        };
        let format = TranscriptFormat::of(row.map(|row| row.0), there);
        let is_stated = row.is_some_and(|row| row.0.get("transcriptFormat").is_some());
        let operations = self.operations.filter(|_| !(is_stated && there.legacy));
        let chosen = match operations {
            Some(operations) => Some(operations),
            None => older(files, self.lines, self.legacy, problems)?,
        };
        let key = chosen.as_ref().map_or(index::MAIN, |info| &info.key);
        if let Some(why) = refusal(format) {
            let detail = format!("MyAgents does not show session {session}: {why}");
            let problem = Problem::of_file(refused_kind(format), detail);
            problems.push((key.to_owned(), problem));
        }
        Ok(match chosen {
            Some(info) => {
                let framing = framing(&info.key);
                SessionLocation::at(session, &info, framing)
            }
            None => SessionLocation::of(session, Framing::Lines, 0),
        })
    }
}

/// Returns the line log or the document, whichever contains the session.
fn older(
    files: &dyn Files,
    lines: Option<FileInfo>,
    legacy: Option<FileInfo>,
    problems: &mut Vec<(String, Problem)>,
) -> Result<Option<FileInfo>> {
    let (lines, legacy) = match (lines, legacy) {
        (Some(lines), Some(legacy)) => (lines, legacy),
        (lines, legacy) => return Ok(lines.or(legacy)),
    };
    let detail = "the move from this document to a line log was started and not finished";
    problems.push((
        legacy.key.clone(),
        Problem::of_file(ProblemKind::PendingChange, detail),
    ));
    Ok(Some(if is_empty(files, &lines)? {
        legacy
    } else {
        lines
    }))
}

/// Returns why the app refuses a session of this format.
fn refusal(format: TranscriptFormat) -> Option<&'static str> {
    match format {
        TranscriptFormat::Conflict => Some("it has a transcript that contradicts its index row"),
        TranscriptFormat::Unsupported => Some("its index row states a format that is not known"),
        _ => None,
    }
}

fn refused_kind(format: TranscriptFormat) -> ProblemKind {
    match format {
        TranscriptFormat::Unsupported => ProblemKind::NewerVersion,
        _ => ProblemKind::Unreadable,
    }
}

/// Fails if the app would not show the session: then it must not look like an empty one.
pub(crate) fn require_readable(location: &SessionLocation) -> Result<()> {
    let Some(row) = location.row.as_deref().and_then(Row::parse) else {
        return Ok(());
    };
    let operations = location.key.as_deref().and_then(v2::session_of).is_some();
    let files = TranscriptFiles {
        legacy: location.key.is_some() && !operations,
        operations,
    };
    let format = TranscriptFormat::of(Some(row.0), files);
    let missing = format == TranscriptFormat::Operations && location.key.is_none();
    let why = refusal(format).or(missing.then_some("its transcript is missing"));
    let Some(why) = why else { return Ok(()) };
    Err(Error::new(
        ErrorKind::Damaged,
        format!("session {} cannot be read: {why}", location.id),
    )
    .because("MyAgents shows nothing of it either")
    .advising(Advice::Check { session: None }))
}

fn is_empty(files: &dyn Files, info: &FileInfo) -> Result<bool> {
    if info.size > LOOKED_INTO {
        return Ok(false);
    }
    let bytes = files.read(&info.key, 0, usize::try_from(info.size).unwrap_or(0))?;
    Ok(bytes.iter().all(|b| b.is_ascii_whitespace()))
}

/// Returns the attachments of a session, and leftovers of a move or rewind next to its log.
pub(crate) fn side_files(files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
    if !id::is_valid(&location.id) {
        return Ok(Vec::new());
    }
    let mut out = Vec::new();
    for info in files.list(&format!("attachments/{}", location.id))? {
        if info.is_file() {
            out.push(SideFile {
                key: info.key,
                kind: SideKind::Attachment,
                size: info.size,
            });
        }
    }
    for turn in files.list(&format!("{TOOL_FILES}/{}", location.id))? {
        for info in files.list(&turn.key)?.into_iter().filter(FileInfo::is_file) {
            out.push(SideFile {
                key: info.key,
                kind: SideKind::Attachment,
                size: info.size,
            });
        }
    }
    let rewind = format!("{}.jsonl.rewind-", location.id);
    let others = [
        format!("{}.json", location.id),
        format!("{}.jsonl", location.id),
    ];
    for info in files.list(FOLDER)? {
        let left =
            info.name().starts_with(&rewind) || others.iter().any(|name| name == info.name());
        if left && info.is_file() && location.key.as_deref() != Some(&info.key) {
            out.push(SideFile {
                key: info.key,
                kind: SideKind::Meta,
                size: info.size,
            });
        }
    }
    Ok(out)
}
