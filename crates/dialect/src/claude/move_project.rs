//! Updates the store after a project folder was moved.
//!
//! The client finds sessions and memory by a folder name that it derives from the project's path;
//! its prompt history and its table of projects contain the path itself. These are changed. The
//! paths in the lines of a log are history and stay; one new line at its end, in the client's own
//! format, states the new folder, so that readers find it.

use boswell_model::json::{Json, Member, Object, Raw, scan_object, set_member, write_string};
use boswell_model::{Advice, Error, ErrorKind, Remark, Result};

use super::project_key;
use crate::uuid::is_uuid;
use crate::{FileInfo, Files, Plan, Planned, Precondition, Step};

/// How much is read at either end of a log to find the folder of its session.
const WINDOW: u64 = 256 << 10;
/// A larger history or table was not written by the client.
const LIMIT: u64 = 1 << 30;

/// Plans the move. The root is the client's folder or its parent.
pub(super) fn plan(files: &dyn Files, from: &str, to: &str) -> Result<Planned> {
    let (from, to) = (checked(from)?, checked(to)?);
    if from == to || is_below(&to, &from).is_some() || is_below(&from, &to).is_some() {
        return Err(Error::new(
            ErrorKind::Invalid,
            "a project cannot be moved into itself or onto a folder that contains it",
        )
        .advising("name the folder that it had, and the one that it has now"));
    }
    let base = if files.stat("projects")?.is_some_and(|info| info.is_folder()) {
        ""
    } else if files
        .stat(".claude/projects")?
        .is_some_and(|info| info.is_folder())
    {
        ".claude/"
    } else {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "a part of Claude Code's folder cannot be changed on its own",
        )
        .advising(Advice::NameStore {
            dialect: Some("claude".to_owned()),
        }));
    };
    let mut moving = Moving {
        files,
        projects: format!("{base}projects"),
        planned: Planned::of(Plan::new("move", format!("move {from} to {to}"))),
        from,
        to,
    };
    moving.sessions()?;
    moving.history(&format!("{base}history.jsonl"))?;
    moving.table(&format!("{base}.claude.json"))?;
    if !base.is_empty() {
        moving.table(".claude.json")?;
    }
    Ok(moving.planned)
}

fn checked(path: &str) -> Result<String> {
    let bare = if path.len() > 1 {
        path.trim_end_matches('/')
    } else {
        path
    };
    if bare.len() > 1
        && (bare.starts_with('/') || bare.get(1..3) == Some(":\\"))
        && !bare.contains('\0')
    {
        return Ok(bare.to_owned());
    }
    Err(Error::new(
        ErrorKind::Invalid,
        format!(
            "`{}` is not an absolute path of a project",
            path.escape_debug()
        ),
    ))
}

/// Returns the rest of `path` below `folder`; empty if it is the folder itself.
fn is_below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder)
        .filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
}

struct Moving<'a> {
    files: &'a dyn Files,
    projects: String,
    from: String,
    to: String,
    planned: Planned,
}

/// A session that moves: its id, and its project folder after the move.
struct Mover {
    id: String,
    now: String,
}

impl Moving<'_> {
    fn step(&mut self, step: Step) {
        self.planned.plan.steps.push(step);
    }

    fn remark(&mut self, remark: impl Into<Remark>) {
        self.planned.remarks.push(remark.into());
    }

    /// Returns a path after the move; `None` if it does not change.
    fn moved(&self, path: &str) -> Option<String> {
        is_below(path, &self.from).map(|rest| format!("{}{rest}", self.to))
    }

    fn sessions(&mut self) -> Result<()> {
        let folders = self.files.list(&self.projects)?;
        for folder in folders.iter().filter(|info| info.is_folder()) {
            let listing = self.files.list(&folder.key)?;
            let (mut movers, mut others) = (Vec::new(), 0);
            for log in listing.iter().filter(|info| info.is_file()) {
                let Some(id) = log.stem(".jsonl").filter(|id| is_uuid(id)) else {
                    continue;
                };
                match self.place(folder.name(), log)? {
                    Some(now) => movers.push(Mover {
                        id: id.to_owned(),
                        now,
                    }),
                    None => others += 1,
                }
            }
            let is_own = folder.name() == project_key(&self.from);
            if movers.is_empty() && (others > 0 || !is_own || listing.is_empty()) {
                continue;
            }
            self.folder(folder, &listing, &movers, others, &folders)?;
        }
        Ok(())
    }

    /// Returns the project of a session after the move; `None` if it does not change. One folder
    /// contains the sessions of every path that maps to its name, so the log decides; if no path in
    /// the log maps to the folder, the folder decides.
    fn place(&self, folder: &str, log: &FileInfo) -> Result<Option<String>> {
        let said = said(self.files, log)?;
        let own = said
            .iter()
            .rev()
            .find(|path| super::project_key::may_be_key_of(folder, path));
        Ok(match own {
            Some(path) => self.moved(path),
            None if folder == project_key(&self.from) => Some(self.to.clone()),
            None => None,
        })
    }

    fn folder(
        &mut self,
        folder: &FileInfo,
        listing: &[FileInfo],
        movers: &[Mover],
        others: usize,
        all: &[FileInfo],
    ) -> Result<()> {
        let projects = self.projects.clone();
        let target = |now: &str| format!("{projects}/{}", project_key(now));
        let own = movers.first().map_or(&self.to, |mover| &mover.now);
        let to = target(own);
        let whole = others == 0 && movers.iter().all(|mover| target(&mover.now) == to);
        for mover in movers {
            let key = format!("{}/{}.jsonl", folder.key, mover.id);
            let not_live = Precondition::NotLive { key };
            self.planned.plan.preconditions.push(not_live);
        }
        if whole && !all.iter().any(|info| info.key == to) {
            self.step(Step::rename(&folder.key, &to));
            if has_index(listing) {
                let stale = format!("`{to}/sessions-index.json` still names the old folder");
                self.remark(Remark::new(stale).advising(Advice::RebuildAgentIndex));
            }
        } else {
            for mover in movers {
                self.session(folder, listing, mover, &target(&mover.now))?;
            }
            if whole {
                self.leftovers(folder, listing, &to)?;
            } else if has_memory(listing) {
                self.memory_stays(folder, others);
            }
        }
        for mover in movers {
            let key = format!("{}/{}.jsonl", target(&mover.now), mover.id);
            let bytes = relocated_line(mover);
            self.step(Step::AppendKeepingTime { key, bytes });
        }
        Ok(())
    }

    /// Remarks why the memory of a folder does not move with its sessions.
    fn memory_stays(&mut self, folder: &FileInfo, others: usize) {
        let key = format!("{}/memory", folder.key);
        let why = match others {
            0 => "its sessions move to several folders".to_owned(),
            1 => "a session of another folder shares it".to_owned(),
            _ => format!("{others} sessions of other folders share it"),
        };
        self.remark(format!("the memory in `{key}` stays: {why}"));
    }

    /// Moves the files of one session out of a folder that contains other sessions, or into an
    /// existing folder.
    fn session(
        &mut self,
        folder: &FileInfo,
        listing: &[FileInfo],
        mover: &Mover,
        to: &str,
    ) -> Result<()> {
        for name in [format!("{}.jsonl", mover.id), mover.id.clone()] {
            if !listing.iter().any(|info| info.name() == name) {
                continue;
            }
            let key = format!("{to}/{name}");
            if self.files.stat(&key)?.is_some() {
                return Err(
                    Error::new(ErrorKind::Conflict, format!("`{key}` is there already"))
                        .because("the new folder holds a session of the same id")
                        .advising(
                            Advice::FindSessions {
                                matching: mover.id.clone(),
                            }
                            .then("delete one of them"),
                        ),
                );
            }
            self.step(Step::rename(format!("{}/{name}", folder.key), key));
        }
        Ok(())
    }

    /// Moves the remaining files of a folder whose sessions all moved to an existing folder.
    fn leftovers(&mut self, folder: &FileInfo, listing: &[FileInfo], to: &str) -> Result<()> {
        for info in listing {
            let name = info.name();
            if info.is_file()
                && info
                    .stem(".jsonl")
                    .is_some_and(|stem| stem.starts_with("agent-"))
            {
                let key = format!("{to}/{name}");
                if self.files.stat(&key)?.is_none() {
                    self.step(Step::rename(&info.key, key));
                }
            } else if name == "sessions-index.json" {
                // The index is only a hint, about sessions that are no longer here.
                self.step(Step::remove(&info.key));
            }
        }
        let memory = format!("{}/memory", folder.key);
        for page in self.files.list(&memory)? {
            self.page(&page, &format!("{to}/memory/{}", page.name()))?;
        }
        self.step(Step::RemoveFolder { key: memory });
        self.step(Step::RemoveFolder {
            key: folder.key.clone(),
        });
        Ok(())
    }

    fn page(&mut self, page: &FileInfo, to: &str) -> Result<()> {
        if self.files.stat(to)?.is_none() {
            self.step(Step::rename(&page.key, to));
        } else if page.is_file() && page.name() == "MEMORY.md" {
            let bytes = self.files.read_whole(&page.key, LIMIT)?.unwrap_or_default();
            self.step(Step::append(to, bytes));
            self.step(Step::remove(&page.key));
            self.remark(format!(
                "both folders had an index of memory: the old one was appended to the new one in `{to}`"
            ));
        } else {
            self.remark(format!(
                "`{}` stays: there is another page of that name in the new folder",
                page.key
            ));
        }
        Ok(())
    }

    /// Updates the prompt history: only lines that name the project change, and of those only the
    /// name.
    fn history(&mut self, key: &str) -> Result<()> {
        let Some(bytes) = self.files.read_whole(key, LIMIT)? else {
            return Ok(());
        };
        let mut out = Vec::with_capacity(bytes.len());
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let named = Raw::parse(line.trim_ascii())
                .ok()
                .and_then(|raw| raw.get("project")?.text().map(|p| p.into_owned()));
            match named
                .and_then(|path| self.moved(&path))
                .map(|path| set_member(line, &["project"], &quoted(&path)))
            {
                Some(Ok(changed)) => out.extend_from_slice(&changed),
                _ => out.extend_from_slice(line),
            }
        }
        self.replace(key, bytes, out);
        Ok(())
    }

    /// Changes the client's table of projects, which contains trust and permissions.
    fn table(&mut self, key: &str) -> Result<()> {
        let Some(bytes) = self.files.read_whole(key, LIMIT)? else {
            return Ok(());
        };
        let Ok(whole) = Raw::parse(&bytes) else {
            self.remark(format!("`{key}` cannot be read, and stays as it is"));
            return Ok(());
        };
        let Some(projects) = whole.get("projects").map(|raw| raw.bytes().to_vec()) else {
            return Ok(());
        };
        let mut members: Vec<Member> = Vec::new();
        if scan_object(&projects, &mut members).is_err() {
            return Ok(());
        }
        let taken: Vec<String> = Object::new(&projects, &members)
            .members()
            .map(|(name, _)| name.to_text().into_owned())
            .collect();
        let (mut out, mut at) = (Vec::with_capacity(projects.len()), 0);
        for (member, name) in members.iter().zip(&taken) {
            let Some(now) = self.moved(name) else {
                continue;
            };
            if taken.contains(&now) {
                self.remark(format!(
                    "`{key}` has both folders: its values of the new one are kept"
                ));
                continue;
            }
            out.extend_from_slice(projects.get(at..member.key_start).unwrap_or_default());
            out.extend_from_slice(&quoted(&now));
            at = member.key_end;
        }
        out.extend_from_slice(projects.get(at..).unwrap_or_default());
        let Ok(changed) = set_member(&bytes, &["projects"], &out) else {
            return Ok(());
        };
        self.replace(key, bytes, changed);
        Ok(())
    }

    /// Replaces the bytes that were read; bytes that were appended since stay.
    fn replace(&mut self, key: &str, old: Vec<u8>, new: Vec<u8>) {
        if old != new {
            let modified = crate::Modified::Now;
            self.step(Step::Edit {
                key: key.to_owned(),
                at: Some(0),
                old,
                new,
                modified,
            });
        }
    }
}

fn has_index(listing: &[FileInfo]) -> bool {
    let mut listing = listing.iter();
    listing.any(|info| info.name() == "sessions-index.json")
}

fn has_memory(listing: &[FileInfo]) -> bool {
    let mut listing = listing.iter();
    listing.any(|info| info.is_folder() && info.name() == "memory")
}

/// The line with which a log says where its project is now.
fn relocated_line(mover: &Mover) -> Vec<u8> {
    let line = Json::object()
        .with("type", "relocated")
        .with("relocatedCwd", mover.now.as_str())
        .with("sessionId", mover.id.as_str());
    let mut bytes = line.to_bytes();
    bytes.push(b'\n');
    bytes
}

fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    write_string(text.as_bytes(), &mut out);
    out
}

/// Returns the folders that a log names for its session, in the order in which they occur at its
/// two ends.
pub(super) fn said(files: &dyn Files, log: &FileInfo) -> Result<Vec<String>> {
    let window = usize::try_from(WINDOW).unwrap_or(usize::MAX);
    let mut text = files.read(&log.key, 0, window)?;
    if log.size > WINDOW {
        let at = log.size.saturating_sub(WINDOW).max(WINDOW);
        text.push(b'\n');
        text.extend(files.read(&log.key, at, window)?);
    }
    let mut said: Vec<String> = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let Ok(raw) = Raw::parse(line.trim_ascii()) else {
            continue;
        };
        for path in ["cwd", "relocatedCwd"]
            .iter()
            .filter_map(|key| raw.get(key)?.text())
        {
            if !path.is_empty() && said.last().map(String::as_str) != Some(&path) {
                said.push(path.into_owned());
            }
        }
    }
    Ok(said)
}
