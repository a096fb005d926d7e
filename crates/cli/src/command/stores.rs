//! `stores`: what was found where, and what it can.

use std::process::ExitCode;

use boswell_dialect::{Capability, Support};
use boswell_model::Result;
use boswell_model::json::Json;
use boswell_store::{Conversation, Listing, Store, drift};
use clap::Args;

use crate::app::App;
use crate::error_report;
use crate::expiry::{AHEAD, Fates};
use crate::output::Output;
use crate::terminal::{Style, escape, fit, one_line};
pub(crate) use crate::words::size::size;

/// List the stores found: dialect, place, sessions, bytes, what each can
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell stores            what boswell found, and where it looked
  boswell stores --pairs    conversations that are kept in two stores")]
pub(crate) struct StoresArgs {
    /// Compare sessions that are kept in two stores: once, twice, bytes on each side
    #[arg(long)]
    pairs: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &StoresArgs) -> Result<ExitCode> {
    if args.pairs {
        return pairs(app);
    }
    let mut out = Output::paged(app);
    let mut failures = Vec::new();
    let fates = Fates::read(app)?;
    for (id, store) in app.stores.iter() {
        match store.list() {
            Ok(listing) => {
                let soon = fates.lost_soon(id, store, &listing.sessions, app.now).len();
                show_store(store, &listing, soon, &mut out)?;
                failures.extend(boswell_store::unlisted(&listing.unlisted, store));
            }
            Err(error) => failures.push(error),
        }
    }
    if !out.json {
        for place in app.stores.locations().iter().filter(|p| !p.exists) {
            let text = format!(
                "{}  not there: {}",
                fit(place.dialect, 10),
                escape(&place.root.display().to_string())
            );
            out.line(&out.paint(Style::Faint, &text))?;
        }
    }
    out.finish()?;
    for error in &failures {
        error_report::warn(error);
    }
    Ok(ExitCode::SUCCESS)
}

fn show_store(store: &Store, listing: &Listing, soon: usize, out: &mut Output) -> Result<()> {
    let visible = listing
        .sessions
        .iter()
        .filter(|s| s.hidden.is_none())
        .count();
    let bytes: u64 = listing.sessions.iter().map(|s| s.size).sum();
    if out.json {
        let can = Capability::ALL
            .iter()
            .map(|o| (o.word().to_owned(), Json::from(store.support(*o).word())))
            .collect();
        let mut warnings: Vec<Json> = listing
            .problems
            .iter()
            .map(|(key, p)| {
                Json::object()
                    .with("problem", p.kind.word())
                    .with("path", store.backend().describe(key))
                    .with("detail", &p.detail)
            })
            .collect();
        if soon > 0 {
            warnings.push(
                Json::object()
                    .with("problem", "lost_soon")
                    .with("sessions", soon)
                    .with("detail", lost_soon(soon)),
            );
        }
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "store")
                .with("dialect", store.dialect().name())
                .with("title", store.dialect().facts().title)
                .with("root", store.root().display().to_string())
                .with("label", store.label())
                .with("sessions", visible)
                .with("hidden", listing.sessions.len() - visible)
                .with("bytes", bytes)
                .with("can", Json::Object(can))
                .with("warnings", Json::Array(warnings)),
        );
    }
    let dialect = store.dialect();
    let line = format!(
        "{}  {} sessions, {} hidden, {}  {}",
        out.paint(Style::Strong, &fit(dialect.name(), 10)),
        visible,
        listing.sessions.len() - visible,
        size(bytes),
        escape(&store.root().display().to_string()),
    );
    let label = store
        .label()
        .map(|label| format!(" ({})", one_line(label)))
        .unwrap_or_default();
    out.line(&format!("{line}{label}"))?;
    let can: Vec<&str> = Capability::ALL
        .iter()
        .filter(|o| store.support(**o) != Support::No)
        .map(|o| o.word())
        .collect();
    out.line(&out.paint(
        Style::Faint,
        &format!("            {}: {}", dialect.facts().title, can.join(" ")),
    ))?;
    for (key, problem) in &listing.problems {
        let text = format!(
            "            {}: {}",
            escape(&store.backend().describe(key)),
            escape(&problem.detail)
        );
        out.line(&out.paint(Style::Warning, &text))?;
    }
    if soon > 0 {
        out.line(&out.paint(Style::Warning, &format!("            {}", lost_soon(soon))))?;
    }
    Ok(())
}

fn lost_soon(count: usize) -> String {
    format!(
        "{count} sessions will be deleted by their agent within {AHEAD} days and are not kept: `boswell keep on` keeps them"
    )
}

fn pairs(app: &App) -> Result<ExitCode> {
    let (conversations, rest) = app.conversations()?;
    let mut out = Output::paged(app);
    for (id, store) in app.stores.iter() {
        let of_store: Vec<&Conversation> =
            conversations.iter().filter(|c| c.front.0 == id).collect();
        let twice: Vec<&&Conversation> = of_store.iter().filter(|c| !c.linked.is_empty()).collect();
        let dangling = of_store
            .iter()
            .filter(|c| c.linked.is_empty() && !c.dangling.is_empty())
            .count();
        if twice.is_empty() && dangling == 0 {
            continue;
        }
        let drifts = |c: &Conversation| {
            c.linked
                .iter()
                .any(|(_, other)| !drift(&c.front.1, other).is_empty())
        };
        let drifted = twice.iter().filter(|c| drifts(c)).count();
        let own: u64 = twice.iter().map(|c| c.front.1.location.size).sum();
        let other: u64 = twice
            .iter()
            .flat_map(|c| &c.linked)
            .map(|(_, s)| s.location.size)
            .sum();
        let ratio = (other > 0).then(|| own as f64 / other as f64);
        if out.json {
            out.object(
                &Json::object()
                    .with("v", 1)
                    .with("type", "pairs")
                    .with("dialect", store.dialect().name())
                    .with("root", store.root().display().to_string())
                    .with("twice", twice.len())
                    .with("once", of_store.len() - twice.len())
                    .with("transcript_gone", dangling)
                    .with("drifted", drifted)
                    .with("bytes", own)
                    .with("other_bytes", other)
                    .with("total_bytes", own + other)
                    .with("ratio", ratio),
            )?;
        } else {
            out.line(&format!(
                "{}  {} sessions kept twice ({drifted} drifted apart), {} once, {} without their transcript",
                out.paint(Style::Strong, &fit(store.dialect().name(), 10)),
                twice.len(),
                of_store.len() - twice.len(),
                dangling,
            ))?;
            let ratio = ratio.map_or_else(|| "-".to_owned(), |r| format!("{r:.1}×"));
            out.line(&format!(
                "            here {}, there {}, together {}, ratio {ratio}",
                size(own),
                size(other),
                size(own + other)
            ))?;
        }
    }
    out.finish()?;
    boswell_app::list::warn_about(app, rest);
    Ok(ExitCode::SUCCESS)
}
