//! The script in a prompt, and what clients put around a prompt.

use serde_json::{Value, json};

/// Returns the reply to a prompt after which the model replied `replies` times: the next one of its
/// script, or an echo of at most `longest` characters.
pub(super) fn next(prompt: &str, replies: usize, longest: usize) -> Vec<Value> {
    let script = prompt.split_once("SCRIPT=").and_then(|(_, script)| {
        serde_json::Deserializer::from_str(script)
            .into_iter::<Vec<Vec<Value>>>()
            .next()?
            .ok()
    });
    let Some(script) = script else {
        let echo: String = prompt.trim().chars().take(longest).collect();
        return vec![json!({"text": format!("ECHO: {echo}")})];
    };
    script
        .into_iter()
        .nth(replies)
        .unwrap_or_else(|| vec![json!({"text": "the script is over"})])
}

/// Returns a prompt without the elements that clients put before and after it, such as
/// `<current_datetime>…</current_datetime>`; empty if nothing else is there.
pub(super) fn typed(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(rest) = without_first(text).or_else(|| without_last(text)) {
        text = rest.trim();
    }
    text
}

fn without_first(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let name = inner.split(['>', ' ', '\n']).next()?;
    let end = format!("</{name}>");
    let at = inner.find(&end)?;
    inner.get(at + end.len()..)
}

fn without_last(text: &str) -> Option<&str> {
    let inner = text.strip_suffix('>')?;
    let name = inner.get(inner.rfind("</")? + 2..)?;
    let at = text.rfind(&format!("<{name}"))?;
    text.get(..at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_around_a_prompt_are_not_typed() {
        for (given, expected) in [
            ("hi", "hi"),
            ("<a>x</a>\n\nhi <b>", "hi <b>"),
            ("<now>1</now>\n hi\n<note id=\"1\">y</note>", "hi"),
            ("<a>x</a><b>y</b>", ""),
            ("<open hi", "<open hi"),
        ] {
            assert_eq!(typed(given), expected, "{given}");
        }
    }
}
