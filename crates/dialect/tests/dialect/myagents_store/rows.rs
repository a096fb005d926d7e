//! Metadata and views from the rows of a transcript.

use boswell_dialect::Dialect;
use boswell_dialect::Refine;
use boswell_dialect::myagents::MyAgents;
use boswell_model::{Flags, Instant, MediaSource, Part, Settings, Slot, Tip};

use super::{Bytes, ROWS, index_of, read};

#[test]
fn rows_give_counts_tokens_models_and_time() {
    let (_, session) = read(&index_of(""), ROWS);
    let meta = &session.meta;
    assert_eq!(
        (meta.turns, meta.messages, meta.tool_calls, meta.duration_ms),
        (2, 4, 1, Some(4200))
    );
    let usage = meta.usage.total();
    assert_eq!(
        (
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write
        ),
        (Some(25), Some(16), Some(4), None)
    );
    assert_eq!(meta.models, ["m1", "m2"]);
    assert_eq!(meta.first_prompt.as_deref(), Some("hello"));
    assert_eq!(meta.last_prompt.as_deref(), Some("[not json] again"));
    assert_eq!(
        meta.last_active,
        Instant::parse("2026-02-02T00:00:00Z"),
        "the index knows when it was last active"
    );
    assert_eq!(meta.kinds.get("user"), Some(&2));
}

#[test]
fn what_rows_cost_goes_to_the_model_that_they_name_else_to_the_one_before_else_to_the_indexs() {
    let answer = |id: u32, usage: &str| {
        format!(
            r#"{{"id":"{id}","role":"assistant","content":"x","timestamp":"2026-08-05T00:0{id}:00.000Z","usage":{usage}}}"#
        )
    };
    let rows = [
        answer(1, r#"{"outputTokens":1}"#),
        answer(2, r#"{"outputTokens":10,"model":"m1"}"#),
        answer(3, r#"{"outputTokens":100}"#),
        answer(4, r#"{"outputTokens":7000,"model":"m1","modelUsage":{"m1":{"outputTokens":6000},"m2":{"outputTokens":1000}}}"#),
        answer(5, r#"{"outputTokens":80000,"model":"m3","modelUsage":{"m2":{"outputTokens":5}}}"#),
    ]
    .join("\n");
    let by_model = |more: &str| {
        let (_, session) = read(&index_of(more), &rows);
        let mut sums = std::collections::BTreeMap::new();
        for (_, noted) in session.meta.usage.items() {
            let model = noted
                .said
                .model
                .map_or("-", |model| session.log.names.text(model));
            *sums.entry(model.to_owned()).or_insert(0) += noted.usage.output.unwrap_or(0);
        }
        sums.into_iter().collect::<Vec<_>>()
    };
    let of = |model: &str, output| (model.to_owned(), output);
    let rest = [of("m1", 6110), of("m2", 1000), of("m3", 80000)];
    assert_eq!(
        by_model(r#","model":"m0""#),
        [&[of("m0", 1)][..], &rest].concat()
    );
    assert_eq!(
        by_model(""),
        [&[of("-", 1)][..], &rest].concat(),
        "nobody said which"
    );
}

#[test]
fn rows_are_linked_by_order_though_their_ids_repeat() {
    let (_, session) = read(&index_of(""), ROWS);
    let bytes = Bytes(ROWS.as_bytes());
    let view = session.view(&bytes);
    let tip = MyAgents.tip(&view).unwrap();
    assert_eq!(tip, Tip::At(Slot(3)));
    assert_eq!(
        MyAgents.branch(&view, tip).unwrap(),
        [Slot(0), Slot(1), Slot(2), Slot(3)]
    );
    assert_eq!(MyAgents.leaf(&view, tip), Some(Slot(3)));
    assert!(
        session.log.heads[3].flags.has(Flags::ERROR),
        "failures are words of the assistant"
    );
    assert_eq!(
        session.log.heads[1]
            .group
            .map(|g| session.log.names.text(g)),
        Some("sdk-1")
    );
}

#[test]
fn a_row_shows_thoughts_calls_answers_and_safe_attachments() {
    let (_, session) = read(&index_of(""), ROWS);
    let bytes = Bytes(ROWS.as_bytes());
    let view = session.view(&bytes);
    let shown = |slot| {
        view.with_object(Slot(slot), |object| MyAgents.view(object))
            .unwrap()
            .unwrap()
    };
    let answer = shown(1);
    assert_eq!(answer.parts.len(), 4);
    assert_eq!(
        answer.parts[2],
        Part::Result {
            call: "t1".into(),
            text: "done".into(),
            is_error: false
        }
    );
    assert_eq!(answer.model.as_deref(), Some("m1"));
    assert_eq!(
        MyAgents.touched_files(&answer),
        [("a.rs".to_owned(), "Edit".to_owned())]
    );
    let asked = shown(2);
    assert_eq!(asked.parts[0], Part::Text("[not json] again".into()));
    let media = MediaSource::Reference("attachments/s/f.png".into());
    assert_eq!(
        asked.parts[1],
        Part::Media {
            mime: Some("image/png".into()),
            source: media
        }
    );
    assert!(matches!(&asked.parts[2], Part::Other { word, .. } if word == "unsafe_attachment"));
    assert_eq!(
        shown(3).usage.and_then(|u| u.input),
        Some(5),
        "counters by model where there are no others"
    );
}

#[test]
fn words_of_the_app_alone_are_hidden_and_output_of_commands_is_not() {
    let row = |text: &str| {
        format!(
            r#"{{"id":"0","role":"user","content":"<system-reminder>{text}</system-reminder>","timestamp":"x"}}"#
        )
    };
    for (text, hidden) in [
        ("<HEARTBEAT>x</HEARTBEAT>", true),
        ("<LOCAL_COMMAND_OUTPUT>x</LOCAL_COMMAND_OUTPUT>", false),
    ] {
        let rows = row(text);
        let (_, session) = read(&index_of(""), &rows);
        let shown = session
            .view(&Bytes(rows.as_bytes()))
            .with_object(Slot(0), |o| MyAgents.view(o))
            .unwrap()
            .unwrap();
        assert_eq!(shown.hidden, hidden, "{text}");
        assert_eq!(session.meta.first_prompt, None, "nobody asked that");
    }
}

#[test]
fn the_context_is_the_rows_and_the_settings_of_the_index() {
    let (location, session) = read(
        &index_of(
            r#","model":"m9","permissionMode":"plan","reasoningEffort":"default","mcpEnabledServers":["a"]"#,
        ),
        ROWS,
    );
    let bytes = Bytes(ROWS.as_bytes());
    let view = session.view(&bytes);
    let context = MyAgents.context(&view, Tip::At(Slot(2))).unwrap();
    assert_eq!(context.items.len(), 3);
    assert_eq!(
        context.settings.model.as_deref(),
        Some("m1"),
        "what answered last"
    );
    let mut settings = Settings::default();
    MyAgents.side_settings(&location, &mut settings);
    assert_eq!(settings.model.as_deref(), Some("m9"));
    assert_eq!(
        (
            settings.permission_mode.as_deref(),
            settings.thinking_level.as_deref()
        ),
        (Some("plan"), Some("default"))
    );
    assert_eq!(
        settings.other,
        [("mcpEnabledServers".to_owned(), "[\"a\"]".to_owned())]
    );
    let message = view
        .with_object(Slot(1), |o| MyAgents.render(&context.items[1], &[*o]))
        .unwrap()
        .unwrap();
    assert_eq!(
        (message.role.as_str(), message.content.len(), message.native),
        ("assistant", 3, None)
    );
    let asked = view
        .with_object(Slot(2), |o| MyAgents.render(&context.items[2], &[*o]))
        .unwrap()
        .unwrap();
    assert_eq!(
        asked.content[0].to_string(),
        r#"{"type":"text","text":"[not json] again"}"#
    );
    assert!(asked.native.is_some(), "attachments say more than the text");
}
