//! Collects the metadata of a session from its log: title, prompts, usage, cost and fork origin.

use boswell_model::json::{Raw, RawKind};
use boswell_model::{EntryKind, Head, Instant, Interner, Said, SessionMeta, Usage};

use super::injected;
use super::item::{Item, Shape, Side};
use super::record::{Record, time};

/// Adds the facts that a record states about the session.
pub(super) fn collect_meta(
    record: Record<'_>,
    head: &Head,
    names: &mut Interner,
    meta: &mut SessionMeta,
) {
    meta.saw(head);
    meta.count(head.word.map_or("", |w| names.text(w)));
    match record {
        Record::Meta(payload) => fold_meta(payload, head, names, meta),
        // Tool results are most of a log's bytes and state nothing about the session.
        Record::Item(payload) if head.kind != EntryKind::ToolResult => fold_item(payload, meta),
        Record::Event(payload) => fold_event(payload, head, names, meta),
        Record::Turn(payload) => fold_turn(payload, names, meta),
        Record::Tokens(payload) => note_response(payload, head, names, meta),
        _ => {}
    }
}

/// Reads a header. A fork begins with its own header, followed by a copy of the parent's lines:
/// only the header with the first id describes this session.
fn fold_meta(payload: Raw<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    let Some(id) = text(payload, "id") else {
        return;
    };
    let first = meta.id.is_none();
    if !first && meta.id.as_deref() != Some(&id) {
        // A fork of a fork has the headers of all its ancestors, the oldest last.
        if meta.usage.running.is_unused() {
            meta.usage.running.forks();
            meta.usage.running.root = names.intern(&id);
        }
        return;
    }
    let begun = payload.get("timestamp").and_then(time);
    if let Some(time) = begun {
        meta.saw_time(time);
    }
    meta.agent_version = text(payload, "cli_version").or_else(|| meta.agent_version.take());
    if let Some(branch) = payload.at(&["git", "branch"]).and_then(|it| it.text()) {
        meta.git_branch = Some(branch.into());
    }
    if first {
        let begun = time_of_id(&id).or(begun);
        meta.usage.running.begin(begun, head.instant());
        fold_first(payload, id, names, meta);
    }
}

/// Reads what only the first header of a session states.
fn fold_first(payload: Raw<'_>, id: String, names: &mut Interner, meta: &mut SessionMeta) {
    let forked_from = text(payload, "forked_from_id");
    if forked_from.is_some() {
        meta.usage.running.forks();
    }
    meta.usage.running.root = names.intern(forked_from.as_deref().unwrap_or(&id));
    meta.id = Some(id);
    meta.project = text(payload, "cwd").or_else(|| meta.project.take());
    meta.parent = forked_from.or_else(|| text(payload, "parent_thread_id"));
    if is_subagent(payload) {
        meta.hidden = Some("subagent");
    }
    if meta.parent.is_some() || meta.hidden.is_some() {
        meta.usage.running.descends();
    }
    for key in METADATA {
        if let Some(value) = text(payload, key) {
            // What Codex's database states counts for Codex, and was there before.
            meta.metadata.entry(key.to_owned()).or_insert(value);
        }
    }
}

/// Members of the first line that are kept as they are.
const METADATA: [&str; 4] = [
    "originator",
    "model_provider",
    "agent_nickname",
    "agent_role",
];

fn is_subagent(payload: Raw<'_>) -> bool {
    payload.at(&["source", "subagent"]).is_some()
        || payload
            .get("thread_source")
            .is_some_and(|source| source.is("subagent"))
}

fn fold_item(payload: Raw<'_>, meta: &mut SessionMeta) {
    let item = Item::of(payload);
    match item.shape() {
        Shape::Prompt => {
            meta.messages += 1;
            meta.turns += 1;
            meta.saw_prompt(&item.texts().collect::<Vec<_>>().join("\n"));
        }
        Shape::Fragment if meta.project.is_none() => {
            meta.project = item
                .texts()
                .find_map(|text| injected::folder_in(&text).map(str::to_owned));
        }
        Shape::Answer => {
            meta.messages += 1;
            let calls = item.content().into_iter().flat_map(|c| c.items());
            meta.tool_calls += calls
                .filter(|part| part.get("type").is_some_and(|t| t.is("tool_use")))
                .count() as u64;
        }
        Shape::Tool(Side::Call) | Shape::Hosted => meta.tool_calls += 1,
        _ => {}
    }
}

fn fold_event(payload: Raw<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    // The head already contains the type, so long payloads are not scanned needlessly.
    match head.group.map(|event| names.text(event)) {
        // This event repeats the item next to it. Recording a prompt twice has no effect, but
        // counting it twice would.
        Some("user_message") => {
            if let Some(prompt) = text(payload, "message").filter(|m| !injected::is_fragment(m)) {
                meta.saw_prompt(&prompt);
            }
        }
        Some("token_count") => {
            if let Some(total) = usage(payload) {
                note_total(total, newest(payload), head, names, meta);
            }
        }
        Some("task_started" | "turn_started") => saw_turn(payload, meta),
        Some("thread_name_updated") => {
            meta.title = text(payload, "thread_name")
                .filter(|t| !t.trim().is_empty())
                .or_else(|| meta.title.take());
        }
        Some("task_complete" | "turn_complete" | "turn_aborted") => {
            if let Some(ms) = payload.get("duration_ms").and_then(|d| d.u64()) {
                meta.duration_ms = Some(meta.duration_ms.unwrap_or(0).saturating_add(ms));
            }
        }
        Some("thread_settings_applied") => {
            if let Some(model) = payload
                .at(&["thread_settings", "model"])
                .and_then(|m| m.text())
            {
                saw_model(&model, names, meta);
            }
        }
        _ => {}
    }
}

/// Records the usage since the last total, with the total as its id (dedupe): forks repeat the same
/// total with other times.
fn note_total(
    total: Usage,
    newest: Option<Usage>,
    head: &Head,
    names: &mut Interner,
    meta: &mut SessionMeta,
) {
    let running = &mut meta.usage.running;
    let inherited = running.is_copied(head.instant());
    let Some(added) = running.adds(total, newest) else {
        return;
    };
    let count = |part: Option<u64>| part.unwrap_or(0);
    let name = format!(
        "{}:{}/{}/{}/{}",
        running.restarts(),
        count(total.input),
        count(total.cache_read),
        count(total.output),
        count(total.reasoning),
    );
    let (lineage, model) = (running.root, running.model);
    let said = Said {
        at: head.instant(),
        model,
        lineage,
        inherited,
        ..Said::default()
    };
    meta.usage.note_said(names.intern(&name), added, said);
}

/// Records the usage of one response. The thread, turn and response in its name are the same in
/// every copy of the line, so no arithmetic is needed for forks.
fn note_response(payload: Raw<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    let Some(usage) = payload.get("usage").and_then(counts) else {
        return;
    };
    let [thread, turn, response] =
        ["thread_id", "turn_id", "response_id"].map(|key| text(payload, key).unwrap_or_default());
    let said = Said {
        at: head.instant(),
        model: meta.usage.running.model,
        everywhere: true,
        inherited: meta.id.as_ref().is_some_and(|id| *id != thread),
        ..Said::default()
    };
    let name = format!("{thread}/{turn}/{response}");
    meta.usage.note_said(names.intern(&name), usage, said);
    // The total after this response is the next `token_count`, which then adds nothing.
    let total = payload.get("thread_token_usage").and_then(counts);
    meta.usage.running.counted(usage, total);
}

fn saw_turn(payload: Raw<'_>, meta: &mut SessionMeta) {
    if let Some(began) = payload
        .get("turn_id")
        .and_then(|id| time_of_id(&id.text()?))
    {
        meta.usage.running.turn(began);
    }
}

fn saw_model(model: &str, names: &mut Interner, meta: &mut SessionMeta) {
    meta.saw_model(model);
    meta.usage.running.model = names.intern(model).or(meta.usage.running.model);
}

/// Returns the creation time of an id of UUID version 7, which begins with it.
pub(super) fn time_of_id(id: &str) -> Option<Instant> {
    let is_seventh = id.len() == 36 && id.as_bytes().get(14) == Some(&b'7');
    let millis: String = id.chars().take(13).filter(|c| *c != '-').collect();
    i64::from_str_radix(&millis, 16)
        .ok()
        .filter(|_| is_seventh && millis.len() == 12)
        .map(Instant::from_millis)
}

fn fold_turn(payload: Raw<'_>, names: &mut Interner, meta: &mut SessionMeta) {
    saw_turn(payload, meta);
    if let Some(model) = text(payload, "model") {
        saw_model(&model, names, meta);
    }
    meta.permission_mode = permission_mode(payload).or_else(|| meta.permission_mode.take());
    if meta.project.is_none() {
        meta.project = text(payload, "cwd");
    }
}

/// Returns approval policy and sandbox, such as `on-request/workspace-write`.
pub(super) fn permission_mode(turn: Raw<'_>) -> Option<String> {
    let approval = turn
        .get("approval_policy")
        .and_then(|policy| match policy.kind() {
            // A policy with details is an object with one member, whose name is the policy.
            RawKind::Object => policy
                .members()
                .next()
                .map(|(name, _)| name.to_text().into_owned()),
            _ => policy.text().map(Into::into),
        });
    let sandbox = turn
        .get("sandbox_policy")
        .or_else(|| turn.get("permission_profile"))
        .and_then(|policy| {
            let named = policy
                .get("type")
                .or_else(|| policy.get("mode"))
                .unwrap_or(policy);
            named.text().map(|word| word.into_owned())
        });
    match (approval, sandbox) {
        (Some(approval), Some(sandbox)) => Some(format!("{approval}/{sandbox}")),
        (one, other) => one.or(other),
    }
}

/// Reads the total of a `token_count` event. Codex includes cached tokens in the input tokens; here
/// they are separate, as for every agent.
pub(super) fn usage(event: Raw<'_>) -> Option<Usage> {
    counts(match event.get("info") {
        Some(info) => info.get("total_token_usage")?,
        None => event,
    })
}

/// Reads the usage of the last request, as Codex states it.
fn newest(event: Raw<'_>) -> Option<Usage> {
    counts(event.at(&["info", "last_token_usage"])?)
}

pub(super) fn counts(total: Raw<'_>) -> Option<Usage> {
    let count = |key: &str| total.get(key).and_then(|n| n.u64());
    let cached = count("cached_input_tokens");
    let usage = Usage {
        input: count("input_tokens").map(|n| n.saturating_sub(cached.unwrap_or(0))),
        output: count("output_tokens"),
        cache_read: cached,
        cache_write: count("cache_write_input_tokens"),
        reasoning: count("reasoning_output_tokens"),
        ..Usage::default()
    };
    (!usage.is_unknown()).then_some(usage)
}

/// Returns a string member that is not empty.
pub(super) fn text(value: Raw<'_>, key: &str) -> Option<String> {
    value
        .get(key)?
        .text()
        .filter(|t| !t.is_empty())
        .map(|t| t.into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{log, read, said};

    #[test]
    fn a_session_is_described_by_its_own_line_and_not_by_the_copied_one() {
        let bytes = log(&[
            (
                "session_meta",
                r#"{"id":"child","forked_from_id":"mother","cwd":"/p","cli_version":"0.118.0","git":{"branch":"main"}}"#,
            ),
            (
                "session_meta",
                r#"{"id":"mother","cwd":"/elsewhere","cli_version":"0.1.0","source":{"subagent":"review"}}"#,
            ),
        ]);
        let meta = read(&bytes).meta;
        assert_eq!(meta.id.as_deref(), Some("child"));
        assert_eq!(meta.parent.as_deref(), Some("mother"));
        assert_eq!(meta.project.as_deref(), Some("/p"));
        assert_eq!(meta.git_branch.as_deref(), Some("main"));
        assert_eq!(meta.agent_version.as_deref(), Some("0.118.0"));
        assert_eq!(meta.hidden, None);
        assert_eq!(meta.kinds.get("session_meta"), Some(&2));
    }

    #[test]
    fn a_subagent_is_hidden_and_names_its_owner() {
        let bytes = log(&[(
            "session_meta",
            r#"{"id":"a","parent_thread_id":"b","source":{"subagent":"review"}}"#,
        )]);
        let meta = read(&bytes).meta;
        assert_eq!(
            (meta.hidden, meta.parent.as_deref()),
            (Some("subagent"), Some("b"))
        );
    }

    #[test]
    fn messages_count_once_and_fragments_are_no_prompts() {
        let bytes = log(&[
            (
                "response_item",
                &said(
                    "user",
                    "<environment_context>\\n<cwd>/from/env</cwd>\\n</environment_context>",
                ),
            ),
            ("response_item", &said("developer", "be good")),
            ("event_msg", r#"{"type":"user_message","message":"fix it"}"#),
            ("response_item", &said("user", "fix it")),
            ("event_msg", r#"{"type":"agent_message","message":"done"}"#),
            ("response_item", &said("assistant", "done")),
            (
                "response_item",
                r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#,
            ),
            (
                "response_item",
                r#"{"type":"web_search_call","status":"completed"}"#,
            ),
        ]);
        let meta = read(&bytes).meta;
        assert_eq!((meta.messages, meta.turns, meta.tool_calls), (2, 1, 2));
        assert_eq!(meta.first_prompt.as_deref(), Some("fix it"));
        assert_eq!(meta.project.as_deref(), Some("/from/env"));
    }

    #[test]
    fn the_last_sum_of_tokens_counts_and_cached_ones_are_apart() {
        let count = |input: u32, cached: u32| {
            format!(
                r#"{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{input},"cached_input_tokens":{cached},"output_tokens":7,"reasoning_output_tokens":3}}}}}}"#
            )
        };
        let bytes = log(&[
            ("event_msg", &count(10, 0)),
            ("event_msg", &count(100, 80)),
            ("event_msg", r#"{"type":"token_count","info":null}"#),
        ]);
        let total = read(&bytes).meta.usage.total();
        assert_eq!(
            (total.input, total.cache_read, total.output),
            (Some(20), Some(80), Some(7))
        );
        assert_eq!(
            (total.reasoning, total.cache_write, total.cost),
            (Some(3), None, None)
        );
        assert!(read(b"").meta.usage.total().is_unknown());
    }

    #[test]
    fn a_fork_counts_from_where_its_parent_stood() {
        let count = |output: u32| {
            format!(
                r#"{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":0,"output_tokens":{output}}}}}}}"#
            )
        };
        let turn = |id: &str| format!(r#"{{"turn_id":"{id}","model":"gpt-5"}}"#);
        let bytes = log(&[
            (
                "session_meta",
                r#"{"id":"019d7e3d-0164-79d1-af76-e4ee6689b94f","forked_from_id":"mother"}"#,
            ),
            ("session_meta", r#"{"id":"mother"}"#),
            (
                "turn_context",
                &turn("019d7d08-f1d2-78a1-ae52-df8e21f9b394"),
            ),
            ("event_msg", &count(100)),
            (
                "turn_context",
                &turn("019d8192-1dcb-76b2-ac9d-9009b1dad2c0"),
            ),
            ("event_msg", &count(100)),
            ("event_msg", &count(130)),
        ]);
        let read = read(&bytes);
        assert_eq!(read.meta.usage.total().output, Some(30));
        let said: Vec<_> = (read.meta.usage.items())
            .map(|(_, noted)| {
                (
                    noted.usage.output,
                    noted.said.inherited,
                    noted.said.lineage.map(|it| read.log.names.text(it)),
                )
            })
            .collect();
        assert_eq!(
            said,
            [
                (Some(100), true, Some("mother")),
                (Some(30), false, Some("mother"))
            ]
        );
    }

    #[test]
    fn a_turn_tells_model_and_permissions() {
        let bytes = log(&[
            (
                "turn_context",
                r#"{"cwd":"/p","model":"gpt-5","approval_policy":"never","sandbox_policy":{"mode":"read-only"}}"#,
            ),
            (
                "turn_context",
                r#"{"model":"gpt-6","approval_policy":{"granular":{}},"sandbox_policy":{"type":"danger-full-access"}}"#,
            ),
            (
                "event_msg",
                r#"{"type":"thread_name_updated","thread_name":"A title"}"#,
            ),
            ("event_msg", r#"{"type":"task_complete","duration_ms":40}"#),
            ("event_msg", r#"{"type":"turn_aborted","duration_ms":2}"#),
        ]);
        let meta = read(&bytes).meta;
        assert_eq!(meta.models, ["gpt-5", "gpt-6"]);
        assert_eq!(
            meta.permission_mode.as_deref(),
            Some("granular/danger-full-access")
        );
        assert_eq!(meta.project.as_deref(), Some("/p"));
        assert_eq!(meta.title.as_deref(), Some("A title"));
        assert_eq!(meta.duration_ms, Some(42));
    }
}
