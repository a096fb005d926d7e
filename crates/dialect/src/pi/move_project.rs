//! Updates the store after a project folder was moved: sessions move to the folder for the new
//! path, and their headers state it.

use boswell_model::json::{Json, Raw, set_member};
use boswell_model::{Error, ErrorKind, Remark, Result};

use super::project_folder::{below, folder_after, is_managed};
use super::{Pi, layout};
use crate::{Files, Modified, Plan, Planned, Precondition, Step};

/// How much of a log is read to find its header.
const FIRST_LOOK: usize = 1 << 20;

/// A breadcrumb contains two paths; a larger file is not one.
const LARGEST_CRUMB: u64 = 64 << 10;

/// Plans the move of every session of a project with its artifacts, and updates the breadcrumbs of
/// terminals.
pub(super) fn plan(pi: Pi, files: &dyn Files, from: &str, to: &str) -> Result<Planned> {
    let title = format!(
        "move the sessions of {} to {}",
        from.escape_debug(),
        to.escape_debug()
    );
    let mut moving = Moving {
        files,
        from,
        to,
        plan: Plan::new("move", title),
        sessions: 0,
        moved: Vec::new(),
    };
    let left = moving.logs()?;
    moving.pending_logs()?;
    moving.artifacts()?;
    moving.breadcrumbs()?;
    for folder in left {
        moving.step(Step::RemoveFolder { key: folder });
    }
    let mut remarks = Vec::new();
    if moving.sessions == 0 {
        remarks.push(Remark::new(format!(
            "{} has no session of {}",
            pi.people_name(),
            from.escape_debug()
        )));
    }
    Ok(Planned {
        plan: moving.plan,
        remarks,
        ..Planned::default()
    })
}

/// The plan of a move while it is computed.
struct Moving<'a> {
    files: &'a dyn Files,
    from: &'a str,
    to: &'a str,
    plan: Plan,
    sessions: usize,
    /// Keys of logs before and after the move.
    moved: Vec<(String, String)>,
}

impl Moving<'_> {
    fn step(&mut self, step: Step) {
        self.plan.steps.push(step);
    }

    /// Sets the new folder in the header of a log. Returns the folder before and after if it
    /// belongs to the project.
    fn edit_header(&mut self, key: &str) -> Result<Option<(String, String)>> {
        let Some(header) = Header::of(self.files, key)? else {
            return Ok(None);
        };
        let Some(now) = after(&header.cwd, self.from, self.to) else {
            return Ok(None);
        };
        self.plan.preconditions.push(Precondition::NotLive {
            key: key.to_owned(),
        });
        let edit = header.edit(key, &now)?;
        self.step(edit);
        Ok(Some((header.cwd, now)))
    }

    /// Moves the logs of all sessions; returns the folders that they leave.
    fn logs(&mut self) -> Result<Vec<String>> {
        let mut left: Vec<String> = Vec::new();
        for location in layout::discover(self.files)?.sessions {
            let Some(key) = location.key else {
                continue;
            };
            let Some((cwd, now)) = self.edit_header(&key)? else {
                continue;
            };
            // The log of a subagent moves with the artifacts of its session.
            if location.owner.is_some() {
                continue;
            }
            self.sessions += 1;
            let Some(new) = new_key(&key, &cwd, &now) else {
                continue;
            };
            self.step(Step::rename(&key, &new));
            if let Some((folder, _)) = key.rsplit_once('/')
                && !left.iter().any(|it| it == folder)
            {
                left.push(folder.to_owned());
            }
            self.moved.push((key, new));
        }
        Ok(left)
    }

    fn pending_logs(&mut self) -> Result<()> {
        for key in pending(self.files)? {
            let Some((cwd, now)) = self.edit_header(&key)? else {
                continue;
            };
            self.sessions += 1;
            if let Some(new) = new_key(&key, &cwd, &now) {
                self.step(Step::rename(&key, new));
            }
        }
        Ok(())
    }

    /// Moves the artifact folders. This comes after all logs, because edits of files inside use the
    /// old keys.
    fn artifacts(&mut self) -> Result<()> {
        for (old, new) in &self.moved {
            let old = old.trim_end_matches(".jsonl");
            if self.files.stat(old)?.is_some_and(|info| info.is_folder()) {
                let new = new.trim_end_matches(".jsonl");
                self.plan.steps.push(Step::rename(old, new));
            }
        }
        Ok(())
    }

    fn breadcrumbs(&mut self) -> Result<()> {
        for crumb in self.files.list("terminal-sessions")? {
            if !crumb.is_file() {
                continue;
            }
            let Some(old) = self.files.read_whole(&crumb.key, LARGEST_CRUMB)? else {
                continue;
            };
            let Ok(old) = String::from_utf8(old) else {
                continue;
            };
            if let Some(new) = crumb_after(&old, self.from, self.to, &self.moved) {
                self.step(Step::put(&crumb.key, new));
            }
        }
        Ok(())
    }
}

/// Returns a folder after the move; `None` if it does not change.
fn after(cwd: &str, from: &str, to: &str) -> Option<String> {
    let rest = below(cwd, from)?;
    Some(if rest.is_empty() {
        to.to_owned()
    } else {
        format!("{}/{rest}", to.trim_end_matches('/'))
    })
}

/// Returns logs of boswell that have a hidden name because the first assistant message is pending.
fn pending(files: &dyn Files) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for folder in files
        .list("sessions")?
        .into_iter()
        .filter(|info| info.is_folder())
    {
        let waiting = files
            .list(&folder.key)?
            .into_iter()
            .filter(|info| info.is_file());
        found.extend(
            waiting
                .filter(|info| info.stem(".jsonl.pending").is_some())
                .map(|info| info.key),
        );
    }
    Ok(found)
}

/// Returns the new key of a log; `None` if it stays, because its folder is not named after the
/// project.
fn new_key(key: &str, was: &str, now: &str) -> Option<String> {
    let (folder, name) = key.rsplit_once('/')?;
    let (above, project) = folder
        .rsplit_once('/')
        .map_or(("", folder), |(above, project)| (above, project));
    let leaving = Some(project).filter(|project| is_managed(project))?;
    let slash = if above.is_empty() { "" } else { "/" };
    let new = format!("{above}{slash}{}/{name}", folder_after(leaving, was, now));
    (new != key).then_some(new)
}

/// The header of a log and its position.
struct Header {
    at: u64,
    bytes: Vec<u8>,
    cwd: String,
}

impl Header {
    /// Reads the header; `None` if there is none, because then the folder of the session is
    /// unknown.
    fn of(files: &dyn Files, key: &str) -> Result<Option<Header>> {
        let start = files.read(key, 0, FIRST_LOOK)?;
        let mut at = 0u64;
        for line in start.split(|byte| *byte == b'\n').take(3) {
            let bom = if line.starts_with(b"\xEF\xBB\xBF") {
                3
            } else {
                0
            };
            let bytes = line.get(bom..).unwrap_or_default();
            if let Ok(raw) = Raw::parse(bytes.trim_ascii_end())
                && raw.get("type").is_some_and(|word| word.is("session"))
            {
                let cwd = raw
                    .get("cwd")
                    .and_then(|cwd| cwd.text())
                    .map(|cwd| cwd.into_owned());
                return Ok(cwd.map(|cwd| Header {
                    at: at + bom as u64,
                    bytes: raw.bytes().to_vec(),
                    cwd,
                }));
            }
            at += line.len() as u64 + 1;
        }
        Ok(None)
    }

    fn edit(&self, key: &str, cwd: &str) -> Result<Step> {
        let new =
            set_member(&self.bytes, &["cwd"], &Json::from(cwd).to_bytes()).map_err(|fault| {
                Error::new(
                    ErrorKind::Damaged,
                    "the header of the session is not a JSON object",
                )
                .because(fault.to_string())
            })?;
        // Programs read the file's time as the time of last use, and a move is not a use.
        let modified = Modified::Kept;
        Ok(Step::Edit {
            key: key.to_owned(),
            at: Some(self.at),
            old: self.bytes.clone(),
            new,
            modified,
        })
    }
}

/// Returns a terminal's breadcrumb after the move; `None` if it does not change.
fn crumb_after(text: &str, from: &str, to: &str, moved: &[(String, String)]) -> Option<String> {
    let mut lines = text.lines();
    let (cwd, session) = (lines.next()?, lines.next()?);
    let rest: String = lines.map(|line| format!("{line}\n")).collect();
    let cwd_now = after(cwd, from, to);
    let session_now = moved.iter().find_map(|(old, new)| {
        session
            .strip_suffix(old.as_str())
            .filter(|root| root.ends_with('/'))
            .map(|root| format!("{root}{new}"))
    });
    if cwd_now.is_none() && session_now.is_none() {
        return None;
    }
    Some(format!(
        "{}\n{}\n{rest}",
        cwd_now.as_deref().unwrap_or(cwd),
        session_now.as_deref().unwrap_or(session)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{HEADER, user};
    use super::*;
    use crate::PlanEdits;
    use crate::{MemoryFiles, StoreRequest};

    fn log(cwd: &str) -> String {
        format!(
            "{}\n{}\n",
            HEADER.replace("\"/p\"", &format!("\"{cwd}\"")),
            user("1", "", "a")
        )
    }

    fn moving(pi: Pi, files: &[(&str, String)]) -> Vec<String> {
        let mut all = MemoryFiles::default();
        files
            .iter()
            .for_each(|(key, text)| all.put(key, text.as_str(), None));
        let request = StoreRequest::Move {
            from: "/home/u/a".to_owned(),
            to: "/home/u/b".to_owned(),
        };
        let planned = pi
            .plan_store(&all, &request, &super::super::fixture::Counting::default())
            .unwrap();
        planned.plan.steps.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn sessions_of_the_project_and_below_it_move_and_others_stay() {
        let steps = moving(
            Pi::PI,
            &[
                ("sessions/--home-u-a--/1_x.jsonl", log("/home/u/a")),
                ("sessions/--home-u-a--/1_x/0-Sub.jsonl", log("/home/u/a")),
                ("sessions/--home-u-a-c--/2.jsonl", log("/home/u/a/c")),
                ("sessions/--home-u-ab--/3.jsonl", log("/home/u/ab")),
                ("sessions/flat.jsonl", log("/home/u/a")),
                ("sessions/--home-u-a--/.4.jsonl.pending", log("/home/u/a")),
                (
                    "sessions/--home-u-a--/5.jsonl",
                    log("/home/u/a").lines().next().unwrap().to_owned(),
                ),
                (
                    "sessions/--home-u-a--/torn.jsonl",
                    "{\"type\":\"sess".to_owned(),
                ),
            ],
        );
        let renames: Vec<_> = steps
            .iter()
            .filter(|step| step.starts_with("rename"))
            .map(String::as_str)
            .collect();
        assert_eq!(
            renames,
            [
                "rename `sessions/--home-u-a--/1_x.jsonl` to `sessions/--home-u-b--/1_x.jsonl`",
                "rename `sessions/--home-u-a--/5.jsonl` to `sessions/--home-u-b--/5.jsonl`",
                "rename `sessions/--home-u-a-c--/2.jsonl` to `sessions/--home-u-b-c--/2.jsonl`",
                "rename `sessions/--home-u-a--/.4.jsonl.pending` to `sessions/--home-u-b--/.4.jsonl.pending`",
                "rename `sessions/--home-u-a--/1_x` to `sessions/--home-u-b--/1_x`",
            ]
        );
        let edits = steps
            .iter()
            .filter(|step| step.starts_with("replace"))
            .count();
        assert_eq!(
            edits, 6,
            "the subagent's, the flat one, the waiting one and the bare header too: {steps:#?}"
        );
    }

    #[test]
    fn names_from_home_stay_names_from_home_and_breadcrumbs_follow() {
        let crumb = "/home/u/a\n/home/u/.xcsh/agent/sessions/-a/1.jsonl\n".to_owned();
        let steps = moving(
            Pi::XCSH,
            &[
                ("sessions/-a/1.jsonl", log("/home/u/a")),
                ("terminal-sessions/pts-3", crumb.clone()),
                (
                    "terminal-sessions/pts-4",
                    "/elsewhere\n/x.jsonl\n".to_owned(),
                ),
            ],
        );
        assert!(
            steps.contains(&"rename `sessions/-a/1.jsonl` to `sessions/-b/1.jsonl`".to_owned()),
            "{steps:?}"
        );
        let moved = [(
            "sessions/-a/1.jsonl".to_owned(),
            "sessions/-b/1.jsonl".to_owned(),
        )];
        let after = crumb_after(&crumb, "/home/u/a", "/home/u/b", &moved).unwrap();
        assert_eq!(
            after,
            "/home/u/b\n/home/u/.xcsh/agent/sessions/-b/1.jsonl\n"
        );
        assert_eq!(
            steps
                .iter()
                .filter(|step| step.contains("terminal-sessions"))
                .count(),
            1
        );
    }
}
