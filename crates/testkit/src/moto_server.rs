//! A private server of object storage (moto, from PyPI) on a port of its own, without a service.
//!
//! It stores in memory, and heeds conditions. It ends with this process: its guard reads the end of
//! its input and kills it by its process id.
#![expect(
    clippy::disallowed_methods,
    reason = "finds the server's program by a variable of the test run"
)]
#![expect(clippy::print_stderr, reason = "says which tests are skipped")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running server with the bucket [`BUCKET`].
#[derive(Debug)]
pub struct MotoServer {
    port: u16,
    guard: Child,
}

/// The bucket that every server has.
pub const BUCKET: &str = "boswell";

impl MotoServer {
    /// Starts a server; `None`, with a line that says so, if moto is not installed. Under `CI=true`
    /// that is a failure.
    pub fn start_or_skip() -> Option<MotoServer> {
        let Some(python) = std::env::var_os("BOSWELL_MOTO_PYTHON") else {
            let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
            assert!(!ci, "moto is not installed: run `cargo xtask test`");
            eprintln!("SKIPPED: moto is not installed (BOSWELL_MOTO_PYTHON names its Python)");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        let script = "\"$1\" -m moto.server -H 127.0.0.1 -p \"$2\" </dev/null >/dev/null 2>&1 & \
                      pid=$!; cat >/dev/null; kill \"$pid\"; wait \"$pid\"";
        let guard = Command::new("sh")
            .args(["-c", script, "guard"])
            .arg(python)
            .arg(port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let server = MotoServer { port, guard };
        server.make_bucket();
        Some(server)
    }

    /// Returns the port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes the bucket as soon as the server answers.
    fn make_bucket(&self) {
        for _ in 0..1200 {
            if self
                .put(&format!("/{BUCKET}"))
                .is_some_and(|said| said.contains(" 200 "))
            {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let answered = false;
        assert!(answered, "moto did not start");
    }

    fn put(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let scope = "Credential=k/20260101/us-east-1/s3/aws4_request";
        let request = format!(
            "PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 0\r\n\
             Authorization: AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0\r\n\
             Connection: close\r\n\r\n",
            self.port
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }
}

impl Drop for MotoServer {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// Returns the address of the bucket on a port of this machine: that of a server or of a proxy.
pub fn objects_address(port: u16) -> String {
    format!("s3://{BUCKET}/test?endpoint=http://127.0.0.1:{port}&region=us-east-1")
}
