//! Live updates, also across restarts of the server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use boswell_app::append::{AppendRequest, Draft};
use boswell_app::new_session::NewSessionRequest;
use boswell_serve::Changes;
use serde_json::Value;

use crate::bench::{Bench, bearer};

/// A client of a stream of events.
struct Stream(BufReader<TcpStream>);

#[derive(Debug, Default)]
struct Event {
    name: String,
    id: Option<String>,
    data: Value,
}

impl Stream {
    fn open(bench: &Bench, path: &str, last: Option<&str>) -> Stream {
        let last = last.map(|last| format!("Last-Event-ID: {last}\r\n"));
        let text = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\n{}\r\n{}\r\n",
            bench.address,
            bearer(&bench.read),
            last.unwrap_or_default()
        );
        let mut stream = bench.connect();
        stream.write_all(text.as_bytes()).unwrap();
        Stream(BufReader::new(stream))
    }

    /// Returns the next event; `None` at the end.
    fn next(&mut self) -> Option<Event> {
        let mut event = Event::default();
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            // Sizes of chunks and headers are no fields of an event.
            match line.split_once(": ") {
                Some(("event", name)) => event.name = name.to_owned(),
                Some(("id", id)) => event.id = Some(id.to_owned()),
                Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                _ if line.is_empty() && !event.name.is_empty() => return Some(event),
                _ => {}
            }
        }
    }

    /// Returns the next event with this name.
    #[track_caller]
    fn wait(&mut self, name: &str) -> Event {
        loop {
            let event = self
                .next()
                .unwrap_or_else(|| panic!("the stream ended before {name}"));
            if event.name == name {
                return event;
            }
        }
    }
}

pub(crate) fn append(bench: &Bench, session: &str, texts: &[String]) {
    let request = AppendRequest {
        session: session.to_owned(),
        ..AppendRequest::default()
    };
    let mut appender = bench.app.append(&request).unwrap().value;
    for text in texts {
        appender.submit(Draft::user(text.as_str())).unwrap();
    }
    let _ = appender.settle(&mut |_| Ok(())).unwrap();
    appender.close().unwrap();
}

pub(crate) fn new_session(bench: &Bench) -> String {
    let made = bench
        .app
        .new_session(&NewSessionRequest::default())
        .unwrap();
    made.value.reference.to_string()
}

#[test]
fn entries_come_once_and_in_order_while_the_server_restarts() {
    let mut bench = Bench::reading();
    let session = new_session(&bench);
    let path = format!("/v1/sessions/{session}/events");
    let mut last = Stream::open(&bench, &path, None)
        .wait("session")
        .id
        .unwrap();
    let mut seen: Vec<String> = Vec::new();
    for round in 0..3 {
        let texts: Vec<String> = (0..10).map(|it| format!("{round}.{it}")).collect();
        // Half of the entries are written while nobody listens.
        append(&bench, &session, &texts[..5]);
        let mut stream = Stream::open(&bench, &path, Some(&last));
        append(&bench, &session, &texts[5..]);
        for _ in 0..10 {
            let event = stream.wait("entry");
            seen.push(event.data["text"].as_str().unwrap().to_owned());
            last = event.id.unwrap();
        }
        drop(stream);
        bench.again(Changes::Never);
    }
    let wanted: Vec<String> = (0..3)
        .flat_map(|round| (0..10).map(move |it| format!("{round}.{it}")))
        .collect();
    assert_eq!(seen, wanted);
}

#[test]
fn a_stream_that_ends_with_the_server_says_bye() {
    let mut bench = Bench::reading();
    let session = new_session(&bench);
    let path = format!("/v1/sessions/{session}/events");
    let mut stream = Stream::open(&bench, &path, None);
    stream.wait("session");
    bench.end();
    stream.wait("bye");
    assert!(stream.next().is_none());
}

#[test]
fn a_log_that_was_replaced_is_a_reset() {
    let bench = Bench::reading();
    let session = new_session(&bench);
    append(&bench, &session, &["before".to_owned()]);
    let shape = bench.get(&format!("/v1/sessions/{session}")).is(200).json();
    let log = std::path::PathBuf::from(shape["path"].as_str().unwrap());
    let path = format!("/v1/sessions/{session}/events");
    let mut stream = Stream::open(&bench, &path, None);
    let old = stream.wait("session").id.unwrap();
    let bytes = std::fs::read(&log).unwrap();
    let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let other = log.with_extension("other");
    std::fs::write(&other, &bytes[..first]).unwrap();
    std::fs::rename(&other, &log).unwrap();
    let reset = stream.wait("reset");
    assert_ne!(reset.id.as_ref(), Some(&old));
    append(&bench, &session, &["after".to_owned()]);
    let entry = stream.wait("entry");
    assert_eq!(entry.data["text"], "after");
}

#[test]
fn a_session_that_is_gone_before_a_look_saw_it_is_told_to_its_followers() {
    let bench = Bench::reading();
    let other = new_session(&bench);
    let follow = |session: &str| {
        let mut stream = Stream::open(&bench, &format!("/v1/sessions/{session}/events"), None);
        stream.wait("session");
        stream
    };
    // The look of this one is too young for another look.
    let _other = follow(&other);
    let session = new_session(&bench);
    let mut stream = follow(&session);
    let request = boswell_app::delete::DeleteRequest {
        sessions: vec![session.clone()],
    };
    let _ = bench.app.delete(&request, &mut |_| Ok(())).unwrap();
    assert_eq!(stream.wait("gone").data["session"], session.as_str());
}

#[test]
fn new_sessions_are_announced_to_those_who_follow_all() {
    let bench = Bench::reading();
    let mut stream = Stream::open(&bench, "/v1/events", None);
    stream.wait("start");
    let session = new_session(&bench);
    append(&bench, &session, &["hello".to_owned()]);
    let added = stream.wait("added");
    assert_eq!(added.data["session"], session.as_str());
    assert!(added.data["revision"].is_string());
    let mut late = Stream::open(&bench, "/v1/events", Some("anything"));
    late.wait("reset");
}

#[test]
fn a_last_event_id_that_is_no_revision_is_refused() {
    let bench = Bench::reading();
    let session = new_session(&bench);
    let path = format!("/v1/sessions/{session}/events");
    let last = "Last-Event-ID: yesterday";
    bench
        .ask("GET", &path, &[&bearer(&bench.read), last], b"")
        .is(400);
}
