//! The tools as clients list them. The whole list costs at most 1,800 tokens, which a test holds.

use std::sync::Arc;

use boswell_app::stats::GROUPINGS;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Returns the tools; those that write only if the user allows it.
pub(crate) fn tools(write: bool) -> Vec<Tool> {
    let mut all = finding();
    all.extend(reading());
    if write {
        all.extend(writing());
    }
    all
}

fn finding() -> Vec<Tool> {
    vec![
        read_tool(
            "search_sessions",
            "Search past sessions of all coding agents on this machine. Hits cite ref#entry; \
             then use outline_session or read_session(around).",
            filtered(json!({
                "query": text("words, \"phrases\", prefix*, !not, file:x tool:x role:user"),
                "in": text("only these parts, comma-separated: prompts answers thinking calls \
                            results titles summaries memory"),
                "mode": words(&["words", "substring", "regex"]),
                "limit": number("8, at most 20"),
                "cursor": text("next page"),
                "exclude": text("ref to leave out: your own session"),
            })),
            &["query"],
        ),
        read_tool(
            "list_sessions",
            "List sessions, last active first.",
            filtered(json!({
                "limit": number("15, at most 50"),
                "cursor": text("next page"),
                "exclude": text("ref to leave out"),
            })),
            &[],
        ),
        read_tool(
            "list_projects",
            "List project folders with sessions, last active first.",
            json!({"limit": number("20, at most 100")}),
            &[],
        ),
        read_tool(
            "file_history",
            "Which sessions read or changed a file, and where: newest first.",
            json!({
                "path": text("path or its end, as src/main.rs"),
                "project": text("folder, or \"here\""),
                "limit": number("10, at most 30"),
            }),
            &["path"],
        ),
        read_tool(
            "usage_stats",
            "Sessions, messages, tokens and cost.",
            filtered(json!({"by": words(&GROUPINGS.map(|(word, _)| word))})),
            &[],
        ),
    ]
}

fn reading() -> Vec<Tool> {
    let session = text("ref or start of id");
    vec![
        read_tool(
            "outline_session",
            "Outline a session: prompts with entries, changed files, failures, open ends, last \
             answer.",
            json!({"session": session}),
            &["session"],
        ),
        read_tool(
            "read_session",
            "Read entries of a session: around, before or after one, else the last ones.",
            json!({
                "session": session,
                "around": text("entry"),
                "before": text("entry"),
                "after": text("entry"),
                "count": number("6, at most 50"),
                "tools": words(&["summary", "off", "full"]),
                "max_chars": number("4000, at most 20000"),
            }),
            &["session"],
        ),
        read_tool(
            "read_entry",
            "Read one entry whole, in pages.",
            json!({
                "session": session,
                "entry": text("id or #line"),
                "offset": number("where the page begins"),
                "max_chars": number("4000, at most 20000"),
            }),
            &["session", "entry"],
        ),
    ]
}

fn writing() -> Vec<Tool> {
    let session = text("ref or start of id");
    let notes = "kept as a note of boswell's own, not in the agent's log";
    vec![
        write_tool(
            "tag_session",
            &format!("Add a tag to a session; {notes}."),
            json!({"session": session, "tag": text("1 to 64 characters")}),
            &["session", "tag"],
        ),
        write_tool(
            "note_session",
            &format!("Add a sentence to the summary of a session; {notes}."),
            json!({"session": session, "text": text("1 to 2000 characters")}),
            &["session", "text"],
        ),
    ]
}

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn number(about: &str) -> Value {
    json!({"type": "integer", "description": about})
}

fn words(known: &[&str]) -> Value {
    json!({"type": "string", "enum": known})
}

/// Adds the arguments that select sessions.
fn filtered(mut properties: Value) -> Value {
    let filters = json!({
        "project": text("folder, or \"here\""),
        "agent": text("claude, codex, …"),
        "since": text("2026-01-31, 7d, today"),
        "until": text("as since"),
    });
    if let (Value::Object(all), Value::Object(filters)) = (&mut properties, filters) {
        all.extend(filters);
    }
    properties
}

fn read_tool(name: &'static str, about: &str, properties: Value, required: &[&str]) -> Tool {
    let hints = ToolAnnotations::new().read_only(true).open_world(false);
    tool(name, about, properties, required).with_annotations(hints)
}

fn write_tool(name: &'static str, about: &str, properties: Value, required: &[&str]) -> Tool {
    let hints = ToolAnnotations::new().read_only(false).destructive(false);
    let hints = hints.idempotent(false).open_world(false);
    tool(name, about, properties, required).with_annotations(hints)
}

fn tool(name: &'static str, about: &str, properties: Value, required: &[&str]) -> Tool {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    Tool::new(name, about.to_owned(), Arc::new(schema))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::tokens;

    #[test]
    fn the_list_of_tools_costs_at_most_1800_tokens() {
        for write in [false, true] {
            let listed = serde_json::to_string(&tools(write)).unwrap();
            assert!(tokens(&listed) <= 1_800, "{}", tokens(&listed));
        }
    }

    #[test]
    fn tools_that_write_are_listed_only_if_allowed() {
        let names = |write| -> Vec<String> {
            let tools = tools(write).into_iter();
            tools.map(|tool| tool.name.into_owned()).collect()
        };
        assert_eq!(names(false).len(), 8);
        assert_eq!(names(true).len(), 10);
        for tool in tools(false) {
            let hints = tool.annotations.unwrap();
            assert_eq!(hints.read_only_hint, Some(true), "{}", tool.name);
            assert_eq!(hints.open_world_hint, Some(false), "{}", tool.name);
        }
    }
}
