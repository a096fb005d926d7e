//! Reads a trajectory: the Agent Trajectory Interchange Format (ATIF).
//!
//! It becomes a log of boswell's own format in memory, which is then imported like any other:
//! messages, calls, results and usage stay, and where a step came from is in its entry.

use std::sync::Arc;

use boswell_dialect::by_name;
use boswell_model::json::{Json, Raw, RawKind};
use boswell_model::{Advice, Error, ErrorKind, Result};
use boswell_store::Store;
use boswell_store::backend::MemoryBackend;
use boswell_store::store::Resolved;

/// The beginning of every version's name.
const VERSIONS: &str = "ATIF-v1.";
/// The key of the log in memory.
const KEY: &str = "sessions/--trajectory--/trajectory.jsonl";
/// The time of steps before the first that states one.
const NEVER: &str = "1970-01-01T00:00:00.000Z";

/// Returns the session of a trajectory; `None` if the document is none.
///
/// # Errors
///
/// Damaged if steps lack what the format demands.
pub(super) fn unpacked(document: &Raw<'_>, given: &Resolved) -> Result<Option<Resolved>> {
    let version = text_of(document, "schema_version");
    if !version.is_some_and(|version| version.starts_with(VERSIONS)) {
        return Ok(None);
    }
    let broken = |why: String| {
        let file = given.store.root().display();
        Error::new(
            ErrorKind::Damaged,
            format!("the trajectory below `{file}` cannot be read"),
        )
        .because(why)
        .advising(Advice::ExportDocument)
    };
    let lines = Lines::of(document).map_err(broken)?;
    let mut backend = MemoryBackend::default();
    backend.put(KEY, lines.out, None);
    let own = by_name("boswell").ok_or_else(|| broken("there is no own format".to_owned()))?;
    let store = Store::on(own, Arc::new(backend), given.store.root());
    let mut sessions = store.whole().list()?.sessions;
    let location = sessions.pop();
    let location = location.ok_or_else(|| broken("it has no steps".to_owned()))?;
    Ok(Some(Resolved { store, location }))
}

fn text_of(object: &Raw<'_>, key: &str) -> Option<String> {
    Some(object.get(key)?.text()?.into_owned())
}

/// The log that a trajectory becomes.
struct Lines {
    out: Vec<u8>,
    count: usize,
    leaf: Option<String>,
    at: String,
    model: Option<String>,
}

impl Lines {
    fn of(document: &Raw<'_>) -> std::result::Result<Lines, String> {
        let steps = document.get("steps");
        let steps = steps.filter(|it| it.kind() == RawKind::Array);
        let steps = steps.ok_or("it has no list of steps")?;
        let extra = |key: &str| Some(document.at(&["extra", key])?.text()?.into_owned());
        let first = steps.items().find_map(|step| text_of(&step, "timestamp"));
        let created = extra("created").or(first);
        let mut lines = Lines {
            out: Vec::new(),
            count: 0,
            leaf: None,
            at: created.unwrap_or_else(|| NEVER.to_owned()),
            model: document
                .at(&["agent", "model_name"])
                .and_then(|name| Some(name.text()?.into_owned())),
        };
        let id = text_of(document, "session_id").unwrap_or_else(|| "trajectory".to_owned());
        let header = Json::object()
            .with("type", "session")
            .with("version", 3i64)
            .with("id", id)
            .with("timestamp", lines.at.clone())
            .with("cwd", extra("project").unwrap_or_default());
        lines.line(&header);
        if let Some(title) = extra("title") {
            lines.entry("session_info", Json::object().with("name", title));
        }
        for (number, step) in steps.items().enumerate() {
            lines
                .step(&step)
                .map_err(|why| format!("step {}: {why}", number + 1))?;
        }
        Ok(lines)
    }

    fn line(&mut self, line: &Json) {
        line.write(&mut self.out);
        self.out.push(b'\n');
    }

    fn entry(&mut self, kind: &str, fields: Json) {
        self.count += 1;
        let id = format!("{:08x}", self.count);
        let mut entry = Json::object()
            .with("type", kind)
            .with("id", id.clone())
            .with(
                "parentId",
                self.leaf.replace(id).map_or(Json::Null, Json::from),
            )
            .with("timestamp", self.at.clone());
        if let (Json::Object(members), Json::Object(fields)) = (&mut entry, fields) {
            members.extend(fields);
        }
        self.line(&entry);
    }

    fn message(&mut self, message: Json) {
        self.entry("message", Json::object().with("message", message));
    }

    fn step(&mut self, step: &Raw<'_>) -> std::result::Result<(), String> {
        if let Some(at) = text_of(step, "timestamp") {
            self.at = at;
        }
        let said = step.get("message").ok_or("it has no message")?;
        let said = parts(&said)?;
        match text_of(step, "source").as_deref() {
            Some("user") => {
                let message = Json::object().with("role", "user").with("content", said);
                self.message(message);
            }
            Some("agent") => self.agent(step, said)?,
            Some("system") if !said.is_empty() => self.system(said),
            Some("system") => {}
            _ => return Err("its source is none of system, user and agent".to_owned()),
        }
        self.results(step)
    }

    fn system(&mut self, said: Vec<Json>) {
        let fields = Json::object()
            .with("customType", "atif.system")
            .with("content", said)
            .with("display", true);
        self.entry("custom_message", fields);
    }

    fn agent(&mut self, step: &Raw<'_>, said: Vec<Json>) -> std::result::Result<(), String> {
        let mut content = Vec::new();
        if let Some(thought) = text_of(step, "reasoning_content") {
            let thought = Json::object()
                .with("type", "thinking")
                .with("thinking", thought);
            content.push(thought);
        }
        content.extend(said);
        for call in step.get("tool_calls").iter().flat_map(Raw::items) {
            let (Some(id), Some(name)) = (
                text_of(&call, "tool_call_id"),
                text_of(&call, "function_name"),
            ) else {
                return Err("a call lacks its id or its function".to_owned());
            };
            let arguments = call.get("arguments");
            let arguments = arguments.filter(|it| it.kind() == RawKind::Object);
            let arguments = arguments.map_or_else(Json::object, |it| Json::Raw(it.bytes().into()));
            let call = Json::object()
                .with("type", "toolCall")
                .with("id", id)
                .with("name", name)
                .with("arguments", arguments);
            content.push(call);
        }
        let model = text_of(step, "model_name").or_else(|| self.model.clone());
        let model = model.unwrap_or_else(|| "unknown".to_owned());
        let (provider, model) = model.split_once('/').unwrap_or(("", &model));
        let stop = step.at(&["extra", "stop_reason"]).and_then(|it| it.text());
        let message = Json::object()
            .with("role", "assistant")
            .with("content", content)
            .with("provider", provider)
            .with("model", model)
            .with("usage", usage(step.get("metrics")))
            .with("stopReason", stop.as_deref().unwrap_or("stop"));
        self.message(message);
        Ok(())
    }

    /// The results of a step.
    fn results(&mut self, step: &Raw<'_>) -> std::result::Result<(), String> {
        let calls = step.get("tool_calls");
        let calls = calls.iter().flat_map(Raw::items);
        let name = |call: Raw<'_>| {
            let id = text_of(&call, "tool_call_id")?;
            Some((id, text_of(&call, "function_name")?))
        };
        let calls: Vec<(String, String)> = calls.filter_map(name).collect();
        let results = step.at(&["observation", "results"]);
        for result in results.iter().flat_map(Raw::items) {
            self.result(&result, &calls)?;
        }
        Ok(())
    }

    /// A result: of a call, or feedback of the system.
    fn result(
        &mut self,
        result: &Raw<'_>,
        calls: &[(String, String)],
    ) -> std::result::Result<(), String> {
        let content = match result.get("content").filter(|it| !it.is_null()) {
            Some(content) => parts(&content)?,
            None => Vec::new(),
        };
        let extra = result.get("extra");
        let stated = |key: &str| text_of(extra.as_ref()?, key);
        if let Some(at) = stated("timestamp") {
            self.at = at;
        }
        let of = text_of(result, "source_call_id").or_else(|| stated("call"));
        let of = match (of, calls) {
            (None, [(only, _)]) => Some(only.clone()),
            (of, _) => of,
        };
        let Some(of) = of else {
            self.system(content);
            return Ok(());
        };
        let tool = calls.iter().find(|(id, _)| *id == of);
        let is_error = extra.and_then(|it| it.get("is_error")?.bool()) == Some(true);
        let message = Json::object()
            .with("role", "toolResult")
            .with("toolCallId", of)
            .with("toolName", tool.map_or("", |(_, name)| name))
            .with("content", content)
            .with("isError", is_error);
        self.message(message);
        Ok(())
    }
}

/// The parts of a message or result.
fn parts(content: &Raw<'_>) -> std::result::Result<Vec<Json>, String> {
    let text = |text: &str| Json::object().with("type", "text").with("text", text);
    if let Some(whole) = content.text() {
        let is_empty = whole.is_empty();
        return Ok((!is_empty).then(|| text(&whole)).into_iter().collect());
    }
    if content.kind() != RawKind::Array {
        return Err("a message is neither text nor a list of parts".to_owned());
    }
    let part = |part: Raw<'_>| {
        if let Some(said) = part.get("text").and_then(|it| it.text()) {
            return Ok(text(&said));
        }
        let path = part.at(&["source", "path"]).and_then(|it| it.text());
        let mime = part.at(&["source", "media_type"]).and_then(|it| it.text());
        let (Some(path), Some(mime)) = (path, mime) else {
            return Err("a part has neither text nor a source".to_owned());
        };
        let start = format!("data:{mime};base64,");
        Ok(match path.strip_prefix(&start) {
            Some(data) => Json::object()
                .with("type", "image")
                .with("data", data)
                .with("mimeType", mime.as_ref()),
            // A file next to the document is not taken: only its name is known to be meant.
            None => text(&format!("[{mime}: {path}]")),
        })
    };
    content.items().map(part).collect()
}

/// The usage of a step. Members that only this program writes tell the cache apart.
fn usage(metrics: Option<Raw<'_>>) -> Json {
    let Some(metrics) = metrics else {
        let nothing = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"];
        let nothing = nothing
            .iter()
            .fold(Json::object(), |it, key| it.with(key, 0i64));
        return nothing.with("unknown", true);
    };
    let count = |path: &[&str]| metrics.at(path)?.i64();
    let amount = |path: &[&str]| metrics.at(path)?.f64();
    let read = count(&["cached_tokens"]);
    let written = count(&["extra", "cache_write_tokens"]);
    let cached = read.unwrap_or(0) + written.unwrap_or(0);
    let fresh = count(&["prompt_tokens"]).map(|sent| (sent - cached).max(0));
    let hour = count(&["extra", "cache_write_1h_tokens"]);
    let hour = hour.map(|hour| Json::object().with("ephemeral1h", hour));
    let cost = amount(&["cost_usd"]).map(|cost| Json::object().with("total", cost));
    Json::object()
        .with_some("input", count(&["extra", "input_tokens"]).or(fresh))
        .with_some("output", count(&["completion_tokens"]))
        .with_some("cacheRead", read)
        .with_some("cacheWrite", written)
        .with_some("reasoning", count(&["extra", "reasoning_tokens"]))
        .with_some("cttl", hour)
        .with_some("premiumRequests", amount(&["extra", "premium_requests"]))
        .with_some("cost", cost)
}
