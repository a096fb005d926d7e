//! Prints errors with reason and hint, and maps them to exit codes.

#![expect(clippy::print_stderr, reason = "this is where errors are printed")]

use std::io::IsTerminal;
use std::process::ExitCode;

use boswell_app::shape::{ErrorShape, Shape as _, reasons};
use boswell_model::{Error, ErrorKind};

use crate::app::App;
use crate::output::json_line;
use crate::terminal::{cut, escape, one_line};
use crate::words::{as_called, phrase};

/// The exit code for an error of that kind.
pub(crate) fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Busy | ErrorKind::Conflict | ErrorKind::NoSpace | ErrorKind::Unavailable => 3,
        ErrorKind::Damaged => 4,
        ErrorKind::Internal => 70,
        _ => 2,
    }
}

/// The exit code of a command that did a part, and reported what it could not reach.
pub(crate) const PARTLY: u8 = 3;

/// Warns about each folder or file that could not be read, and gives the exit code: of
/// success, if there is none.
pub(crate) fn left_out(app: &App, left_out: &[Error]) -> ExitCode {
    left_out.iter().filter(|_| !app.quiet).for_each(warn);
    if left_out.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(PARTLY)
    }
}

/// Prints an error and gives its exit code.
pub(crate) fn report(error: &Error, json: bool) -> ExitCode {
    if json {
        let line = ErrorShape::new(error, error.advice().map(phrase)).object();
        eprintln!("{}", json_line(&line));
    } else {
        eprintln!("error: {}", escape(&error.to_string()));
        for reason in reasons(error) {
            eprintln!("  because {}", escape(&reason));
        }
        if let Some(advice) = error.advice() {
            eprintln!("hint: {}", escape(&phrase(advice)));
        }
    }
    ExitCode::from(code(error.kind()))
}

/// Prints a warning.
pub(crate) fn warn(error: &Error) {
    eprintln!("warning: {}", escape(&error.to_string()));
    for reason in reasons(error) {
        eprintln!("  because {}", escape(&reason));
    }
    if let Some(advice) = error.advice() {
        eprintln!("hint: {}", escape(&phrase(advice)));
    }
}

/// Prints a message on stderr that is not part of the answer.
pub(crate) fn say(text: &str) {
    eprintln!("{}", escape(&as_called(text)));
}

/// Prints what is wrong with the command line.
pub(crate) fn usage(error: &clap::Error, json: bool) -> ExitCode {
    if json && error.use_stderr() {
        return report(&wrong_line(error), true);
    }
    // Help and version are answers, not errors; clap knows which stream each belongs to.
    let code = if error.use_stderr() { 2 } else { 0 };
    if error.print().is_err() {
        return ExitCode::from(code);
    }
    ExitCode::from(code)
}

/// The error of a line that could not be parsed: its first line, and its tips as advice.
fn wrong_line(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    let what = first.strip_prefix("error: ").unwrap_or(first);
    let tips: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("tip: "))
        .collect();
    let error = Error::new(ErrorKind::Invalid, what.to_owned());
    match tips.is_empty() {
        true => error.advising("see the options with `--help`"),
        false => error.advising(tips.join("; ")),
    }
}

/// Runs the program. A panic is our bug: it is reported with a hint, and open resources are
/// released on the way out.
pub(crate) fn guard(run: impl FnOnce() -> ExitCode) -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let said = payload
            .downcast_ref::<&str>()
            .copied()
            .or(payload.downcast_ref::<String>().map(String::as_str));
        let said = said.unwrap_or("no reason was given");
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        if std::io::stderr().is_terminal() {
            // A drawing may have been interrupted: show the cursor again and reset colours.
            eprint!("\x1b[?25h\x1b[0m\r\n");
        }
        eprintln!("{}", bug(said, &place));
    }));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
        .unwrap_or_else(|_| ExitCode::from(70))
}

/// The error that reports a panic. Its text may quote a session, so it is cut and made harmless.
fn bug(said: &str, place: &str) -> String {
    format!(
        "error: this is a bug in boswell: {}\n  because it panicked at {}\nhint: acknowledged entries are on disk; please report this with \
         the file that `boswell doctor --bundle boswell-report.json` writes",
        cut(&one_line(said), 300),
        one_line(place),
    )
}

#[cfg(test)]
mod tests {
    use boswell_app::append::{AppendRequest, Draft};
    use boswell_app::context::{ContextPart, ContextRequest};
    use boswell_app::new_session::NewSessionRequest;
    use boswell_app::{AppConfig, Environment};

    use super::*;

    fn same(code: ExitCode, as_this: u8) -> bool {
        format!("{code:?}") == format!("{:?}", ExitCode::from(as_this))
    }

    #[test]
    fn a_panic_ends_with_70_and_says_what_to_do() {
        let code = guard(|| panic!("a bug"));
        let _ = std::panic::take_hook();
        assert!(same(code, 70), "{code:?}");
        let text = bug("out of\u{1b}[2J range", "src/x.rs:1:2");
        assert!(
            text.starts_with("error: this is a bug in boswell: out of\\x1b[2J range\n"),
            "{text}"
        );
        assert!(
            text.contains("panicked at src/x.rs:1:2") && text.contains("boswell doctor --bundle"),
            "{text}"
        );
    }

    #[test]
    fn a_panic_gives_up_the_lease_and_keeps_what_was_acknowledged() {
        let temp = tempfile::tempdir().unwrap();
        let app = application(temp.path());
        let session = app.new_session(&NewSessionRequest::default()).unwrap();
        let session = session.value.reference.to_string();
        let request = AppendRequest {
            session: session.clone(),
            ..AppendRequest::default()
        };
        let append = |text: &str| {
            let mut appender = app.append(&request).unwrap().value;
            appender.submit(Draft::user(text)).unwrap();
            let _ = appender.settle(&mut |_| Ok(())).unwrap();
            appender
        };
        let code = guard(|| {
            let _appender = append("kept");
            let busy = app.append(&request).unwrap_err().error;
            assert_eq!(busy.kind(), ErrorKind::Busy, "the lease is held");
            panic!("a bug while a session is written")
        });
        let _ = std::panic::take_hook();
        assert!(same(code, 70), "{code:?}");
        append("and on").close().unwrap();
        let mut texts = Vec::new();
        let context = ContextRequest {
            session,
            ..ContextRequest::default()
        };
        let _ = app
            .context(&context, &mut |part| {
                if let ContextPart::Message(message) = part {
                    texts.extend(message.content.iter().map(ToString::to_string));
                }
                Ok(true)
            })
            .unwrap();
        assert_eq!(texts.len(), 2);
        assert!(texts[0].contains("kept") && texts[1].contains("and on"));
    }

    fn application(folder: &std::path::Path) -> boswell_app::App {
        let env = Environment {
            home: None,
            cwd: folder.to_owned(),
            tmp: folder.to_owned(),
            terminal: None,
            vars: std::collections::BTreeMap::new(),
        };
        boswell_app::App::open(AppConfig::new(env, Some(folder.join("home")))).unwrap()
    }

    /// The program that the test below starts in a terminal: it draws, hides the cursor, and
    /// panics.
    #[test]
    #[ignore = "panics; it is started by the test that looks at what is left of the terminal"]
    fn panics_while_it_draws() {
        let code = guard(|| {
            eprint!("\x1b[?25l\x1b[31mdrawing");
            panic!("a bug in the middle of a line")
        });
        let _ = std::panic::take_hook();
        assert!(same(code, 70), "{code:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_panic_leaves_a_terminal_with_a_cursor_and_without_colours() {
        // `script` runs a program on a new terminal; not every machine has it.
        let program = std::env::current_exe().unwrap();
        let line = format!(
            "'{}' --exact error_report::tests::panics_while_it_draws --ignored --nocapture",
            program.display()
        );
        let ran = std::process::Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .output();
        let Ok(ran) = ran else { return };
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        let (drawn, left) = text
            .split_once("drawing")
            .unwrap_or_else(|| panic!("it did not draw: {text}"));
        assert!(drawn.ends_with("\x1b[?25l\x1b[31m"), "{drawn:?}");
        let (reset, said) = left
            .split_once("error: ")
            .unwrap_or_else(|| panic!("it said nothing: {left}"));
        assert_eq!(
            reset.replace('\r', ""),
            "\x1b[?25h\x1b[0m\n",
            "first the terminal, then the words"
        );
        assert!(
            said.starts_with("this is a bug in boswell: a bug in the middle of a line"),
            "{said}"
        );
    }
}
