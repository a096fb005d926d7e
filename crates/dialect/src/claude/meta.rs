//! What the lines of a session say about it as a whole.

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, SessionMeta, Flags, Head, Interner, Said, Usage};

use super::prompt;

/// Gathers what a line says about the session.
pub(super) fn collect_meta(object: &Object<'_>, head: &Head, names: &mut Interner, facts: &mut SessionMeta) {
    let is_first = facts.kinds.is_empty();
    let word = head.word.map_or("", |word| names.text(word));
    facts.count(word);
    facts.saw(head);
    if is_first && head.flags.has(Flags::SIDECHAIN) && facts.hidden.is_none() {
        facts.hidden = Some("subagent");
    }
    envelope(object, facts);
    match head.kind {
        EntryKind::User => user(object, head, facts),
        EntryKind::Assistant => assistant(object, head, names, facts),
        EntryKind::System => system(object, facts),
        EntryKind::Title => title(object, names, facts),
        EntryKind::Tag => {
            facts.tags = object
                .text("tag")
                .filter(|tag| !tag.is_empty())
                .map(|tag| tag.into_owned())
                .into_iter()
                .collect();
        }
        EntryKind::Setting => set(&mut facts.permission_mode, object.text("permissionMode")),
        EntryKind::Meta => {
            set(&mut facts.project, object.text("relocatedCwd"));
            if let Some(cost) = object.get("totalCostUSD").and_then(|cost| cost.f64()) {
                facts.stated.usage.cost = Some(cost);
            }
        }
        _ => {}
    }
}

/// What every line of the chain repeats: the first folder counts, else the last word.
fn envelope(object: &Object<'_>, facts: &mut SessionMeta) {
    if facts.id.is_none() {
        set(&mut facts.id, object.text("sessionId"));
    }
    if facts.project.is_none() {
        set(&mut facts.project, object.text("cwd"));
    }
    set(&mut facts.git_branch, object.text("gitBranch"));
    set(&mut facts.agent_version, object.text("version"));
    if facts.parent.is_none() {
        set(
            &mut facts.parent,
            object
                .get("forkedFrom")
                .and_then(|from| from.get("sessionId"))
                .and_then(|id| id.text()),
        );
    }
}

fn set(place: &mut Option<String>, text: Option<std::borrow::Cow<'_, str>>) {
    // Every line repeats these: nothing is copied unless it changed.
    if let Some(text) = text.filter(|text| !text.is_empty() && place.as_deref() != Some(text)) {
        *place = Some(text.into_owned());
    }
}

/// Whether the line belongs to the conversation that the session is about.
fn is_main(head: &Head, facts: &SessionMeta) -> bool {
    !head.flags.has(Flags::SIDECHAIN) || facts.hidden == Some("subagent")
}

fn user(object: &Object<'_>, head: &Head, facts: &mut SessionMeta) {
    set(&mut facts.permission_mode, object.text("permissionMode"));
    if !is_main(head, facts) || head.flags.has(Flags::HIDDEN) || head.flags.has(Flags::SUMMARY) {
        return;
    }
    facts.messages += 1;
    match prompt::said(object) {
        prompt::Said::Prompt(text) => {
            facts.turns += 1;
            // A command stands in as the first prompt only until there is a real one.
            if facts.last_prompt.is_none() {
                facts.first_prompt = None;
            }
            facts.saw_prompt(&text);
        }
        prompt::Said::Command(name) if facts.first_prompt.is_none() => {
            facts.first_prompt = Some(name)
        }
        prompt::Said::Command(_) | prompt::Said::Noise => {}
    }
}

fn assistant(object: &Object<'_>, head: &Head, names: &mut Interner, facts: &mut SessionMeta) {
    let Some(message) = object.get("message") else {
        return;
    };
    if is_main(head, facts) {
        facts.messages += u64::from(head.flags.has(Flags::OWN));
        let calls = message
            .get("content")
            .into_iter()
            .flat_map(|content| content.items());
        facts.tool_calls += calls
            .filter(|block| block.get("type").is_some_and(|word| word.is("tool_use")))
            .count() as u64;
    }
    let model = message
        .get("model")
        .and_then(|model| model.text())
        .filter(|model| model != "<synthetic>");
    if let Some(model) = model {
        facts.saw_model(&model);
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
            facts.usage.note_said(head.group, usage, said);
        }
    }
}

/// The usage block of the Messages API.
pub(super) fn usage(raw: Raw<'_>) -> Usage {
    // What we wrote ourselves without knowing holds zeros, for the client's sake.
    if raw.get("unknown").and_then(|unknown| unknown.bool()) == Some(true) {
        return Usage::default();
    }
    let count = |key: &str| raw.get(key).and_then(|value| value.u64());
    Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        cache_write_1h: raw
            .at(&["cache_creation", "ephemeral_1h_input_tokens"])
            .and_then(|value| value.u64()),
        reasoning: raw
            .at(&["output_tokens_details", "thinking_tokens"])
            .and_then(|value| value.u64()),
        ..Usage::default()
    }
}

fn system(object: &Object<'_>, facts: &mut SessionMeta) {
    if object
        .get("subtype")
        .is_some_and(|subtype| subtype.is("turn_duration"))
        && let Some(millis) = object.get("durationMs").and_then(|millis| millis.u64())
    {
        facts.duration_ms = Some(facts.duration_ms.unwrap_or(0).saturating_add(millis));
    }
}

/// The user's title wins over one that the client made, wherever in the file they stand; of each
/// the last one counts.
fn title(object: &Object<'_>, names: &Interner, facts: &mut SessionMeta) {
    let given = |title: Option<std::borrow::Cow<'_, str>>| {
        title.filter(|t| !t.is_empty()).map(|t| t.into_owned())
    };
    if let Some(title) = given(object.text("customTitle")) {
        (facts.title, facts.title_source) = (Some(title), Some("user".to_owned()));
    } else if let Some(title) =
        given(object.text("aiTitle")).filter(|_| facts.title_source.as_deref() != Some("user"))
    {
        (facts.title, facts.title_source) = (Some(title), Some("auto".to_owned()));
    } else if let Some(summary) = given(object.text("summary"))
        && object
            .text("leafUuid")
            .is_none_or(|leaf| names.find(&leaf).is_some())
    {
        // Old versions put summaries of other sessions at the start of a file: those name a
        // leaf that is not here.
        facts.summary = Some(summary);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::read;

    #[test]
    fn the_users_title_wins_over_a_later_one_of_the_client() {
        let facts = read(concat!(
            r#"{"type":"ai-title","aiTitle":"auto one"}"#,
            "\n",
            r#"{"type":"custom-title","customTitle":"mine"}"#,
            "\n",
            r#"{"type":"custom-title","customTitle":"mine too"}"#,
            "\n",
            r#"{"type":"ai-title","aiTitle":"auto two"}"#,
            "\n",
        ))
        .facts;
        assert_eq!(facts.title.as_deref(), Some("mine too"));
        assert_eq!(facts.title_source.as_deref(), Some("user"));
    }

    #[test]
    fn the_last_permission_mode_folder_branch_and_version_count() {
        let facts = read(concat!(
            r#"{"parentUuid":null,"type":"user","uuid":"1","cwd":"/a","gitBranch":"main","version":"2.1.1","permissionMode":"default","message":{"role":"user","content":"x"}}"#,
            "\n",
            r#"{"parentUuid":"1","type":"user","uuid":"2","cwd":"/a","gitBranch":"topic","version":"2.1.2","permissionMode":"acceptEdits","message":{"role":"user","content":"y"}}"#,
            "\n",
            r#"{"type":"permission-mode","permissionMode":"plan"}"#,
            "\n",
        ))
        .facts;
        assert_eq!(facts.permission_mode.as_deref(), Some("plan"));
        assert_eq!(
            (facts.git_branch.as_deref(), facts.agent_version.as_deref()),
            (Some("topic"), Some("2.1.2"))
        );
        assert_eq!(facts.project.as_deref(), Some("/a"));
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
        let facts = read(&text).facts;
        let total = facts.usage.total();
        assert_eq!(
            (
                total.input,
                total.output,
                total.cache_read,
                total.cache_write
            ),
            (Some(1), Some(7), Some(3), None)
        );
        assert_eq!(facts.models, ["big"]);
        assert_eq!((facts.messages, facts.tool_calls), (2, 3));
    }

    #[test]
    fn what_was_written_to_the_cache_for_an_hour_is_told_apart() {
        let line = |uuid: &str, usage: &str| {
            format!(
                r#"{{"parentUuid":null,"type":"assistant","uuid":"{uuid}","message":{{"id":"{uuid}","model":"big","content":[],"usage":{{{usage}}}}}}}"#
            ) + "\n"
        };
        let both = r#""cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":7}"#;
        let total = |text: &str| read(text).facts.usage.total();
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
        assert_eq!(read(&command).facts.first_prompt.as_deref(), Some("/clear"));
        let facts = read(&(command + &line("hello") + &line("hello again"))).facts;
        assert_eq!(facts.first_prompt.as_deref(), Some("hello"));
        assert_eq!(facts.last_prompt.as_deref(), Some("hello again"));
        assert_eq!((facts.messages, facts.turns), (3, 2));
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
        assert_eq!(read(&text).facts.summary.as_deref(), Some("ours"));
    }

    #[test]
    fn tags_branch_cost_and_duration_are_the_last_ones_stated() {
        let facts = read(concat!(
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
        .facts;
        assert_eq!(facts.tags, ["new"]);
        assert_eq!(facts.stated.usage.cost, Some(0.75));
        assert_eq!(facts.duration_ms, Some(11));
        assert_eq!(facts.git_branch.as_deref(), Some("b"));
        assert_eq!(facts.project.as_deref(), Some("/a"));
        assert_eq!(facts.agent_version.as_deref(), Some("2"));
        assert!(
            read("{\"type\":\"tag\",\"tag\":\"a\"}\n{\"type\":\"tag\",\"tag\":\"\"}\n")
                .facts
                .tags
                .is_empty()
        );
    }
}
