//! Clients that send too much, too slowly or too often.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use crate::bench::{Bench, CLAUDE, bearer};

#[test]
fn long_addresses_and_headers_are_refused() {
    let bench = Bench::reading();
    let long = format!("/v1/search?q={}", "x".repeat(9 << 10));
    bench.get(&long).is(414);
    let header = format!("X-Long: {}", "x".repeat(40 << 10));
    let answer = bench.ask("GET", "/healthz", &[&header], b"");
    assert!(matches!(answer.status, 431 | 0), "{}", answer.status);
    let many: Vec<String> = (0..500).map(|it| format!("X-{it}: 1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let answer = bench.ask("GET", "/healthz", &many, b"");
    assert!(matches!(answer.status, 431 | 0), "{}", answer.status);
    bench.get("/healthz").is(200);
}

#[test]
fn bodies_are_bounded_and_never_unpacked() {
    let bench = Bench::writing();
    let path = format!("/v1/sessions/{CLAUDE}");
    let huge = vec![b' '; (16 << 20) + 1];
    let answer = bench.ask("PATCH", &path, &[&bearer(&bench.write)], &huge);
    assert!(matches!(answer.status, 413 | 0), "{}", answer.status);
    let zipped = "Content-Encoding: gzip";
    bench
        .ask(
            "PATCH",
            &path,
            &[&bearer(&bench.write), zipped],
            b"\x1f\x8b",
        )
        .is(415);
    // A length that is announced and never sent.
    let mut stream = bench.connect();
    let head = format!(
        "PATCH {path} HTTP/1.1\r\nHost: {}\r\n{}\r\nContent-Length: 99999999999\r\n\r\n{{",
        bench.address,
        bearer(&bench.write)
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    let nested = "[".repeat(200_000);
    let answer = bench.ask("PATCH", &path, &[&bearer(&bench.write)], nested.as_bytes());
    assert_eq!(answer.status, 400);
    bench.get("/healthz").is(200);
}

#[test]
fn a_client_that_sends_its_headers_slowly_is_disconnected() {
    let bench = Bench::reading();
    let mut stream = bench.connect();
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: 127")
        .unwrap();
    let mut answer = Vec::new();
    // The server closes the connection, so that this ends.
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    assert!(
        text.is_empty() || text.starts_with("HTTP/1.1 408"),
        "{text}"
    );
    bench.get("/healthz").is(200);
}

#[test]
fn connections_over_the_limit_are_refused_and_the_server_lives() {
    let bench = Bench::reading();
    let idle: Vec<_> = (0..300).map(|_| bench.connect()).collect();
    let refused = idle.iter().rev().take(40).any(|stream| {
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let mut beginning = [0; 12];
        let mut stream = stream;
        stream.read_exact(&mut beginning).is_ok() && beginning == *b"HTTP/1.1 503"
    });
    assert!(refused, "the last of 300 connections is refused");
    drop(idle);
    // Connections that were closed make room again.
    let served = (0..100).any(|_| bench.get("/healthz").status == 200);
    assert!(served);
}

#[test]
fn many_searches_at_once_are_answered_or_refused() {
    let bench = Bench::reading();
    let answers: Vec<u16> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..32)
            .map(|_| scope.spawn(|| bench.get("/v1/search?q=the&timeout_ms=10000").status))
            .collect();
        asked.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(
        answers.iter().all(|it| matches!(it, 200 | 503)),
        "{answers:?}"
    );
    assert!(answers.contains(&200));
    bench.get("/healthz").is(200);
}

#[test]
fn more_listeners_than_places_are_refused() {
    let bench = Bench::reading();
    let ask = format!(
        "GET /v1/events HTTP/1.1\r\nHost: {}\r\n{}\r\n\r\n",
        bench.address,
        bearer(&bench.read)
    );
    let mut statuses = Vec::new();
    let mut listeners = Vec::new();
    for _ in 0..33 {
        let mut stream = bench.connect();
        stream.write_all(ask.as_bytes()).unwrap();
        let mut beginning = [0; 12];
        stream.read_exact(&mut beginning).unwrap();
        statuses.push(String::from_utf8_lossy(&beginning[9..]).into_owned());
        listeners.push(stream);
    }
    assert_eq!(statuses.iter().filter(|it| *it == "200").count(), 32);
    assert_eq!(statuses.last().unwrap(), "503");
}
