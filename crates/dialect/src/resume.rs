//! Who is at work on a conversation, what else it is, and how it is taken up again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{Dialect, Environment};

/// A process that an agent's registry names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveProcess {
    /// Its number.
    pub pid: u32,
    /// Id of the session that it is at work on.
    pub session: String,
    /// When it was started, in the kernel's words; another process of the same number
    /// began at another time.
    pub started: Option<String>,
}

/// What an agent that is started again may do without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Permissions {
    /// What it may when nobody says otherwise.
    #[default]
    Asked,
    /// What it was last allowed in that session, even everything.
    Same,
}

/// What two refs of one conversation are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// The transcript that the agent's engine keeps of the same conversation.
    Transcript,
}

/// Another session that is the same conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLink {
    /// What it is to this one.
    pub kind: LinkKind,
    /// Dialect of the other one.
    pub dialect: &'static str,
    /// Its id.
    pub id: String,
}

/// A command that takes a conversation up again, as separate words: no shell is involved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeCommand {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Folder to start it in.
    pub cwd: Option<String>,
}

/// Variables that an agent has to be started with: a value to set, or none for one to unset.
pub type StoreEnvironment = BTreeMap<&'static str, Option<PathBuf>>;

/// What has to be in the environment of an agent so that it uses the store of a session; nothing
/// where it does so anyway.
///
/// Without this an agent that is started on a session of a second profile looks in the first one,
/// with the account of that. `same` says whether two paths are one folder.
pub fn store_environment(
    dialect: &dyn Dialect,
    env: &Environment,
    (root, key): (&Path, Option<&str>),
    same: &dyn Fn(&Path, &Path) -> bool,
) -> StoreEnvironment {
    // The agent starts in another folder, where a relative path would lead elsewhere.
    let root = env.cwd.join(root);
    let variables = (dialect.powers().runtime)
        .map_or_else(Vec::new, |runtime| runtime.store_variables(&root, key));
    // A root may lie below the folder that the agent looks in, and a variable such as
    // `HOME` names one above it.
    let is_it = |place: &Path| {
        same(place, &root) || variables.iter().any(|(_, folder)| same(place, folder))
    };
    let finds = |env: &Environment| dialect.roots(env).iter().any(|place| is_it(place));
    if variables.is_empty() || finds(env) {
        return StoreEnvironment::new();
    }
    // The usual place is named by unsetting the variable: for Claude Code, setting it even to
    // `~/.claude` is another account, because `.claude.json` is then looked for inside.
    let mut without = env.clone();
    without
        .vars
        .retain(|name, _| !variables.iter().any(|(variable, _)| variable == name));
    let unset = finds(&without);
    let mut environment = StoreEnvironment::new();
    for (name, folder) in variables {
        if !unset {
            environment.insert(name, Some(folder));
        } else if env.vars.contains_key(name) {
            environment.insert(name, None);
        }
    }
    environment
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_name;

    fn told(
        dialect: &str,
        vars: &[(&str, &str)],
        root: &str,
        key: &str,
    ) -> Vec<(String, Option<String>)> {
        let env = Environment {
            home: Some("/home/u".into()),
            cwd: "/srv".into(),
            vars: vars
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Environment::default()
        };
        let dialect = by_name(dialect).unwrap();
        let told = store_environment(dialect, &env, (Path::new(root), Some(key)), &|a, b| a == b);
        let shown = |value: Option<PathBuf>| value.map(|path| path.display().to_string());
        told.into_iter()
            .map(|(name, value)| (name.to_owned(), shown(value)))
            .collect()
    }

    fn set(name: &str, value: &str) -> Vec<(String, Option<String>)> {
        vec![(name.to_owned(), Some(value.to_owned()))]
    }

    const LOG: &str = "projects/-p/0b7e.jsonl";

    #[test]
    fn the_usual_place_needs_nothing() {
        assert_eq!(told("claude", &[], "/home/u/.claude", LOG), []);
        assert_eq!(told("codex", &[], "/home/u/.codex", "sessions/a.jsonl"), []);
        assert_eq!(
            told("pi", &[], "/home/u/.pi/agent", "sessions/--p--/a.jsonl"),
            []
        );
        assert_eq!(
            told("omp", &[], "/home/u/.omp/agent", "sessions/-p/a.jsonl"),
            []
        );
        assert_eq!(
            told("xcsh", &[], "/home/u/.xcsh/agent", "sessions/-p/a.jsonl"),
            []
        );
        assert_eq!(
            told("clinvoker", &[], "/home/u/.clinvk", "sessions/a.json"),
            []
        );
        let work = [("CLAUDE_CONFIG_DIR", "/home/u/.claude-work")];
        assert_eq!(
            told("claude", &work, "/home/u/.claude-work", LOG),
            [],
            "it is set already"
        );
    }

    #[test]
    fn another_place_is_named_by_the_variable_of_its_agent() {
        assert_eq!(
            told("claude", &[], "/w", LOG),
            set("CLAUDE_CONFIG_DIR", "/w")
        );
        assert_eq!(
            told("claude", &[], "w", LOG),
            set("CLAUDE_CONFIG_DIR", "/srv/w"),
            "the agent starts elsewhere"
        );
        assert_eq!(
            told("claude", &[], "/w/projects", "-p/0b7e.jsonl"),
            set("CLAUDE_CONFIG_DIR", "/w")
        );
        assert_eq!(
            told("claude", &[], "/w/projects/-p", "0b7e.jsonl"),
            set("CLAUDE_CONFIG_DIR", "/w")
        );
        assert_eq!(
            told("codex", &[], "/w", "sessions/a.jsonl"),
            set("CODEX_HOME", "/w")
        );
        assert_eq!(
            told("pi", &[], "/w", "sessions/--p--/a.jsonl"),
            set("PI_CODING_AGENT_DIR", "/w")
        );
        assert_eq!(
            told("pi", &[], "/w/sessions", "--p--/a.jsonl"),
            set("PI_CODING_AGENT_DIR", "/w")
        );
        assert_eq!(
            told("pi", &[], "/logs", "--p--/a.jsonl"),
            set("PI_CODING_AGENT_SESSION_DIR", "/logs")
        );
        assert_eq!(
            told("xcsh", &[], "/w", "sessions/-p/a.jsonl"),
            set("PI_CODING_AGENT_DIR", "/w")
        );
        let both = [
            set("OMP_CODING_AGENT_DIR", "/w"),
            set("PI_CODING_AGENT_DIR", "/w"),
        ]
        .concat();
        assert_eq!(
            told("omp", &[], "/w", "sessions/-p/a.jsonl"),
            both,
            "old and new versions obey different ones"
        );
        assert_eq!(
            told("myagents", &[], "/w", "sessions/a.jsonl"),
            set("MYAGENTS_DATA_DIR", "/w")
        );
        assert_eq!(
            told("clinvoker", &[], "/w/.clinvk", "sessions/a.json"),
            set("HOME", "/w")
        );
        assert_eq!(
            told("clinvoker", &[], "/w/copy", "sessions/a.json"),
            [],
            "no variable leads there"
        );
    }

    #[test]
    fn the_usual_place_is_named_by_unsetting_a_variable_that_names_another() {
        let work = [("CLAUDE_CONFIG_DIR", "/home/u/.claude-work")];
        assert_eq!(
            told("claude", &work, "/home/u/.claude", LOG),
            [("CLAUDE_CONFIG_DIR".to_owned(), None)]
        );
        assert_eq!(
            told("claude", &work, "/third", LOG),
            set("CLAUDE_CONFIG_DIR", "/third")
        );
    }
}
