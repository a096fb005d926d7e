//! `index`: brings catalog and search index up to date.

use std::process::ExitCode;

use boswell_find::WantedRows;
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::disk::{Disk, RealDisk};
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::progress::Progress;
use crate::session_index::{Create, SessionIndex};
use boswell_app::list::warn_about;

/// Bring catalog and search index up to date
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell index             finish what searches began
  boswell index --rebuild   throw both away and begin again")]
pub(crate) struct IndexArgs {
    /// Throw away what there is first
    #[arg(long)]
    rebuild: bool,
    /// Agents' own index files instead, from the truth: shows what it would change unless --apply
    #[arg(long, conflicts_with = "rebuild")]
    native: bool,
    /// Do it (with --native)
    #[arg(long, requires = "native")]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &IndexArgs) -> Result<ExitCode> {
    if args.native {
        return super::index_native::run(app, args.apply);
    }
    app.may_write()?;
    if args.rebuild {
        throw_away(app)?;
    }
    let Some(mut session_index) = SessionIndex::open(app, Create::Yes)? else {
        return Err(Error::new(
            ErrorKind::Internal,
            "the catalog was neither opened nor refused",
        ));
    };
    if let Some(error) = session_index.unkept.take() {
        return Err(error);
    }
    session_index.read(app, WantedRows::Whole, &|| true)?;
    let sources = session_index.sources_by_filter_keys(app, None)?;
    let index = session_index.index();
    let blocks: u64 = sources
        .sources()
        .iter()
        .map(|source| source.len >> 14)
        .sum();
    let mut progress = Progress::new(
        "indexing, 16 KB block",
        usize::try_from(blocks).unwrap_or(0),
        app.quiet,
    );
    let done = session_index.index_until(app, &index, &sources, &mut || {
        progress.tick();
        true
    })?;
    drop(progress);
    let size = index.size();
    let mut out = Output::paged(app);
    if out.json {
        out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "index")
                .with("sessions", session_index.readable())
                .with("sources", size.sources)
                .with("read_bytes", done.bytes)
                .with("text_bytes", size.text)
                .with("index_bytes", size.bytes)
                .with("failed", done.failed)
                .with("complete", done.complete),
        )?;
    } else {
        out.line(&format!(
            "{} sessions and memory files, {:.1} MB of text in {:.1} MB; read {:.1} MB now",
            size.sources,
            size.text as f64 / 1e6,
            size.bytes as f64 / 1e6,
            done.bytes as f64 / 1e6,
        ))?;
    }
    out.finish()?;
    warn_about(app, session_index.rest());
    Ok(ExitCode::SUCCESS)
}

fn throw_away(app: &App) -> Result<()> {
    let home = app.home()?;
    let remove = |path: &std::path::Path| match RealDisk.remove(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io(path.display(), "remove", error))
        }
        _ => Ok(()),
    };
    for name in ["catalog.db", "catalog.db-wal", "catalog.db-shm"] {
        remove(&home.join(name))?;
    }
    let folder = home.join("index");
    for (name, _) in RealDisk.list(&folder).unwrap_or_default() {
        remove(&folder.join(name))?;
    }
    Ok(())
}
