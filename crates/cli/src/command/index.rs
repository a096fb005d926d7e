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
use crate::words::{count, size};

/// Update the catalog and the search index
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell index             index everything that is not indexed yet
  boswell index --rebuild   delete both and build them again")]
pub(crate) struct IndexArgs {
    /// Delete both first
    #[arg(long)]
    rebuild: bool,
    /// Instead rebuild agents' own index files from their logs; the plan is printed first
    #[arg(long, conflicts_with = "rebuild")]
    native: bool,
    /// With --native: do it without asking; needed where there is no terminal
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
        let start = || Progress::new("indexing, block", blocks.total, app.quiet);
        progress.get_or_insert_with(start).tick();
    });
    drop(progress);
    let index = app.shown(indexed)?;
    let mut out = Output::plain(app);
    if out.json {
        out.object(&index.object())?;
    } else {
        out.line(&format!(
            "{}: {} of text, {} of index; read {} now",
            count(
                index.sources,
                "session or memory file",
                "sessions and memory files"
            ),
            size(index.text_bytes),
            size(index.index_bytes),
            size(index.read_bytes),
        ))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
