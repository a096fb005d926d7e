//! Long tests and measurements of `PostgresBackend` on a private server, for `cargo xtask soak
//! remote` and `cargo xtask bench remote`: prints a page in Markdown.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a program of developers: it talks to them, reads the clock, and stops at a fault"
)]

#[cfg(unix)]
mod bench;
#[cfg(unix)]
mod lab;
#[cfg(unix)]
mod soak;

#[cfg(unix)]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["soak", kills, cuts, takeovers, appends] => {
            let number = |text: &str| text.parse().unwrap();
            soak::run(&soak::Amounts {
                kills: number(kills),
                cuts: number(cuts),
                takeovers: number(takeovers),
                appends: number(appends),
            });
        }
        ["bench", sessions, entries] => {
            bench::run(sessions.parse().unwrap(), entries.parse().unwrap());
        }
        ["append", port, tenant, worker, count] => {
            soak::append_as_process(
                port.parse().unwrap(),
                tenant,
                worker,
                count.parse().unwrap(),
            );
        }
        _ => eprintln!("usage: soak KILLS CUTS TAKEOVERS APPENDS | bench SESSIONS ENTRIES"),
    }
}

#[cfg(not(unix))]
fn main() {}
