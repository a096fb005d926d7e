//! `doctor`: a report of what boswell finds on this machine, also as a file for bug reports.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_app::doctor::{Audience, ReportShape, ReportedProfile};
use boswell_app::shape::Shape as _;
use boswell_app::text::size;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::terminal::{Style, fit, one_line};
use crate::words::as_called;
use crate::words::count;

/// Report what boswell finds, also as a file for bug reports
#[derive(Debug, Args)]
#[command(
    after_help = "The file contains counts, versions and places. It contains no text or title of a
session and no value of a setting; your home and project folders are written as
`~` and `…`. Read it before you send it.

Examples:
  boswell doctor
  boswell doctor --bundle boswell-report.json"
)]
pub(crate) struct DoctorArgs {
    /// Write the report to this new file
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &DoctorArgs) -> Result<ExitCode> {
    if let Some(path) = &args.bundle {
        let path = app.shown(app.requests.write_report(path))?;
        if !app.quiet {
            crate::error_report::say(&format!(
                "wrote {}; read it before you send it",
                path.display()
            ));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let report = app.shown(app.requests.report(Audience::Owner))?;
    let mut out = Output::paged(app);
    if out.json {
        out.object(&report.object())?;
    } else {
        print(&report, &mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(report: &ReportShape, out: &mut Output) -> Result<()> {
    for (name, value) in &report.facts.0 {
        line(name, &one_line(value), out)?;
    }
    for store in &report.stores {
        let name = out.paint(Style::Strong, &fit(store.dialect, 12));
        let about = format!(
            "{}, {} hidden, {}",
            count(store.sessions, "session", "sessions"),
            store.hidden,
            size(store.bytes)
        );
        out.line(&format!("{name} {about}  {}", one_line(&store.root)))?;
        for problem in &store.problems {
            out.line(&out.paint(Style::Warning, &format!("             {problem}")))?;
        }
    }
    line("locks held", &or_none(&report.locks.join(", ")), out)?;
    line("unfinished", &or_none(&report.unfinished.join(", ")), out)?;
    if !report.troubles.is_empty() {
        line("problems", &or_none(&report.troubles.join(", ")), out)?;
    }
    report
        .profiles
        .iter()
        .try_for_each(|profile| print_profile(profile, out))
}

fn line(name: &str, value: &str, out: &mut Output) -> Result<()> {
    out.line(&format!("{} {value}", fit(name, 12)))
}

fn or_none(text: &str) -> String {
    if text.is_empty() {
        "none".to_owned()
    } else {
        one_line(text)
    }
}

fn print_profile(profile: &ReportedProfile, out: &mut Output) -> Result<()> {
    let root = one_line(&profile.root);
    let what = format!("{root} looks like another profile and is not read");
    line("profile", &what, out)?;
    let add = format!(
        "to add it: [[stores]] dialect = \"{}\", path = \"{root}\", label = \"…\"",
        profile.dialect
    );
    out.line(&out.paint(
        Style::Faint,
        &as_called(&format!(
            "             {add} in the settings (`boswell config --path`)"
        )),
    ))
}
