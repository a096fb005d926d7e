//! The command of the agent that resumes a conversation.

use boswell_model::SessionMeta;

use crate::{ResumeCommand, SessionLocation};

use super::Flavour;
use super::layout::id_is_valid;

/// Returns the agent's own command. `None` if the id could be parsed as an option or a path, and
/// for a file without a header: no program of the family finds such a file, and each would
/// overwrite it with a new session if it were given the path.
///
/// pi's `--resume` takes no argument and opens a picker; `--session` takes an id. All programs look
/// for the id in the project of their working folder, and ask whether to fork if the session
/// belongs to another project.
pub(super) fn resume(
    flavour: Flavour,
    meta: &SessionMeta,
    location: &SessionLocation,
) -> Option<ResumeCommand> {
    let (program, option) = match flavour {
        Flavour::Pi => ("pi", "--session"),
        Flavour::Omp => ("omp", "--resume"),
        Flavour::Xcsh => ("xcsh", "--resume"),
        Flavour::Boswell => return None,
    };
    // An agent does not resume the transcript of a subagent with a user.
    if location.hidden == Some("subagent") {
        return None;
    }
    let id = meta.id.as_deref()?;
    id_is_valid(id).then(|| ResumeCommand {
        argv: vec![program.to_owned(), option.to_owned(), id.to_owned()],
        cwd: meta.project.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::location;
    use super::*;

    fn argv(flavour: Flavour, id: &str) -> Option<String> {
        let meta = SessionMeta {
            id: Some(id.to_owned()),
            project: Some("/p".to_owned()),
            ..SessionMeta::default()
        };
        let command = resume(flavour, &meta, &location("file-name"))?;
        assert_eq!(command.cwd.as_deref(), Some("/p"));
        Some(command.argv.join(" "))
    }

    #[test]
    fn each_agent_has_its_own_option() {
        assert_eq!(
            argv(Flavour::Pi, "abc").as_deref(),
            Some("pi --session abc")
        );
        assert_eq!(
            argv(Flavour::Omp, "abc").as_deref(),
            Some("omp --resume abc")
        );
        assert_eq!(
            argv(Flavour::Xcsh, "abc").as_deref(),
            Some("xcsh --resume abc")
        );
        assert_eq!(argv(Flavour::Boswell, "abc"), None);
    }

    #[test]
    fn an_id_that_looks_like_an_option_or_a_path_is_never_used() {
        for id in ["-r", "--yolo", "/etc/passwd", "../x", "x.jsonl", ""] {
            assert_eq!(argv(Flavour::Pi, id), None, "{id:?}");
        }
    }

    #[test]
    fn a_file_without_a_header_and_subagents_do_not_resume() {
        assert_eq!(
            resume(Flavour::Pi, &SessionMeta::default(), &location("file-name")),
            None
        );
        let meta = SessionMeta {
            id: Some("x".to_owned()),
            ..SessionMeta::default()
        };
        assert!(resume(Flavour::Xcsh, &meta, &location("x")).is_some());
        let hidden = SessionLocation {
            hidden: Some("subagent"),
            ..location("x")
        };
        assert_eq!(resume(Flavour::Xcsh, &meta, &hidden), None);
    }
}
