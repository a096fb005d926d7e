//! `list_sessions`, `list_projects`.

use boswell_app::list::{ListRequest, SessionRow};

use super::{ToolContext, ToolResult, asked};
use crate::arguments::{Arguments, wrong};
use crate::budget::cut_to_tokens;
use crate::cursor;
use crate::frame::FramedText;

/// Tokens of a line.
const LINE: usize = 60;

pub(super) fn list_sessions(cx: &ToolContext<'_>, arguments: &Arguments) -> ToolResult {
    arguments.only(&[
        "limit", "cursor", "exclude", "project", "agent", "since", "until",
    ])?;
    let decoded = arguments.text("cursor")?.map(|it| cursor::decode(&it));
    if decoded == Some(None) {
        return Err(wrong("this is not a cursor of an answer").into());
    }
    let request = ListRequest {
        filter: cx.scope.filter(arguments)?,
        limit: Some(arguments.number("limit", 15, (1, 50))?),
        cursor: decoded.flatten(),
        ..ListRequest::default()
    };
    let page = asked(cx.scope.app.list(&request))?;
    let left_out = cx.scope.left_out(arguments)?;
    let mut answer = cx.answer();
    let is_shown = |row: &&SessionRow| {
        let mut sides = row.conversation.sides();
        !sides.any(|side| left_out.contains(&side.reference.to_string()))
    };
    let rows = page.rows.iter().filter(is_shown);
    let lines: Vec<String> = rows.map(|row| line_of(cx, row, &answer)).collect();
    match lines.is_empty() {
        true => answer.plain("no session was found"),
        false => answer.quote("sessions", lines.join("\n")),
    }
    if let Some(next) = &page.page.cursor {
        answer.plain(format!("more: cursor={}", cursor::encode(next)));
    }
    Ok(answer.finish()?)
}

fn line_of(cx: &ToolContext<'_>, row: &SessionRow, answer: &FramedText<'_>) -> String {
    let front = &row.conversation.front.1;
    let reference = format!("{}:{}", front.reference.dialect, row.short_id);
    let mut words = vec![
        answer.line(&reference),
        cx.ago(front.last_active()),
        answer.line(&cx.scope.project_name(front.meta.project.as_deref())),
        cut_to_tokens(&answer.line(&front.name()), 20),
    ];
    if !front.meta.tags.is_empty() {
        words.push(answer.line(&format!("tags: {}", front.meta.tags.join(", "))));
    }
    cut_to_tokens(&words.join(" · "), LINE)
}

pub(super) fn list_projects(cx: &ToolContext<'_>, arguments: &Arguments) -> ToolResult {
    arguments.only(&["limit"])?;
    let limit = arguments.number("limit", 20, (1, 100))?;
    let all = asked(cx.scope.app.projects())?.projects;
    let mut answer = cx.answer();
    let is_shown = |project: Option<&str>| cx.scope.app.is_in_reach(project, cx.scope.reach);
    let mut lines = Vec::new();
    let mut left_out = 0;
    for project in all.iter().filter(|it| is_shown(it.project.as_deref())) {
        if lines.len() == limit {
            left_out += 1;
            continue;
        }
        let folder = project.project.as_deref().unwrap_or("(no folder recorded)");
        let line = format!(
            "{folder} · {} sessions · {} · {}",
            project.sessions,
            cx.ago(project.last_active),
            project.agents.join(", ")
        );
        lines.push(cut_to_tokens(&answer.line(&line), LINE));
    }
    match lines.is_empty() {
        true => answer.plain("no project was found"),
        false => answer.quote("projects", lines.join("\n")),
    }
    if left_out > 0 {
        answer.plain(format!("{left_out} more projects; raise `limit`"));
    }
    Ok(answer.finish()?)
}
