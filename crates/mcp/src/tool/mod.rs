//! The answers of the tools, one file each.

mod entry_text;
mod files;
mod lists;
mod notes;
mod outline;
mod read;
mod search;
mod usage;

pub(crate) use outline::of_session;
pub(crate) use read::one_entry;

use boswell_app::redaction::Redactor;
use boswell_app::time::ago;
use boswell_app::{AppResult, Cancel};
use boswell_model::{Error, Instant};

use crate::arguments::Arguments;
use crate::frame::FramedText;
use crate::scope::Scope;
use crate::threads::CallCost;

/// The longest answer in characters: clients refuse or spill what is longer.
pub(crate) const LONGEST: usize = 20_000;
/// The longest text of an error.
const LONGEST_ERROR: usize = 600;

/// What a call needs.
#[derive(Debug)]
pub(crate) struct ToolContext<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) redactor: &'a Redactor,
    pub(crate) cancel: &'a Cancel,
}

/// Why a call has no answer.
#[derive(Debug)]
pub(crate) enum ToolError {
    /// An error of this crate: its text contains nothing of a session.
    Own(Error),
    /// An error of a request: it may quote a session, a path or the query.
    Request(Error),
    /// There is no such tool.
    Unknown,
}

impl From<Error> for ToolError {
    fn from(error: Error) -> ToolError {
        ToolError::Own(error)
    }
}

/// The text of an answer.
pub(crate) type ToolResult = Result<String, ToolError>;

/// Returns the answer of a request.
pub(crate) fn asked<T>(answer: AppResult<T>) -> Result<T, ToolError> {
    match answer {
        Ok(answer) => Ok(answer.value),
        Err(refusal) => Err(ToolError::Request(refusal.error)),
    }
}

/// Answers a call.
pub(crate) fn call(cx: &ToolContext<'_>, name: &str, arguments: &Arguments) -> ToolResult {
    match name {
        "search_sessions" => search::search_sessions(cx, arguments),
        "list_sessions" => lists::list_sessions(cx, arguments),
        "list_projects" => lists::list_projects(cx, arguments),
        "file_history" => files::file_history(cx, arguments),
        "usage_stats" => usage::usage_stats(cx, arguments),
        "outline_session" => outline::outline_session(cx, arguments),
        "read_session" => read::read_session(cx, arguments),
        "read_entry" => read::read_entry(cx, arguments),
        "tag_session" => notes::tag_session(cx, arguments),
        "note_session" => notes::note_session(cx, arguments),
        _ => Err(ToolError::Unknown),
    }
}

/// Returns what a call costs.
pub(crate) fn cost(name: &str) -> CallCost {
    match name {
        "search_sessions" | "file_history" | "usage_stats" => CallCost::Search,
        "tag_session" | "note_session" => CallCost::Change,
        _ => CallCost::Read,
    }
}

impl ToolContext<'_> {
    /// A new answer.
    fn answer(&self) -> FramedText<'_> {
        FramedText::new(self.redactor)
    }

    /// How long ago a time is; a date if it is long ago.
    fn ago(&self, at: Option<Instant>) -> String {
        let app = &self.scope.app;
        at.map_or_else(|| "no time".to_owned(), |at| ago(at, app.now(), app.zone()))
    }
}

/// The text of an error: that of a request is in a frame.
pub(crate) fn error_text(redactor: &Redactor, error: &Error, is_own: bool) -> String {
    let mut answer = FramedText::new(redactor);
    let text = match error.reason() {
        Some(reason) => format!("{error}; {reason}"),
        None => error.to_string(),
    };
    if is_own {
        return format!("error: {text}");
    }
    answer.plain(format!("error: {}", error.kind().word()));
    let text: String = answer.line(&text).chars().take(LONGEST_ERROR).collect();
    answer.quote("error", text);
    answer.finish().unwrap_or_else(|_| "error".to_owned())
}

/// Returns the entry that an argument names: `ENTRY`, or `REF#ENTRY` as answers cite it.
fn entry_name(text: &str) -> String {
    match text.split_once('#') {
        Some((session, entry)) if !session.is_empty() => entry.to_owned(),
        _ => text.to_owned(),
    }
}

/// Returns the session that an argument names: `REF`, or `REF#ENTRY`.
fn session_name(text: &str) -> &str {
    text.split_once('#').map_or(text, |(session, _)| session)
}

/// Returns the lines that fit into so many tokens: the first ones, then the newest, and how many
/// are left out between them.
fn fit_lines(lines: &[String], most: usize, first: usize) -> Vec<String> {
    let cost = |line: &String| crate::budget::tokens(line) + 1;
    if lines.iter().map(cost).sum::<usize>() <= most {
        return lines.to_vec();
    }
    // The line that tells how many are left out.
    let mut room = most.saturating_sub(8);
    let mut head = Vec::new();
    for line in lines.iter().take(first) {
        if cost(line) > room {
            break;
        }
        room -= cost(line);
        head.push(line.clone());
    }
    let mut tail = Vec::new();
    for line in lines.iter().skip(head.len()).rev() {
        if cost(line) > room {
            break;
        }
        room -= cost(line);
        tail.push(line.clone());
    }
    let left_out = lines.len() - head.len() - tail.len();
    head.push(format!("… {left_out} left out"));
    tail.reverse();
    head.append(&mut tail);
    head
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::tokens;

    #[test]
    fn a_citation_names_session_and_entry() {
        assert_eq!(entry_name("claude:a#b"), "b");
        assert_eq!(entry_name("claude:a##12"), "#12");
        assert_eq!(entry_name("#12"), "#12");
        assert_eq!(entry_name("b"), "b");
        assert_eq!(session_name("claude:a##12"), "claude:a");
        assert_eq!(session_name("claude:a"), "claude:a");
    }

    #[test]
    fn lines_that_do_not_fit_are_counted() {
        let lines: Vec<String> = (0..50).map(|number| format!("line {number}")).collect();
        let fitted = fit_lines(&lines, 40, 2);
        assert!(fitted.iter().map(|it| tokens(it) + 1).sum::<usize>() <= 40);
        assert_eq!(fitted[0], "line 0");
        assert_eq!(fitted.last().unwrap(), "line 49");
        assert!(fitted[2].starts_with("… "), "{fitted:?}");
        assert_eq!(fit_lines(&lines[..2], 40, 2), lines[..2]);
    }
}
