//! Developer commands of the repository: test, fuzz, soak, bench, house, prose, python, node,
//! screenshot, web, dist.
//!
//! Each command has its own file. This crate is run by developers and by CI on a checkout and is
//! never shipped, so it may print, read the clock and the environment, and open files; the
//! libraries may not.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore runner talks to the person who started it"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "a chore runner works on the checkout itself: files, clock, environment"
)]

mod baseline;
mod bench;
mod bindings;
mod clients;
mod dist;
mod fuzz;
mod house;
mod node;
mod prose;
mod python;
#[cfg(test)]
mod rules;
mod screenshot;
mod soak;
mod sources;
mod test;
mod web;
mod workspace;

use std::process::ExitCode;

/// The result of a command; the text of the error is all that its caller needs.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

const HELP: &str = "\
Boswell's chores.

Usage: cargo xtask <command>

  test                                  run every test, with real clients; ends with `N passed, N failed`
  fuzz [--seconds N] [--seed N] [TARGET]
                                        mutate inputs for a while (5 s per target) and catch panics
  fuzz --input FILE TARGET              run one input again
  soak faults [--seed N] [--command NAME] [--sample K] [--fault KIND@CALL] [--workers N] [--list]
                                        make each file system call of each writing command fail, and write
                                        docs/soak/faults.md
  soak convert [--changed]              resume converted sessions with the real programs
  soak claude [--seed N] [--count N] [--captured] [--version V] [--workers N] [--again K --pick N] [--write DIR]
                                        resume damaged files with real clients and record what they
                                        send, see docs/repair.md
  soak remote [KILLS CUTS TAKEOVERS APPENDS]
                                        kill a PostgreSQL and cut its connections, and write docs/soak/remote.md
  bench [--repeats N] [GROUP...]        measure, and write docs/BENCHMARKS.md
  house [FOLDER]                        count the sizes of functions, files and interfaces, and hold their limits
  prose [--write]                       list what is not one sentence a line or within 100 columns in Markdown
                                        and comments, or put it right
  python [--short]                      build the Python package, and run its tests and the published suites;
                                        needs Python 3.10 and its package registry
  node [--short]                        build the Node package, and run its tests, its examples and the
                                        published suite; needs node 20, npm and its package registry
  screenshot [screen|web]               draw the screen and the page on the demo: docs/screen.svg, docs/screen.md
                                        and docs/web-*.png; the page needs node and Chromium
  web [--check]                         build the page of the server into crates/serve/dist; needs node
  dist [--binary PATH] [--check] [TARGET...|all]
                                        build and pack what is published, into target/dist; --binary packs a
                                        program that exists, --check installs and removes what was packed
  baseline split PATH...                what the bench compares with: read, split at newlines
  baseline parse PATH...                the same, and every line scanned as JSON
  known-page HOME ROOT                  what the bench measures: the first page that a catalog knows

Examples:
  cargo xtask test
  cargo xtask bench context-1gb
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Outcome<ExitCode> {
    let Some((command, rest)) = arguments.split_first() else {
        print!("{HELP}");
        return Ok(ExitCode::from(2));
    };
    match command.as_str() {
        "test" => test::run(rest),
        "fuzz" => fuzz::run(rest),
        "soak" => soak::run(rest),
        "bench" => bench::run(rest).map(|()| ExitCode::SUCCESS),
        "house" => house::run(rest),
        "prose" => prose::run(rest),
        "python" => python::run(rest),
        "node" => node::run(rest),
        "screenshot" => screenshot::run(rest),
        "web" => web::run(rest),
        "dist" => dist::run(rest),
        "baseline" => baseline::run(rest).map(|()| ExitCode::SUCCESS),
        "known-page" => bench::known_page(rest).map(|()| ExitCode::SUCCESS),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        other => Err(format!("there is no chore `{other}`; `cargo xtask help` lists them").into()),
    }
}
