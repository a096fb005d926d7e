//! A server on the demo home, and a client that speaks HTTP over a plain connection.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use boswell_app::demo::DemoRequest;
use boswell_app::{App, AppConfig, Environment};
use boswell_serve::{Changes, Lifetime, ServeConfig, ServeFolder, Server, Stop};
use serde_json::Value;

/// A session of the demo that Claude Code wrote.
pub(crate) const CLAUDE: &str = "claude:5ac5e505-ca12-40e3-a6c1-82bfd1662e80";

/// A running server.
pub(crate) struct Bench {
    pub(crate) temp: tempfile::TempDir,
    pub(crate) app: App,
    pub(crate) address: SocketAddr,
    pub(crate) read: String,
    pub(crate) write: String,
    pub(crate) mcp: String,
    pub(crate) page_url: String,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Bench {
    /// Starts a server that reads.
    pub(crate) fn reading() -> Bench {
        Bench::start(Changes::Never)
    }

    /// Starts a server that also changes.
    pub(crate) fn writing() -> Bench {
        Bench::start(Changes::Always)
    }

    pub(crate) fn start(changes: Changes) -> Bench {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("d");
        let env = Environment {
            home: Some(root.join("home")),
            cwd: temp.path().to_owned(),
            tmp: temp.path().to_owned(),
            ..Environment::default()
        };
        let app = App::open(AppConfig::new(env, Some(root.join("own")))).unwrap();
        let request = DemoRequest {
            folder: Some(root),
            program: PathBuf::from("boswell"),
        };
        let _ = app.demo(&request).unwrap();
        let server = Server::bind(&config(app.clone(), changes)).unwrap();
        let folder: &ServeFolder = server.folder();
        let token = |scope| std::fs::read_to_string(folder.token_path(scope)).unwrap();
        let (read, write, mcp) = (token("read"), token("write"), token("mcp"));
        let (address, stop) = (server.address(), server.stop());
        let page_url = server.page_url().unwrap();
        let thread = std::thread::spawn(move || server.run().unwrap());
        Bench {
            temp,
            app,
            address,
            read,
            write,
            mcp,
            page_url,
            stop,
            thread: Some(thread),
        }
    }

    /// Sends a request with the token for reading.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[&bearer(&self.read)], b"")
    }

    /// Sends a request with the token for changes.
    pub(crate) fn change(&self, method: &str, path: &str, body: &str) -> Answer {
        self.ask(method, path, &[&bearer(&self.write)], body.as_bytes())
    }

    /// Sends a request.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers
            .iter()
            .any(|it| it.to_lowercase().starts_with("host:"))
        {
            text += &format!("Host: {}\r\n", self.address);
        }
        for header in headers {
            text += &format!("{header}\r\n");
        }
        text += &format!("Content-Length: {}\r\n\r\n", body.len());
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes)
    }

    /// Sends bytes as they are, and reads until the server closes the connection.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::parse(&answer)
    }

    /// Opens a connection.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        let limit = Some(Duration::from_secs(60));
        stream.set_read_timeout(limit).unwrap();
        stream.set_write_timeout(limit).unwrap();
        stream
    }

    /// Ends the server, and waits for it.
    pub(crate) fn end(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    /// Starts the server again on the same home.
    pub(crate) fn again(&mut self, changes: Changes) {
        self.end();
        let mut config = config(self.app.clone(), changes);
        config.port = None;
        let server = Server::bind(&config).unwrap();
        (self.address, self.stop) = (server.address(), server.stop());
        self.thread = Some(std::thread::spawn(move || server.run().unwrap()));
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.end();
    }
}

fn config(app: App, changes: Changes) -> ServeConfig {
    ServeConfig {
        app,
        phrase: |advice| advice.word().to_owned(),
        command: |_| None,
        version: "test",
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: Some(0),
        public_origin: None,
        changes,
        clinvoker: true,
        mcp: true,
        lifetime: Lifetime::UntilStopped,
        limit: None,
    }
}

/// Returns the header of a token.
pub(crate) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

/// What the server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Answer {
        let end = bytes.windows(4).position(|it| it == b"\r\n\r\n");
        let Some(end) = end else {
            return Answer {
                status: 0,
                headers: Vec::new(),
                body: bytes.to_vec(),
            };
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let rest = &bytes[end + 4..];
        let is_chunked = headers
            .iter()
            .any(|(name, value)| name == "transfer-encoding" && value.contains("chunked"));
        Answer {
            status: status.parse().unwrap(),
            body: if is_chunked {
                unchunked(rest)
            } else {
                rest.to_vec()
            },
            headers,
        }
    }

    /// Returns a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let parsed = serde_json::from_slice(&self.body);
        parsed.unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }

    /// Returns the items of a list.
    #[track_caller]
    pub(crate) fn items(&self) -> Vec<Value> {
        let json = self.json();
        let items = json["items"].as_array();
        items.unwrap_or_else(|| panic!("{json}")).clone()
    }

    /// Asserts the status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = bytes.windows(2).position(|it| it == b"\r\n") {
        let size = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        let start = end + 2;
        let stop = (start + size).min(bytes.len());
        out.extend_from_slice(&bytes[start..stop]);
        bytes = bytes.get(stop + 2..).unwrap_or_default();
    }
    out
}
