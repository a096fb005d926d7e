//! Auggie: one document for each session, with a prompt and its answer in each item.
//!
//! The format is described in `docs/dialects/auggie.md`. The log that boswell reads has two records
//! for an item: what was asked, and everything else.

use std::path::PathBuf;

use boswell_model::json::{Json, Object, Raw};
use boswell_model::{EntryKind, Framing, Instant, Part, Result, SessionMeta};

use crate::chat_agent::{ChatAgent, ChatDialect};
use crate::members::{lossy, plain, text, time};
use crate::powers::{composed_location, push_line};
use crate::{
    Capabilities, Capability, DialectFacts, Discovered, Environment, FileInfo, Files, Match,
    ResumeCommand, Sample, SessionLocation, Support,
};

const LIMIT: u64 = 256 << 20;

static FACTS: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    sessions_folder: Some("sessions"),
    ..DialectFacts::new("auggie", "Auggie")
};

/// The dialect of Auggie.
pub(crate) static AUGGIE: ChatDialect<Auggie> = ChatDialect(Auggie);

/// Auggie.
#[derive(Debug)]
pub(crate) struct Auggie;

impl ChatAgent for Auggie {
    fn facts(&self) -> &'static DialectFacts {
        &FACTS
    }

    fn roots(&self, env: &Environment) -> Vec<PathBuf> {
        env.in_home(".augment").into_iter().collect()
    }

    fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = Discovered::default();
        for info in files.list("sessions")? {
            if let (true, Some(id)) = (info.is_file(), info.stem(".json")) {
                let sources = [info.clone()];
                found
                    .sessions
                    .extend(composed_location(id, &info.key, &sources));
            }
        }
        Ok(found)
    }

    fn recognises(&self, sample: &Sample<'_>) -> Match {
        match sample.records.first() {
            Some(first)
                if first.get("chatHistory").is_some() && first.get("sessionId").is_some() =>
            {
                Match::Certain
            }
            Some(first) if first.get("chatHistory").is_some() => Match::Likely,
            Some(first) if self.is_record(first) => Match::Certain,
            _ => Match::No,
        }
    }

    fn is_record(&self, object: &Object<'_>) -> bool {
        object.get("$role").is_some() && object.get("exchange").is_some()
    }

    fn framing(&self, _key: &str) -> Framing {
        Framing::Lines
    }

    fn other_kind(&self, object: &Object<'_>) -> EntryKind {
        match object.text("$role").as_deref() {
            Some("user") => match own_nodes(object, "request") {
                nodes if crate::content_blocks::is_results(&nodes) => EntryKind::ToolResult,
                _ => EntryKind::User,
            },
            Some("assistant") => EntryKind::Assistant,
            _ => EntryKind::Unknown,
        }
    }

    fn own_parts(&self, object: &Object<'_>) -> Option<Vec<Part>> {
        match object.text("$role").as_deref()? {
            "user" => Some(own_nodes(object, "request")),
            "assistant" => Some(own_nodes(object, "response")),
            _ => None,
        }
    }

    fn id(&self, object: &Object<'_>) -> Option<String> {
        let id = object
            .get("exchange")
            .and_then(|it| text(it, "request_id"))?;
        let is_user = object.get("$role").is_some_and(|it| it.is("user"));
        Some(if is_user { id } else { format!("{id}.answer") })
    }

    fn time(&self, object: &Object<'_>) -> Option<Instant> {
        object.get("finishedAt").and_then(time)
    }

    fn side_meta(
        &self,
        files: &dyn Files,
        location: &SessionLocation,
        meta: &mut SessionMeta,
    ) -> Result<()> {
        let Some(key) = &location.key else {
            return Ok(());
        };
        let bytes = files.read_whole(key, LIMIT)?.unwrap_or_default();
        let Ok(document) = Raw::parse(bytes.trim_ascii()) else {
            return Ok(());
        };
        meta.id = text(document, "sessionId").or_else(|| meta.id.take());
        meta.project = text(document, "workspaceRoot").or_else(|| meta.project.take());
        meta.title = text(document, "customTitle").or_else(|| meta.title.take());
        for key in ["created", "modified"] {
            if let Some(time) = document.get(key).and_then(time) {
                meta.saw_time(time);
            }
        }
        Ok(())
    }

    fn resume(&self, meta: &SessionMeta, location: &SessionLocation) -> Option<ResumeCommand> {
        let id = meta.id.as_ref().unwrap_or(&location.id);
        Some(ResumeCommand {
            argv: ["auggie", "--resume", id].map(str::to_owned).to_vec(),
            cwd: meta.project.clone(),
        })
    }

    fn composes(&self) -> bool {
        true
    }

    fn sources(&self, files: &dyn Files, key: &str) -> Result<Vec<FileInfo>> {
        let info = files.stat(key)?.filter(FileInfo::is_file);
        let info = info.filter(|_| key.ends_with(".json"));
        Ok(info.into_iter().collect())
    }

    fn compose(&self, files: &dyn Files, key: &str) -> Result<Vec<u8>> {
        let bytes = files.read_whole(key, LIMIT)?.unwrap_or_default();
        let mut log = Vec::new();
        let Ok(document) = Raw::parse(bytes.trim_ascii()) else {
            push_line(&bytes, &mut log);
            return Ok(log);
        };
        for item in document
            .get("chatHistory")
            .into_iter()
            .flat_map(|it| it.items())
        {
            split(item, &mut log);
        }
        Ok(log)
    }
}

/// Adds the two records of an item.
fn split(item: Raw<'_>, log: &mut Vec<u8>) {
    let exchange = item.get("exchange");
    let mut asked = Json::object();
    for key in ["request_message", "request_nodes", "request_id"] {
        asked = asked.with_some(key, exchange.and_then(|it| it.get(key)));
    }
    let is_asked = ["request_message", "request_nodes"]
        .iter()
        .any(|key| exchange.is_some_and(|it| it.get(key).is_some()));
    if is_asked {
        let user = Json::object().with("$role", "user").with("exchange", asked);
        push_line(&user.to_bytes(), log);
    }
    let mut answer = Json::object().with("$role", "assistant");
    for (key, value) in item.members() {
        let key = key.to_text();
        answer = match &*key {
            "exchange" => answer.with("exchange", answered(value)),
            _ => answer.with(&key, value),
        };
    }
    push_line(&answer.to_bytes(), log);
}

/// Returns an exchange without what was asked.
fn answered(exchange: Raw<'_>) -> Json {
    let mut kept = Json::object();
    for (key, value) in exchange.members() {
        let key = key.to_text();
        if !matches!(&*key, "request_message" | "request_nodes") {
            kept = kept.with(&key, value);
        }
    }
    kept
}

/// Returns the parts of one side of an item: its nodes, else its text.
fn own_nodes(object: &Object<'_>, side: &str) -> Vec<Part> {
    let Some(exchange) = object.get("exchange") else {
        return Vec::new();
    };
    let nodes = exchange.get(&format!("{side}_nodes")).into_iter();
    let mut parts: Vec<Part> = nodes.flat_map(|it| it.items()).filter_map(node).collect();
    let whole = match side {
        "request" => text(exchange, "request_message"),
        _ => text(exchange, "response_text"),
    };
    // The text of the nodes is usually the same.
    let is_known = |whole: &String| {
        let said = |part: &Part| matches!(part, Part::Text(text) if whole.contains(text.trim()));
        parts.iter().any(said)
    };
    if let Some(whole) = whole.filter(|whole| !is_known(whole)) {
        parts.insert(0, Part::Text(whole));
    }
    parts
}

fn node(node: Raw<'_>) -> Option<Part> {
    if let Some(said) = node.get("text_node") {
        return text(said, "content").map(Part::Text);
    }
    if let Some(call) = node.get("tool_use").filter(|it| !it.is_null()) {
        return Some(Part::Call {
            id: text(call, "tool_use_id").unwrap_or_default(),
            name: text(call, "tool_name").unwrap_or_default(),
            input: call.get("input_json").map(plain).unwrap_or_default().into(),
        });
    }
    if let Some(result) = node.get("tool_result_node").filter(|it| !it.is_null()) {
        return Some(Part::Result {
            call: text(result, "tool_use_id").unwrap_or_default(),
            text: result.get("content").map(plain).unwrap_or_default(),
            is_error: result.get("is_error").and_then(|it| it.bool()) == Some(true),
        });
    }
    Some(Part::Other {
        word: "node".to_owned(),
        json: lossy(node),
    })
}
