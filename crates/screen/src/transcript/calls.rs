//! Tool calls: one line about each, and the change of an edit as a diff.

use boswell_app::text::{cut, one_line};
use boswell_app::tool_line::ToolLine;
use boswell_model::ToolInput;
use boswell_model::json::{Raw, RawKind};

use super::shortened;

/// Members that contain a text before and after an edit, by the names that agents use.
const EDITS: [(&str, &str); 3] = [
    ("old_string", "new_string"),
    ("oldText", "newText"),
    ("old_str", "new_str"),
];

/// Lines around a change that are shown with it.
const CONTEXT: usize = 2;

/// Returns the first line that is not empty.
pub(super) fn first_line(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    one_line(&cut(first.unwrap_or(""), 400))
}

/// Returns one line about a call, and its details: an edit as a diff, else its arguments.
pub(super) fn call(name: &str, input: &ToolInput) -> (String, String) {
    let line = ToolLine::of(input);
    let changed = line
        .changed
        .map(|(plus, minus)| format!("  +{plus} −{minus}"));
    let subject = first_line(&line.subject);
    let head = format!(
        "{} {subject}{}",
        one_line(name),
        changed.unwrap_or_default()
    );
    let Some(json) = input.json() else {
        return (head, shortened(input.text()));
    };
    let text = diff(&json).unwrap_or_else(|| arguments(&json));
    (head, shortened(&text))
}

fn text_of(json: &Raw<'_>, key: &str) -> Option<String> {
    Some(json.get(key)?.text()?.into_owned())
}

/// Returns the change of an edit, of several edits, of a patch or of a new file as lines that begin
/// with `+ `, `- ` or blanks.
fn diff(json: &Raw<'_>) -> Option<String> {
    if let Some(patch) = text_of(json, "input").filter(|it| it.starts_with("*** Begin Patch")) {
        return Some(of_patch(&patch));
    }
    if let Some(edit) = edit(json) {
        return Some(edit);
    }
    if let Some(list) = json.get("edits") {
        let edits: Vec<String> = list.items().filter_map(|it| edit(&it)).collect();
        return (!edits.is_empty()).then(|| edits.join("\n  ⋯\n"));
    }
    let path = ["file_path", "path", "filename"].iter();
    let is_file = path.clone().any(|key| json.get(key).is_some());
    let written = ["content", "file_text"].iter();
    let written = written
        .filter(|_| is_file)
        .find_map(|key| text_of(json, key))?;
    Some(lines_with("+ ", written.lines()))
}

fn edit(json: &Raw<'_>) -> Option<String> {
    let (old, new) = EDITS
        .iter()
        .find_map(|(old, new)| Some((text_of(json, old)?, text_of(json, new)?)))?;
    Some(changed(&old, &new))
}

fn lines_with<'t>(sign: &str, lines: impl Iterator<Item = &'t str>) -> String {
    let lines: Vec<String> = lines.map(|it| format!("{sign}{it}")).collect();
    lines.join("\n")
}

/// Returns what is between the lines that both texts begin and end with, and a few of these.
pub(super) fn changed(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let alike = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - alike;
    let ends = old.iter().rev().zip(new.iter().rev());
    let ends = ends.take_while(|(a, b)| a == b).count().min(rest);
    let part = |all: &[&str], from: usize, to: usize, sign: &str| {
        lines_with(
            sign,
            all.iter().skip(from).take(to.saturating_sub(from)).copied(),
        )
    };
    let pieces = [
        part(&old, alike.saturating_sub(CONTEXT), alike, "  "),
        part(&old, alike, old.len() - ends, "- "),
        part(&new, alike, new.len() - ends, "+ "),
        part(
            &new,
            new.len() - ends,
            (new.len() - ends + CONTEXT).min(new.len()),
            "  ",
        ),
    ];
    let pieces: Vec<String> = pieces.into_iter().filter(|it| !it.is_empty()).collect();
    pieces.join("\n")
}

/// Returns a patch as Codex writes it, with a blank behind the sign of each line.
fn of_patch(patch: &str) -> String {
    let lines = patch.lines().map(|line| match line.get(..1) {
        Some("+") => format!("+ {}", line.get(1..).unwrap_or("")),
        Some("-") => format!("- {}", line.get(1..).unwrap_or("")),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the arguments of a call, a member on each line; text without quotes.
fn arguments(json: &Raw<'_>) -> String {
    if json.kind() != RawKind::Object {
        return String::from_utf8_lossy(json.bytes()).into_owned();
    }
    let lines = json.members().map(|(key, value)| {
        let text = value.text();
        let text = text.unwrap_or_else(|| String::from_utf8_lossy(value.bytes()));
        format!("{}: {text}", key.to_text())
    });
    lines.collect::<Vec<_>>().join("\n")
}
