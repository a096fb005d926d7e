//! Collects the metadata of a session from its lines: title, prompts, usage, cost and folder.
//!
//! Version, git branch and permission mode are those of the last line that states them; the folder
//! is that of the first, unless a later line says that the session was relocated.

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Flags, Head, Interner, Said, SessionMeta, Usage};

use super::prompt;

/// Adds the facts that a line states about the session.
pub(super) fn collect_meta(
    object: &Object<'_>,
    head: &Head,
    names: &mut Interner,
    meta: &mut SessionMeta,
) {
    let is_first = meta.kinds.is_empty();
    let word = head.word.map_or("", |word| names.text(word));
    meta.count(word);
    meta.saw(head);
    if is_first && head.flags.has(Flags::SIDECHAIN) && meta.hidden.is_none() {
        meta.hidden = Some("subagent");
    }
    envelope(object, meta);
    match head.kind {
        EntryKind::User => user(object, head, meta),
        EntryKind::Assistant => assistant(object, head, names, meta),
        EntryKind::System => system(object, meta),
        EntryKind::Title => title(object, names, meta),
        EntryKind::Tag => {
            meta.tags = object
                .text("tag")
                .filter(|tag| !tag.is_empty())
                .map(|tag| tag.into_owned())
                .into_iter()
                .collect();
        }
        EntryKind::Setting => set(&mut meta.permission_mode, object.text("permissionMode")),
        EntryKind::Meta => {
            set(&mut meta.project, object.text("relocatedCwd"));
            if let Some(cost) = object.get("totalCostUSD").and_then(|cost| cost.f64()) {
                meta.stated.usage.cost = Some(cost);
            }
        }
        _ => {}
    }
}

/// Reads the members that every line of the chain repeats: of folders the first one counts, of the
/// others the last.
fn envelope(object: &Object<'_>, meta: &mut SessionMeta) {
    if meta.id.is_none() {
        set(&mut meta.id, object.text("sessionId"));
    }
    if meta.project.is_none() {
        set(&mut meta.project, object.text("cwd"));
    }
    set(&mut meta.git_branch, object.text("gitBranch"));
    set(&mut meta.agent_version, object.text("version"));
    if meta.parent.is_none() {
        set(
            &mut meta.parent,
            object
                .get("forkedFrom")
                .and_then(|from| from.get("sessionId"))
                .and_then(|id| id.text()),
        );
    }
}

fn set(place: &mut Option<String>, text: Option<std::borrow::Cow<'_, str>>) {
    // Every line repeats these values, so they are copied only when they change.
    if let Some(text) = text.filter(|text| !text.is_empty() && place.as_deref() != Some(text)) {
        *place = Some(text.into_owned());
    }
}

/// Whether the line belongs to the session's own conversation.
fn is_main(head: &Head, meta: &SessionMeta) -> bool {
    !head.flags.has(Flags::SIDECHAIN) || meta.hidden == Some("subagent")
}

fn user(object: &Object<'_>, head: &Head, meta: &mut SessionMeta) {
    set(&mut meta.permission_mode, object.text("permissionMode"));
    if !is_main(head, meta) || head.flags.has(Flags::HIDDEN) || head.flags.has(Flags::SUMMARY) {
        return;
    }
    meta.messages += 1;
    match prompt::said(object) {
        prompt::Said::Prompt(text) => {
            meta.turns += 1;
            // A command counts as the first prompt only until there is a real prompt.
            if meta.last_prompt.is_none() {
                meta.first_prompt = None;
            }
            meta.saw_prompt(&text);
        }
        prompt::Said::Command(name) if meta.first_prompt.is_none() => {
            meta.first_prompt = Some(name)
        }
        prompt::Said::Command(_) | prompt::Said::Noise => {}
    }
}

fn assistant(object: &Object<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    let Some(message) = object.get("message") else {
        return;
    };
    if is_main(head, meta) {
        meta.messages += u64::from(head.flags.has(Flags::OWN));
        let calls = message
            .get("content")
            .into_iter()
            .flat_map(|content| content.items());
        meta.tool_calls += calls
            .filter(|block| block.get("type").is_some_and(|word| word.is("tool_use")))
            .count() as u64;
    }
    let model = message
        .get("model")
        .and_then(|model| model.text())
        .filter(|model| model != "<synthetic>");
    if let Some(model) = model {
        meta.saw_model(&model);
        if let Some(usage) = message
            .get("usage")
            .map(usage)
            .filter(|usage| !usage.is_unknown())
        {
            let request = object.text("requestId").and_then(|id| names.intern(&id));
            let said = Said {
                at: head.instant(),
                model: names.intern(&model),
                request,
                everywhere: true,
                ..Said::default()
            };
            meta.usage.note_said(head.group, usage, said);
        }
    }
}

/// Reads the `usage` block of the Messages API, in one pass: every answer of every log has one.
pub(super) fn usage(raw: Raw<'_>) -> Usage {
    let mut usage = Usage::default();
    let mut is_unknown = false;
    for (name, value) in raw.members() {
        // Of duplicate keys the last one counts.
        match &*name.to_text() {
            // Our own lines contain zeros where usage is unknown, because the client requires
            // numbers.
            "unknown" => is_unknown = value.bool() == Some(true),
            "input_tokens" => usage.input = value.u64(),
            "output_tokens" => usage.output = value.u64(),
            "cache_read_input_tokens" => usage.cache_read = value.u64(),
            "cache_creation_input_tokens" => usage.cache_write = value.u64(),
            "cache_creation" => {
                let an_hour = value.get("ephemeral_1h_input_tokens");
                usage.cache_write_1h = an_hour.and_then(|it| it.u64());
            }
            "output_tokens_details" => {
                let thinking = value.get("thinking_tokens");
                usage.reasoning = thinking.and_then(|it| it.u64());
            }
            _ => {}
        }
    }
    match is_unknown {
        true => Usage::default(),
        false => usage,
    }
}

fn system(object: &Object<'_>, meta: &mut SessionMeta) {
    if object
        .get("subtype")
        .is_some_and(|subtype| subtype.is("turn_duration"))
        && let Some(millis) = object.get("durationMs").and_then(|millis| millis.u64())
    {
        meta.duration_ms = Some(meta.duration_ms.unwrap_or(0).saturating_add(millis));
    }
}

/// Sets the title. The user's title has priority over a generated one, regardless of their
/// positions in the file; of each kind the last one counts.
fn title(object: &Object<'_>, names: &Interner, meta: &mut SessionMeta) {
    let given = |title: Option<std::borrow::Cow<'_, str>>| {
        title.filter(|t| !t.is_empty()).map(|t| t.into_owned())
    };
    if let Some(title) = given(object.text("customTitle")) {
        (meta.title, meta.title_source) = (Some(title), Some("user".to_owned()));
    } else if let Some(title) =
        given(object.text("aiTitle")).filter(|_| meta.title_source.as_deref() != Some("user"))
    {
        (meta.title, meta.title_source) = (Some(title), Some("auto".to_owned()));
    } else if let Some(summary) = given(object.text("summary"))
        && object
            .text("leafUuid")
            .is_none_or(|leaf| names.find(&leaf).is_some())
    {
        // Old versions wrote summaries of other sessions at the start of a file; those name a leaf
        // that is not in this file.
        meta.summary = Some(summary);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::read;

    #[test]
    fn the_users_title_wins_over_a_later_one_of_the_client() {
        let meta = read(concat!(
            r#"{"type":"ai-title","aiTitle":"auto one"}"#,
            "\n",
            r#"{"type":"custom-title","customTitle":"mine"}"#,
            "\n",
            r#"{"type":"custom-title","customTitle":"mine too"}"#,
            "\n",
            r#"{"type":"ai-title","aiTitle":"auto two"}"#,
            "\n",
        ))
        .meta;
        assert_eq!(meta.title.as_deref(), Some("mine too"));
        assert_eq!(meta.title_source.as_deref(), Some("user"));
    }

    #[test]
    fn the_first_folder_and_the_last_permission_mode_branch_and_version_count() {
        let meta = read(concat!(
            r#"{"parentUuid":null,"type":"user","uuid":"1","cwd":"/a","gitBranch":"main","version":"2.1.1","permissionMode":"default","message":{"role":"user","content":"x"}}"#,
            "\n",
            r#"{"parentUuid":"1","type":"user","uuid":"2","cwd":"/a","gitBranch":"topic","version":"2.1.2","permissionMode":"acceptEdits","message":{"role":"user","content":"y"}}"#,
            "\n",
            r#"{"type":"permission-mode","permissionMode":"plan"}"#,
            "\n",
        ))
        .meta;
        assert_eq!(meta.permission_mode.as_deref(), Some("plan"));
        assert_eq!(
            (meta.git_branch.as_deref(), meta.agent_version.as_deref()),
            (Some("topic"), Some("2.1.2"))
        );
        assert_eq!(meta.project.as_deref(), Some("/a"));
    }

    #[test]
    fn usage_counts_once_for_each_api_message_and_the_last_line_wins() {
        let line = |uuid: &str, message: &str, model: &str, output: u64| {
            format!(
                r#"{{"parentUuid":null,"type":"assistant","uuid":"{uuid}","message":{{"id":"{message}","model":"{model}","content":[{{"type":"tool_use","id":"{uuid}"}}],"usage":{{"input_tokens":1,"output_tokens":{output},"cache_read_input_tokens":3}}}}}}"#
            ) + "\n"
        };
        let text = line("a", "m1", "big", 1)
            + &line("b", "m1", "big", 7)
            + &line("c", "m2", "<synthetic>", 0);
        let meta = read(&text).meta;
        let total = meta.usage.total();
        assert_eq!(
            (
                total.input,
                total.output,
                total.cache_read,
                total.cache_write
            ),
            (Some(1), Some(7), Some(3), None)
        );
        assert_eq!(meta.models, ["big"]);
        assert_eq!((meta.messages, meta.tool_calls), (2, 3));
    }

    #[test]
    fn what_was_written_to_the_cache_for_an_hour_is_told_apart() {
        let line = |uuid: &str, usage: &str| {
            format!(
                r#"{{"parentUuid":null,"type":"assistant","uuid":"{uuid}","message":{{"id":"{uuid}","model":"big","content":[],"usage":{{{usage}}}}}}}"#
            ) + "\n"
        };
        let both = r#""cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":7}"#;
        let total = |text: &str| read(text).meta.usage.total();
        let sum = total(&(line("a", both) + &line("b", r#""cache_creation_input_tokens":5"#)));
        assert_eq!((sum.cache_write, sum.cache_write_1h), (Some(14), Some(7)));
        assert_eq!(
            total(&line("b", r#""cache_creation_input_tokens":5"#)).cache_write_1h,
            None
        );
    }

    #[test]
    fn a_command_stands_in_for_the_first_prompt_until_there_is_one() {
        let line = |text: &str| {
            format!(
                r#"{{"parentUuid":null,"type":"user","uuid":"{}","message":{{"content":"{text}"}}}}"#,
                text.len()
            ) + "\n"
        };
        let command = line("<command-name>/clear</command-name>");
        assert_eq!(read(&command).meta.first_prompt.as_deref(), Some("/clear"));
        let meta = read(&(command + &line("hello") + &line("hello again"))).meta;
        assert_eq!(meta.first_prompt.as_deref(), Some("hello"));
        assert_eq!(meta.last_prompt.as_deref(), Some("hello again"));
        assert_eq!((meta.messages, meta.turns), (3, 2));
    }

    #[test]
    fn a_summary_of_another_session_is_not_taken() {
        let user = r#"{"parentUuid":null,"type":"user","uuid":"u1","message":{"content":"x"}}"#;
        let summary = |text: &str, leaf: &str| {
            format!(r#"{{"type":"summary","summary":"{text}","leafUuid":"{leaf}"}}"#)
        };
        let text = [
            summary("other", "zz"),
            user.to_owned(),
            summary("ours", "u1"),
            summary("foreign", "yy"),
        ]
        .join("\n");
        assert_eq!(read(&text).meta.summary.as_deref(), Some("ours"));
    }

    #[test]
    fn tags_branch_cost_and_duration_are_the_last_ones_stated() {
        let meta = read(concat!(
            r#"{"type":"tag","tag":"old"}"#,
            "\n",
            r#"{"type":"tag","tag":"new"}"#,
            "\n",
            r#"{"type":"cost-state","totalCostUSD":0.5}"#,
            "\n",
            r#"{"type":"cost-state","totalCostUSD":0.75}"#,
            "\n",
            r#"{"type":"system","subtype":"turn_duration","durationMs":5,"gitBranch":"a","cwd":"/a","version":"1"}"#,
            "\n",
            r#"{"type":"system","subtype":"turn_duration","durationMs":6,"gitBranch":"b","cwd":"/b","version":"2"}"#,
            "\n",
        ))
        .meta;
        assert_eq!(meta.tags, ["new"]);
        assert_eq!(meta.stated.usage.cost, Some(0.75));
        assert_eq!(meta.duration_ms, Some(11));
        assert_eq!(meta.git_branch.as_deref(), Some("b"));
        assert_eq!(meta.project.as_deref(), Some("/a"));
        assert_eq!(meta.agent_version.as_deref(), Some("2"));
        assert!(
            read("{\"type\":\"tag\",\"tag\":\"a\"}\n{\"type\":\"tag\",\"tag\":\"\"}\n")
                .meta
                .tags
                .is_empty()
        );
    }
}
