//! Remembers which session a terminal was last used for.
//!
//! One small file per terminal with two lines: the working folder and the session file, as agents
//! of the pi family write them. `continue` reads it first. A subagent never writes one: it would
//! replace the user's session.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Environment, IdSource};
use boswell_model::{Error, ErrorKind, Result};

use crate::disk::{Disk, RealDisk, StatKind, SystemIds, durable};

const LONGEST: usize = 200;

/// The name of a terminal, usable as a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalId(String);

impl TerminalId {
    /// Returns the terminal of an environment: its device (`pts-3`), or the id that the terminal
    /// program sets.
    pub fn of(env: &Environment) -> Option<Self> {
        let device = env
            .terminal
            .as_deref()
            .and_then(|path| path.strip_prefix("/dev/"));
        if let Some(id) = device.and_then(TerminalId::cleaned) {
            return Some(id);
        }
        let programs = [
            ("kitty", "KITTY_WINDOW_ID"),
            ("tmux", "TMUX_PANE"),
            ("apple", "TERM_SESSION_ID"),
            ("wt", "WT_SESSION"),
        ];
        programs
            .iter()
            .find_map(|(name, var)| TerminalId::cleaned(&format!("{name}-{}", env.var(var)?)))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Replaces everything that could lead out of a folder by `-`; returns `None` if the result is
    /// not a valid name.
    fn cleaned(text: &str) -> Option<Self> {
        let id: String = text
            .chars()
            .map(|c| {
                if matches!(c, '/' | '\\') || c.is_control() {
                    '-'
                } else {
                    c
                }
            })
            .collect();
        let fine = !id.is_empty() && id.len() <= LONGEST && !id.starts_with(['.', '-']);
        fine.then_some(TerminalId(id))
    }
}

/// The breadcrumbs in one folder, a file for each terminal.
///
/// [`Home::breadcrumbs`](crate::Home::breadcrumbs) are boswell's own; agents of the pi family have
/// a folder of the same form.
#[derive(Debug, Clone)]
pub struct Breadcrumbs {
    disk: Arc<dyn Disk>,
    id_source: Arc<dyn IdSource>,
    folder: PathBuf,
}

impl Breadcrumbs {
    /// Those of an agent, in its folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Breadcrumbs {
        Breadcrumbs::on(Arc::new(RealDisk), Arc::new(SystemIds), folder.into())
    }

    pub(crate) fn on(
        disk: Arc<dyn Disk>,
        id_source: Arc<dyn IdSource>,
        folder: PathBuf,
    ) -> Breadcrumbs {
        Breadcrumbs {
            disk,
            id_source,
            folder,
        }
    }

    /// Returns the session file that a terminal was last used for in a folder; `None` if it is gone
    /// or was a subagent's.
    ///
    /// # Errors
    ///
    /// An I/O error if the file of the terminal or of the session cannot be looked at.
    pub fn read(&self, terminal: &TerminalId, cwd: &Path) -> Result<Option<PathBuf>> {
        let disk = self.disk.as_ref();
        let Some(bytes) = durable::read(disk, &self.folder.join(terminal.as_str()))? else {
            return Ok(None);
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return Ok(None);
        };
        let mut lines = text.lines();
        let (Some(then), Some(session)) = (lines.next(), lines.next()) else {
            return Ok(None);
        };
        let session = Path::new(session);
        let here = resolved(Path::new(then)).is_some_and(|then| resolved(cwd) == Some(then));
        if !here || !session.is_absolute() || is_subagent(disk, session) {
            return Ok(None);
        }
        let stat = disk
            .stat(session)
            .map_err(|error| Error::io(session.display(), "look at", error))?;
        Ok(stat
            .filter(|stat| stat.kind == StatKind::File)
            .map(|_| session.to_path_buf()))
    }

    /// Records that a terminal is used for a session, which need not be visible yet.
    ///
    /// # Errors
    ///
    /// `Invalid` for a subagent's transcript and for paths that do not fit on a line; an I/O error
    /// if it cannot be written.
    pub fn write(&self, terminal: &TerminalId, cwd: &Path, session: &Path) -> Result<()> {
        let disk = self.disk.as_ref();
        if is_subagent(disk, session) {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("`{}` is a subagent's transcript", session.display()),
            )
            .because("`continue` would open it instead of the user's session")
            .advising("note the session that started it"));
        }
        let line = |path: &Path| {
            path.to_str()
                .filter(|text| path.is_absolute() && !text.contains(['\n', '\r']))
                .map(str::to_owned)
        };
        let (Some(cwd_line), Some(session_line)) = (line(cwd), line(session)) else {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("`{}` cannot be noted", session.display()),
            )
            .because("folder and session must be absolute Unicode paths on one line each")
            .advising("name the session with its id"));
        };
        durable::make_folders(disk, &self.folder)?;
        let text = format!("{cwd_line}\n{session_line}\n");
        durable::put(
            disk,
            &self.folder.join(terminal.as_str()),
            text.as_bytes(),
            &self.id_source.hex16(),
        )
    }
}

/// Returns whether a transcript is among the artifacts of another session: in the folder that has
/// that session's name.
fn is_subagent(disk: &dyn Disk, session: &Path) -> bool {
    let in_folder = |folder: &Path| {
        let owner = folder.file_name().map(|name| {
            let mut name = name.to_os_string();
            name.push(".jsonl");
            folder.with_file_name(name)
        });
        owner.is_some_and(
            |owner| matches!(disk.stat(&owner), Ok(Some(stat)) if stat.kind == StatKind::File),
        )
    };
    session
        .components()
        .any(|part| part.as_os_str() == "subagents")
        || session.ancestors().skip(1).any(in_folder)
}

/// Returns an absolute path without `.`, `..` and trailing separators, without resolving links;
/// `None` if it is not absolute.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            _ => out.push(part),
        }
    }
    path.is_absolute().then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(device: Option<&str>, vars: &[(&str, &str)]) -> Option<String> {
        let mut env = Environment {
            terminal: device.map(str::to_owned),
            ..Environment::default()
        };
        env.vars = vars
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        TerminalId::of(&env).map(|id| id.0)
    }

    #[test]
    fn terminals_are_named_as_agents_name_them() {
        for (device, vars, id) in [
            (
                Some("/dev/pts/3"),
                &[("TMUX_PANE", "%1")][..],
                Some("pts-3"),
            ),
            (Some("/dev/ttys001"), &[], Some("ttys001")),
            (
                None,
                &[("KITTY_WINDOW_ID", "7"), ("TMUX_PANE", "%1")],
                Some("kitty-7"),
            ),
            (None, &[("TMUX_PANE", "%1")], Some("tmux-%1")),
            (
                None,
                &[("TERM_SESSION_ID", "w0t0p0:AB")],
                Some("apple-w0t0p0:AB"),
            ),
            (None, &[("WT_SESSION", "guid")], Some("wt-guid")),
            (None, &[("WT_SESSION", "")], None),
            (None, &[], None),
        ] {
            assert_eq!(terminal(device, vars).as_deref(), id, "{device:?} {vars:?}");
        }
    }

    #[test]
    fn names_cannot_leave_the_folder() {
        assert_eq!(
            terminal(None, &[("TMUX_PANE", "../../x\n")]).as_deref(),
            Some("tmux-..-..-x-")
        );
        assert_eq!(terminal(Some("/dev/.."), &[]), None);
        assert_eq!(terminal(Some("/dev/../etc/x"), &[]), None);
        assert_eq!(terminal(None, &[("WT_SESSION", &"x".repeat(500))]), None);
    }

    struct Lab {
        folder: tempfile::TempDir,
        id: TerminalId,
    }

    impl Lab {
        fn new() -> Self {
            Lab {
                folder: tempfile::tempdir().unwrap(),
                id: TerminalId("pts-3".to_owned()),
            }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn session(&self, name: &str) -> PathBuf {
            let path = self.path(name);
            durable::make_folders(&RealDisk, path.parent().unwrap()).unwrap();
            durable::create(&RealDisk, &path, b"{}\n").unwrap();
            path
        }

        fn read(&self, cwd: &str) -> Option<PathBuf> {
            Breadcrumbs::in_folder(self.path("terminals"))
                .read(&self.id, Path::new(cwd))
                .unwrap()
        }

        fn write(&self, cwd: &str, session: &Path) -> Result<()> {
            Breadcrumbs::in_folder(self.path("terminals")).write(&self.id, Path::new(cwd), session)
        }
    }

    #[test]
    fn written_breadcrumb_is_read_back_in_its_folder_only() {
        let lab = Lab::new();
        assert_eq!(lab.read("/srv/demo"), None);
        let session = lab.session("s/1.jsonl");
        lab.write("/srv/demo", &session).unwrap();
        assert_eq!(lab.read("/srv/./demo/x/../"), Some(session.clone()));
        assert_eq!(lab.read("/srv/other"), None);
        let bytes = durable::read(&RealDisk, &lab.path("terminals/pts-3"))
            .unwrap()
            .unwrap();
        assert_eq!(
            bytes,
            format!("/srv/demo\n{}\n", session.display()).as_bytes()
        );
        RealDisk.remove(&session).unwrap();
        assert_eq!(
            lab.read("/srv/demo"),
            None,
            "a session that is gone is no session"
        );
    }

    #[test]
    fn damaged_breadcrumbs_lead_nowhere() {
        let lab = Lab::new();
        let session = lab.session("1.jsonl");
        let folder = lab.folder.path().display().to_string();
        for (n, text) in [
            "",
            "/srv/demo",
            "/srv/demo\n",
            "/srv/demo\nrelative.jsonl\n",
            &format!("/srv/demo\n{folder}\n"),
        ]
        .iter()
        .enumerate()
        {
            durable::make_folders(&RealDisk, &lab.path("terminals")).unwrap();
            durable::put(
                &RealDisk,
                &lab.path("terminals/pts-3"),
                text.as_bytes(),
                &n.to_string(),
            )
            .unwrap();
            assert_eq!(lab.read("/srv/demo"), None, "{text}");
        }
        assert_eq!(
            lab.write("/srv/de\nmo", &session).unwrap_err().kind(),
            ErrorKind::Invalid
        );
        assert_eq!(
            lab.write("relative", &session).unwrap_err().kind(),
            ErrorKind::Invalid
        );
    }

    #[test]
    fn subagents_neither_leave_nor_get_a_breadcrumb() {
        let lab = Lab::new();
        lab.session("s/1.jsonl");
        for name in [
            "s/1/0-Task.jsonl",
            "s/1/deep/er.jsonl",
            "claude/subagents/agent-1.jsonl",
        ] {
            let transcript = lab.session(name);
            assert_eq!(
                lab.write("/srv/demo", &transcript).unwrap_err().kind(),
                ErrorKind::Invalid,
                "{name}"
            );
            durable::make_folders(&RealDisk, &lab.path("terminals")).unwrap();
            let text = format!("/srv/demo\n{}\n", transcript.display());
            durable::put(
                &RealDisk,
                &lab.path("terminals/pts-3"),
                text.as_bytes(),
                "f",
            )
            .unwrap();
            assert_eq!(lab.read("/srv/demo"), None, "{name}");
        }
    }
}
