//! `index`: brings catalog and search index up to date.

use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::index::IndexRequest;
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::progress::Progress;

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
    let request = IndexRequest {
        rebuild: args.rebuild,
    };
    let mut progress = None;
    let indexed = app.requests.index(&request, &Cancel::new(), &mut |blocks| {
        let start = || Progress::new("indexing, 16 KB block", blocks.total, app.quiet);
        progress.get_or_insert_with(start).tick();
    });
    drop(progress);
    let index = app.shown(indexed)?;
    let mut out = Output::paged(app);
    if out.json {
        out.object(&index.object())?;
    } else {
        out.line(&format!(
            "{} sessions and memory files, {:.1} MB of text in {:.1} MB; read {:.1} MB now",
            index.sources,
            index.text_bytes as f64 / 1e6,
            index.index_bytes as f64 / 1e6,
            index.read_bytes as f64 / 1e6,
        ))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
