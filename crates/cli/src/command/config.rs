//! `config`: what is set, and where.

use std::process::ExitCode;
use std::sync::Arc;

use boswell_model::Result;
use boswell_model::json::Json;
use clap::Args;

use crate::app::App;
use crate::config::SETTINGS;
use crate::config_edit;
use crate::exclusion_purge::Purge;
use crate::output::Output;
use crate::terminal::{Style, fit, one_line};

/// Show every setting, its value and where it comes from
#[derive(Debug, Args)]
#[command(
    after_help = "Settings stand in one TOML file; BOSWELL_CONFIG names another one.

Examples:
  boswell config --path
  boswell config --exclude ~/private    its sessions are not listed, searched, kept or exported any more"
)]
pub(crate) struct ConfigArgs {
    /// Only say where the file is, or would be
    #[arg(long)]
    path: bool,
    /// Exclude projects: a folder, `*` and `**` allowed (repeatable); what was derived of
    /// them is removed at once
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Exclude them no longer, by the same words (repeatable)
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ConfigArgs) -> Result<ExitCode> {
    if !args.exclude.is_empty() || !args.include.is_empty() {
        return exclude(app, args);
    }
    let mut out = Output::paged(app);
    let place = app
        .config
        .path
        .as_ref()
        .map(|path| path.display().to_string());
    if args.path {
        out.line(&one_line(
            place
                .as_deref()
                .unwrap_or("nowhere: neither HOME nor XDG_CONFIG_HOME is set"),
        ))?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let home = app.home.as_ref().map(|home| home.display().to_string());
    let home_origin = app.home_origin();
    print(
        &mut out,
        "home",
        home.as_deref().unwrap_or(""),
        home_origin,
        "boswell's own folder",
    )?;
    for setting in SETTINGS {
        let (value, set) = app.config.shown(setting);
        let (value, origin) = match (setting.key, set) {
            ("read_only", _) if app.is_read_only() && !app.config.is_on("read_only") => {
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

/// Changes what is excluded, and removes what was derived of it.
fn exclude(app: &App, args: &ConfigArgs) -> Result<ExitCode> {
    let config = config_edit::exclude(app, &args.exclude, &args.include)?;
    let exclusion = config.exclusion(&app.env)?.map(Arc::new);
    let mut hidden = 0;
    if let Some(exclusion) = &exclusion {
        let stores = app.stores.whole().excluding(Some(exclusion));
        Purge {
            cx: app,
            exclusion,
            stores: &stores,
        }
        .run(&config.words("exclude"))?;
        hidden = stores.excluded().len();
    }
    let mut out = Output::paged(app);
    let place = config
        .path
        .as_ref()
        .map(|path| path.display().to_string())
        .unwrap_or_default();
    for setting in SETTINGS.iter().filter(|setting| setting.key == "exclude") {
        print(
            &mut out,
            setting.key,
            &config.shown(setting).0,
            &place,
            setting.what,
        )?;
    }
    out.finish()?;
    if !app.quiet {
        crate::error_report::say(&format!(
            "{hidden} sessions are excluded; what boswell had derived of them is removed"
        ));
    }
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
    out.line(&format!(
        "{} {}  {}",
        fit(key, 20),
        fit(&one_line(value), 28),
        out.paint(Style::Faint, &one_line(origin))
    ))
}
