use boswell_model::json::Json;

use super::*;

fn turn(role: Role, parts: Vec<Part>) -> Turn {
    Turn {
        entry: "e1".to_owned(),
        at: None,
        message: ChatMessage::new(role, parts),
        provider: None,
        model: None,
    }
}

fn text(said: &str) -> Part {
    Part::Text(said.to_owned())
}

fn user(said: &str) -> Turn {
    turn(Role::User, vec![text(said)])
}

fn call(id: &str) -> Part {
    Part::Call {
        id: id.to_owned(),
        name: "ls".to_owned(),
        input: "{}".into(),
    }
}

fn result(call: &str, said: &str) -> Turn {
    let role = Role::Tool {
        call: call.to_owned(),
        tool: "ls".to_owned(),
        is_error: false,
    };
    turn(role, vec![text(said)])
}

fn began() -> Instant {
    Instant::from_millis(1_000)
}

/// One word for each draft: `u:TEXT`, `a:TEXT+CALLS`, `r:CALL=TEXT`.
fn words(fitted: &Fitted) -> Vec<String> {
    let said = |parts: &[Part]| {
        let words = parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Call { id, .. } => format!("+{id}"),
            Part::Thinking { text, .. } => format!("({text})"),
            Part::Media { .. } => "<image>".to_owned(),
            other => format!("{other:?}"),
        });
        words.collect::<Vec<_>>().join("")
    };
    let word = |draft: &Draft| match &draft.body {
        Body::User(parts) => format!("u:{}", said(parts)),
        Body::Assistant(answer) => format!("a:{}", said(&answer.content)),
        Body::ToolResult { call, content, .. } => format!("r:{call}={}", said(content)),
        other => format!("{other:?}"),
    };
    fitted.drafts.iter().map(word).collect()
}

fn lost(fitted: &Fitted) -> Vec<(LossKind, u64)> {
    let losses = fitted.losses.iter();
    losses.map(|loss| (loss.kind, loss.count)).collect()
}

fn fitted(turns: Vec<Turn>) -> Fitted {
    fit(turns, &Intake::PLAIN, began())
}

#[test]
fn results_stand_behind_the_message_that_called_them() {
    let made = fitted(vec![
        user("q"),
        turn(Role::Assistant, vec![text("I look.")]),
        turn(Role::Assistant, vec![call("a"), call("b")]),
        result("b", "two"),
        user("hurry"),
        turn(Role::Assistant, vec![text("wait")]),
        result("a", "one"),
        turn(Role::Assistant, vec![text("done")]),
    ]);
    assert_eq!(
        words(&made),
        [
            "u:q",
            "a:I look.+a+b",
            "r:a=one",
            "r:b=two",
            "u:hurry",
            "a:waitdone"
        ]
    );
    assert_eq!(lost(&made), []);
}

#[test]
fn an_id_that_is_used_again_gets_another_one_and_its_own_result() {
    let made = fitted(vec![
        user("q"),
        turn(Role::Assistant, vec![call("c")]),
        result("c", "one"),
        turn(Role::Assistant, vec![call("c")]),
        result("c", "two"),
        turn(Role::Assistant, vec![call("toolu:x/1")]),
    ]);
    let words = words(&made);
    let second = words[3].strip_prefix("a:+").unwrap();
    assert_ne!(second, "c");
    assert_eq!(words[2], "r:c=one");
    assert_eq!(words[4], format!("r:{second}=two"));
    assert!(
        words[6].ends_with("=[No result was recorded.]"),
        "{words:?}"
    );
    assert_eq!(
        lost(&made),
        [(LossKind::MissingResult, 1), (LossKind::CallId, 2)]
    );
}

#[test]
fn what_no_provider_accepts_is_left_out_and_counted() {
    let made = fitted(vec![
        turn(Role::System, vec![text("you are")]),
        result("gone", "orphan"),
        turn(
            Role::Assistant,
            vec![Part::thinking("hm"), text(" \n"), text("hello")],
        ),
        user(" "),
        turn(
            Role::User,
            vec![Part::Media {
                mime: Some("image/png".to_owned()),
                source: MediaSource::Reference("file:///etc/passwd".to_owned()),
            }],
        ),
    ]);
    assert_eq!(
        words(&made),
        [
            "u:[The conversation begins with an answer.]",
            "a:hello",
            "u:[image/png: not carried over]"
        ]
    );
    assert_eq!(
        lost(&made),
        [
            (LossKind::SystemMessage, 1),
            (LossKind::Thinking, 1),
            (LossKind::Reference, 1),
            (LossKind::EmptyText, 2),
            (LossKind::OrphanResult, 1),
            (LossKind::AddedPrompt, 1),
        ]
    );
}

#[test]
fn images_and_reasoning_go_as_far_as_the_target_takes_them() {
    let thought = |signature: Option<&str>, provider: Option<&str>| Turn {
        provider: provider.map(str::to_owned),
        ..turn(
            Role::Assistant,
            vec![
                Part::Thinking {
                    text: "hm".to_owned(),
                    signature: signature.map(str::to_owned),
                },
                text("x"),
            ],
        )
    };
    let image = || turn(Role::User, vec![Part::image("AA==", "image/png")]);
    let claude = Intake {
        thinking: ThinkingIntake::Signed("anthropic"),
        images: ImageIntake::Prompts,
        ..Intake::PLAIN
    };
    let with = |intake: &Intake, answer: Turn| words(&fit(vec![image(), answer], intake, began()));
    let signed = thought(Some("s"), Some("anthropic"));
    assert_eq!(with(&claude, signed.clone()), ["u:<image>", "a:(hm)x"]);
    let foreign = thought(Some("s"), Some("openai"));
    assert_eq!(with(&claude, foreign), ["u:<image>", "a:x"]);
    let plain = Intake {
        thinking: ThinkingIntake::Text,
        ..Intake::PLAIN
    };
    assert_eq!(
        with(&plain, signed),
        ["u:[image/png: not carried over]", "a:(hm)x"]
    );
}

#[test]
fn a_prompt_that_the_target_would_run_as_a_command_is_marked() {
    let intake = Intake {
        unsent_prompts: &["/", "?"],
        ..Intake::PLAIN
    };
    let made = fit(
        vec![user(" /home/x is full"), user("why?")],
        &intake,
        began(),
    );
    assert_eq!(words(&made), ["u:Prompt:  /home/x is full", "u:why?"]);
    assert_eq!(lost(&made), [(LossKind::MarkedPrompt, 1)]);
}

#[test]
fn arguments_and_names_get_the_form_that_providers_accept() {
    let part = Part::Call {
        id: "c".to_owned(),
        name: "9 mcp.tool/列".to_owned(),
        input: "*** Begin".into(),
    };
    let made = fitted(vec![user("q"), turn(Role::Assistant, vec![part])]);
    let Body::Assistant(answer) = &made.drafts[1].body else {
        panic!("{made:?}")
    };
    let expected = Part::Call {
        id: "c".to_owned(),
        name: "_9_mcp_tool__".to_owned(),
        input: Json::object().with("input", "*** Begin").into(),
    };
    assert_eq!(answer.content, [expected]);
    assert_eq!(
        lost(&made),
        [
            (LossKind::MissingResult, 1),
            (LossKind::ToolName, 1),
            (LossKind::FreeInput, 1)
        ]
    );
}

#[test]
fn times_never_go_back() {
    let at = |millis: Option<i64>, turn: Turn| Turn {
        at: millis.map(Instant::from_millis),
        ..turn
    };
    let made = fitted(vec![
        at(None, user("a")),
        at(Some(5_000), user("b")),
        at(Some(2_000), user("c")),
        at(None, user("d")),
    ]);
    let times = made.drafts.iter().map(|draft| draft.at.unwrap().millis());
    assert_eq!(times.collect::<Vec<_>>(), [1_000, 5_000, 5_000, 5_000]);
}
