//! What the catalog keeps of a session: facts as JSON, without what stands in side files.

use std::collections::BTreeMap;

use boswell_model::json::{Json, Raw};
use boswell_model::{Facts, Instant, Stated, Usage};

/// What was read of a session, as far as it was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    pub(super) facts: Facts,
    pub(super) records: u64,
    pub(super) gaps: u64,
    /// Whether a message or something else of a conversation was seen.
    pub(super) conversation: bool,
    pub(super) leaf: Option<String>,
    /// Whether the whole log was read.
    pub(super) complete: bool,
}

fn map(from: &BTreeMap<String, String>) -> Json {
    Json::Object(from.iter().map(|(key, value)| (key.clone(), Json::from(value))).collect())
}

fn usage(usage: &Usage) -> Json {
    Json::object()
        .with_some("input", usage.input)
        .with_some("output", usage.output)
        .with_some("cache_read", usage.cache_read)
        .with_some("cache_write", usage.cache_write)
        .with_some("reasoning", usage.reasoning)
        .with_some("cost", usage.cost)
}

impl Kept {
    pub(super) fn encode(&self) -> Vec<u8> {
        let facts = &self.facts;
        let labels = facts
            .labels
            .iter()
            .map(|(entry, label)| Json::Array(vec![Json::from(entry), label.as_ref().map_or(Json::Null, Json::from)]));
        Json::object()
            .with("records", self.records)
            .with("gaps", self.gaps)
            .with("conversation", self.conversation)
            .with_some("leaf", self.leaf.as_deref())
            .with("complete", self.complete)
            .with_some("id", facts.id.as_deref())
            .with_some("title", facts.title.as_deref())
            .with_some("title_source", facts.title_source.as_deref())
            .with_some("summary", facts.summary.as_deref())
            .with_some("first_prompt", facts.first_prompt.as_deref())
            .with_some("last_prompt", facts.last_prompt.as_deref())
            .with_some("project", facts.project.as_deref())
            .with_some("status", facts.status.as_deref())
            .with_some("error", facts.error.as_deref())
            .with("tags", facts.tags.clone())
            .with("metadata", map(&facts.metadata))
            .with_some("created", facts.created.map(Instant::millis))
            .with_some("last_active", facts.last_active.map(Instant::millis))
            .with("models", facts.models.clone())
            .with_some("agent", facts.agent.as_deref())
            .with_some("git_branch", facts.git_branch.as_deref())
            .with_some("permission_mode", facts.permission_mode.as_deref())
            .with_some("agent_version", facts.agent_version.as_deref())
            .with_some("parent", facts.parent.as_deref())
            .with("external_ids", map(&facts.external_ids))
            .with_some("format_version", facts.format_version)
            .with("turns", facts.turns)
            .with("messages", facts.messages)
            .with("tool_calls", facts.tool_calls)
            .with_some("duration_ms", facts.duration_ms)
            .with("kinds", Json::Object(facts.kinds.iter().map(|(k, n)| (k.clone(), Json::from(*n))).collect()))
            .with("usage", usage(&facts.usage.total()))
            .with_some("stated_messages", facts.stated.messages)
            .with_some("stated_turns", facts.stated.turns)
            .with("stated_usage", usage(&facts.stated.usage))
            .with("labels", Json::Array(labels.collect()))
            .with_some("hidden", facts.hidden)
            .with("pinned", facts.pinned)
            .with("archived", facts.archived)
            .to_bytes()
    }

    /// None for what this version did not write.
    pub(super) fn decode(bytes: &[u8]) -> Option<Kept> {
        // One walk over the members: looking each up by its key would walk them forty times.
        let mut kept = Kept::default();
        for (key, value) in Raw::parse(bytes).ok()?.members() {
            kept.take(&key.to_text(), value);
        }
        Some(kept)
    }

    fn take(&mut self, key: &str, value: Raw<'_>) {
        let text = || value.text().map(|text| text.into_owned());
        let count = || value.u64().unwrap_or(0);
        let time = || value.i64().map(Instant::from_millis);
        let facts = &mut self.facts;
        match key {
            "records" => self.records = count(),
            "gaps" => self.gaps = count(),
            "conversation" => self.conversation = value.bool() == Some(true),
            "leaf" => self.leaf = text(),
            "complete" => self.complete = value.bool() == Some(true),
            "id" => facts.id = text(),
            "title" => facts.title = text(),
            "title_source" => facts.title_source = text(),
            "summary" => facts.summary = text(),
            "first_prompt" => facts.first_prompt = text(),
            "last_prompt" => facts.last_prompt = text(),
            "project" => facts.project = text(),
            "status" => facts.status = text(),
            "error" => facts.error = text(),
            "tags" => facts.tags = texts(value),
            "metadata" => facts.metadata = pairs(value),
            "created" => facts.created = time(),
            "last_active" => facts.last_active = time(),
            "models" => facts.models = texts(value),
            "agent" => facts.agent = text(),
            "git_branch" => facts.git_branch = text(),
            "permission_mode" => facts.permission_mode = text(),
            "agent_version" => facts.agent_version = text(),
            "parent" => facts.parent = text(),
            "external_ids" => facts.external_ids = pairs(value),
            "format_version" => facts.format_version = value.u64(),
            "turns" => facts.turns = count(),
            "messages" => facts.messages = count(),
            "tool_calls" => facts.tool_calls = count(),
            "duration_ms" => facts.duration_ms = value.u64(),
            "kinds" => {
                let kinds = value.members().map(|(k, n)| (k.to_text().into_owned(), n.u64().unwrap_or(0)));
                facts.kinds = kinds.collect();
            }
            "usage" => facts.usage.note(None, read_usage(value)),
            "stated_messages" => facts.stated.messages = value.u64(),
            "stated_turns" => facts.stated.turns = value.u64(),
            "stated_usage" => facts.stated = Stated { usage: read_usage(value), ..facts.stated.clone() },
            "labels" => {
                let label = |pair: Raw<'_>| {
                    let mut parts = pair.items();
                    let entry = parts.next()?.text()?.into_owned();
                    Some((entry, parts.next().and_then(|label| label.text()).map(|label| label.into_owned())))
                };
                facts.labels = value.items().filter_map(label).collect();
            }
            "hidden" => facts.hidden = value.text().and_then(|word| hidden_word(&word)),
            "pinned" => facts.pinned = value.bool() == Some(true),
            "archived" => facts.archived = value.bool() == Some(true),
            _ => {}
        }
    }
}

fn texts(value: Raw<'_>) -> Vec<String> {
    value.items().filter_map(|item| item.text().map(|text| text.into_owned())).collect()
}

fn pairs(value: Raw<'_>) -> BTreeMap<String, String> {
    let pair = |(key, value): (boswell_model::json::Str<'_>, Raw<'_>)| {
        Some((key.to_text().into_owned(), value.text()?.into_owned()))
    };
    value.members().filter_map(pair).collect()
}

fn read_usage(value: Raw<'_>) -> Usage {
    let count = |key: &str| value.get(key).and_then(|n| n.u64());
    Usage {
        input: count("input"),
        output: count("output"),
        cache_read: count("cache_read"),
        cache_write: count("cache_write"),
        reasoning: count("reasoning"),
        cost: value.get("cost").and_then(|n| n.f64()),
    }
}

/// The words by which dialects say why a session is hidden.
fn hidden_word(word: &str) -> Option<&'static str> {
    ["subagent", "empty", "prepared", "archived", "maintenance", "ghost"]
        .into_iter()
        .find(|known| *known == word)
        .or(Some("hidden"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_reads_back() {
        let mut kept = Kept { records: 7, leaf: Some("x\"y".into()), complete: true, ..Kept::default() };
        kept.facts.title = Some("会话\n".into());
        kept.facts.created = Some(Instant::from_millis(-5));
        kept.facts.kinds.insert("user".into(), 3);
        kept.facts.labels.push(("e".into(), None));
        kept.facts.hidden = Some("subagent");
        kept.facts.external_ids.insert("sdk".into(), "1".into());
        kept.facts.usage.note(None, Usage { output: Some(9), cost: Some(0.25), ..Usage::default() });
        let back = Kept::decode(&kept.encode()).unwrap();
        assert_eq!(back.encode(), kept.encode());
        assert_eq!(back.facts.usage.total(), kept.facts.usage.total());
        assert_eq!(back.facts.hidden, Some("subagent"));
        assert!(Kept::decode(b"garbage").is_none());
    }
}
