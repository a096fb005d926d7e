//! A realistic home folder with the stores of every dialect, and a list of its sessions.
//!
//! All sessions are undamaged, so that a test can rely on each of them; damaged ones come from
//! [`crate::damage`] and from the defective shapes in [`crate::make`]. Some logs are not sessions
//! and are not listed: subagents' logs, artifacts, and a Claude file that contains only the summary
//! of another session.

mod count;
mod plant;

use std::path::{Path, PathBuf};

use crate::files::Made;

/// One planted session.
#[derive(Clone, Debug)]
pub struct Planted {
    /// Dialect of its store: `claude`, `pi`, `omp`, `xcsh`, `myagents`, `clinvoker`, `oas` or
    /// `codex`.
    pub dialect: &'static str,
    /// The session's own id.
    pub id: String,
    /// Path of its main file.
    pub path: PathBuf,
    /// The project folder that it states; empty if none.
    pub project: String,
    /// The title in its files, if any.
    pub title: Option<String>,
    /// User and assistant messages in the main file, on all branches; a line of Claude counts as
    /// one.
    pub messages: usize,
    /// The same conversation in another store: dialect and id.
    pub link: Option<(&'static str, String)>,
    /// Whether its agent hides it from its own lists.
    pub hidden: bool,
    /// The case that it covers.
    pub note: String,
}

/// A home folder full of sessions.
#[derive(Clone, Debug)]
pub struct TestHome {
    /// The folder itself.
    pub root: PathBuf,
    /// `.claude`.
    pub claude: PathBuf,
    /// `.pi/agent`.
    pub pi: PathBuf,
    /// `.omp/agent`.
    pub omp: PathBuf,
    /// `.xcsh/agent`.
    pub xcsh: PathBuf,
    /// `.myagents`.
    pub myagents: PathBuf,
    /// `.clinvk`.
    pub clinvoker: PathBuf,
    /// `.open-agent`.
    pub oas: PathBuf,
    /// `.codex`.
    pub codex: PathBuf,
    /// The project folders of the sessions; they need not exist.
    pub projects: Vec<String>,
    /// All planted sessions.
    pub planted: Vec<Planted>,
}

impl TestHome {
    /// Writes everything below `root`, for projects below `/home/dev/proj`, which need not exist.
    pub fn build(root: &Path, seed: u64) -> TestHome {
        TestHome::build_for(root, "/home/dev/proj", seed)
    }

    /// Writes everything below `root`, for projects below `work`.
    pub fn build_for(root: &Path, work: &str, seed: u64) -> TestHome {
        let below = |name: &str| root.join(name);
        let mut home = TestHome {
            root: root.to_path_buf(),
            claude: below(".claude"),
            pi: below(".pi/agent"),
            omp: below(".omp/agent"),
            xcsh: below(".xcsh/agent"),
            myagents: below(".myagents"),
            clinvoker: below(".clinvk"),
            oas: below(".open-agent"),
            codex: below(".codex"),
            projects: ["demo", "演示", "a_b", "a-b"]
                .iter()
                .map(|name| format!("{work}/{name}"))
                .collect(),
            planted: Vec::new(),
        };
        plant::everything(&mut home, work, seed);
        home
    }

    /// Returns the planted sessions of one dialect.
    pub fn of(&self, dialect: &str) -> impl Iterator<Item = &Planted> {
        self.planted
            .iter()
            .filter(move |planted| planted.dialect == dialect)
    }

    /// Returns the folder of a dialect's store.
    pub fn folder(&self, dialect: &str) -> Option<&Path> {
        let folder = match dialect {
            "claude" => &self.claude,
            "pi" => &self.pi,
            "omp" => &self.omp,
            "xcsh" => &self.xcsh,
            "myagents" => &self.myagents,
            "clinvoker" => &self.clinvoker,
            "oas" => &self.oas,
            "codex" => &self.codex,
            _ => return None,
        };
        Some(folder)
    }

    fn add(&mut self, dialect: &'static str, made: &Made, note: impl Into<String>) -> &mut Planted {
        let folder = self.folder(dialect).expect("a known dialect").to_path_buf();
        let path = made.write_to(&folder);
        self.planted.push(Planted {
            dialect,
            id: made.id.clone(),
            path,
            project: made.project.clone(),
            title: made.title.clone(),
            messages: count::messages(dialect, made),
            link: None,
            hidden: false,
            note: note.into(),
        });
        self.planted.last_mut().expect("just pushed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TreeSnapshot, corpus, disk};

    const DIALECTS: &[&str] = &[
        "claude",
        "pi",
        "omp",
        "xcsh",
        "myagents",
        "clinvoker",
        "oas",
        "codex",
    ];

    #[test]
    fn every_dialect_is_planted_and_every_planted_file_is_there() {
        let root = disk::scratch("home-all");
        let home = TestHome::build(&root, 1);
        for dialect in DIALECTS {
            assert!(home.of(dialect).count() >= 5, "{dialect}");
            assert!(home.folder(dialect).is_some_and(Path::is_dir), "{dialect}");
        }
        assert!(home.folder("nobody").is_none());
        for planted in home.planted.iter().filter(|planted| !planted.hidden) {
            assert!(planted.path.is_file(), "{planted:?}");
            assert!(planted.path.starts_with(&root));
        }
        assert!(
            home.planted
                .iter()
                .map(|planted| planted.messages)
                .sum::<usize>()
                > 200
        );
        disk::remove(&root);
    }

    #[test]
    fn links_lead_to_sessions_that_are_there() {
        let root = disk::scratch("home-links");
        let home = TestHome::build(&root, 2);
        let linked: Vec<_> = home
            .planted
            .iter()
            .filter_map(|p| p.link.as_ref().map(|link| (p, link)))
            .collect();
        let kinds: Vec<_> = linked
            .iter()
            .map(|(p, (dialect, _))| (p.dialect, *dialect))
            .collect();
        for kind in [
            ("myagents", "claude"),
            ("clinvoker", "claude"),
            ("clinvoker", "codex"),
        ] {
            assert!(kinds.contains(&kind), "{kinds:?}");
        }
        for (planted, (dialect, id)) in &linked {
            assert!(home.of(dialect).any(|other| other.id == *id), "{planted:?}");
        }
        assert!(
            linked.iter().any(|(p, (_, id))| p.id == *id),
            "one conversation shares its id"
        );
        assert!(
            linked
                .iter()
                .any(|(p, (_, id))| p.dialect == "myagents" && p.id != *id),
            "one points at another id"
        );
        disk::remove(&root);
    }

    #[test]
    fn one_seed_plants_the_same_bytes() {
        let build = |name: &str| {
            let root = disk::scratch(name);
            TestHome::build(&root, 3);
            let files: Vec<_> = corpus::files(&root)
                .into_iter()
                .filter(|path| !path.to_string_lossy().contains("terminal-sessions"))
                .map(|path| {
                    (
                        path.strip_prefix(&root).unwrap().to_path_buf(),
                        disk::read(&path),
                    )
                })
                .filter(|(path, _)| !path.to_string_lossy().contains("history.db"))
                .collect();
            disk::remove(&root);
            files
        };
        assert_eq!(build("home-one"), build("home-two"));
    }

    #[test]
    fn reading_it_leaves_no_trace() {
        let root = disk::scratch("home-quiet");
        TestHome::build(&root, 4);
        let before = TreeSnapshot::take(&root);
        corpus::files(&root)
            .iter()
            .for_each(|path| drop(disk::read(path)));
        assert_eq!(
            before.diff(&TreeSnapshot::take(&root)),
            Vec::<String>::new()
        );
        disk::remove(&root);
    }
}
