//! A model that replies from a script, on the loopback interface, for real clients. It speaks the
//! Messages API, the Responses API, chat completions and `generateContent`.
//!
//! It replies as a stream or in one piece, as requested, and records every request. The newest
//! prompt decides the reply: after `SCRIPT=` follows a JSON list of replies, one per request of the
//! client during that turn; a prompt without a script is echoed. A reply is a list of blocks:
//!
//! | block | what happens |
//! |---|---|
//! | `{"text": …}`, `{"think": …}` | it says or thinks that |
//! | `{"tool": NAME, "input": …}` | it calls a tool |
//! | `{"error": STATUS}` | the request fails |
//! | `{"hold": NAME}` | it answers only once [`ScriptedModel::release`] was called with that name |

mod answers;
mod chat;
mod google;
mod proxy;
mod responses;
pub mod rules;
mod script;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use answers::{answer_to, message, messages, newest_words, stream_message};
use proxy::Destination;

/// Maximum time that a reply is held, so that a test that forgets to release it ends.
const LONGEST_HOLD: Duration = Duration::from_secs(90);

/// A model on loopback. Dropping it stops it.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// A request of a client.
#[derive(Debug, Clone)]
pub struct Request {
    /// The path, without the query.
    pub path: String,
    /// The body; null if it was not JSON.
    pub body: Value,
}

#[derive(Debug, Default)]
struct Shared {
    requests: Mutex<Vec<Request>>,
    released: Mutex<BTreeSet<String>>,
    came: Condvar,
    let_go: Condvar,
    ended: AtomicBool,
    count: AtomicUsize,
    /// Whether a history that the provider would refuse is refused.
    is_strict: bool,
    refusals: Mutex<Vec<String>>,
}

impl ScriptedModel {
    /// Starts a model on a free port. It answers any history.
    pub fn start() -> ScriptedModel {
        ScriptedModel::with(Shared::default())
    }

    /// Starts a model that refuses what its provider would refuse: see [`rules`].
    pub fn strict() -> ScriptedModel {
        ScriptedModel::with(Shared {
            is_strict: true,
            ..Shared::default()
        })
    }

    /// Returns why requests were refused, in order.
    pub fn refusals(&self) -> Vec<String> {
        lock(&self.shared.refusals).clone()
    }

    fn with(shared: Shared) -> ScriptedModel {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on loopback");
        let address = listener.local_addr().expect("the address that was bound");
        let shared = Arc::new(shared);
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if own.ended.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), own) = (stream, Arc::clone(&own)) else {
                    continue;
                };
                // Errors of a client that disconnects are ignored.
                std::thread::spawn(move || own.serve(stream).ok());
            }
        });
        ScriptedModel { address, shared }
    }

    /// Returns the base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// Returns what `look` finds in the first request in which it finds something; does not wait.
    pub fn find<T>(&self, look: impl FnMut(&Request) -> Option<T>) -> Option<T> {
        lock(&self.shared.requests).iter().find_map(look)
    }

    /// Returns the messages of the first request whose newest user text is `words`; does not wait.
    pub fn asked(&self, words: &str) -> Option<Vec<Value>> {
        let is_it = |request: &Request| {
            request.path == "/v1/messages"
                && newest_words(&request.body)
                    .iter()
                    .any(|text| text.trim() == words)
        };
        let requests = lock(&self.shared.requests);
        let found = requests.iter().find(|request| is_it(request))?;
        Some(messages(&found.body).to_vec())
    }

    /// Returns the items before the newest prompt of the first request whose newest prompt is
    /// `words`, in the form in which that API has them; does not wait. Requests of the Messages API
    /// are found by [`ScriptedModel::asked`].
    pub fn sent_before(&self, words: &str) -> Option<Vec<Value>> {
        self.find(|request| match request.path.as_str() {
            path if path.ends_with(responses::PATH) => {
                responses::before_prompt(&request.body, words)
            }
            path if path.ends_with(chat::PATH) => chat::before_prompt(&request.body, words),
            path if google::asks(path) => google::before_prompt(&request.body, words),
            _ => None,
        })
    }

    /// Waits until `count` requests contain a text, or until a timeout.
    pub fn wait_for(&self, text: &str, count: usize) {
        let has = |requests: &Vec<Request>| {
            let holds = |request: &&Request| request.body.to_string().contains(text);
            requests
                .iter()
                .filter(|request| {
                    request.path == "/v1/messages"
                        || request.path.ends_with(responses::PATH)
                        || request.path.ends_with(chat::PATH)
                        || google::asks(&request.path)
                })
                .filter(holds)
                .count()
                >= count
        };
        let requests = lock(&self.shared.requests);
        let waited = self
            .shared
            .came
            .wait_timeout_while(requests, LONGEST_HOLD, |requests| !has(requests));
        let (requests, _) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(has(&requests), "no client asked for {text:?} in time");
    }

    /// Releases the replies that are held under a name, now and later.
    pub fn release(&self, name: &str) {
        lock(&self.shared.released).insert(name.to_owned());
        self.shared.let_go.notify_all();
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        // The listening thread wakes up at the next connection.
        let _ = TcpStream::connect(self.address);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut out = stream;
        let Some((method, path, body)) = own_request(&mut reader, &mut out)? else {
            return Ok(());
        };
        if method != "POST" {
            let nothing = json!({});
            return reply(&mut out, 200, Some(&nothing).filter(|_| method != "HEAD"));
        }
        let body = parsed(&body);
        lock(&self.requests).push(Request {
            path: path.clone(),
            body: body.clone(),
        });
        self.came.notify_all();
        if let Some(error) = self.refused(&path, &body) {
            return reply(&mut out, 400, Some(&error));
        }
        self.respond(&mut out, &path, &body)
    }

    /// Records why a strict model refuses a request, and returns the error to send.
    fn refused(&self, path: &str, body: &Value) -> Option<Value> {
        if !self.is_strict {
            return None;
        }
        let why = rules::refusal(path, body)?;
        let error = json!({"type": "invalid_request_error", "message": why});
        lock(&self.refusals).push(why);
        Some(json!({"type": "error", "error": error}))
    }

    /// Replies to a request in the form of the API that its path belongs to.
    fn respond(&self, out: &mut TcpStream, path: &str, body: &Value) -> std::io::Result<()> {
        match path {
            "/v1/messages" => self.answer(out, body),
            path if path.ends_with(responses::PATH) => {
                let blocks = responses::reply_to(body);
                let number = self.scripted(&blocks);
                responses::stream_reply(out, &blocks, body, number)
            }
            path if path.ends_with(chat::PATH) => {
                let blocks = chat::reply_to(body);
                let number = self.scripted(&blocks);
                chat::send_reply(out, &blocks, body, number)
            }
            path if google::asks(path) => {
                let blocks = google::reply_to(body);
                let number = self.scripted(&blocks);
                google::send_reply(out, &blocks, (path, body), number)
            }
            path if path.ends_with(":countTokens") => {
                reply(out, 200, Some(&json!({"totalTokens": 100})))
            }
            "/v1/messages/count_tokens" => reply(out, 200, Some(&json!({"input_tokens": 100}))),
            _ => reply(out, 200, Some(&json!({}))),
        }
    }

    /// Waits as long as a reply is held, and returns its number.
    fn scripted(&self, blocks: &[Value]) -> usize {
        for name in blocks.iter().filter_map(|block| block["hold"].as_str()) {
            self.hold(name);
        }
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    fn answer(&self, out: &mut TcpStream, body: &Value) -> std::io::Result<()> {
        let blocks = answer_to(body);
        for name in blocks.iter().filter_map(|block| block["hold"].as_str()) {
            self.hold(name);
        }
        if let Some(status) = blocks.iter().find_map(|block| block["error"].as_u64()) {
            let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "as scripted"}});
            return reply(out, status, Some(&error));
        }
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let message = message(&blocks, body, number);
        if body["stream"] == true {
            stream_message(out, &message)
        } else {
            reply(out, 200, Some(&message))
        }
    }

    fn hold(&self, name: &str) {
        let released = lock(&self.released);
        let _ = self
            .let_go
            .wait_timeout_while(released, LONGEST_HOLD, |released| !released.contains(name));
    }
}

/// Reads a request. One for another host is refused; `None` then, and if the client
/// disconnected.
fn own_request(
    reader: &mut impl BufRead,
    out: &mut TcpStream,
) -> std::io::Result<Option<(String, String, Vec<u8>)>> {
    let own = out.local_addr()?;
    while let Some((method, target, body)) = read_request(reader)? {
        match proxy::destination(&method, &target, own) {
            Destination::Here(path) => return Ok(Some((method, path.to_owned(), body))),
            Destination::Tunnel => write!(out, "HTTP/1.1 200 Scripted\r\n\r\n")?,
            Destination::Elsewhere => {
                reply(out, 403, None)?;
                break;
            }
        }
    }
    Ok(None)
}

/// Reads method, target and body of a request; `None` if the client disconnected.
fn read_request(reader: &mut impl BufRead) -> std::io::Result<Option<(String, String, Vec<u8>)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let path = words
        .next()
        .and_then(|path| path.split('?').next())
        .unwrap_or_default()
        .to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "transfer-encoding" => chunked = value.trim().eq_ignore_ascii_case("chunked"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    if chunked {
        body = read_chunks(reader)?;
    } else {
        reader.read_exact(&mut body)?;
    }
    Ok(Some((method, path, body)))
}

fn read_chunks(reader: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        reader.read_line(&mut size)?;
        let digits = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(digits, 16).unwrap_or(0);
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk)?;
        if size == 0 {
            return Ok(body);
        }
        chunk.truncate(size);
        body.append(&mut chunk);
    }
}

fn reply(out: &mut TcpStream, status: u64, body: Option<&Value>) -> std::io::Result<()> {
    let body = body.map(Value::to_string).unwrap_or_default();
    write!(
        out,
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn begin_stream(out: &mut TcpStream) -> std::io::Result<()> {
    write!(
        out,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    )
}

/// Parses a body. Clients written in JavaScript send halves of surrogate pairs as they found them;
/// serde_json refuses those, so every surrogate becomes U+FFFD then.
fn parsed(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(body);
        let mut whole = String::with_capacity(text.len());
        let mut rest = text.as_ref();
        while let Some(at) = rest.find("\\ud") {
            let (before, escape) = rest.split_at(at);
            whole.push_str(before);
            let is_surrogate = matches!(escape.as_bytes().get(3), Some(b'8'..=b'9' | b'a'..=b'f'));
            match escape.get(6..).filter(|_| is_surrogate) {
                Some(after) => {
                    whole.push_str("\\ufffd");
                    rest = after;
                }
                None => {
                    whole.push_str("\\ud");
                    rest = escape.get(3..).unwrap_or_default();
                }
            }
        }
        whole.push_str(rest);
        serde_json::from_str(&whole).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn ask(model: &ScriptedModel, body: &Value) -> String {
        let mut stream = TcpStream::connect(model.address).unwrap();
        let body = body.to_string();
        write!(
            stream,
            "POST /v1/messages?beta=true HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn said(answer: &str) -> Value {
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    #[test]
    fn a_prompt_is_echoed_and_every_request_is_kept() {
        let model = ScriptedModel::start();
        let answer = ask(
            &model,
            &json!({"model": "m", "messages": [{"role": "user", "content": "你好"}]}),
        );
        assert_eq!(said(&answer)["content"][0]["text"], "ECHO: 你好");
        assert_eq!(model.requests().len(), 1);
        assert_eq!(model.asked("你好").unwrap().len(), 1);
        assert!(model.asked("nobody said this").is_none());
    }

    #[test]
    fn a_script_goes_on_with_every_answer_of_its_turn() {
        let model = ScriptedModel::start();
        let prompt = json!({"role": "user", "content": "do SCRIPT=[[{\"tool\":\"Bash\",\"input\":{\"a\":1}}],[{\"text\":\"done\"}]] please"});
        let first = said(&ask(&model, &json!({"messages": [prompt]})));
        assert_eq!(
            (&first["stop_reason"], &first["content"][0]["input"]["a"]),
            (&json!("tool_use"), &json!(1))
        );
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}, {"type": "text", "text": "<system-reminder>"}]});
        let turn = json!([prompt, {"role": "assistant", "content": first["content"]}, result]);
        assert_eq!(
            said(&ask(&model, &json!({"messages": turn})))["content"][0]["text"],
            "done"
        );
    }

    #[test]
    fn a_stream_says_the_same_in_events_and_an_error_is_one() {
        let model = ScriptedModel::start();
        let answer = ask(
            &model,
            &json!({"stream": true, "messages": [{"role": "user", "content": "hi"}]}),
        );
        let events: Vec<&str> = answer
            .lines()
            .filter_map(|line| line.strip_prefix("event: "))
            .collect();
        assert_eq!(events.first(), Some(&"message_start"));
        assert_eq!(events.last(), Some(&"message_stop"));
        assert!(answer.contains("ECHO: hi"));
        let failed = ask(
            &model,
            &json!({"messages": [{"role": "user", "content": "SCRIPT=[[{\"error\":529}]]"}]}),
        );
        assert!(failed.starts_with("HTTP/1.1 529"), "{failed}");
    }

    #[test]
    fn an_answer_is_held_back_until_it_is_released() {
        let model = ScriptedModel::start();
        let prompt = json!({"role": "user", "content": "SCRIPT=[[{\"hold\":\"gate\"},{\"text\":\"late\"}]]"});
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| ask(&model, &json!({"messages": [prompt.clone()]})));
            model.wait_for("gate", 1);
            assert!(!asking.is_finished());
            model.release("gate");
            assert_eq!(said(&asking.join().unwrap())["content"][0]["text"], "late");
        });
    }
}
