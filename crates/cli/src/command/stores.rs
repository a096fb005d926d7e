//! `stores`: the stores that were found, and what each supports.

use std::process::ExitCode;

use boswell_app::shape::{Maybe, Shape as _};
use boswell_app::stores::{PairsShape, StoreShape};
use boswell_model::Result;
use clap::Args;

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::output::Output;
use crate::terminal::{Style, escape, fit, one_line};
use crate::words::{count, phrase, size};

/// List the session stores found, and what each supports
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell stores            what boswell found, and where it looked
  boswell stores --pairs    conversations that are in two stores")]
pub(crate) struct StoresArgs {
    /// Count conversations that are in two stores, and compare their size
    #[arg(long)]
    pairs: bool,
    #[command(flatten)]
    host: HostArgs,
}

impl StoresArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        Elsewhere::of(&self.host)
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &StoresArgs) -> Result<ExitCode> {
    if args.pairs {
        return pairs(app);
    }
    let mut list = app.shown(app.requests.stores())?;
    let warnings = list.stores.iter_mut().flat_map(|store| &mut store.warnings);
    warnings.for_each(|warning| warning.detail = warning.detail.phrased(phrase).into());
    let mut out = Output::paged(app);
    if out.json {
        for store in list.stores {
            out.object(&store.object())?;
        }
    } else {
        for store in &list.stores {
            show_store(store, &mut out)?;
        }
        // An agent may have a dozen places, one for each editor: the first one says enough.
        let mut said: Vec<&str> = list.stores.iter().map(|store| store.dialect).collect();
        for place in &list.absent {
            let places = list.absent.iter().filter(|it| it.dialect == place.dialect);
            if said.contains(&place.dialect) && places.count() > 2 {
                continue;
            }
            said.push(place.dialect);
            let text = format!(
                "{}  not found: {}",
                fit(place.dialect, 10),
                escape(&place.root)
            );
            out.line(&out.paint(Style::Faint, &text))?;
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn show_store(store: &StoreShape, out: &mut Output) -> Result<()> {
    let line = format!(
        "{}  {}, {} hidden, {}  {}",
        out.paint(Style::Strong, &fit(store.dialect, 10)),
        count(store.sessions, "session", "sessions"),
        store.hidden,
        size(store.bytes),
        escape(&store.root),
    );
    let label = store.label.as_deref();
    let label = label.map(|label| format!(" ({})", one_line(label)));
    out.line(&format!("{line}{}", label.unwrap_or_default()))?;
    let can = store.can.0.iter().filter(|(_, how)| *how != "no");
    let can: Vec<&str> = can.map(|(word, _)| word.as_str()).collect();
    out.line(&out.paint(
        Style::Faint,
        &format!("            {}: {}", store.title, can.join(" ")),
    ))?;
    for warning in &store.warnings {
        let detail = escape(&warning.detail.text);
        let text = match &warning.path {
            Maybe::Given(path) => format!("            {}: {detail}", escape(path)),
            Maybe::Absent => format!("            {detail}"),
        };
        out.line(&out.paint(Style::Warning, &text))?;
    }
    Ok(())
}

fn pairs(app: &App) -> Result<ExitCode> {
    let pairs = app.shown(app.requests.store_pairs())?;
    let mut out = Output::paged(app);
    for pairs in pairs {
        if out.json {
            out.object(&pairs.object())?;
        } else {
            show_pairs(&pairs, &mut out)?;
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn show_pairs(pairs: &PairsShape, out: &mut Output) -> Result<()> {
    out.line(&format!(
        "{}  {} in two stores ({} differ), {} in one, {} without transcript",
        out.paint(Style::Strong, &fit(pairs.dialect, 10)),
        count(pairs.twice, "session", "sessions"),
        pairs.drifted,
        pairs.once,
        pairs.transcript_gone,
    ))?;
    let ratio = pairs
        .ratio
        .map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.1}×"));
    out.line(&format!(
        "            this store {}, the other {}, together {}, ratio {ratio}",
        size(pairs.bytes),
        size(pairs.other_bytes),
        size(pairs.total_bytes)
    ))
}
