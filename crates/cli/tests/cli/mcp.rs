//! `mcp`: the protocol over the standard streams of the real program.

mod client;
mod conformance;
mod official;
mod property;
mod real_clients;
mod safety;
mod subscriptions;

use std::time::Duration;

use boswell_app::system::Stopwatch;
use serde_json::{Value, json};

use self::client::{Client, apart, tokens};
use crate::bench::Bench;
use crate::digest::{Transcript, key};

/// A machine with a session in the current folder and one elsewhere.
fn machine() -> (Bench, Transcript, Transcript) {
    let bench = Bench::new();
    let cwd = bench.cwd().canonicalize().unwrap();
    let mut own = Transcript::new(1, cwd.to_str().unwrap());
    let file = cwd.join("src/lease.rs").display().to_string();
    own.prompt("Why is the zyxquorum lease lost?")
        .call(
            "Edit",
            json!({"file_path": file, "old_string": "a", "new_string": "b\nc"}),
            ("edited", false),
        )
        .answer("The lease was unlinked before the lock. It is fixed; one test still fails.");
    own.write(&bench);
    let mut other = Transcript::new(2, "/secret/elsewhere");
    other
        .prompt("The zyxquorum of another project: qwortzblatt")
        .call(
            "Read",
            json!({"file_path": "/secret/elsewhere/src/lease.rs"}),
            ("text", false),
        )
        .answer("Nothing.");
    other.write(&bench);
    (bench, own, other)
}

#[test]
fn an_agent_finds_outlines_and_reads_a_session() {
    let (bench, own, _) = machine();
    let mut client = Client::start(&bench, &[]);
    let found = client.call("search_sessions", json!({"query": "lease unlinked"}));
    let answer = own.entry(4);
    let citation = format!("{}#{answer}", own.reference());
    assert!(found.contains(&citation), "{found}");
    let outline = client.call("outline_session", json!({"session": own.reference()}));
    assert!(
        outline.contains("1. #") && outline.contains("src/lease.rs +2 −1"),
        "{outline}"
    );
    assert!(outline.contains("one test still fails"), "{outline}");
    let read = client.call(
        "read_session",
        json!({"session": &own.id[..8], "around": citation, "count": 2}),
    );
    assert!(
        read.contains("The lease was unlinked before the lock."),
        "{read}"
    );
    assert!(read.contains("entries before: read_session("), "{read}");
    let entry = client.call(
        "read_entry",
        json!({"session": own.reference(), "entry": own.entry(2)}),
    );
    assert!(entry.contains("\"new_string\""), "{entry}");
    let history = client.call("file_history", json!({"path": "src/lease.rs"}));
    assert!(history.contains("changed ×1, read ×0"), "{history}");
    assert!(history.contains("changed ×0, read ×1"), "{history}");
    let usage = client.call("usage_stats", json!({"by": "agent"}));
    assert!(usage.contains("claude | 2 |"), "{usage}");
    let sessions = client.call("list_sessions", json!({}));
    assert!(
        sessions.contains("claude:00000001") && sessions.contains("here"),
        "{sessions}"
    );
    let projects = client.call("list_projects", json!({}));
    assert!(
        projects.contains("/secret/elsewhere · 1 sessions"),
        "{projects}"
    );
    assert_eq!(client.end(), "");
}

#[test]
fn every_revision_of_the_protocol_is_answered() {
    let (bench, ..) = machine();
    for version in ["2025-06-18", "2025-11-25"] {
        let mut client = Client::spawn(&bench, &[]);
        let hello = client.initialize(version);
        assert_eq!(hello["protocolVersion"], version, "{hello}");
        assert!(hello["capabilities"]["tools"].is_object(), "{hello}");
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        assert_eq!(tools.as_array().unwrap().len(), 8);
        assert!(
            tokens(&tools.to_string()) <= 1_800,
            "{}",
            tokens(&tools.to_string())
        );
        client.end();
    }
    // The newest one has no handshake: every request says what it needs.
    let mut client = Client::spawn(&bench, &[]);
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let answer = client.ask("tools/list", meta);
    let tools = answer["result"]["tools"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(tools.len(), 8);
    client.end();
}

#[test]
fn answers_keep_to_their_budgets_and_continue_by_cursor() {
    let bench = Bench::new();
    let cwd = bench.cwd().canonicalize().unwrap();
    let long = "zyxquorum 会话恢复 a long text that goes on and on. ".repeat(400);
    for number in 1..=12 {
        let mut session = Transcript::new(number, cwd.to_str().unwrap());
        for turn in 0..30 {
            session.prompt(&format!("{turn} {long}")).answer(&long);
        }
        session.write(&bench);
    }
    let mut client = Client::start(&bench, &[]);
    let first = client.call("search_sessions", json!({"query": "zyxquorum"}));
    assert!(tokens(&first) <= 900, "{}: {first}", tokens(&first));
    let cursor = first
        .split("cursor=")
        .nth(1)
        .and_then(|it| it.lines().next());
    let more = json!({"query": "zyxquorum", "cursor": cursor.unwrap()});
    let second = client.call("search_sessions", more);
    let cited = |text: &str| -> Vec<String> {
        let words = text
            .split_whitespace()
            .filter(|it| it.starts_with("claude:"));
        words.map(str::to_owned).collect()
    };
    assert_eq!(cited(&first).len(), 8, "{first}");
    assert!(cited(&second).iter().all(|it| !cited(&first).contains(it)));
    let session = json!({"session": "00000001"});
    let outline = client.call("outline_session", session.clone());
    assert!(tokens(&outline) <= 700, "{}: {outline}", tokens(&outline));
    assert!(outline.contains("left out"), "{outline}");
    let read = client.call("read_session", session);
    let (inside, _) = apart(&read);
    assert!(inside.chars().count() <= 4_000 + 100, "{}", inside.len());
    let all = json!({"session": "00000001", "count": 50, "max_chars": 999_999});
    let read = client.call("read_session", all);
    assert!(read.chars().count() <= 20_000, "{}", read.chars().count());
    let sessions = client.call("list_sessions", json!({"limit": 5}));
    let cursor = sessions
        .split("cursor=")
        .nth(1)
        .and_then(|it| it.lines().next());
    let rest = client.call(
        "list_sessions",
        json!({"limit": 50, "cursor": cursor.unwrap()}),
    );
    assert_eq!(cited(&rest).len(), 7, "{rest}");
    client.end();
}

#[test]
fn an_entry_is_read_in_pages_that_join() {
    let bench = Bench::new();
    let cwd = bench.cwd().canonicalize().unwrap();
    let mut session = Transcript::new(1, cwd.to_str().unwrap());
    let text: String = (0..3_000).map(|number| format!("{number} ")).collect();
    session.prompt(&format!("{} {text}", key()));
    session.write(&bench);
    let mut client = Client::start(&bench, &[]);
    let (mut joined, mut offset) = (String::new(), 0);
    loop {
        let page = client.call(
            "read_entry",
            json!({"session": session.reference(), "entry": session.entry(1), "offset": offset}),
        );
        let (inside, outside) = apart(&page);
        joined.push_str(inside.strip_suffix('\n').unwrap());
        let next = outside.split("offset=").nth(1);
        let Some(next) = next.and_then(|it| it.split(')').next()) else {
            break;
        };
        offset = next.parse().unwrap();
    }
    assert_eq!(joined, format!("[github-token removed] {}", text.trim()));
    client.end();
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let (bench, ..) = machine();
    let mut client = Client::start(&bench, &[]);
    for (tool, arguments, why) in [
        ("search_sessions", json!({}), "`query` is missing"),
        (
            "search_sessions",
            json!({"query": "x", "limt": 3}),
            "none of",
        ),
        (
            "search_sessions",
            json!({"query": "x", "cursor": "%zz"}),
            "not a cursor",
        ),
        (
            "read_session",
            json!({"session": "/etc/passwd"}),
            "does not name one session",
        ),
        (
            "read_session",
            json!({"session": "@last"}),
            "does not name one session",
        ),
        (
            "read_session",
            json!({"session": "ffffffff"}),
            "no such session",
        ),
        (
            "read_session",
            json!({"session": "00000001", "before": "a", "after": "b"}),
            "only one",
        ),
        (
            "list_sessions",
            json!({"since": "someday"}),
            "not a valid time",
        ),
    ] {
        let (text, failed) = client.try_call(tool, arguments.clone());
        assert!(failed && text.contains(why), "{tool} {arguments}: {text}");
        assert!(text.chars().count() <= 1_000, "{text}");
    }
    let answer = client.ask(
        "tools/call",
        json!({"name": "delete_session", "arguments": {}}),
    );
    assert!(answer["error"].is_object(), "{answer}");
    client.end();
}

#[test]
fn prompts_and_resources_are_served() {
    let (bench, own, _) = machine();
    let mut client = Client::start(&bench, &[]);
    let prompts = client.ask("prompts/list", json!({}))["result"]["prompts"].clone();
    assert_eq!(prompts.as_array().unwrap().len(), 3, "{prompts}");
    let arguments = json!({"name": "recall", "arguments": {"topic": "the lease"}});
    let prompt = client.ask("prompts/get", arguments);
    assert!(
        prompt["result"]["messages"][0]
            .to_string()
            .contains("the lease"),
        "{prompt}"
    );
    let listed = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(listed, json!([]));
    let templates = client.ask("resources/templates/list", json!({}));
    let templates = templates["result"]["resourceTemplates"].clone();
    assert_eq!(templates.as_array().unwrap().len(), 3, "{templates}");
    let entry = format!(
        "boswell://session/{}/entry/{}",
        own.reference(),
        own.entry(1)
    );
    for uri in [format!("boswell://session/{}", own.reference()), entry] {
        let read = client.ask("resources/read", json!({"uri": uri}));
        let text = read["result"]["contents"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{read}"));
        assert!(apart(text).0.contains("zyxquorum"), "{text}");
    }
    let gone = client.ask(
        "resources/read",
        json!({"uri": "boswell://session/claude:gone"}),
    );
    assert!(gone["error"].is_object(), "{gone}");
    let completed = client.ask(
        "completion/complete",
        json!({
            "ref": {"type": "ref/prompt", "name": "hand_over"},
            "argument": {"name": "session", "value": "00000001"},
        }),
    );
    let values = &completed["result"]["completion"]["values"];
    assert_eq!(*values, json!([own.reference()]));
    client.end();
}

#[test]
fn the_plugin_starts_this_server_and_its_skill_names_what_exists() {
    let (bench, ..) = machine();
    let json = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let servers = json(include_str!("../../../../plugin/.mcp.json"));
    let server = json!({"command": "boswell", "args": ["mcp"]});
    assert_eq!(servers["mcpServers"]["boswell"], server);
    let plugin = json(include_str!(
        "../../../../plugin/.claude-plugin/plugin.json"
    ));
    let market = json(include_str!(
        "../../../../plugin/.claude-plugin/marketplace.json"
    ));
    assert_eq!(market["plugins"][0]["name"], plugin["name"]);
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
    let skill = include_str!("../../../../plugin/skills/recall/SKILL.md");
    assert!(skill.lines().count() <= 60);
    let mut client = Client::start(&bench, &[]);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    client.end();
    let mut named = (0, 0);
    for quoted in skill.split('`').skip(1).step_by(2) {
        if let Some((tool, _)) = quoted.split_once('(') {
            assert!(tools.contains(&format!("\"name\":\"{tool}\"")), "{tool}");
            named.0 += 1;
        } else if let Some(line) = quoted.strip_prefix("boswell ") {
            let mut words = line.split(' ');
            let help = bench.run([words.next().unwrap(), "--help"]).ends(0).text();
            for option in words.filter(|word| word.starts_with("--")) {
                assert!(help.contains(option), "{line}: {option}");
            }
            named.1 += 1;
        }
    }
    assert_eq!(named, (5, 6), "the table of the skill");
}

#[test]
fn the_server_is_there_at_once() {
    let (bench, ..) = machine();
    // The median of a few starts: a loaded machine makes single ones slow. The build of tests is
    // not optimised, so that the bound is wider than the 15 ms of a release.
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let begun = Stopwatch::start();
            let client = Client::start(&bench, &[]);
            let time = begun.elapsed();
            client.end();
            time
        })
        .collect();
    times.sort();
    assert!(times[4] < Duration::from_millis(400), "{times:?}");
}
