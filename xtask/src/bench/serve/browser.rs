//! The page in a real browser: how long the first page of a long session takes, and what it needs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Running, text_member};
use crate::bench::lab::{Lab, Scale};
use crate::bench::table::{self, Row, Target};
use crate::{Outcome, clients, workspace};

/// Returns the figures beside their budgets.
pub(super) fn rows(lab: &Lab) -> Outcome<Vec<Row>> {
    let home = lab.data.join("serve-browser-home");
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    std::fs::create_dir_all(&home)?;
    let page = Page {
        program: lab.release().join("boswell"),
        home,
    };
    let entries = match lab.scale {
        Scale::Full => 100_000,
        Scale::Small => 1_000,
    };
    let session = page.long_session(entries)?;
    let said = page.measured(&session)?;
    let number = |name: &str| number_member(&said, name).ok_or("the browser gave no figures");
    let milliseconds = |value: f64| table::seconds(value / 1e3);
    let plain = |value: f64| format!("{value:.0}");
    let megabytes = |value: f64| format!("{:.1} MB", value / 1e6);
    let kilobytes = |value: f64| format!("{:.1} kB", value / 1e3);
    let named = |what: &str| format!("{entries} entries in a browser, {what}");
    Ok(vec![
        budget(
            &named("first page"),
            number("first_ms")?,
            300.0,
            milliseconds,
        ),
        budget(
            &named("first page again"),
            number("again_ms")?,
            300.0,
            milliseconds,
        ),
        budget(&named("nodes"), number("nodes")?, 1_500.0, plain),
        budget(&named("heap"), number("heap")?, 60e6, megabytes),
        budget("script, compressed", number("script")?, 60e3, kilobytes),
        budget("first paint", number("paint_ms")?, 150.0, milliseconds),
    ])
}

fn budget(case: &str, value: f64, most: f64, show: impl Fn(f64) -> String) -> Row {
    Row {
        case: case.to_owned(),
        ours: show(value),
        baseline: show(most),
        ratio: value / most,
        target: Some(Target::AtMost(1.0)),
    }
}

/// Returns a member of a JSON object with a number.
fn number_member(json: &str, name: &str) -> Option<f64> {
    let (_, rest) = json.split_once(&format!("\"{name}\":"))?;
    rest.split([',', '}']).next()?.trim().parse().ok()
}

/// The program with a home of its own.
struct Page {
    program: PathBuf,
    home: PathBuf,
}

impl Page {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("BOSWELL_HOME", &self.home)
            .env("HOME", &self.home)
            .current_dir(&self.home)
            .stdin(Stdio::null());
        command
    }

    /// Writes a session of prompts, and returns its ref.
    fn long_session(&self, entries: usize) -> Outcome<String> {
        let made = self.command(&["new", "--json"]).output()?;
        let made = String::from_utf8_lossy(&made.stdout).into_owned();
        let session = text_member(&made, "ref").ok_or("no session was created")?;
        let append = ["append", &session, "--durability", "os", "--quiet"];
        let mut child = self
            .command(&append)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        if let Some(input) = child.stdin.take() {
            let mut input = std::io::BufWriter::new(input);
            for number in 0..entries {
                writeln!(
                    input,
                    "{{\"role\":\"user\",\"text\":\"entry number {number}\"}}"
                )?;
            }
            input.flush()?;
        }
        if !child.wait()?.success() {
            return Err("the entries were not appended".into());
        }
        Ok(session)
    }

    /// Runs the script of the browser, and returns its figures.
    fn measured(&self, session: &str) -> Outcome<String> {
        let tools = clients::browser()?;
        let serve = ["web", "--no-open", "--port", "0", "--for", "10m"];
        let mut child = self.command(&serve).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take();
        let _running = Running(child);
        let mut url = String::new();
        if let Some(output) = output {
            BufReader::new(output).read_line(&mut url)?;
        }
        let script = Path::new("crates/cli/tests/browser/bench.mjs");
        let done = Command::new(&tools.node)
            .arg(workspace::root().join(script))
            .env("BOSWELL_PLAYWRIGHT", &tools.modules)
            .env("BOSWELL_CHROMIUM", &tools.chromium)
            .env("BOSWELL_URL", url.trim())
            .env("BOSWELL_SESSION", session)
            .env(
                "BOSWELL_COMMAND",
                format!("[\"{}\"]", self.program.display()),
            )
            .output()?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned().into());
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_a_line_of_json() {
        let line = "{\"first_ms\":81.5,\"nodes\":412}\n";
        assert_eq!(number_member(line, "first_ms"), Some(81.5));
        assert_eq!(number_member(line, "nodes"), Some(412.0));
        assert_eq!(number_member(line, "heap"), None);
    }
}
