//! `cargo xtask screenshot`: the pictures of the documentation, on the demo.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use crate::{Outcome, clients, workspace};

/// Writes the pictures of the screen, by the tests that compare them, and those of the page.
pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    match arguments {
        [] => {
            screen()?;
            page()?;
        }
        [only] if only == "screen" => screen()?,
        [only] if only == "web" => page()?,
        _ => return Err("usage: cargo xtask screenshot [screen|web]".into()),
    }
    Ok(ExitCode::SUCCESS)
}

fn screen() -> Outcome {
    let tests = ["--lib", "--", "the_picture_of", "the_page_has"];
    workspace::must_succeed(
        workspace::cargo()
            .args(["test", "-q", "-p", "boswell-screen"])
            .args(tests)
            .env("BOSWELL_BLESS", "1"),
    )?;
    println!("docs/screen.svg and docs/screen.md are current");
    Ok(())
}

/// Ends a server with this program.
struct Web(Child);

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn page() -> Outcome {
    let tools = clients::browser()?;
    workspace::must_succeed(workspace::cargo().args(["build", "-p", "boswell"]))?;
    let program = workspace::target()?.join("debug").join("boswell");
    // The folder is visible in the pictures, so that it is the same on every machine.
    let demo = Path::new("/tmp/boswell-demo");
    if demo.exists() {
        return Err("/tmp/boswell-demo exists already; remove it first".into());
    }
    workspace::must_succeed(
        Command::new(&program)
            .arg("demo")
            .arg(demo)
            .stdout(Stdio::null()),
    )?;
    let done = pictures(&program, demo, &tools);
    std::fs::remove_dir_all(demo)?;
    done
}

fn pictures(program: &Path, demo: &Path, tools: &clients::BrowserTools) -> Outcome {
    let mut child = Command::new(demo.join("try"))
        .args(["web", "--no-open", "--port", "0", "--for", "5m"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take();
    let _web = Web(child);
    let mut url = String::new();
    if let Some(output) = output {
        BufReader::new(output).read_line(&mut url)?;
    }
    let docs = workspace::root().join("docs");
    let script = workspace::root().join("crates/cli/tests/browser/screenshots.mjs");
    workspace::must_succeed(
        Command::new(&tools.node)
            .arg(script)
            .env("BOSWELL_PLAYWRIGHT", &tools.modules)
            .env("BOSWELL_CHROMIUM", &tools.chromium)
            .env("BOSWELL_URL", url.trim())
            .env("BOSWELL_COMMAND", format!("[\"{}\"]", program.display()))
            .env("BOSWELL_PICTURES", &docs),
    )?;
    println!("docs/web-*.png are current");
    Ok(())
}
