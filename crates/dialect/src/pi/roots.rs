//! The folders in which each program of the family stores its sessions.

use std::path::{Path, PathBuf};

use crate::Environment;

use super::Flavour;

/// Returns the possible roots in this environment, most likely one first. The store uses those that
/// exist.
pub(super) fn roots(flavour: Flavour, env: &Environment) -> Vec<PathBuf> {
    match flavour {
        Flavour::Pi => {
            let agent = shared_override(flavour, env).or_else(|| env.in_home(".pi/agent"));
            // One folder of sessions for all projects. The default folder is skipped, or it would
            // be found twice.
            let usual = agent.as_ref().map(|agent| agent.join("sessions"));
            let sessions = env
                .path_var("PI_CODING_AGENT_SESSION_DIR")
                .filter(|s| Some(s) != usual.as_ref());
            sessions.into_iter().chain(agent).collect()
        }
        Flavour::Omp => match env
            .path_var("OMP_CODING_AGENT_DIR")
            .or_else(|| shared_override(flavour, env))
        {
            Some(dir) => vec![dir],
            None => with_data_home(flavour, "omp", env),
        },
        Flavour::Xcsh => match shared_override(flavour, env) {
            Some(dir) => vec![dir],
            None => with_data_home(flavour, "xcsh", env),
        },
        // Boswell's home is an argument of the store; it does not come from the environment.
        Flavour::Boswell => Vec::new(),
    }
}

/// Returns the environment variables that make a program use `root`, which is its folder or its
/// sessions folder.
pub(super) fn variables(
    flavour: Flavour,
    root: &Path,
    key: Option<&str>,
) -> Vec<(&'static str, PathBuf)> {
    let is_sessions = key.is_some_and(|key| !key.starts_with("sessions/"));
    let is_usual = root.file_name().is_some_and(|name| name == "sessions");
    let agent = match root.parent().filter(|_| is_sessions && is_usual) {
        Some(agent) => agent.to_owned(),
        None => root.to_owned(),
    };
    match flavour {
        Flavour::Pi if is_sessions && !is_usual => vec![("PI_CODING_AGENT_SESSION_DIR", agent)],
        Flavour::Pi | Flavour::Xcsh => vec![("PI_CODING_AGENT_DIR", agent)],
        // Its version decides which of the two it reads.
        Flavour::Omp => vec![
            ("OMP_CODING_AGENT_DIR", agent.clone()),
            ("PI_CODING_AGENT_DIR", agent),
        ],
        Flavour::Boswell => Vec::new(),
    }
}

/// Returns the folder in the data home, which the programs use only if it exists and which has no
/// level `agent`, then the one in the home folder.
fn with_data_home(flavour: Flavour, name: &str, env: &Environment) -> Vec<PathBuf> {
    // The variable replaces the name of the folder, not its path; Node's `join` ignores a leading
    // slash.
    let renamed = env
        .var("PI_CONFIG_DIR")
        .filter(|value| owner_of(value, Flavour::Xcsh) == flavour);
    let folder = renamed.map_or_else(
        || format!(".{name}"),
        |value| value.trim_start_matches('/').to_owned(),
    );
    let home = env.in_home(&folder).map(|root| root.join("agent"));
    let data = env
        .var("XDG_DATA_HOME")
        .map(|data| Path::new(data).join(name));
    data.into_iter().chain(home).collect()
}

/// Returns the agent folder that `PI_CODING_AGENT_DIR` names, if it belongs to this flavour.
///
/// pi, xcsh and newer versions of oh-my-pi all read the variable. Every session must be listed
/// once, so the folder belongs to the program that its path names, and to pi if it names none.
fn shared_override(flavour: Flavour, env: &Environment) -> Option<PathBuf> {
    let value = env.var("PI_CODING_AGENT_DIR")?;
    if owner_of(value, Flavour::Pi) != flavour {
        return None;
    }
    // xcsh does not expand a tilde.
    if flavour == Flavour::Xcsh {
        Some(env.cwd.join(value))
    } else {
        env.path_var("PI_CODING_AGENT_DIR")
    }
}

/// Returns the program that a path names, else `otherwise`.
fn owner_of(path: &str, otherwise: Flavour) -> Flavour {
    let names = |word: &str| {
        path.split(['/', '\\'])
            .any(|part| part.trim_start_matches('.') == word)
    };
    match (names("xcsh"), names("omp")) {
        (true, _) => Flavour::Xcsh,
        (false, true) => Flavour::Omp,
        (false, false) => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(flavour: Flavour, vars: &[(&str, &str)]) -> Vec<String> {
        let env = Environment {
            home: Some("/home/u".into()),
            cwd: "/srv".into(),
            vars: vars
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
            ..Environment::default()
        };
        roots(flavour, &env)
            .iter()
            .map(|p| p.display().to_string())
            .collect()
    }

    #[test]
    fn each_has_its_folder_in_the_home() {
        assert_eq!(found(Flavour::Pi, &[]), ["/home/u/.pi/agent"]);
        assert_eq!(found(Flavour::Omp, &[]), ["/home/u/.omp/agent"]);
        assert_eq!(found(Flavour::Xcsh, &[]), ["/home/u/.xcsh/agent"]);
        assert_eq!(found(Flavour::Boswell, &[]), [] as [&str; 0]);
    }

    #[test]
    fn the_shared_variable_belongs_to_one_of_them() {
        for (value, owner) in [
            ("/x/agent", Flavour::Pi),
            ("/x/.xcsh/agent", Flavour::Xcsh),
            ("omp/a", Flavour::Omp),
        ] {
            let vars = [("PI_CODING_AGENT_DIR", value)];
            let claims = |f| found(f, &vars).iter().any(|p| p.ends_with(value));
            for flavour in [Flavour::Pi, Flavour::Omp, Flavour::Xcsh] {
                assert_eq!(claims(flavour), flavour == owner, "{value}");
            }
        }
        assert_eq!(
            found(Flavour::Pi, &[("PI_CODING_AGENT_DIR", "~/a")]),
            ["/home/u/a"]
        );
        assert_eq!(
            found(Flavour::Pi, &[("PI_CODING_AGENT_DIR", "")]),
            ["/home/u/.pi/agent"]
        );
    }

    #[test]
    fn own_variables_override() {
        assert_eq!(
            found(Flavour::Omp, &[("OMP_CODING_AGENT_DIR", "/o")]),
            ["/o"]
        );
        assert_eq!(
            found(Flavour::Xcsh, &[("PI_CONFIG_DIR", "/conf")]),
            ["/home/u/conf/agent"]
        );
        let xdg = [("XDG_DATA_HOME", "/home/u/.local/share")];
        assert_eq!(
            found(Flavour::Xcsh, &xdg),
            ["/home/u/.local/share/xcsh", "/home/u/.xcsh/agent"]
        );
        assert_eq!(
            found(Flavour::Omp, &xdg),
            ["/home/u/.local/share/omp", "/home/u/.omp/agent"]
        );
        assert_eq!(
            found(Flavour::Omp, &[("PI_CONFIG_DIR", ".config/omp")]),
            ["/home/u/.config/omp/agent"]
        );
        assert_eq!(
            found(Flavour::Omp, &[("PI_CONFIG_DIR", "conf")]),
            ["/home/u/.omp/agent"]
        );
        assert_eq!(
            found(Flavour::Pi, &[("PI_CODING_AGENT_SESSION_DIR", "/s")]),
            ["/s", "/home/u/.pi/agent"]
        );
        let usual = [("PI_CODING_AGENT_SESSION_DIR", "~/.pi/agent/sessions")];
        assert_eq!(found(Flavour::Pi, &usual), ["/home/u/.pi/agent"]);
    }

    #[test]
    fn without_a_home_there_is_nothing_to_look_at() {
        assert!(roots(Flavour::Pi, &Environment::default()).is_empty());
    }
}
