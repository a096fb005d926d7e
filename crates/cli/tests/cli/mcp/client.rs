//! A client of the protocol, written by hand, over the standard streams of the real program.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::Bench;

/// Maximum time of an answer.
const LIMIT: Duration = Duration::from_secs(60);

/// A client that speaks JSON-RPC by hand.
pub(super) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
}

impl Client {
    /// Starts the server and shakes hands.
    pub(super) fn start(bench: &Bench, options: &[&str]) -> Client {
        let mut client = Client::spawn(bench, options);
        let hello = client.initialize("2025-06-18");
        assert_eq!(hello["serverInfo"]["name"], "boswell", "{hello}");
        client
    }

    pub(super) fn spawn(bench: &Bench, options: &[&str]) -> Client {
        let mut child = bench
            .command([&["mcp"], options].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if send.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Client {
            stdin: child.stdin.take(),
            child,
            lines,
            next: 0,
        }
    }

    pub(super) fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let hello = self.ask("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        hello["result"].clone()
    }

    pub(super) fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and returns the response.
    #[track_caller]
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let line = self.lines.recv_timeout(LIMIT).unwrap();
            // Nothing but the protocol is printed.
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Waits for a message that is not an answer.
    #[track_caller]
    pub(super) fn notice(&mut self, method: &str) -> Value {
        let notice = self.notice_within(method, LIMIT);
        notice.unwrap_or_else(|| panic!("there is no {method}"))
    }

    /// As [`notice`](Self::notice); `None` if nothing comes in this time.
    #[track_caller]
    pub(super) fn notice_within(&mut self, method: &str, time: Duration) -> Option<Value> {
        loop {
            let line = self.lines.recv_timeout(time).ok()?;
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
            if message["method"] == method {
                return Some(message["params"].clone());
            }
        }
    }

    /// Calls a tool and returns its text and whether it failed.
    #[track_caller]
    pub(super) fn try_call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let content = result["content"]
            .as_array()
            .unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(content.len(), 1, "{answer}");
        let text = content[0]["text"].as_str().unwrap().to_owned();
        (text, result["isError"] == true)
    }

    #[track_caller]
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> String {
        let (text, failed) = self.try_call(tool, arguments);
        assert!(!failed, "{text}");
        text
    }

    /// Closes the input, whatever is still announced.
    pub(super) fn close(mut self) {
        drop(self.stdin.take());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }

    /// Closes the input, and returns what was printed to stderr.
    pub(super) fn end(mut self) -> String {
        drop(self.stdin.take());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
        assert!(self.lines.recv_timeout(LIMIT).is_err(), "a late line");
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        said
    }
}

/// A client over HTTP, which sends each request on a connection of its own.
pub(super) struct HttpClient {
    address: String,
    token: String,
    next: u64,
}

impl HttpClient {
    pub(super) fn new(address: &str, token: &str) -> HttpClient {
        HttpClient {
            address: address.to_owned(),
            token: token.trim().to_owned(),
            next: 0,
        }
    }

    /// Sends a request and returns the response.
    #[track_caller]
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let body = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2025-11-25\r\nContent-Length: {}\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(" 200 "), "{answer}");
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
    }
}

/// Four bytes are a token, or one character of Chinese.
pub(super) fn tokens(text: &str) -> usize {
    let wide = |c: char| ('\u{2E80}'..='\u{9FFF}').contains(&c);
    let quarters = text.chars().map(|c| if wide(c) { 4 } else { c.len_utf8() });
    quarters.sum::<usize>().div_ceil(4)
}

/// Returns what is inside the frames of an answer, and what is outside.
#[track_caller]
pub(super) fn apart(answer: &str) -> (String, String) {
    let word = answer
        .split("`--- ")
        .nth(1)
        .and_then(|it| it.split('`').next());
    let Some(word) = word else {
        return (String::new(), answer.to_owned());
    };
    let (begin, end) = (format!("--- {word} "), format!("--- {word} end"));
    let (mut inside, mut outside, mut is_inside) = (String::new(), String::new(), false);
    for line in answer.lines() {
        if is_inside && line == end {
            is_inside = false;
        } else if is_inside {
            inside.push_str(line);
            inside.push('\n');
        } else {
            is_inside = line.starts_with(&begin);
            outside.push_str(line);
            outside.push('\n');
        }
    }
    assert!(!is_inside, "a frame is open: {answer}");
    (inside, outside)
}
