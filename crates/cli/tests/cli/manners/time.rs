//! Local time in all that a person reads or types, UTC in JSON.

use serde_json::{Value, json};

use crate::bench::{Bench, Ran, finish};

/// A moment that is the eleventh of March in Shanghai and the tenth in London and New York.
const LATE: &str = "2026-03-10T17:30:00.000Z";
const ID: &str = "11111111-2222-4333-8444-555555555555";

fn line(uuid: &str, parent: Option<&str>, role: &str, at: &str) -> String {
    let mut message = json!({"role": role, "content": "deadlock in the pool"});
    if role == "assistant" {
        message = json!({"role": role, "id": "m1", "model": "claude-opus-4-5",
            "content": [{"type": "text", "text": "a deadlock"}],
            "usage": {"input_tokens": 10, "output_tokens": 20}});
    }
    let line = json!({"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": ID,
        "timestamp": at, "cwd": "/w/shop", "message": message});
    format!("{line}\n")
}

fn bench() -> Bench {
    let bench = Bench::new();
    let log = [
        line("a", None, "user", LATE),
        line("b", Some("a"), "assistant", LATE),
    ];
    bench.plant(
        &format!(".claude/projects/-w-shop/{ID}.jsonl"),
        log.concat().as_bytes(),
    );
    bench
}

fn run(bench: &Bench, zone: &str, args: &[&str]) -> Ran {
    let mut command = bench.command(args);
    command.env("TZ", zone);
    finish(command)
}

#[test]
fn c2_every_time_that_is_read_is_local_and_utc_on_request() {
    let bench = bench();
    for args in [
        &["show", ID][..],
        &["tree", ID],
        &["search", "deadlock"],
        &["prompts"],
        &["export", ID, "--format", "md"],
        &["export", ID, "--format", "html"],
    ] {
        for (zone, local) in [
            ("CST-8", "2026-03-11 01:30"),
            ("EST5", "2026-03-10 12:30"),
            ("", "2026-03-10 17:30"),
            (":UTC", "2026-03-10 17:30"),
        ] {
            let text = run(&bench, zone, args).ends(0).text();
            assert!(text.contains(local), "{zone} {args:?}: {text}");
            let args = [&["--utc"], args].concat();
            let text = run(&bench, zone, &args).ends(0).text();
            assert!(text.contains("2026-03-10 17:30"), "{zone} {args:?}: {text}");
        }
    }
}

#[test]
fn c2_json_stays_in_utc() {
    let bench = bench();
    for args in [
        &["show", ID, "--json"][..],
        &["search", "deadlock", "--json"],
    ] {
        let ran = run(&bench, "CST-8", args).ends(0);
        let times: Vec<Value> = ran.lines();
        assert!(
            times
                .iter()
                .any(|it| it["at"] == LATE || it["time"] == LATE),
            "{ran:?}"
        );
    }
}

#[test]
fn c2_days_weeks_and_months_are_local() {
    let bench = bench();
    let keys = |zone: &str, by: &str| {
        let ran = run(&bench, zone, &["stats", "--by", by, "--json"]).ends(0);
        let sums = ran.of_type("stat");
        assert_eq!(sums.len(), 1, "{ran:?}");
        assert_eq!(sums[0]["tokens"]["output"], 20, "{ran:?}");
        sums[0]["key"].as_str().unwrap().to_owned()
    };
    // Quarters of an hour as in Nepal count too.
    assert_eq!(keys("NPT-5:45", "day"), "2026-03-10");
    assert_eq!(keys("IST-6:30", "day"), "2026-03-11");
    assert_eq!(keys("CST-8", "day"), "2026-03-11");
    assert_eq!(keys("EST5", "day"), "2026-03-10");
    assert_eq!(keys("CST-8", "week"), "2026-W11");
    assert_eq!(keys("CST-8", "month"), "2026-03");
}

#[test]
fn c2_what_is_typed_without_a_zone_is_local() {
    let bench = bench();
    let listed = |zone: &str, args: &[&str]| {
        let args = [&["list", "--json"], args].concat();
        !run(&bench, zone, &args)
            .ends(0)
            .of_type("session")
            .is_empty()
    };
    let today = ["--since", "2026-03-11", "--until", "2026-03-12"];
    assert!(listed("CST-8", &today));
    assert!(!listed("EST5", &today));
    assert!(!listed("CST-8", &["--utc", today[0], today[1]]));
    let found = |zone: &str, query: &str| {
        let ran = run(&bench, zone, &["search", "deadlock", query, "--json"]);
        !ran.of_type("hit").is_empty()
    };
    assert!(found("CST-8", "since:2026-03-11"));
    assert!(!found("EST5", "since:2026-03-11"));
    assert!(found("EST5", "until:2026-03-10"));
    assert!(!found("CST-8", "until:2026-03-10"));
}

#[test]
fn c2_the_setting_names_a_zone_and_an_unknown_one_is_refused() {
    let bench = bench();
    let set = |zone: &str| {
        let text = format!("timezone = \"{zone}\"\n");
        bench.plant(".config/boswell/config.toml", text.as_bytes());
        run(&bench, "EST5", &["show", ID])
    };
    assert!(set("CST-8").ends(0).text().contains("2026-03-11 01:30"));
    assert!(set("UTC").ends(0).text().contains("2026-03-10 17:30"));
    assert!(set("local").ends(0).text().contains("2026-03-10 12:30"));
    set("Nowhere/Land")
        .ends(2)
        .says("is no time zone that this machine knows");
}
