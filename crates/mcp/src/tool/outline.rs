//! `outline_session`: what was asked and done in a session.

use boswell_app::outline::{EditedFile, FailureShape, OutlineRequest, OutlineShape};

use super::{ToolContext, ToolResult, asked, fit_lines, session_name};
use crate::arguments::Arguments;
use crate::budget::{cut_to_tokens, tokens};
use crate::frame::{FRAME_TOKENS, FramedText, safe_head};

/// Tokens of an outline, and of its parts.
const BUDGET: usize = 700;
const FOOT_TOKENS: usize = 40;
const NAME: usize = 24;
const SUMMARY: usize = 50;
const PROMPTS: usize = 250;
const PROMPT: usize = 24;
const FILES: usize = 90;
const FAILURES: usize = 80;
const OPEN_ENDS: usize = 60;

pub(super) fn outline_session(cx: &ToolContext<'_>, arguments: &Arguments) -> ToolResult {
    arguments.only(&["session"])?;
    let named = arguments.needed("session")?;
    let session = cx.scope.session(session_name(&named))?;
    of_session(cx, &session.reference.to_string())
}

/// The outline of a session that may be shown.
pub(crate) fn of_session(cx: &ToolContext<'_>, reference: &str) -> ToolResult {
    let request = OutlineRequest {
        session: reference.to_owned(),
        ..OutlineRequest::default()
    };
    let outline = asked(cx.scope.app.outline(&request))?;
    let mut answer = cx.answer();
    let mut lines = about(cx, &outline, &answer);
    section(
        &mut lines,
        "prompts",
        &prompts(&outline, &answer),
        (PROMPTS, 1),
    );
    section(&mut lines, "changed", &files(&outline, &answer), (FILES, 0));
    let failures = outline.failures.iter();
    let failures: Vec<String> = failures.map(|it| failure(it, &answer)).collect();
    section(&mut lines, "failed last", &failures, (FAILURES, 0));
    let open = outline.open_ends.iter();
    let open: Vec<String> = open
        .map(|it| cut_to_tokens(&answer.line(it), OPEN_ENDS / 2))
        .collect();
    section(&mut lines, "open", &open, (OPEN_ENDS, 0));
    let used: usize = lines.iter().map(|line| tokens(line) + 1).sum();
    let left = BUDGET.saturating_sub(FRAME_TOKENS + FOOT_TOKENS + used);
    if let Some(last) = &outline.last_answer {
        let text = format!("last answer #{}: {}", last.entry, last.text);
        lines.push(cut_to_tokens(&answer.line(&text), left));
    }
    answer.quote(&outline.session, lines.join("\n"));
    let reference = safe_head(&outline.session);
    answer.plain(format!(
        "next: read_session(session=\"{reference}\", around=ENTRY)"
    ));
    Ok(answer.finish()?)
}

fn about(cx: &ToolContext<'_>, outline: &OutlineShape, answer: &FramedText<'_>) -> Vec<String> {
    let project = cx.scope.project_name(outline.project.as_deref());
    let mut about = vec![
        answer.line(&outline.agent),
        answer.line(&project),
        cx.ago(outline.last_active),
    ];
    if !outline.compactions.is_empty() {
        about.push(format!("compacted ×{}", outline.compactions.len()));
    }
    if outline.other_branches > 0 {
        about.push(format!("other branches: {}", outline.other_branches));
    }
    let mut lines = vec![
        cut_to_tokens(&answer.line(&outline.name), NAME),
        cut_to_tokens(&about.join(" · "), NAME),
    ];
    let summary = outline.summary.as_ref();
    lines.extend(summary.map(|it| cut_to_tokens(&answer.line(it), SUMMARY)));
    lines
}

fn prompts(outline: &OutlineShape, answer: &FramedText<'_>) -> Vec<String> {
    let prompts = outline.prompts.iter();
    prompts
        .map(|prompt| {
            let place = answer.line(&format!("{}. #{}", prompt.number, prompt.entry));
            let text = cut_to_tokens(&answer.line(&prompt.text), PROMPT);
            format!("{place} {text}")
        })
        .collect()
}

fn files(outline: &OutlineShape, answer: &FramedText<'_>) -> Vec<String> {
    let line = |file: &EditedFile| {
        let project = outline.project.as_deref();
        let below = project.and_then(|it| file.path.strip_prefix(it)?.strip_prefix('/'));
        let path = answer.line(below.unwrap_or(&file.path));
        match (file.added, file.removed) {
            (Some(added), Some(removed)) => format!("{path} +{added} −{removed}"),
            _ => path,
        }
    };
    outline.files.iter().map(line).collect()
}

fn failure(failure: &FailureShape, answer: &FramedText<'_>) -> String {
    let text = format!(
        "#{} {} {}: {}",
        failure.entry, failure.tool, failure.subject, failure.said
    );
    cut_to_tokens(&answer.line(&text), FAILURES / 2)
}

/// A section, if it has anything, within a number of tokens.
fn section(all: &mut Vec<String>, title: &str, lines: &[String], (most, first): (usize, usize)) {
    if lines.is_empty() {
        return;
    }
    all.push(format!("{title}:"));
    all.extend(fit_lines(lines, most, first));
}
