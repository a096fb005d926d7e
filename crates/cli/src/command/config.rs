//! `config`: settings and where they come from.

use std::process::ExitCode;

use boswell_app::settings::{ExcludeRequest, SettingOrigin, SettingShape, SettingValue};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::terminal::{Style, fit, one_line};
use crate::words::count;

/// Show settings and their origin, or exclude projects
#[derive(Debug, Args)]
#[command(
    after_help = "Settings are in one TOML file; BOSWELL_CONFIG can name another one.

Examples:
  boswell config --path
  boswell config --exclude ~/private    no longer list, search or export it"
)]
pub(crate) struct ConfigArgs {
    /// Print the path of the settings file
    #[arg(long)]
    path: bool,
    /// Exclude a project folder, with `*` and `**` as wildcards (repeatable); its rows in catalog
    /// and index are removed at once
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Remove an exclusion, spelled as it was added (repeatable)
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ConfigArgs) -> Result<ExitCode> {
    if !args.exclude.is_empty() || !args.include.is_empty() {
        return exclude(app, args);
    }
    let mut out = Output::paged(app);
    let place = app.requests.settings().path.as_ref();
    let place = place.map(|path| path.display().to_string());
    if args.path {
        out.line(&one_line(
            place
                .as_deref()
                .unwrap_or("none: neither HOME nor XDG_CONFIG_HOME is set"),
        ))?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let home = app.requests.home().map(|home| home.display().to_string());
    let home = SettingShape {
        key: "home",
        value: home.unwrap_or_default(),
        origin: app.home_origin().to_owned(),
        what: "boswell's own folder",
    };
    print(home, &mut out)?;
    for setting in app.requests.list_settings() {
        print(shape(setting, place.as_deref()), &mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Changes what is excluded, and removes what was derived of it.
fn exclude(app: &App, args: &ConfigArgs) -> Result<ExitCode> {
    let done = app.shown(app.requests.exclude(&ExcludeRequest {
        add: args.exclude.clone(),
        remove: args.include.clone(),
    }))?;
    let mut out = Output::plain(app);
    let place = done.file.map(|path| path.display().to_string());
    let setting = SettingShape {
        origin: place.unwrap_or_default(),
        ..shape(done.setting, None)
    };
    print(setting, &mut out)?;
    out.finish()?;
    if !app.quiet {
        crate::error_report::say(&format!(
            "{} excluded; removed from catalog, index and kept copies",
            count(done.sessions, "session", "sessions")
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn shape(setting: SettingValue, file: Option<&str>) -> SettingShape {
    let origin = match setting.origin {
        SettingOrigin::BuiltIn => "built in",
        SettingOrigin::File => file.unwrap_or("file"),
        SettingOrigin::Caller => "option or BOSWELL_READ_ONLY",
    };
    SettingShape {
        key: setting.key,
        value: setting.value,
        origin: origin.to_owned(),
        what: setting.what,
    }
}

fn print(setting: SettingShape, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&setting.object());
    }
    let value = match setting.value.as_str() {
        "" => "-",
        value => value,
    };
    out.line(&format!(
        "{} {}  {}",
        fit(setting.key, 20),
        // A value that was asked for is never cut.
        format_args!("{:<28}", one_line(value)),
        out.paint(Style::Faint, &one_line(&setting.origin))
    ))
}
