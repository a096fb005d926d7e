//! Pushing, sharing, reading, and connections that are cut.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use boswell_model::ErrorKind;
use boswell_model::json::Json;
use boswell_team::{PART, TeamClient, TeamManifest};

use crate::bed::Team;

const SESSION: &str = "claude:aaaaaaaa-0001-4001-8001-000000000001";

fn about() -> TeamManifest {
    TeamManifest {
        dialect: "claude".to_owned(),
        title: Some("a title".to_owned()),
        folder: Some("/w".to_owned()),
        ..TeamManifest::default()
    }
}

/// A log of this length, and a side file.
fn files(length: usize) -> Vec<(String, Vec<u8>)> {
    let log: Vec<u8> = (0..length)
        .map(|n| (n / PART * 7 + n % 251) as u8)
        .collect();
    vec![
        ("projects/-w/a.jsonl".to_owned(), log),
        ("projects/-w/a/empty.txt".to_owned(), Vec::new()),
        (
            "projects/-w/a/out.txt".to_owned(),
            b"\x00\xffexact".to_vec(),
        ),
    ]
}

fn fetched(client: &TeamClient, owner: &str) -> boswell_model::Result<Vec<(String, Vec<u8>)>> {
    let (manifest, _) = client.read(owner, SESSION)?;
    let mut part = |name: &str| client.part(owner, SESSION, name);
    let files = manifest.files.iter();
    files
        .map(|file| Ok((file.name.clone(), TeamClient::assemble(file, &mut part)?)))
        .collect()
}

#[test]
fn a_session_is_private_until_shared_comes_back_with_every_byte_and_is_taken_back() {
    let Some(team) = Team::new() else { return };
    let server = team.serve();
    let alice = team.client(&server.url, "alice", true);
    let bob = team.client(&server.url, "bob", false);
    let own = ("alice", SESSION);
    let sent = files(2 * PART + 10);
    let first = alice.push(own, about(), &sent, false).unwrap();
    assert_eq!((first.revision, first.parts, first.same), (1, 4, false));
    let again = alice.push(own, about(), &sent, false).unwrap();
    assert_eq!((again.revision, again.parts, again.same), (1, 0, true));
    assert_eq!(fetched(&alice, "alice").unwrap(), sent);

    let is_hidden = || {
        assert!(bob.sessions(None, None, None).unwrap().0.is_empty());
        assert_eq!(
            fetched(&bob, "alice").unwrap_err().kind(),
            ErrorKind::NotFound
        );
        let name = boswell_team::part_name(b"\x00\xffexact");
        assert!(bob.part("alice", SESSION, &name).is_err());
    };
    is_hidden();
    alice.share(own, "team", true).unwrap();
    let (rows, next) = bob.sessions(Some("team"), Some("TITLE"), None).unwrap();
    assert_eq!((rows.len(), next), (1, None));
    assert_eq!((rows[0].owner.as_str(), rows[0].session.as_str()), own);
    assert_eq!(fetched(&bob, "alice").unwrap(), sent);
    // What is somebody else's is not changed.
    let taken = bob.push(own, about(), &files(20), true).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::Denied, "{taken}");
    assert_eq!(fetched(&bob, "alice").unwrap(), sent);
    assert_eq!(
        bob.delete("alice", SESSION).unwrap_err().kind(),
        ErrorKind::Denied
    );
    let audit = alice.manage("GET", &["audit"], &Json::object()).unwrap();
    let audit = String::from_utf8(audit).unwrap();
    assert!(
        audit.contains("\"actor\":\"bob\",\"act\":\"read\",\"owner\":\"alice\""),
        "{audit}"
    );
    alice.share(own, "team", false).unwrap();
    is_hidden();
}

#[test]
fn only_the_last_part_of_a_longer_log_is_sent_and_newer_work_is_not_overwritten() {
    let Some(team) = Team::new() else { return };
    let server = team.serve();
    let alice = team.client(&server.url, "alice", false);
    let own = ("alice", SESSION);
    alice
        .push(own, about(), &files(2 * PART + 10), false)
        .unwrap();
    let longer = alice
        .push(own, about(), &files(2 * PART + 20), false)
        .unwrap();
    assert_eq!((longer.revision, longer.parts, longer.bytes), (2, 1, 20));
    assert_eq!(
        team.count("shared_parts"),
        4,
        "what is not needed any more is gone"
    );
    let mut other = files(2 * PART + 30);
    other[0].1[2 * PART + 5] ^= 1;
    for older in [files(PART), other.clone()] {
        let refused = alice.push(own, about(), &older, false).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert_eq!(fetched(&alice, "alice").unwrap(), files(2 * PART + 20));
    }
    assert_eq!(alice.push(own, about(), &other, true).unwrap().revision, 3);
}

#[test]
fn people_projects_retention_and_erasure_are_managed_over_the_wire() {
    let Some(team) = Team::new() else { return };
    let server = team.serve();
    let root = team.client(&server.url, "root", true);
    let alice = team.client(&server.url, "alice", false);
    let bob = team.client(&server.url, "bob", false);
    let (own, none) = (("alice", SESSION), Json::object());
    alice.push(own, about(), &files(10), false).unwrap();
    assert_eq!(
        alice.share(own, "shop", true).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    let rule = Json::object().with("days", 30_u32);
    assert_eq!(
        bob.manage("PUT", &["projects", "shop"], &rule)
            .unwrap_err()
            .kind(),
        ErrorKind::Denied
    );
    root.manage("PUT", &["projects", "shop"], &rule).unwrap();
    assert_eq!(
        alice.share(own, "shop", true).unwrap_err().kind(),
        ErrorKind::Denied
    );
    for (person, role) in [("alice", "writer"), ("bob", "reader")] {
        let path = ["projects", "shop", "members", person];
        root.manage("PUT", &path, &Json::object().with("role", role))
            .unwrap();
    }
    alice.share(own, "shop", true).unwrap();
    assert_eq!(bob.sessions(Some("shop"), None, None).unwrap().0.len(), 1);
    root.manage(
        "PUT",
        &["projects", "shop"],
        &Json::object().with("hold", true),
    )
    .unwrap();
    assert_eq!(
        alice.delete("alice", SESSION).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    root.manage(
        "PUT",
        &["projects", "shop"],
        &Json::object().with("hold", false),
    )
    .unwrap();
    let made = root
        .manage("POST", &["people", "cat", "tokens"], &none)
        .unwrap();
    assert!(String::from_utf8(made).unwrap().contains("bswt_"));
    assert_eq!(
        bob.manage("DELETE", &["people", "alice"], &none)
            .unwrap_err()
            .kind(),
        ErrorKind::Denied
    );
    let receipt = root.manage("DELETE", &["people", "alice"], &none).unwrap();
    let receipt = String::from_utf8(receipt).unwrap();
    assert!(
        receipt.contains("\"sessions\":1") && receipt.contains("\"held\":0"),
        "{receipt}"
    );
    assert_eq!((team.count("shared_parts"), team.count("receipts")), (0, 1));
    assert_eq!(alice.me().unwrap_err().kind(), ErrorKind::Denied);
}

/// A proxy that passes so many bytes on, counted in both directions, and then closes everything.
fn valve(url: &str) -> (String, Arc<AtomicI64>) {
    let target = url.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let left = Arc::new(AtomicI64::new(i64::MAX));
    let shared = Arc::clone(&left);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(&target) else {
                continue;
            };
            for (from, to) in [(&client, &server), (&server, &client)] {
                let pair = (from.try_clone().unwrap(), to.try_clone().unwrap());
                let left = Arc::clone(&shared);
                std::thread::spawn(move || pass(pair, &left));
            }
        }
    });
    (format!("http://127.0.0.1:{port}"), left)
}

fn pass((mut from, mut to): (TcpStream, TcpStream), left: &AtomicI64) {
    let mut buffer = vec![0; 4096];
    while let Ok(read) = from.read(&mut buffer) {
        let rest = left.fetch_sub(read as i64, Ordering::AcqRel);
        let may = usize::try_from(rest.clamp(0, read as i64)).unwrap();
        if read == 0 || to.write_all(&buffer[..may]).is_err() || may < read {
            break;
        }
    }
    let _ = from.shutdown(std::net::Shutdown::Both);
    let _ = to.shutdown(std::net::Shutdown::Both);
}

#[test]
fn wherever_a_push_is_cut_others_see_the_whole_or_nothing_and_the_next_one_goes_on() {
    let Some(team) = Team::new() else { return };
    let server = team.serve();
    let (url, left) = valve(&server.url);
    let token = team.token("alice", false);
    let alice = TeamClient::new(&url, token.clone()).unwrap();
    let direct = TeamClient::new(&server.url, token).unwrap();
    let own = ("alice", SESSION);
    let sent = files(2 * PART + 10);
    let mut cut = 0;
    for allowed in [0, 300, 900, 3_000, 100_000, 300_000, 400_000, 525_000] {
        left.store(allowed, Ordering::Release);
        match alice.push(own, about(), &sent, false) {
            Ok(_) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
        }
        cut += 1;
        let seen = direct.sessions(None, None, None).unwrap().0.len();
        assert_eq!(seen as u64, team.count("shared"));
        if seen == 1 {
            assert_eq!(
                fetched(&direct, "alice").unwrap(),
                sent,
                "published as a whole"
            );
        }
    }
    assert!(cut >= 5, "{cut} were cut");
    assert!(team.count("shared_parts") >= 1, "what arrived is there");
    left.store(i64::MAX, Ordering::Release);
    let done = alice.push(own, about(), &sent, false).unwrap();
    assert!(done.parts < 4, "{done:?}");
    assert_eq!(fetched(&direct, "alice").unwrap(), sent);
}
