//! Data types for active processes, linked sessions and resume commands, and the environment for a
//! resumed agent.
//!
//! The environment makes a session resume with its own account: if it is not in the agent's default
//! store, the agent's variable (`CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `PI_CODING_AGENT_DIR`) is set,
//! or unset (`null`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{Dialect, Environment};

/// A process that an agent's registry lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveProcess {
    /// Process id.
    pub pid: u32,
    /// Id of the session that the process uses.
    pub session: String,
    /// Start time of the process as the kernel reports it, which distinguishes it from a later
    /// process with the same id.
    pub started: Option<String>,
}

/// The permissions of a resumed agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Permissions {
    /// The agent's default permissions.
    #[default]
    Asked,
    /// The permissions that it last had in that session, even if it may do everything.
    Same,
}

/// The relation between two sessions of one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// The transcript that the agent's engine writes of the same conversation.
    Transcript,
}

/// A link to another session of the same conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLink {
    /// The relation of the other session to this one.
    pub kind: LinkKind,
    /// Dialect of the other session.
    pub dialect: &'static str,
    /// Id of the other session.
    pub id: String,
}

/// A command that resumes a conversation, as an argument array: no shell is involved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeCommand {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Working folder for the command.
    pub cwd: Option<String>,
}

/// Environment variables for an agent: a value to set, or `None` to unset the variable.
pub type StoreEnvironment = BTreeMap<&'static str, Option<PathBuf>>;

/// Returns the environment variables that make an agent use the store of a session; empty if it
/// uses that store by default.
///
/// Without them, an agent that is resumed on a session of a second profile would search the first
/// profile, with the account of that profile. `same` returns whether two paths are the same folder.
pub fn store_environment(
    dialect: &dyn Dialect,
    env: &Environment,
    (root, key): (&Path, Option<&str>),
    same: &dyn Fn(&Path, &Path) -> bool,
) -> StoreEnvironment {
    // The agent starts in another folder, where a relative path would mean another place.
    let root = env.cwd.join(root);
    let variables = (dialect.powers().runtime)
        .map_or_else(Vec::new, |runtime| runtime.store_variables(&root, key));
    // A root may be below the folder that the agent uses, and a variable such as `HOME` names a
    // folder above it.
    let is_it = |place: &Path| {
        same(place, &root) || variables.iter().any(|(_, folder)| same(place, folder))
    };
    let finds = |env: &Environment| dialect.roots(env).iter().any(|place| is_it(place));
    if variables.is_empty() || finds(env) {
        return StoreEnvironment::new();
    }
    // The default folder is selected by unsetting the variable: for Claude Code, setting it even to
    // `~/.claude` selects another account, because `.claude.json` is then searched inside it.
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

    fn environment_of(
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
        let variables =
            store_environment(dialect, &env, (Path::new(root), Some(key)), &|a, b| a == b);
        let shown = |value: Option<PathBuf>| value.map(|path| path.display().to_string());
        variables
            .into_iter()
            .map(|(name, value)| (name.to_owned(), shown(value)))
            .collect()
    }

    fn set(name: &str, value: &str) -> Vec<(String, Option<String>)> {
        vec![(name.to_owned(), Some(value.to_owned()))]
    }

    const LOG: &str = "projects/-p/0b7e.jsonl";

    #[test]
    fn the_usual_place_needs_nothing() {
        assert_eq!(environment_of("claude", &[], "/home/u/.claude", LOG), []);
        assert_eq!(
            environment_of("codex", &[], "/home/u/.codex", "sessions/a.jsonl"),
            []
        );
        assert_eq!(
            environment_of("pi", &[], "/home/u/.pi/agent", "sessions/--p--/a.jsonl"),
            []
        );
        assert_eq!(
            environment_of("omp", &[], "/home/u/.omp/agent", "sessions/-p/a.jsonl"),
            []
        );
        assert_eq!(
            environment_of("xcsh", &[], "/home/u/.xcsh/agent", "sessions/-p/a.jsonl"),
            []
        );
        assert_eq!(
            environment_of("clinvoker", &[], "/home/u/.clinvk", "sessions/a.json"),
            []
        );
        let work = [("CLAUDE_CONFIG_DIR", "/home/u/.claude-work")];
        assert_eq!(
            environment_of("claude", &work, "/home/u/.claude-work", LOG),
            [],
            "it is set already"
        );
    }

    #[test]
    fn another_place_is_named_by_the_variable_of_its_agent() {
        assert_eq!(
            environment_of("claude", &[], "/w", LOG),
            set("CLAUDE_CONFIG_DIR", "/w")
        );
        assert_eq!(
            environment_of("claude", &[], "w", LOG),
            set("CLAUDE_CONFIG_DIR", "/srv/w"),
            "the agent starts elsewhere"
        );
        assert_eq!(
            environment_of("claude", &[], "/w/projects", "-p/0b7e.jsonl"),
            set("CLAUDE_CONFIG_DIR", "/w")
        );
        assert_eq!(
            environment_of("claude", &[], "/w/projects/-p", "0b7e.jsonl"),
            set("CLAUDE_CONFIG_DIR", "/w")
        );
        assert_eq!(
            environment_of("codex", &[], "/w", "sessions/a.jsonl"),
            set("CODEX_HOME", "/w")
        );
        assert_eq!(
            environment_of("pi", &[], "/w", "sessions/--p--/a.jsonl"),
            set("PI_CODING_AGENT_DIR", "/w")
        );
        assert_eq!(
            environment_of("pi", &[], "/w/sessions", "--p--/a.jsonl"),
            set("PI_CODING_AGENT_DIR", "/w")
        );
        assert_eq!(
            environment_of("pi", &[], "/logs", "--p--/a.jsonl"),
            set("PI_CODING_AGENT_SESSION_DIR", "/logs")
        );
        assert_eq!(
            environment_of("xcsh", &[], "/w", "sessions/-p/a.jsonl"),
            set("PI_CODING_AGENT_DIR", "/w")
        );
        let both = [
            set("OMP_CODING_AGENT_DIR", "/w"),
            set("PI_CODING_AGENT_DIR", "/w"),
        ]
        .concat();
        assert_eq!(
            environment_of("omp", &[], "/w", "sessions/-p/a.jsonl"),
            both,
            "old and new versions obey different ones"
        );
        assert_eq!(
            environment_of("myagents", &[], "/w", "sessions/a.jsonl"),
            set("MYAGENTS_DATA_DIR", "/w")
        );
        assert_eq!(
            environment_of("clinvoker", &[], "/w/.clinvk", "sessions/a.json"),
            set("HOME", "/w")
        );
        assert_eq!(
            environment_of("clinvoker", &[], "/w/copy", "sessions/a.json"),
            [],
            "no variable leads there"
        );
    }

    #[test]
    fn the_usual_place_is_named_by_unsetting_a_variable_that_names_another() {
        let work = [("CLAUDE_CONFIG_DIR", "/home/u/.claude-work")];
        assert_eq!(
            environment_of("claude", &work, "/home/u/.claude", LOG),
            [("CLAUDE_CONFIG_DIR".to_owned(), None)]
        );
        assert_eq!(
            environment_of("claude", &work, "/third", LOG),
            set("CLAUDE_CONFIG_DIR", "/third")
        );
    }
}
