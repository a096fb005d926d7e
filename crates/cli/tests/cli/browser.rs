//! The page in a real browser, driven by the scripts in `tests/browser`.
//!
//! They need node, Chromium and playwright-core, which `cargo xtask test` installs; without them
//! they are skipped, and fail where `CI=true`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::demo::Demo;

/// What drives the browser.
struct Tools {
    node: PathBuf,
    browser: PathBuf,
    modules: PathBuf,
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests have no command line, so the programs come from the environment"
)]
fn tools() -> Option<Tools> {
    let given = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let found = given("BOSWELL_PLAYWRIGHT")
        .zip(given("BOSWELL_CHROMIUM"))
        .zip(given("BOSWELL_NODE"));
    let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(
        found.is_some() || !ci,
        "BOSWELL_PLAYWRIGHT, BOSWELL_CHROMIUM or BOSWELL_NODE is not set: run `cargo xtask test`"
    );
    let ((modules, browser), node) = found?;
    Some(Tools {
        node,
        browser,
        modules,
    })
}

/// Ends `boswell web` with the test.
struct Web(Child);

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the page, and returns its address with the one-time code.
fn web(demo: &Demo) -> (Web, String) {
    let mut command = demo.command(&["web", "--no-open", "--port", "0", "--for", "10m"]);
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
    (Web(child), line.trim().to_owned())
}

/// Runs a script against the page of a demo.
#[expect(
    clippy::print_stderr,
    reason = "a skipped test says so, and figures of the browser are for the reader of the log"
)]
fn drive(script: &str) {
    let Some(tools) = tools() else {
        eprintln!("SKIPPED: no browser with playwright-core; `cargo xtask test` installs them");
        return;
    };
    let demo = Demo::new();
    let (_web, url) = web(&demo);
    let plain = demo.command(&[]);
    let words = std::iter::once(plain.get_program()).chain(plain.get_args());
    let words: Vec<String> = words.map(|it| it.to_string_lossy().into_owned()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let mut node = Command::new(&tools.node);
    node.arg(folder.join(script))
        .env("BOSWELL_PLAYWRIGHT", &tools.modules)
        .env("BOSWELL_CHROMIUM", &tools.browser)
        .env("BOSWELL_COMMAND", serde_json::to_string(&words).unwrap())
        .env("BOSWELL_URL", url)
        .env("BOSWELL_DEMO", &demo.root)
        .stdin(Stdio::null());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => node.env(name, value),
            None => node.env_remove(name),
        };
    }
    let output = node.output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    eprint!("{}", said(&output.stdout));
    assert!(output.status.success(), "{}", said(&output.stderr));
}

#[test]
fn every_page_is_accessible_silent_and_asks_no_other_machine() {
    drive("pages.mjs");
}

#[test]
fn the_daily_jobs_need_no_mouse() {
    drive("keyboard.mjs");
}

#[test]
fn hostile_sessions_change_nothing_but_text() {
    drive("hostile.mjs");
}

#[test]
fn pages_have_the_same_pixels_whenever_they_are_drawn() {
    drive("pixels.mjs");
}

#[test]
fn a_range_of_time_is_drawn_or_moved_with_keys_and_narrows_a_search() {
    drive("histogram.mjs");
}

#[test]
fn other_pages_of_the_browser_get_nothing_and_change_nothing() {
    drive("origins.mjs");
}

#[test]
fn a_followed_session_is_shown_once_in_order_and_a_large_one_stays_small() {
    drive("live.mjs");
}

#[test]
fn the_page_shows_each_entry_once_and_in_order_while_the_server_is_killed() {
    drive("killed.mjs");
}

#[test]
fn the_generated_client_lists_searches_reads_appends_and_follows() {
    drive("client.mjs");
}
