//! A terminal that reads slowly, or not at all: a pseudo-terminal whose other end is this test.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use boswell_testkit::disk;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::demo::Demo;

/// How long anything may take; the machine of a test may be busy.
const PATIENCE: Duration = Duration::from_secs(60);
/// Columns and rows: a page of text is more than a pseudo-terminal holds.
const SIZE: (u16, u16) = (400, 200);

/// The program in a terminal that is read only while the test wants it.
struct Reluctant {
    keys: File,
    /// Kept to see the modes of the terminal after the program has ended.
    terminal: File,
    child: Child,
    reads: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Reluctant {
    fn start(demo: &Demo) -> Reluctant {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let path = Path::new(name.to_str().unwrap());
        let open = || File::options().read(true).write(true).open(path).unwrap();
        let terminal = open();
        let size = Winsize {
            ws_col: SIZE.0,
            ws_row: SIZE.1,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&terminal, size).unwrap();
        // Without a terminal of its own the program would ask that of the test for its size.
        let child = Command::new("setsid")
            .arg("./try")
            .current_dir(&demo.root)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", demo.bench.home())
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .spawn()
            .unwrap();
        let keys = File::from(master);
        let (reads, seen) = (Arc::new(AtomicBool::new(true)), Arc::default());
        let reluctant = Reluctant {
            keys,
            terminal,
            child,
            reads,
            seen,
        };
        reluctant.listen();
        reluctant
    }

    /// Reads on a thread of its own while that is wanted. It ends with the test.
    fn listen(&self) {
        let mut output = self.keys.try_clone().unwrap();
        let (reads, seen) = (Arc::clone(&self.reads), Arc::clone(&self.seen));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                if !reads.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                    continue;
                }
                match output.read(&mut buffer) {
                    Ok(count @ 1..) => seen.lock().unwrap().extend_from_slice(&buffer[..count]),
                    _ => return,
                }
            }
        });
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// Waits until the program has ended.
    fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        wait("end of the program", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    fn is_restored(&self) -> bool {
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }
}

impl Drop for Reluctant {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test that waits for ever would say nothing"
)]
fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "no {what}");
        std::thread::yield_now();
    }
}

/// A session of many long lines of different text.
fn long_session(demo: &Demo) {
    let project = demo.root.join("projects/shop");
    let id = "51055105-0000-4000-8000-000000000001";
    let mut log = String::new();
    for number in 0..100 {
        let parent = match number {
            0 => "null".to_owned(),
            _ => format!("\"e{}\"", number - 1),
        };
        let lines: Vec<String> = (0..40)
            .map(|line| format!("{number}.{line} ").repeat(50))
            .collect();
        log.push_str(&format!(
            "{{\"type\":\"user\",\"uuid\":\"e{number}\",\"parentUuid\":{parent},\"sessionId\":\"{id}\",\"cwd\":\"{}\",\"version\":\"2.1.128\",\"isSidechain\":false,\"userType\":\"external\",\"timestamp\":\"2026-10-30T10:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"slowterminal {}\"}}}}\n",
            project.display(),
            lines.join("\\n"),
        ));
    }
    let folder = demo.root.join("home/.claude/projects/-slow");
    disk::make_dir(&folder);
    disk::write(&folder.join(format!("{id}.jsonl")), log.as_bytes());
}

/// Exports the session that is read, and waits for the file: the keys before were taken too.
fn export(terminal: &mut Reluctant, demo: &Demo, name: &str) {
    let path = demo.root.join(name);
    terminal.press(&format!("e\u{15}{}\r", path.display()));
    wait(name, || {
        path.is_file() && String::from_utf8_lossy(&disk::read(&path)).contains("99.39")
    });
}

/// Opens the long session. Only cells that change are drawn, so that single words can be waited
/// for, and no more.
fn read_long_session(demo: &Demo) -> Reluctant {
    long_session(demo);
    let mut terminal = Reluctant::start(demo);
    wait("list", || terminal.seen().contains("Coupon"));
    terminal.press("slowterminal\u{1b}[C");
    wait("reader", || terminal.seen().contains("99.39"));
    terminal
}

#[test]
fn keys_do_not_wait_for_a_slow_terminal_and_frames_are_dropped() {
    let demo = Demo::new();
    let mut terminal = read_long_session(&demo);
    // From here on nothing is read; each of these keys would draw some 80 kB.
    terminal.reads.store(false, Ordering::SeqCst);
    let before = terminal.seen.lock().unwrap().len();
    for round in 0..6 {
        for _ in 0..5 {
            terminal.press("\u{1b}[5~");
            terminal.press("\u{1b}[6~\u{1b}[5~");
        }
        export(&mut terminal, &demo, &format!("{round}.md"));
    }
    // The newest state is drawn as soon as there is room, and the frames between never were.
    terminal.press("?");
    terminal.reads.store(true, Ordering::SeqCst);
    wait("newest state", || terminal.seen().contains("Keys"));
    let drawn = terminal.seen.lock().unwrap().len() - before;
    assert!(drawn < 600_000, "{drawn} bytes were drawn");
    terminal.press("\u{11}");
    assert!(terminal.ended().success());
    assert!(terminal.is_restored());
}

#[test]
fn a_terminal_that_reads_nothing_keeps_no_process_behind() {
    let demo = Demo::new();
    let mut terminal = read_long_session(&demo);
    terminal.reads.store(false, Ordering::SeqCst);
    terminal.press("\u{1b}[5~\u{1b}[5~");
    export(&mut terminal, &demo, "page.md");
    let pid = terminal.child.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(killed.unwrap().success());
    let status = terminal.ended();
    assert_eq!(
        status.code(),
        Some(143),
        "{status:?}, signal {:?}",
        status.signal()
    );
    assert!(terminal.is_restored());
}
