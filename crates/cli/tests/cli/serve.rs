//! The server as a program: its lines are those of `--json`, its port and its end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::demo::Demo;

/// A running `boswell serve`.
pub(crate) struct Serving {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    write: Option<String>,
    /// The token for agents.
    pub(crate) mcp: String,
}

impl Serving {
    pub(crate) fn start(demo: &Demo, args: &[&str]) -> Serving {
        Serving::run(demo.command(&[&["serve", "--json"], args].concat()))
    }

    /// Starts a server with a command.
    pub(crate) fn run(mut command: Command) -> Serving {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        crate::contract::assert_follows(&said);
        let token = |member: &str| {
            let path = said[member].as_str()?;
            String::from_utf8(boswell_testkit::disk::read(path.as_ref())).ok()
        };
        Serving {
            child,
            address: said["address"].as_str().unwrap().to_owned(),
            token: token("read_token").unwrap(),
            write: token("write_token"),
            mcp: token("mcp_token").unwrap(),
        }
    }

    /// Returns the lines of an address.
    pub(crate) fn lines(&self, path: &str) -> String {
        let answer = self.ask(path);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.0 200"), "{path}: {answer}");
        body.to_owned()
    }

    fn ask(&self, path: &str) -> String {
        self.try_ask(path).unwrap()
    }

    /// Returns an answer; an error if the connection was refused or ended before it.
    fn try_ask(&self, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(&self.address)?;
        let ask = format!(
            "GET {path} HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {}\r\nAccept: application/x-ndjson\r\n\r\n",
            self.address, self.token
        );
        stream.write_all(ask.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// Returns the status of an address, if there is an answer.
    #[cfg(target_os = "linux")]
    fn try_status(&self, path: &str) -> Option<u16> {
        self.try_ask(path).ok()?.get(9..12)?.parse().ok()
    }

    /// Returns the token for changes.
    pub(crate) fn write_token(&self) -> &str {
        self.write.as_deref().unwrap()
    }

    /// Returns the status of an address.
    pub(crate) fn status(&self, path: &str) -> u16 {
        let answer = self.ask(path);
        answer[9..12].parse().unwrap()
    }

    /// Returns the memory of the server in bytes, as Linux counts it.
    #[cfg(target_os = "linux")]
    fn memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = String::from_utf8(boswell_testkit::disk::read(path.as_ref())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
        1024 * kilobytes.parse::<u64>().unwrap()
    }

    /// Ends the server without a chance to do anything.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends the server as a terminal does, and returns its exit code.
    fn interrupt(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status();
        assert!(sent.unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines without the time at which a page was made.
fn timeless(lines: &str) -> String {
    let lines = lines
        .lines()
        .map(|line| match line.split_once("\"as_of\":\"") {
            Some((before, after)) => {
                format!("{before}{}", &after["2026-01-31T08:00:00.000Z".len()..])
            }
            None => line.to_owned(),
        });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_lines_of_the_server_are_those_of_the_command_line_byte_for_byte() {
    let demo = Demo::new();
    // A search indexes a little, and the next one has less to scan.
    demo.run(&["index"]).ends(0);
    let serving = Serving::start(&demo, &["--port", "0"]);
    let mut cases: Vec<(String, Vec<String>)> = Vec::new();
    let mut case = |path: &str, args: &[&str]| {
        let args = args.iter().copied().chain(["--json"]).map(str::to_owned);
        cases.push((path.to_owned(), args.collect()));
    };
    case("/v1/sessions?limit=500", &["list"]);
    case(
        "/v1/sessions?limit=2&sort=size",
        &["list", "--limit", "2", "--sort", "size"],
    );
    case("/v1/sessions?hidden&limit=500", &["list", "--hidden"]);
    case("/v1/stores", &["stores"]);
    case("/v1/projects", &["projects"]);
    case("/v1/stats?by=agent", &["stats", "--by", "agent"]);
    case("/v1/search?q=coupon", &["search", "coupon"]);
    case("/v1/check", &["check"]);
    case("/v1/ops", &["ops"]);
    for session in demo.run(&["list", "--hidden", "--json"]).of_type("session") {
        let name = session["ref"].as_str().unwrap();
        if session["path"].is_null() {
            continue;
        }
        let path = format!("/v1/sessions/{name}");
        case(
            &format!("{path}/entries?view=records&raw&limit=500"),
            &["show", name, "--records", "--raw"],
        );
        if session["dialect"] == "clinvoker" {
            continue;
        }
        case(&format!("{path}/entries?limit=500"), &["show", name]);
        case(&format!("{path}/tree"), &["tree", name]);
        case(&format!("{path}/context"), &["context", name]);
    }
    assert!(cases.len() > 20);
    for (path, args) in cases {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let printed = demo.run(&args).text();
        assert_eq!(
            timeless(&serving.lines(&path)),
            timeless(&printed),
            "{path}"
        );
    }
}

#[test]
fn a_server_ends_in_order_at_a_signal_and_the_next_one_has_its_port() {
    let demo = Demo::new();
    let first = Serving::start(&demo, &["--port", "0"]);
    let address = first.address.clone();
    let running = demo.root.join("own/serve/running.json");
    assert!(running.exists());
    assert_eq!(first.interrupt(), Some(0));
    assert!(!running.exists());
    let second = Serving::start(&demo, &[]);
    assert_eq!(second.address, address, "the port is remembered");
    let third = Serving::start(&demo, &[]);
    assert_ne!(third.address, address, "a taken port falls to a free one");
}

#[test]
fn addresses_that_others_reach_are_refused_with_the_next_step() {
    let demo = Demo::new();
    demo.run(&["serve", "--listen", "0.0.0.0"])
        .ends(2)
        .says("ssh -L");
}

#[test]
fn web_without_a_browser_prints_an_address_with_a_code() {
    let demo = Demo::new();
    let mut command = demo.command(&["web", "--no-open", "--port", "0"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let _ = child.kill();
    let _ = child.wait();
    assert!(
        line.starts_with("http://127.0.0.1:") && line.contains("/#k="),
        "{line}"
    );
}

/// A demo with a program `ssh` that runs its command here, and records its arguments.
fn with_ssh(demo: &Demo, script: &str) -> String {
    let folder = demo.root.join("programs");
    boswell_testkit::disk::make_dir(&folder);
    let ssh = folder.join("ssh");
    boswell_testkit::disk::write(&ssh, script.as_bytes());
    boswell_testkit::disk::set_mode(&ssh, 0o755);
    format!("{}:/usr/bin:/bin", folder.display())
}

#[test]
fn the_page_of_another_host_comes_through_a_tunnel() {
    let demo = Demo::new();
    let arguments = demo.root.join("arguments");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > {}\necho Welcome\nport=$(echo \"$4\" | cut -d: -f2)\n\
         echo \"http://127.0.0.1:$port/#k=abc-_9\"\n",
        arguments.display()
    );
    let path = with_ssh(&demo, &script);
    let mut command = demo.command(&["web", "--host", "me@box", "--no-open", "--for", "5m"]);
    let output = command.env("PATH", &path).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let given = String::from_utf8(boswell_testkit::disk::read(&arguments)).unwrap();
    let given: Vec<&str> = given.lines().collect();
    let [_, _, "-L", forward, "--", "me@box", remote] = given.as_slice() else {
        panic!("{given:?}");
    };
    let port = forward.split(':').nth(1).unwrap();
    assert_eq!(*forward, format!("127.0.0.1:{port}:127.0.0.1:{port}"));
    assert_eq!(
        *remote,
        format!("boswell web --no-open --port {port} --for 5m")
    );
    assert_eq!(printed, format!("http://127.0.0.1:{port}/#k=abc-_9\n"));
}

#[test]
fn an_address_of_another_machine_is_not_opened() {
    let demo = Demo::new();
    let script = "#!/bin/sh\necho 'http://evil.example/#k=abc'\nexit 1\n";
    let path = with_ssh(&demo, script);
    let mut command = demo.command(&["web", "--host", "box", "--no-open"]);
    let output = command.env("PATH", &path).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("ssh box boswell --version"), "{said}");
}

/// Raises the limit of open files as far as the system permits, and returns it.
#[cfg(target_os = "linux")]
fn raised_file_limit() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
    maximum.unwrap_or(u64::MAX)
}

/// Opens connections that send nothing, as many as there may be.
#[cfg(target_os = "linux")]
#[expect(clippy::print_stderr, reason = "the number depends on the machine")]
fn idle_connections(address: &str) -> Vec<TcpStream> {
    const WANTED: usize = 10_000;
    // Other tests of this process need files too.
    const OTHERS: u64 = 500;
    let most = usize::try_from(raised_file_limit().saturating_sub(OTHERS)).unwrap_or(WANTED);
    let idle: Vec<TcpStream> = (0..WANTED.min(most))
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    eprintln!("{} idle connections", idle.len());
    idle
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_idle_connections_leave_the_server_alive_and_small() {
    const MOST_MEMORY: u64 = 150_000_000;
    let demo = Demo::new();
    let serving = Serving::start(&demo, &["--port", "0"]);
    let idle = idle_connections(&serving.address);
    assert!(idle.len() > 256, "only {} files may be open", idle.len());
    let memory = serving.memory();
    assert!(memory <= MOST_MEMORY, "{memory} bytes");
    // Connections that send no request end after ten seconds, and make room for those that do.
    let is_served = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(200));
        serving.try_status("/healthz") == Some(200)
    });
    assert!(is_served, "no answer beside idle connections");
    assert!(serving.memory() <= MOST_MEMORY);
    drop(idle);
    assert_eq!(serving.status("/v1/sessions"), 200);
}
