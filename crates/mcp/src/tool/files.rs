//! `file_history`: which sessions read or changed a file, and how many of its lines they wrote.

use std::collections::HashMap;

use boswell_app::blame::BlameRequest;
use boswell_app::file_history::{FileHistoryRequest, FileUse, FileUser};
use boswell_app::list::SessionFilter;

use super::{ToolContext, ToolResult, asked};
use crate::arguments::Arguments;
use crate::budget::cut_to_tokens;
use crate::frame::FramedText;

/// Calls of a session that are named.
const USES: usize = 4;
/// Tokens of a session, and of the name in it.
const SHARE: usize = 120;
const NAME: usize = 12;

pub(super) fn file_history(cx: &ToolContext<'_>, arguments: &Arguments) -> ToolResult {
    arguments.only(&["path", "project", "limit"])?;
    let path = arguments.needed("path")?;
    let filter = cx.scope.filter(arguments)?;
    let request = FileHistoryRequest {
        path: path.clone(),
        filter: filter.clone(),
        limit: arguments.number("limit", 10, (1, 30))?,
    };
    let history = asked(cx.scope.app.file_history(&request, cx.cancel))?;
    let written = written_lines(cx, &path, filter);
    let asking = cx.scope.asking();
    let mut answer = cx.answer();
    let users = history.users.iter();
    let users = users.filter(|user| !asking.contains(&user.session));
    let lines: Vec<String> = users
        .map(|user| lines_of(cx, user, written.get(&user.session).copied(), &answer))
        .collect();
    match lines.is_empty() {
        true => answer.plain("no session read or changed this file through a tool"),
        false => answer.quote("sessions", lines.join("\n")),
    }
    if !history.is_complete {
        answer.plain("complete: false (there are more; name more of the path, or raise `limit`)");
    }
    Ok(answer.finish()?)
}

/// How many lines of the present file each session wrote. Only of a file that exists in the current
/// folder, or at this path; nothing of its text is shown.
fn written_lines(
    cx: &ToolContext<'_>,
    path: &str,
    filter: SessionFilter,
) -> HashMap<String, usize> {
    let request = BlameRequest {
        file: path.into(),
        lines: None,
        filter,
    };
    let blame = cx.scope.app.blame(&request, cx.cancel);
    let sessions = blame.map(|it| it.value.sessions).unwrap_or_default();
    sessions
        .into_iter()
        .map(|it| (it.session, it.lines))
        .collect()
}

fn lines_of(
    cx: &ToolContext<'_>,
    user: &FileUser,
    written: Option<usize>,
    answer: &FramedText<'_>,
) -> String {
    let found = cx
        .scope
        .app
        .reachable_session(&user.session, cx.scope.reach);
    let name = found.map(|it| it.value.name).unwrap_or_default();
    let changes = user.uses.iter().filter(|it| it.is_change).count();
    let reads = user.uses.len() - changes;
    let newest = user.uses.first().and_then(|it| it.at);
    let written = written.map(|lines| format!(", wrote {lines} of its lines"));
    let mut lines = vec![format!(
        "{} · {} · {} · changed ×{changes}, read ×{reads}{} · {}",
        answer.line(&user.session),
        cx.ago(newest),
        answer.line(&cx.scope.project_name(user.project.as_deref())),
        written.unwrap_or_default(),
        cut_to_tokens(&answer.line(&name), NAME),
    )];
    lines.extend(uses_of(user, answer));
    let lines: Vec<String> = lines
        .iter()
        .map(|it| cut_to_tokens(it, SHARE / 2))
        .collect();
    lines.join("\n")
}

/// Returns a line for each of the most telling uses: changes, then reads.
fn uses_of(user: &FileUser, answer: &FramedText<'_>) -> Vec<String> {
    let mut uses: Vec<&FileUse> = user.uses.iter().collect();
    uses.sort_by_key(|it| !it.is_change);
    let line = |it: &&FileUse| {
        let changed = it.lines.map(|(plus, minus)| format!(" +{plus} −{minus}"));
        let path = below(user.project.as_deref(), &it.path);
        let line = answer.line(&format!("#{} {} {path}", it.entry, it.tool));
        format!("  {line}{}", changed.unwrap_or_default())
    };
    uses.iter().take(USES).map(line).collect()
}

/// Returns a path below the project of its session; as it is if it is elsewhere.
fn below<'p>(project: Option<&str>, path: &'p str) -> &'p str {
    let project = project.map(|it| it.trim_end_matches('/'));
    let below = project.and_then(|it| path.strip_prefix(it)?.strip_prefix('/'));
    below.unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_below_its_project() {
        assert_eq!(below(Some("/w/shop"), "/w/shop/src/a.rs"), "src/a.rs");
        assert_eq!(below(Some("/w/shop/"), "/w/shop/a.rs"), "a.rs");
        for elsewhere in ["/w/shopping/a.rs", "/etc/hosts", "src/a.rs"] {
            assert_eq!(below(Some("/w/shop"), elsewhere), elsewhere);
        }
        assert_eq!(below(None, "/a"), "/a");
    }
}
