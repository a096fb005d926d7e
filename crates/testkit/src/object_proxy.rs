//! An HTTP proxy between a client of object storage and its server that makes bad weather: answers
//! that fail, come late, are cut off, have other bytes, or are lost; and a server that ignores
//! conditions, or refuses a clock that is wrong.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpFault {
    /// Answered with this status; the server does not see it.
    Status(u16),
    /// The server does it, and the answer comes after this time.
    Late(Duration),
    /// The server does it, and half of the answer's body is passed on.
    Truncated,
    /// The server does it, and a byte of the answer's body is changed.
    Flipped,
    /// The server does it, and the connection is closed without an answer.
    Lost,
}

/// A proxy on a port of its own.
#[derive(Debug)]
pub struct ObjectProxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    server: u16,
    faults: Mutex<VecDeque<(&'static str, HttpFault)>>,
    made: AtomicU64,
    ignores_conditions: AtomicBool,
    /// The day that a signature must have, if the clock is looked at.
    day: Mutex<Option<String>>,
    closed: AtomicBool,
}

/// A request or an answer.
#[derive(Debug, Default)]
struct Message {
    /// The first line and the headers, with the empty line.
    head: String,
    body: Vec<u8>,
}

impl ObjectProxy {
    /// Starts a proxy to a port of this machine.
    pub fn to(server: u16) -> ObjectProxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its port").port();
        let shared = Arc::new(Shared {
            server,
            faults: Mutex::default(),
            made: AtomicU64::new(0),
            ignores_conditions: AtomicBool::new(false),
            day: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if accepting.closed.load(Ordering::Acquire) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                std::thread::spawn(move || shared.serve(&client));
            }
        });
        ObjectProxy { port, shared }
    }

    /// Returns its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes a fault of the next request with this method. Faults come in the order of the calls.
    pub fn fault_next(&self, method: &'static str, fault: HttpFault) {
        self.shared.faults().push_back((method, fault));
    }

    /// Returns how many faults were made.
    pub fn faults_made(&self) -> u64 {
        self.shared.made.load(Ordering::Acquire)
    }

    /// Lets the server not see `If-None-Match`, as servers that ignore it.
    pub fn ignore_conditions(&self) {
        self.shared
            .ignores_conditions
            .store(true, Ordering::Release);
    }

    /// Refuses signatures of another day than this one (`YYYYMMDD`), as servers refuse a clock that
    /// is wrong, and answers with noon of that day as its time.
    pub fn require_day(&self, day: &str) {
        *self.shared.day() = Some(day.to_owned());
    }
}

impl Drop for ObjectProxy {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Shared {
    fn faults(&self) -> std::sync::MutexGuard<'_, VecDeque<(&'static str, HttpFault)>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn day(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.day.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves one request: every answer closes its connection.
    fn serve(&self, client: &TcpStream) -> Option<()> {
        let mut request = Message::read(client, false)?;
        let method = request.head.split(' ').next()?.to_owned();
        if self.ignores_conditions.load(Ordering::Acquire) {
            request.drop_header("if-none-match");
        }
        let day = self.day().clone();
        if let Some(day) = day
            && !request.head.contains(&format!("X-Amz-Date={day}T"))
        {
            let body = "<Error><Code>RequestTimeTooSkewed</Code></Error>";
            return answer(client, "403 Forbidden", Some(&day), body);
        }
        let fault = self.take(&method);
        if let Some(HttpFault::Status(status)) = fault {
            return answer(client, &format!("{status} Fault"), None, "<Error/>");
        }
        let mut reply = self.forward(request, method == "HEAD")?;
        match fault {
            Some(HttpFault::Late(time)) => std::thread::sleep(time),
            Some(HttpFault::Truncated) => reply.body.truncate(reply.body.len() / 2),
            Some(HttpFault::Flipped) => {
                if let Some(byte) = reply.body.first_mut() {
                    *byte ^= 1;
                }
            }
            Some(HttpFault::Lost) => return None,
            _ => {}
        }
        reply.write(client)
    }

    fn take(&self, method: &str) -> Option<HttpFault> {
        let mut faults = self.faults();
        faults.front().filter(|(wanted, _)| *wanted == method)?;
        let (_, fault) = faults.pop_front()?;
        self.made.fetch_add(1, Ordering::AcqRel);
        Some(fault)
    }

    fn forward(&self, mut request: Message, is_head: bool) -> Option<Message> {
        let server = TcpStream::connect(("127.0.0.1", self.server)).ok()?;
        request.close_after();
        request.write(&server)?;
        let mut reply = Message::read(&server, is_head)?;
        reply.close_after();
        Some(reply)
    }
}

impl Message {
    /// Reads a message; the body of an answer to HEAD is not there.
    fn read(stream: &TcpStream, no_body: bool) -> Option<Message> {
        let mut reader = BufReader::new(stream);
        let mut message = Message::default();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            message.head.push_str(&line);
            if line == "\r\n" {
                break;
            }
        }
        if message.header("expect").is_some() {
            let mut writer = stream;
            writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
            message.drop_header("expect");
        }
        let length = message.header("content-length");
        let length = length.and_then(|length| length.parse::<usize>().ok());
        if !no_body {
            message.body = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut message.body).ok()?;
        }
        Some(message)
    }

    fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines();
        let line = lines.find(|line| is_header(line, name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    }

    fn drop_header(&mut self, name: &str) {
        let kept = self.head.split_inclusive("\r\n");
        self.head = kept.filter(|line| !is_header(line, name)).collect();
    }

    fn close_after(&mut self) {
        self.drop_header("connection");
        let headers = self.head.trim_end_matches("\r\n").to_owned();
        self.head = format!("{headers}\r\nConnection: close\r\n\r\n");
    }

    fn write(&self, mut stream: &TcpStream) -> Option<()> {
        let whole = [self.head.as_bytes(), &self.body].concat();
        stream.write_all(&whole).ok()
    }
}

fn is_header(line: &str, name: &str) -> bool {
    line.split_once(':')
        .is_some_and(|(found, _)| found.eq_ignore_ascii_case(name))
}

fn answer(mut client: &TcpStream, status: &str, day: Option<&str>, body: &str) -> Option<()> {
    let date = day.map_or(String::new(), |day| {
        let part = |range| day.get(range).unwrap_or("01").to_owned();
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
        let month = part(4..6).parse::<usize>().unwrap_or(1) - 1;
        let month = months.get(month).unwrap_or(&"Jan");
        format!(
            "Date: {} {month} {} 12:00:00 GMT\r\n",
            part(6..8),
            part(0..4)
        )
    });
    let text = format!(
        "HTTP/1.1 {status}\r\n{date}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    client.write_all(text.as_bytes()).ok()
}
