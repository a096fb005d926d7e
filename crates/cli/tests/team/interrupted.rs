//! Bad weather: connections that are cut, servers that end, programs that are killed.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use boswell_testkit::disk;

use crate::bed::Team;
use crate::sharing::plant;

/// A proxy that passes so many bytes on, counted in both directions, and then closes everything.
struct Valve {
    port: u16,
    left: Arc<AtomicI64>,
}

impl Valve {
    fn to(url: &str) -> Valve {
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
        Valve { port, left }
    }
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

/// Makes a login go through the valve.
fn through(person: &crate::bed::Person, port: u16) {
    let file = person.home.join("own/team/login.json");
    let text = String::from_utf8(disk::read(&file)).unwrap();
    let (before, rest) = text.split_once("http://").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    disk::write(
        &file,
        format!("{before}http://127.0.0.1:{port}\"{after}").as_bytes(),
    );
}

#[test]
fn wherever_the_connection_is_cut_both_ends_are_whole_and_the_next_try_goes_on() {
    let Some(team) = Team::start() else { return };
    let (alice, bob) = (team.person("alice", false), team.person("bob", false));
    let (id, log) = plant(&alice, 5);
    let path = alice.claude().join(&log);
    let mut bytes = disk::read(&path);
    let line = format!(
        "{{\"type\":\"summary\",\"summary\":\"{}\",\"leafUuid\":\"x\"}}\n",
        "long ".repeat(2000)
    );
    while bytes.len() < 600_000 {
        bytes.extend_from_slice(line.as_bytes());
    }
    disk::write(&path, &bytes);
    let valve = Valve::to(&team.url);
    through(&alice, valve.port);
    through(&bob, valve.port);
    let open = || valve.left.store(i64::MAX, Ordering::Release);
    let mut refused = 0;
    for allowed in [
        0, 200, 900, 3_000, 100_000, 300_000, 560_000, 601_000, 603_500,
    ] {
        valve.left.store(allowed, Ordering::Release);
        let cut = alice.run(&["share", &id, "--to", "team"]);
        refused += u32::from(cut.code != Some(0));
        assert!(
            cut.code == Some(0) || cut.err.contains("cannot reach"),
            "{allowed}: {cut:?}"
        );
        assert_eq!(disk::read(&path), bytes);
        open();
        // What others see is nothing, or the whole.
        assert!(team.count("shared") <= 1);
    }
    assert!(refused >= 6, "{refused} of 9 were cut");
    let staged = team.count("shared_parts");
    assert!(staged >= 1, "parts that arrived are there");
    let done = alice
        .run(&["share", &id, "--to", "team", "--json"])
        .ends(0)
        .json();
    assert!(done[0]["parts"].as_u64().unwrap() < 4, "{done:?}");
    assert_eq!(team.count("shared_parts"), 4);

    let work = bob.work().display().to_string();
    let words = ["fetch", &id, "--project", &work, "--apply"];
    let before = bob.files();
    let (mut refused, mut kept) = (0, 0);
    let incoming = bob.home.join("own/team/incoming");
    for allowed in [0, 900, 2_000, 100_000, 300_000, 560_000] {
        valve.left.store(allowed, Ordering::Release);
        let cut = bob.run(&words);
        if cut.code == Some(0) {
            break;
        }
        refused += 1;
        assert!(cut.err.contains("cannot reach"), "{cut:?}");
        assert_eq!(bob.files(), before, "nothing of it is here");
        kept = if incoming.is_dir() {
            boswell_testkit::corpus::files(&incoming).len()
        } else {
            0
        };
    }
    assert!(refused >= 3, "{refused} were cut");
    open();
    assert!(kept >= 1, "parts that arrived are kept for the next try");
    if bob.files() == before {
        let _ = bob.run(&words).ends(0);
    }
    let (_, came) = bob
        .files()
        .into_iter()
        .find(|(_, it)| it.len() > 500_000)
        .unwrap();
    assert!(came.starts_with(&bytes));
    assert!(!incoming.exists(), "nothing is left over");
}

#[test]
fn a_program_that_is_killed_while_it_pushes_leaves_what_was_published_before() {
    let Some(team) = Team::start() else { return };
    let alice = team.person("alice", false);
    let (id, log) = plant(&alice, 6);
    let _ = alice.run(&["share", &id]).ends(0);
    let path = alice.claude().join(&log);
    let mut bytes = disk::read(&path);
    let line = format!(
        "{{\"type\":\"summary\",\"summary\":\"{}\",\"leafUuid\":\"x\"}}\n",
        "more ".repeat(5000)
    );
    while bytes.len() < 3_000_000 {
        bytes.extend_from_slice(line.as_bytes());
    }
    disk::write(&path, &bytes);
    let revision = || {
        team.database.sql(
            "postgres",
            &format!(
                "SELECT revision || ' ' || bytes FROM boswell.shared WHERE tenant = '{}'",
                team.tenant
            ),
        )
    };
    let before = revision();
    let mut child = alice.command(&["share", &id]).spawn().unwrap();
    // Killed when the first part of it is there, before all are.
    while team.count("shared_parts") < 3 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let _ = child.kill();
    let _ = child.wait();
    let after = revision();
    assert!(
        after == before || after == format!("2 {}", bytes.len() + 7),
        "{after}"
    );
    let done = alice.run(&["share", &id, "--json"]).ends(0).json();
    assert_eq!(done[0]["revision"], 2);
}

#[test]
fn two_servers_stand_side_by_side_and_one_ends_in_order() {
    let Some(mut team) = Team::start() else {
        return;
    };
    let second = team.serve();
    let (alice, bob) = (team.person("alice", false), team.person("bob", false));
    let (id, _) = plant(&alice, 7);
    let _ = alice.run(&["share", &id, "--to", "team"]).ends(0);
    let health = |url: &str, path: &str| -> String {
        let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(health(&team.url, "/healthz").starts_with("HTTP/1.1 200"));
    let metrics = health(&team.url, "/metrics");
    assert!(
        metrics.contains("boswell_team_published_total 1\n"),
        "{metrics}"
    );
    assert!(
        !metrics.contains("alice") && !metrics.contains(&id),
        "{metrics}"
    );
    assert!(health(&team.url, "/team/v1/me").starts_with("HTTP/1.1 401"));
    assert_eq!(team.end_first("-TERM"), Some(0), "it ends in order");
    let port = second.rsplit(':').next().unwrap().parse().unwrap();
    through(&bob, port);
    assert!(
        bob.run(&["team", "list"]).ends(0).out.contains(&id),
        "the other one answers"
    );
}

#[test]
fn a_server_is_not_opened_to_other_machines_without_a_proxy() {
    let Some(team) = Team::start() else { return };
    let alice = team.person("alice", false);
    let address = team.address();
    let serve = |more: &[&str]| {
        let mut words = vec!["serve", "--database", &address, "--for", "1s"];
        words.extend_from_slice(more);
        alice.run(&words)
    };
    let open = serve(&["--listen", "0.0.0.0", "--port", "0"]).ends(2);
    assert!(open.err.contains("--public-origin"), "{open:?}");
    let header = serve(&["--identity-header", "x-user"]);
    assert_eq!(header.code, Some(2), "{header:?}");
    let _ = serve(&["--port", "0", "--public-origin", "https://t.example"]).ends(0);
    let owner = team.database.address("boswell", "postgres");
    let all = alice.run(&["serve", "--database", &owner, "--port", "0", "--for", "1s"]);
    assert!(
        all.code != Some(0) && all.err.contains("row-level security"),
        "{all:?}"
    );
}

#[test]
fn a_proxy_names_people_on_a_socket_alone() {
    let Some(team) = Team::start() else { return };
    let alice = team.person("alice", false);
    let socket = alice.home.join("s");
    let address = team.address();
    let words = [
        "serve",
        "--database",
        &address,
        "--tenant",
        &team.tenant,
        "--socket",
        socket.to_str().unwrap(),
        "--identity-header",
        "x-user",
    ];
    let mut server = alice.command(&words).spawn().unwrap();
    let ask = |headers: &str| -> Option<String> {
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).ok()?;
        let request =
            format!("GET /team/v1/me HTTP/1.1\r\nhost: x\r\n{headers}connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    };
    while ask("").is_none() && server.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    assert!(
        ask("x-user: alice\r\n")
            .unwrap()
            .contains("\"person\":\"alice\"")
    );
    for wrong in [
        "",
        "x-user: nobody\r\n",
        "x-user: alice\r\nx-user: bob\r\n",
        "x-user: *\r\n",
    ] {
        assert!(ask(wrong).unwrap().starts_with("HTTP/1.1 401"), "{wrong}");
    }
    let _ = server.kill();
    let _ = server.wait();
}
