//! `search_sessions`: hits with the text around them.

use std::collections::HashMap;

use boswell_app::search::{HitShape, QueryForm, SearchRequest};
use boswell_app::show::{ShowRequest, ShownItem};

use super::entry_text::{ToolDetail, entry_text};
use super::{ToolContext, ToolError, ToolResult, asked};
use crate::arguments::{Arguments, wrong};
use crate::budget::{cut_to_tokens, tokens};
use crate::cursor;
use crate::frame::{FRAME_TOKENS, FramedText};

/// Hits, unless another number is asked for, and the tokens that they may cost.
const DEFAULT_HITS: usize = 8;
const BUDGET: usize = 900;
/// Tokens of the lines after the hits.
const FOOT_TOKENS: usize = 60;
/// Characters before a match that are shown.
const BEFORE: usize = 60;

pub(super) fn search_sessions(cx: &ToolContext<'_>, arguments: &Arguments) -> ToolResult {
    arguments.only(&[
        "query", "in", "mode", "limit", "cursor", "exclude", "project", "agent", "since", "until",
    ])?;
    let limit = arguments.number("limit", DEFAULT_HITS, (1, 20))?;
    let found = asked(
        cx.scope
            .app
            .search(&request(cx, arguments, limit)?, cx.cancel),
    )?;
    let left_out = cx.scope.left_out(arguments)?;
    let mut answer = cx.answer();
    let is_shown = |hit: &&HitShape| !left_out.contains(&hit.session);
    let is_near = |hit: &HitShape| cx.scope.app.is_current_project(hit.project.as_deref());
    let mut hits: Vec<&HitShape> = found.hits.iter().filter(is_shown).collect();
    // Those of this project first; the order among the others stays.
    hits.sort_by_key(|hit| !is_near(hit));
    let budget = BUDGET * limit.max(DEFAULT_HITS) / DEFAULT_HITS;
    let room = budget.saturating_sub(FRAME_TOKENS + FOOT_TOKENS);
    let share = room / hits.len().max(1);
    let mut names = Names::default();
    let lines: Vec<String> = hits
        .iter()
        .map(|hit| lines_of(cx, (hit, &mut names), share, &answer))
        .collect();
    if lines.is_empty() {
        answer.plain("nothing was found");
        suggest(cx, &found.nearest, &mut answer);
    } else {
        answer.quote("hits", lines.join("\n"));
    }
    if !found.page.complete {
        answer.plain("complete: false (the time was over before everything was searched)");
    }
    if let Some(next) = &found.page.cursor {
        answer.plain(format!("more: cursor={}", cursor::encode(next)));
    }
    if !lines.is_empty() {
        answer.plain("next: read_session(session=REF, around=ENTRY) of a hit REF#ENTRY");
    }
    found.index_a_little();
    Ok(answer.finish()?)
}

fn request(
    cx: &ToolContext<'_>,
    arguments: &Arguments,
    limit: usize,
) -> Result<SearchRequest, ToolError> {
    let form = match arguments.word("mode", &["words", "substring", "regex"])? {
        "substring" => QueryForm::Substring,
        "regex" => QueryForm::Regex,
        _ => QueryForm::Words,
    };
    let fields = arguments.text("in")?.unwrap_or_default();
    let fields = fields.split([',', ' ']).map(str::trim);
    let decoded = arguments.text("cursor")?.map(|it| cursor::decode(&it));
    if decoded == Some(None) {
        return Err(wrong("this is not a cursor of an answer").into());
    }
    Ok(SearchRequest {
        query: arguments.needed("query")?,
        form,
        fields: fields
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect(),
        filter: cx.scope.filter(arguments)?,
        limit,
        cursor: decoded.flatten(),
        ..SearchRequest::default()
    })
}

/// Full names of sessions: several hits may be of one.
type Names = HashMap<String, String>;

/// A hit on two lines, within a number of tokens.
fn lines_of(
    cx: &ToolContext<'_>,
    (hit, names): (&HitShape, &mut Names),
    share: usize,
    answer: &FramedText<'_>,
) -> String {
    let project = cx.scope.project_name(hit.project.as_deref());
    let project = match hit.field {
        "memory" => answer.key_line(&project),
        _ => answer.line(&project),
    };
    let when = cx.ago(hit.at);
    let Some(entry) = hit.entry.as_ref().filter(|_| hit.field != "memory") else {
        let name = match hit.field {
            "memory" => format!("memory page {}", file_name(&hit.session)),
            _ => hit.session.clone(),
        };
        let name = answer.line(&format!("{name} · {} · {when} · {project}", hit.field));
        return cut_to_tokens(&name, share);
    };
    let name = names
        .entry(hit.session.clone())
        .or_insert_with(|| full_name(cx, hit));
    let citation = answer.line(&format!("{}#{entry}", hit.session));
    let about = format!("{citation} · {} · {when} · {project}", hit.field);
    let head = format!("{about} · {}", cut_to_tokens(&answer.line(name), 12));
    let left = share.saturating_sub(tokens(&head) + 2);
    let text = entry_of(cx, hit, entry, answer).unwrap_or_default();
    let snippet = cut_to_tokens(&around(&text, needle_of(hit), left * 4), left);
    match snippet.is_empty() {
        true => head,
        false => format!("{head}\n  {snippet}"),
    }
}

/// The text that was found.
fn needle_of(hit: &HitShape) -> &str {
    let range = hit.ranges.first();
    let found = range.and_then(|range| hit.snippet.get(range.clone()));
    found.unwrap_or_default()
}

/// The name of a session, before it was cut for a list.
fn full_name(cx: &ToolContext<'_>, hit: &HitShape) -> String {
    let found = cx.scope.app.reachable_session(&hit.session, cx.scope.reach);
    found.map_or_else(|_| String::new(), |answer| answer.value.name)
}

/// The whole text of the entry, cleaned, on one line. The snippet of the index is cut already: a
/// key at its edge could not be recognised.
fn entry_of(
    cx: &ToolContext<'_>,
    hit: &HitShape,
    entry: &str,
    answer: &FramedText<'_>,
) -> Option<String> {
    if cx.cancel.is_cancelled() {
        return None;
    }
    let request = ShowRequest {
        session: hit.session.clone(),
        entry: Some(entry.to_owned()),
        ..ShowRequest::default()
    };
    let mut text = None;
    let shown = cx.scope.app.show(&request, &mut |item| {
        if let ShownItem::Entry { entry, .. } = item {
            text = entry
                .view
                .map(|view| entry_text(view, ToolDetail::Full, answer));
        }
        Ok(false)
    });
    let _ = shown.ok()?;
    let words = text?.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(words)
}

/// The part of a text around the first place that has these words, in upper or lower case; the
/// beginning if there is none.
fn around(text: &str, needle: &str, most: usize) -> String {
    let lower = |text: &str| -> Vec<char> {
        let first = |c: char| c.to_lowercase().next().unwrap_or(c);
        text.chars().map(first).collect()
    };
    let needle = lower(&needle.split_whitespace().collect::<Vec<_>>().join(" "));
    let hay = lower(text);
    let place = match needle.is_empty() {
        true => None,
        false => hay.windows(needle.len()).position(|it| it == needle),
    };
    let start = place.unwrap_or(0).saturating_sub(BEFORE);
    let part: String = text.chars().skip(start).take(most).collect();
    match start {
        0 => part,
        _ => format!("…{part}"),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Words that do occur. They come from sessions of every project.
fn suggest(
    cx: &ToolContext<'_>,
    nearest: &[boswell_app::search::Suggestions],
    answer: &mut FramedText<'_>,
) {
    let near: Vec<&str> = nearest
        .iter()
        .flat_map(|it| it.near.iter().map(String::as_str))
        .collect();
    if near.is_empty() || cx.scope.is_only_here() {
        return;
    }
    let words = answer.line(&near.join(", "));
    answer.quote("similar words", cut_to_tokens(&words, 60));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_around_its_words() {
        let text = format!(
            "{} The LEASE is lost {}",
            "a ".repeat(100),
            "b ".repeat(100)
        );
        let part = around(&text, "lease", 100);
        assert!(
            part.starts_with('…') && part.contains("The LEASE is"),
            "{part}"
        );
        assert_eq!(around("short", "x", 100), "short");
        assert_eq!(around("İ lease", "lease", 100), "İ lease");
    }
}
