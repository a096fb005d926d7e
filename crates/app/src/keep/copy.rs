//! Makes the copies: of everything, or for a limited time after each command.

use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Problem, Result};
use boswell_store::operations::{KeepProgress, KeepRun, KeepWhich};
use boswell_store::{Store, Wait};

use super::{Kept, KeptShape, keepable};
use crate::system::until;
use crate::{RequestContext, exclusion_purge};

/// Copies everything that changed, until the request is cancelled.
pub(super) fn everything(
    cx: &RequestContext,
    progress: &mut dyn FnMut(KeepProgress),
) -> Result<Kept> {
    let wait = Wait::For(Duration::from_secs(30));
    let go_on = || !cx.cancel.is_cancelled();
    let run = each_store(cx, KeepWhich::All, (wait, &go_on), progress)?;
    let not_kept = |(path, error): &(String, Error)| {
        Error::new(error.kind(), format!("`{path}` was not kept"))
            .because(Problem::unreadable(error).detail)
            .advising(Advice::from("make it readable").then(Advice::KeepNow))
    };
    Ok(Kept {
        counts: KeptShape {
            sessions: run.sessions,
            files: run.files,
            bytes: run.bytes,
            failed: run.failed.len(),
        },
        left_out: run.failed.iter().map(not_kept).collect(),
        unfinished: run.unfinished,
    })
}

/// Copies some of what changed, for a limited time.
pub(super) fn a_little(cx: &RequestContext, limit: Duration) {
    let time = until(limit);
    let failed = match each_store(cx, KeepWhich::Changed, (Wait::No, &|| time()), &mut |_| {}) {
        Ok(run) => run
            .failed
            .into_iter()
            .map(|(_, error)| error)
            .find(is_of_disk),
        Err(error) => Some(error).filter(is_of_disk),
    };
    // The command itself is done: missing copies are only a warning, and the next command tries
    // again.
    if let Some(error) = failed {
        cx.warn(
            error.advising(
                Advice::from("what changed is not kept yet")
                    .also(Advice::ShowKept)
                    .also(Advice::KeepNow),
            ),
        );
    }
}

/// Copies the sessions of a store that changed since their last copy.
pub(super) fn before_resume(cx: &RequestContext, store: &Store) {
    let copied = cx.may_write().and_then(|()| {
        let runner = cx.runner()?;
        let vault = runner.vault();
        let mut kept = vault.kept()?;
        let wait = Wait::For(Duration::from_secs(10));
        let how: (Wait, &dyn Fn() -> bool) = (wait, &|| true);
        vault.keep_sessions(store, &mut kept, KeepWhich::Changed, how, &mut |_| {})
    });
    let failed = match copied {
        Ok(run) => run.failed.into_iter().map(|(_, error)| error).next(),
        Err(error) => Some(error),
    };
    if let Some(error) = failed {
        let agent = store.dialect().facts().title;
        let what = format!("no copy of the session was made, and {agent} may delete it");
        cx.warn(error.advising(Advice::from(what).also(Advice::KeepNow)));
    }
}

/// Whether the disk failed. A lock that another process holds, or an inaccessible folder, is not
/// reported by every command.
fn is_of_disk(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NoSpace | ErrorKind::Unavailable)
}

fn each_store(
    cx: &RequestContext,
    which: KeepWhich,
    how: (Wait, &dyn Fn() -> bool),
    progress: &mut dyn FnMut(KeepProgress),
) -> Result<KeepRun> {
    exclusion_purge::settle_or_warn(cx);
    let runner = cx.reading_runner()?;
    let mut kept = runner.vault().kept()?;
    let mut all = KeepRun::default();
    for store in keepable(cx) {
        let vault = runner.vault();
        let mut run = match vault.keep_sessions(store, &mut kept, which, how, progress) {
            Ok(run) => run,
            Err(error) if error.kind() == ErrorKind::Busy => return Err(error),
            // A store that cannot be listed does not prevent copies of the others.
            Err(error) => {
                all.failed.push((store.root().display().to_string(), error));
                continue;
            }
        };
        all.sessions += run.sessions;
        all.files += run.files;
        all.bytes += run.bytes;
        all.unfinished |= run.unfinished;
        all.failed.append(&mut run.failed);
    }
    Ok(all)
}
