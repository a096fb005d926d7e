//! `config`: what is set, and where.

use std::process::ExitCode;

use boswell_model::Result;
use boswell_model::json::Json;
use clap::Args;

use crate::config::SETTINGS;
use crate::machine::Machine;
use crate::output::Output;
use crate::terminal::{Style, fit, one_line};

/// Show every setting, its value and where it comes from
#[derive(Debug, Args)]
#[command(after_help = "Settings stand in one TOML file; BOSWELL_CONFIG names another one.

Examples:
  boswell config
  boswell config --path")]
pub(crate) struct ConfigArgs {
    /// Only say where the file is, or would be
    #[arg(long)]
    path: bool,
}

/// Runs the command.
pub(crate) fn run(machine: &Machine, args: &ConfigArgs) -> Result<ExitCode> {
    let mut out = Output::paged(machine);
    let place = machine.config.path.as_ref().map(|path| path.display().to_string());
    if args.path {
        out.line(&one_line(place.as_deref().unwrap_or("nowhere: neither HOME nor XDG_CONFIG_HOME is set")))?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let home = machine.home.as_ref().map(|home| home.display().to_string());
    let home_origin = machine.home_origin();
    print(&mut out, "home", home.as_deref().unwrap_or(""), home_origin, "boswell's own folder")?;
    for setting in SETTINGS {
        let (value, set) = machine.config.shown(setting);
        let (value, origin) = match (setting.key, set) {
            ("read_only", _) if machine.is_read_only() && !machine.config.is_on("read_only") => {
                ("true".to_owned(), "option or BOSWELL_READ_ONLY")
            }
            (_, true) => (value, place.as_deref().unwrap_or("file")),
            (_, false) => (value, "built in"),
        };
        print(&mut out, setting.key, &value, origin, setting.what)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(out: &mut Output, key: &str, value: &str, origin: &str, what: &str) -> Result<()> {
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "setting")
                .with("key", key)
                .with("value", value)
                .with("origin", origin)
                .with("what", what),
        );
    }
    let value = if value.is_empty() { "-" } else { value };
    out.line(&format!("{} {}  {}", fit(key, 20), fit(&one_line(value), 28), out.paint(Style::Faint, &one_line(origin))))
}
