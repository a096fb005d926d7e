//! Reports versions of the client that send nothing of a session which contains messages, or
//! nothing after some line.
//!
//! They are reported as `unsent`.

use boswell_model::{Flags, Head, Problem, ProblemKind, Result, SessionView};

use super::chain::is_message;
use super::client::{Client, whole_loss};

/// Reports the versions in one problem.
pub(super) fn check(view: &SessionView<'_>, problems: &mut Vec<Problem>) -> Result<()> {
    let is_said = |head: &Head| is_message(head.kind) && !head.flags.has(Flags::SIDECHAIN);
    if !view.log.heads.iter().any(is_said) {
        return Ok(());
    }
    let mut losses = Vec::new();
    for client in Client::ALL {
        let words = whole_loss(view, client)?;
        losses.extend(words.map(|words| format!("{} {words}", client.name())));
    }
    if !losses.is_empty() {
        let detail = format!("Claude Code {}", losses.join("; "));
        problems.push(Problem::of_file(ProblemKind::Unsent, detail));
    }
    Ok(())
}

/// Returns the versions that it reports.
pub(super) fn readers(view: &SessionView<'_>) -> Result<Vec<&'static str>> {
    let mut readers = Vec::new();
    for client in Client::ALL {
        readers.extend(whole_loss(view, client)?.map(|_| client.name()));
    }
    Ok(readers)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Bytes, base, file, read_bytes};
    use super::*;

    fn found(lines: &[String]) -> Vec<String> {
        let bytes = file(lines);
        let read = read_bytes(&bytes);
        let mut problems = Vec::new();
        check(&read.view(&Bytes(&bytes)), &mut problems).unwrap();
        problems.into_iter().map(|problem| problem.detail).collect()
    }

    fn changed(change: impl Fn(&str) -> String) -> Vec<String> {
        base().iter().map(|line| change(line)).collect()
    }

    #[test]
    fn a_sound_session_is_sent_by_every_version() {
        assert_eq!(found(&base()), [] as [&str; 0]);
    }

    #[test]
    fn without_times_new_versions_find_no_conversation() {
        let lines = changed(|line| line.replace("\"timestamp\"", "\"time\""));
        assert_eq!(
            found(&lines),
            ["Claude Code 2.1.150 finds no conversation in the file; \
              2.1.325 finds no conversation in the file"]
        );
    }

    #[test]
    fn a_line_of_null_stops_one_version_and_breaks_the_next() {
        let mut lines = base();
        lines.insert(4, "null".to_owned());
        assert_eq!(
            found(&lines),
            ["Claude Code 2.1.50 reads nothing after line 5; \
              2.1.150 fails when it resumes the file"]
        );
    }

    #[test]
    fn a_message_that_is_null_breaks_old_versions() {
        let null = |line: &str| match line.split_once("\"message\"") {
            Some((head, _)) if line.contains("\"u2\",\"timestamp\"") => {
                format!("{head}\"message\":null}}")
            }
            _ => line.to_owned(),
        };
        assert_eq!(
            found(&changed(null)),
            ["Claude Code 2.1.50 fails when it resumes the file; \
              2.1.150 fails when it resumes the file"]
        );
    }
}
