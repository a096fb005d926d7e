//! Who gets an answer, and which.

use std::net::SocketAddr;

use boswell_model::ErrorKind;
use boswell_team::{TeamIdentity, TeamListener, TeamServer, TeamServerConfig};

use crate::bed::{Team, ask};

fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\n{headers}connection: close\r\n\r\n")
}

#[test]
fn without_a_valid_token_from_the_right_host_there_is_no_answer() {
    let Some(team) = Team::new() else { return };
    let server = team.serve();
    let token = team.token("alice", false);
    let bearer = format!(
        "host: localhost\r\nauthorization: Bearer {}\r\n",
        token.reveal()
    );
    let me = ask(&server.url, &get("/team/v1/me", &bearer));
    assert!(
        me.starts_with("HTTP/1.1 200") && me.contains("\"person\":\"alice\""),
        "{me}"
    );
    let other = team.token("bob", false).reveal().replace('a', "b");
    for (headers, status) in [
        ("host: localhost\r\n".to_owned(), 401),
        (
            "host: localhost\r\nauthorization: Bearer x\r\n".to_owned(),
            401,
        ),
        (
            format!("host: localhost\r\nauthorization: Bearer {other}\r\n"),
            401,
        ),
        (bearer.replace("localhost", "evil.example"), 421),
        (format!("{bearer}origin: https://evil.example\r\n"), 403),
        (format!("{bearer}sec-fetch-site: cross-site\r\n"), 403),
        (format!("{bearer}{bearer}"), 421),
    ] {
        let answer = ask(&server.url, &get("/team/v1/me", &headers));
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{headers}: {answer}"
        );
        assert!(answer.contains("application/problem+json"), "{answer}");
    }
    let healthy = ask(&server.url, &get("/healthz", "host: localhost\r\n"));
    assert!(healthy.starts_with("HTTP/1.1 200"), "{healthy}");
    let metrics = ask(&server.url, &get("/metrics", "host: localhost\r\n"));
    assert!(
        metrics.contains("boswell_team_refused_tokens_total 3\n"),
        "{metrics}"
    );
    assert!(!metrics.contains("alice"), "{metrics}");
    let long = get(&format!("/team/v1/{}", "x".repeat(9000)), &bearer);
    assert!(ask(&server.url, &long).starts_with("HTTP/1.1 414"));
}

#[test]
fn addresses_for_others_need_a_proxy_and_headers_of_one_need_a_socket() {
    let Some(team) = Team::new() else { return };
    let refused = |config: TeamServerConfig| TeamServer::bind(&config).unwrap_err().kind();
    let open = TeamServerConfig {
        listener: TeamListener::Tcp(SocketAddr::from(([0, 0, 0, 0], 0))),
        ..team.config()
    };
    assert_eq!(refused(open), ErrorKind::Invalid);
    for origin in [
        "http://team.example",
        "https://",
        "https://A.example",
        "https://a/b",
    ] {
        let wrong = TeamServerConfig {
            public_origin: Some(origin.to_owned()),
            ..team.config()
        };
        assert_eq!(refused(wrong), ErrorKind::Invalid, "{origin}");
    }
    let header = TeamServerConfig {
        identity: TeamIdentity::ProxyHeader("x-user".to_owned()),
        ..team.config()
    };
    assert_eq!(refused(header), ErrorKind::Invalid);
    let owner = team.database.address("boswell", "postgres");
    let all = TeamServerConfig {
        database: boswell_remote::PostgresOptions::parse(&owner, team.tenant.clone()).unwrap(),
        ..team.config()
    };
    assert_eq!(
        refused(all),
        ErrorKind::Denied,
        "a role that sees every tenant"
    );
}

#[test]
fn two_servers_stand_side_by_side_and_one_ends_in_order() {
    let Some(team) = Team::new() else { return };
    let (mut one, two) = (team.serve(), team.serve());
    let alice = team.client(&one.url, "alice", false);
    assert_eq!(alice.me().unwrap(), ("alice".to_owned(), false));
    one.end();
    let gone = alice.me().unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Unavailable);
    let again = team.client(&two.url, "alice", false);
    assert_eq!(again.me().unwrap().0, "alice");
}
