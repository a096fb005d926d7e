//! What a team does on good days.

use boswell_testkit::disk;
use boswell_testkit::make::claude::{self, project_key};

use crate::bed::{Person, Team};

/// Adds a session of Claude Code with side files; returns its id and the key of its log.
pub(crate) fn plant(person: &Person, seed: u64) -> (String, String) {
    let work = person.work().display().to_string();
    let made = claude::file(claude::ClaudeShape::ToolUse, &work, seed);
    made.write_to(&person.claude());
    let id = made.id.clone();
    let folder = format!("projects/{}", project_key(&work));
    let store = person.claude();
    disk::write(
        &store.join(&folder).join(&id).join("tool-results/out.txt"),
        b"\x00\xffexact",
    );
    disk::write(&store.join("settings.json"), b"{\"hooks\":{}}");
    (id.clone(), format!("{folder}/{id}.jsonl"))
}

#[test]
fn a_session_is_private_until_it_is_shared_and_comes_back_with_every_byte() {
    let Some(team) = Team::start() else { return };
    let (alice, bob) = (team.person("alice", true), team.person("bob", false));
    let (id, log) = plant(&alice, 1);
    let name = format!("claude:{id}");
    let pushed = alice.run(&["share", &name, "--json"]).ends(0).json();
    assert_eq!(
        (&pushed[0]["revision"], &pushed[0]["parts"]),
        (&1.into(), &2.into())
    );
    let again = alice.run(&["share", &name, "--json"]).ends(0).json();
    assert_eq!(
        (&again[0]["revision"], &again[0]["parts"]),
        (&1.into(), &0.into())
    );
    assert_eq!(bob.run(&["team", "list", "--json"]).ends(0).out, "");
    let hidden = bob.run(&["fetch", &id, "--apply"]).ends(2);
    assert!(hidden.err.contains("not shared with you"), "{hidden:?}");
    let direct = bob
        .run(&["fetch", &format!("alice/{name}"), "--apply"])
        .ends(2);
    assert!(direct.err.contains("no session"), "{direct:?}");

    let _ = alice.run(&["share", &name, "--to", "team"]).ends(0);
    let listed = bob.run(&["team", "list", "--json"]).ends(0).json();
    assert_eq!(
        (&listed[0]["owner"], &listed[0]["session"]),
        (&"alice".into(), &name.clone().into())
    );
    let work = bob.work().display().to_string();
    let before = bob.files();
    let shown = bob.run(&["fetch", &id, "--project", &work]).ends(2);
    assert!(shown.out.contains("alice of the team"), "{shown:?}");
    assert_eq!(bob.files(), before, "only shown");
    let fetched = bob
        .run(&["fetch", &id, "--project", &work, "--apply"])
        .ends(0);
    assert!(fetched.out.ends_with(&format!("{name}\n")), "{fetched:?}");
    let folder = format!("projects/{}", project_key(&work));
    let mut names: Vec<String> = bob
        .files()
        .iter()
        .map(|(path, _)| path.display().to_string())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            format!("{folder}/{id}.jsonl"),
            format!("{folder}/{id}/tool-results/out.txt")
        ]
    );
    let original = disk::read(&alice.claude().join(&log));
    let came = disk::read(&bob.claude().join(format!("{folder}/{id}.jsonl")));
    assert!(came.starts_with(&original), "every byte of the log came");
    let _ = bob.run(&["undo"]).ends(0);
    assert_eq!(bob.files(), before, "undone");

    let audit = alice.run(&["team", "audit"]).ends(0).out;
    assert!(
        audit.contains("actor bob  act read  owner alice"),
        "{audit}"
    );
    let _ = alice.run(&["share", &id, "--take-back", "team"]).ends(0);
    assert_eq!(bob.run(&["team", "list", "--json"]).ends(0).out, "");
}

#[test]
fn only_what_is_new_is_sent_and_what_went_on_elsewhere_is_not_overwritten() {
    let Some(team) = Team::start() else { return };
    let alice = team.person("alice", false);
    let (id, log) = plant(&alice, 2);
    let path = alice.claude().join(&log);
    let mut bytes = disk::read(&path);
    // Longer than some parts.
    let line = format!(
        "{{\"type\":\"summary\",\"summary\":\"{}\",\"leafUuid\":\"x\"}}\n",
        "long ".repeat(1000)
    );
    while bytes.len() < 700_000 {
        bytes.extend_from_slice(line.as_bytes());
    }
    disk::write(&path, &bytes);
    let first = alice.run(&["share", &id, "--json"]).ends(0).json();
    assert_eq!(
        first[0]["parts"], 4,
        "three of the log, one of the side file"
    );
    let more = b"{\"type\":\"summary\",\"summary\":\"more\",\"leafUuid\":\"x\"}\n";
    bytes.extend_from_slice(more);
    disk::write(&path, &bytes);
    let second = alice.run(&["share", &id, "--json"]).ends(0).json();
    assert_eq!(
        (&second[0]["parts"], &second[0]["revision"]),
        (&1.into(), &2.into())
    );
    assert_eq!(
        team.count("shared_parts"),
        4,
        "what is not needed any more is gone"
    );
    // Another machine of hers has another end.
    let cut = bytes.len() - more.len();
    bytes.truncate(cut);
    bytes.extend_from_slice(b"{\"type\":\"summary\",\"summary\":\"else\",\"leafUuid\":\"x\"}\n");
    disk::write(&path, &bytes);
    let refused = alice.run(&["share", &id]).ends(3);
    assert!(refused.err.contains("differs on the server"), "{refused:?}");
    assert!(refused.err.contains("--replace"), "{refused:?}");
    let replaced = alice
        .run(&["share", &id, "--replace", "--json"])
        .ends(0)
        .json();
    assert_eq!(replaced[0]["revision"], 3);
}

#[test]
fn secrets_are_refused_with_their_places_and_a_redacted_copy_is_a_session_of_its_own() {
    let Some(team) = Team::start() else { return };
    let (alice, bob) = (team.person("alice", false), team.person("bob", false));
    let (id, log) = plant(&alice, 3);
    let path = alice.claude().join(&log);
    let mut bytes = disk::read(&path);
    let secret = ["ghp_", "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"].concat();
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    bytes.extend_from_slice(
        format!("{{\"type\":\"summary\",\"summary\":\"use {secret} now\",\"leafUuid\":\"x\"}}\n")
            .as_bytes(),
    );
    disk::write(&path, &bytes);
    let refused = alice.run(&["share", &id, "--to", "team"]);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    let place = format!("{log}:{}: github-token", lines + 1);
    assert!(
        refused.err.contains(&place) && refused.err.contains("--redact"),
        "{refused:?}"
    );
    assert!(!refused.err.contains(&secret));
    assert_eq!(
        (team.count("shared"), team.count("shared_parts")),
        (0, 0),
        "nothing was sent"
    );

    let _ = alice
        .run(&["share", &id, "--to", "team", "--redact"])
        .ends(0);
    assert_eq!(disk::read(&path), bytes, "the session here stays as it is");
    let stored = team.database.sql(
        "postgres",
        &format!("SELECT count(*) FROM boswell.shared_parts WHERE position('{secret}' IN encode(bytes, 'escape')) > 0"),
    );
    assert_eq!(stored, "0");
    // Also to the one who has the original.
    for person in [&alice, &bob] {
        let work = person.work().display().to_string();
        let words = ["fetch", &id, "--project", &work, "--apply", "--json"];
        let fetched = person.run(&words).ends(0).json();
        let session = fetched.last().unwrap();
        assert_ne!(session["id"], id.as_str(), "it has an id of its own");
        let tags = person
            .run(&["list", "--tag", "redacted", "--json"])
            .ends(0)
            .json();
        assert_eq!(tags[0]["ref"], session["ref"], "it is marked");
    }
    assert_eq!(disk::read(&path), bytes, "the original was not touched");
}

#[test]
fn roles_of_projects_decide_who_shares_and_who_sees() {
    let Some(team) = Team::start() else { return };
    let (root, alice) = (team.person("root", true), team.person("alice", false));
    let bob = team.person("bob", false);
    let (id, _) = plant(&alice, 4);
    let _ = alice.run(&["share", &id]).ends(0);
    let missing = alice.run(&["share", &id, "--to", "shop"]).ends(2);
    assert!(missing.err.contains("no project shop"), "{missing:?}");
    let _ = root
        .run(&["team", "project", "shop", "--keep", "30"])
        .ends(0);
    let denied = alice.run(&["share", &id, "--to", "shop"]);
    assert!(
        denied.code != Some(0) && denied.err.contains("writer"),
        "{denied:?}"
    );
    assert_ne!(
        bob.run(&["team", "member", "shop", "bob", "owner"]).code,
        Some(0)
    );
    let _ = root
        .run(&["team", "member", "shop", "alice", "writer"])
        .ends(0);
    let _ = alice.run(&["share", &id, "--to", "shop"]).ends(0);
    assert_eq!(bob.run(&["team", "list"]).ends(0).out, "");
    let _ = root
        .run(&["team", "member", "shop", "bob", "reader"])
        .ends(0);
    assert!(
        bob.run(&["team", "list", "--project", "shop"])
            .ends(0)
            .out
            .contains(&id)
    );
    let _ = root
        .run(&["team", "project", "shop", "--hold", "yes"])
        .ends(0);
    let held = alice.run(&["share", &id, "--take-back", "shop"]);
    assert!(
        held.code != Some(0) && held.err.contains("legal hold"),
        "{held:?}"
    );
    let _ = root
        .run(&["team", "project", "shop", "--hold", "no"])
        .ends(0);
    assert_eq!(
        root.run(&["team", "erase", "--person", "alice"])
            .ends(2)
            .out,
        ""
    );
    let receipt = root
        .run(&["team", "erase", "--person", "alice", "--apply", "--json"])
        .ends(0);
    let receipt = receipt.json();
    assert_eq!(
        (&receipt[0]["sessions"], &receipt[0]["held"]),
        (&1.into(), &0.into())
    );
    assert_eq!((team.count("shared_parts"), team.count("receipts")), (0, 1));
    let out = alice.run(&["team", "list"]);
    assert!(out.code != Some(0) && out.err.contains("token"), "{out:?}");
}

#[test]
fn the_token_is_in_a_file_of_its_owner_alone_and_never_an_argument() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(team) = Team::start() else { return };
    let alice = team.person("alice", false);
    let token = alice.home.join("own/team/token");
    let mode = std::fs::metadata(&token).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let wrong = alice.with_input(&["team", "login", &team.url], "not a token");
    assert!(
        wrong.code == Some(2) && wrong.err.contains("not a token"),
        "{wrong:?}"
    );
    let plain = alice.with_input(&["team", "login", "http://team.example"], "x");
    assert_ne!(plain.code, Some(0), "{plain:?}");
    let _ = alice.run(&["team", "logout"]).ends(0);
    let out = alice.run(&["team", "list"]).ends(2);
    assert!(out.err.contains("team login"), "{out:?}");
}
