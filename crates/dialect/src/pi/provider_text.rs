//! The text that a model gets for messages that only the agent knows (commands, mentioned files,
//! summaries).
//!
//! The sentence with which each agent introduces a summary is specific to it and changes with its
//! releases; here a summary is only enclosed in its tags. The same holds for the notices that xcsh
//! derives from the `meta` of a command: `show` displays what was cut.

use boswell_model::json::{Json, Raw, RawKind};

use super::Flavour;
use super::js_values::truthy;
use super::render::text_part;

/// Returns the text of a command that the user ran, with its output.
pub(super) fn command(flavour: Flavour, message: Raw<'_>) -> String {
    let output = output(message).map_or("(no output)".to_owned(), |output| {
        format!("```\n{output}\n```")
    });
    let mut said = format!("Ran `{}`\n{output}", text(message, "command"));
    ending(
        message,
        "(command cancelled)",
        "Command exited with code",
        &mut said,
    );
    let whole = message
        .get("fullOutputPath")
        .filter(|path| truthy(Some(*path)));
    // Only pi stores the full output of a command in a file and names it.
    if let (false, true, Some(path)) = (
        flavour.is_heir(),
        is(message, "truncated"),
        whole.and_then(|path| path.text()),
    ) {
        said.push_str(&format!("\n\n[Output truncated. Full output: {path}]"));
    }
    said
}

/// Returns the text of Python code that the user ran, with its output.
pub(super) fn python(message: Raw<'_>) -> String {
    let output = output(message).map_or("(no output)".to_owned(), |output| {
        format!("Output:\n```\n{output}\n```")
    });
    let mut said = format!(
        "Ran Python:\n```python\n{}\n```\n{output}",
        text(message, "code")
    );
    ending(
        message,
        "(execution cancelled)",
        "Execution failed with code",
        &mut said,
    );
    said
}

/// Returns the parts of files that the user mentioned: one text for all of them, then their images.
pub(super) fn files(message: Raw<'_>) -> Vec<Json> {
    let files = || {
        message
            .get("files")
            .into_iter()
            .flat_map(|files| files.items())
    };
    let texts: Vec<_> = files()
        .map(|file| {
            let content = text(file, "content");
            let inner = if content.is_empty() {
                String::new()
            } else {
                format!("{content}\n")
            };
            format!("<file path=\"{}\">\n{inner}</file>", text(file, "path"))
        })
        .collect();
    let pictures = files()
        .filter_map(|file| file.get("image"))
        .filter(|image| image.kind() == RawKind::Object);
    let said = text_part(format!(
        "<system-reminder>\n{}\n</system-reminder>",
        texts.join("\n\n")
    ));
    std::iter::once(said)
        .chain(pictures.map(Json::from))
        .collect()
}

/// Returns the text of a branch summary or a compaction summary.
pub(super) fn summary(message: Raw<'_>) -> String {
    format!("<summary>\n{}\n</summary>", text(message, "summary"))
}

fn ending(message: Raw<'_>, cancelled: &str, failed: &str, said: &mut String) {
    let code = message
        .get("exitCode")
        .filter(|code| !code.is_null() && code.f64() != Some(0.0));
    if is(message, "cancelled") {
        said.push_str(&format!("\n\n{cancelled}"));
    } else if let Some(code) = code {
        said.push_str(&format!(
            "\n\n{failed} {}",
            String::from_utf8_lossy(code.bytes())
        ));
    }
}

fn output(message: Raw<'_>) -> Option<String> {
    Some(text(message, "output")).filter(|output| !output.is_empty())
}

fn text(message: Raw<'_>, key: &str) -> String {
    message
        .get(key)
        .and_then(|value| value.text())
        .map(std::borrow::Cow::into_owned)
        .unwrap_or_default()
}

fn is(message: Raw<'_>, key: &str) -> bool {
    truthy(message.get(key))
}
