//! `keep`: copies of sessions as they change, so that an agent's own clean-up loses nothing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use boswell_dialect::claude::settings;
use boswell_dialect::{ExpectedState, Plan, Precondition, Step};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Problem, Result, SessionRef, shell_literal, shell_quote};
use boswell_store::disk::{Disk, RealDisk};
use boswell_store::{ChunkedCopies, Digest, KeepRun, KeepWhich, Reason, Store, Wait, unlisted};
use clap::{Args, Subcommand};

use super::store_change::step;
use super::stores::size;
use crate::app::{App, program, until};
use crate::expiry::{AHEAD, Fates};
use crate::keep_config::{KeepConfig, Trigger};
use crate::output::Output;
use crate::terminal::one_line;
use crate::{error_report, exclusion_purge, timer};

/// How long a command goes on keeping after it has answered.
const AFTERWARDS: Duration = Duration::from_millis(200);

/// Keep copies of sessions, so that an agent's own clean-up loses nothing
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell keep on --dry-run    what would be put into the agent's settings
  boswell keep status          what is kept, and what will be lost

Copied are logs, subagents, spilled outputs and file histories; never keys, credentials or settings.")]
pub(crate) struct KeepArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Keep from now on: once now, at the end of every session, and after every boswell command
    On {
        /// By a timer of the user's system instead of the agent's own hook
        #[arg(long)]
        timer: bool,
        /// Only show what would be installed
        #[arg(long)]
        dry_run: bool,
    },
    /// Stop, and take out exactly what `keep on` installed; copies stay
    Off,
    /// Show what is kept, and what will be lost
    Status,
    /// Keep what changed, now
    Run,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &KeepArgs) -> Result<ExitCode> {
    let mut out = Output::paged(app);
    let left_out = match args.what {
        What::On { timer, dry_run } => on(app, timer, dry_run, &mut out)?,
        What::Off => off(app, &mut out).map(|()| Vec::new())?,
        What::Status => status(app, &mut out)?,
        What::Run => {
            app.may_write()?;
            keep_all(app, &mut out)?
        }
    };
    out.finish()?;
    Ok(error_report::left_out(app, &left_out))
}

/// Keeps a little of what changed, once a command has answered. What fails here is
/// tried again next time.
pub(crate) fn afterwards(app: &App) {
    let Some(home) = app.home.as_ref().filter(|_| !app.is_read_only()) else {
        return;
    };
    if !matches!(KeepConfig::load(home), Ok(Some(_))) {
        return;
    }
    let time = until(AFTERWARDS);
    let failed = match each_store(app, KeepWhich::Changed, Wait::No, &|| time()) {
        Ok(run) => run
            .failed
            .into_iter()
            .map(|(_, error)| error)
            .find(is_of_disk),
        Err(error) => Some(error).filter(is_of_disk),
    };
    // What the command itself did is done: that copies are missing is a warning, and the
    // next one tries again.
    if let Some(error) = failed.filter(|_| !app.quiet) {
        error_report::warn(&error.hinting(
            "what changed is not kept yet; see `boswell keep status`, and try `boswell keep run`",
        ));
    }
}

/// Whether the disk failed. A lock that another process holds, or a folder that is closed to us, is
/// no news to every command.
fn is_of_disk(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NoSpace | ErrorKind::Unavailable)
}

/// Stores whose agents delete sessions. Settings that cannot be read do not say that
/// an agent deletes none.
fn keepable(app: &App) -> Vec<&Store> {
    let stores = app.stores.iter().map(|(_, store)| store);
    stores
        .filter(|store| !matches!(store.deletes_after(), Ok(None)))
        .collect()
}

fn each_store(
    app: &App,
    which: KeepWhich,
    wait: Wait,
    go_on: &dyn Fn() -> bool,
) -> Result<KeepRun> {
    exclusion_purge::settle_or_warn(app);
    let runner = app.reading_runner()?;
    let mut kept = runner.vault().kept()?;
    let mut all = KeepRun::default();
    for store in keepable(app) {
        let mut run = match runner
            .vault()
            .keep_sessions(store, &mut kept, which, wait, go_on)
        {
            Ok(run) => run,
            Err(error) if error.kind() == ErrorKind::Busy => return Err(error),
            // One store that cannot be listed keeps no other from being kept.
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

/// Keeps everything. What could not be kept, and why.
fn keep_all(app: &App, out: &mut Output) -> Result<Vec<Error>> {
    let run = each_store(
        app,
        KeepWhich::All,
        Wait::For(Duration::from_secs(30)),
        &|| true,
    )?;
    let not_kept = |(path, error): &(String, Error)| {
        Error::new(error.kind(), format!("`{path}` was not kept"))
            .because(Problem::unreadable(error).detail)
            .hinting("make it readable, then `boswell keep run`")
    };
    let failed: Vec<Error> = run.failed.iter().map(not_kept).collect();
    if out.json {
        out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "kept")
                .with("sessions", run.sessions)
                .with("files", run.files)
                .with("bytes", run.bytes)
                .with("failed", run.failed.len()),
        )?;
        return Ok(failed);
    }
    let left = if failed.is_empty() {
        String::new()
    } else {
        format!("; {} could not be kept", failed.len())
    };
    out.line(&match run.files {
        0 => format!("nothing has changed since it was last kept{left}"),
        files => format!(
            "kept {} of {} sessions, {files} files{left}",
            size(run.bytes),
            run.sessions
        ),
    })?;
    Ok(failed)
}

fn on(app: &App, by_timer: bool, dry_run: bool, out: &mut Output) -> Result<Vec<Error>> {
    if !dry_run {
        app.may_write()?;
    }
    let stores = keepable(app);
    if stores.is_empty() {
        return Err(Error::new(
            ErrorKind::NotFound,
            "no agent on this machine deletes sessions by itself",
        )
        .because("only Claude Code is known to, and its folder is not there")
        .hinting("see the stores with `boswell stores`, or name one with `--store claude=DIR`"));
    }
    let lock = if dry_run {
        None
    } else {
        Some(KeepConfig::lock(app.home()?)?)
    };
    let mut state = KeepConfig::load(app.home()?)?.unwrap_or_else(|| KeepConfig::since(app.now));
    for store in stores {
        if state
            .triggers
            .iter()
            .any(|trigger| trigger.serves(store.root()))
        {
            continue;
        }
        let command = command(app, store)?;
        let hook = if by_timer {
            None
        } else {
            hook(app, store, &command, dry_run, out)?
        };
        let trigger = match hook {
            Some(trigger) => trigger,
            None => timer::install(app, store, &command, dry_run, out)?,
        };
        state.triggers.push(trigger);
        if !dry_run {
            state.save(app.home()?)?;
        }
    }
    if dry_run {
        return Ok(Vec::new());
    }
    state.save(app.home()?)?;
    // The first copies may take minutes, and have locks of their own.
    drop(lock);
    keep_all(app, out)
}

/// Puts a hook into the agent's settings; none where they take none, and a timer must do.
fn hook(
    app: &App,
    store: &Store,
    command: &str,
    dry_run: bool,
    out: &mut Output,
) -> Result<Option<Trigger>> {
    let before = store.settings(settings::SETTINGS, 16 << 20)?;
    let hooked = match settings::add_hook(before.as_deref(), command) {
        Ok(hooked) => hooked,
        Err(error) => {
            error_report::warn(&error);
            return Ok(None);
        }
    };
    let path = store.root().join(settings::SETTINGS).display().to_string();
    let shown = String::from_utf8_lossy(&hooked.inserted).into_owned();
    step(out, &format!("add to {path}: {}", shown.trim()))?;
    if dry_run || hooked.inserted.is_empty() {
        return Ok(Some(Trigger::hook(store.root(), command, &shown)));
    }
    match write(
        app,
        store,
        before.as_deref(),
        &hooked.bytes,
        "keep sessions at their end",
    ) {
        Ok(()) => Ok(Some(Trigger::hook(store.root(), command, &shown))),
        // Settings that are not ours to change, or lie behind a link, need a timer; a disk
        // that failed is an error.
        Err(error) if is_refusal(&error) || is_link(store) => {
            error_report::warn(&error);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn is_refusal(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Denied | ErrorKind::Invalid | ErrorKind::Unsupported
    )
}

fn is_link(store: &Store) -> bool {
    RealDisk
        .is_link(&store.root().join(settings::SETTINGS))
        .unwrap_or(false)
}

/// Replaces the agent's settings, through the runner; an empty file goes.
fn write(app: &App, store: &Store, before: Option<&[u8]>, after: &[u8], title: &str) -> Result<()> {
    let key = settings::SETTINGS.to_owned();
    let mut plan = Plan::new("keep", title);
    plan.preconditions.push(match before {
        Some(before) => Precondition::Unchanged {
            key: key.clone(),
            was: ExpectedState {
                sha256: Some(Digest::of(before).to_string()),
                ..ExpectedState::default()
            },
        },
        None => Precondition::Absent { key: key.clone() },
    });
    plan.steps.push(if after.is_empty() {
        Step::remove(&key)
    } else {
        Step::put(&key, after)
    });
    let session = SessionRef::new(store.dialect().name(), "*");
    app.runner()?
        .run(store.root(), &plan, &session, Reason::Before)
        .map(|_| ())
}

/// The words that keep this store, for a shell.
fn command(app: &App, store: &Store) -> Result<String> {
    let mut words = vec![shell_literal(&program()?.display().to_string())];
    words.extend([
        "--home".to_owned(),
        shell_literal(&app.home()?.display().to_string()),
    ]);
    words.extend([
        "--store".to_owned(),
        shell_literal(&format!(
            "{}={}",
            store.dialect().name(),
            store.root().display()
        )),
    ]);
    words.extend(["keep", "run", "--quiet"].map(str::to_owned));
    Ok(words.join(" "))
}

fn off(app: &App, out: &mut Output) -> Result<()> {
    app.may_write()?;
    let home = app.home()?;
    // A first look without the lock, which would make a home where there is none.
    let lock = KeepConfig::load(home)?
        .map(|_| KeepConfig::lock(home))
        .transpose()?;
    let state = if lock.is_some() {
        KeepConfig::load(home)?
    } else {
        None
    };
    let Some(mut state) = state else {
        if !app.quiet {
            error_report::say("keeping is off already");
        }
        return Ok(());
    };
    while let Some(trigger) = state.triggers.pop() {
        match &trigger {
            Trigger::Hook {
                root,
                command,
                inserted,
            } => unhook(app, root, command, inserted, out)?,
            Trigger::Timer { folder, .. } => timer::remove(app, folder, out)?,
        }
        // Without its last trigger the file goes as a whole: keeping that is on and
        // has none is no state.
        if !state.triggers.is_empty() {
            state.save(home)?;
        }
    }
    KeepConfig::forget(home)?;
    step(
        out,
        "keeping is off; copies that were kept stay in the vault",
    )
}

fn unhook(app: &App, root: &Path, command: &str, inserted: &str, out: &mut Output) -> Result<()> {
    let Some(claude) = boswell_dialect::by_name("claude") else {
        return Ok(());
    };
    let store = Store::in_folder(claude, root);
    let before = store.settings(settings::SETTINGS, 16 << 20)?;
    let path = root.join(settings::SETTINGS).display().to_string();
    let after = before
        .as_deref()
        .and_then(|before| settings::remove_hook(before, command, inserted.as_bytes()));
    let Some(after) = after else {
        return step(out, &format!("{path} has no hook of boswell's any more"));
    };
    write(
        app,
        &store,
        before.as_deref(),
        &after,
        "stop keeping sessions at their end",
    )?;
    step(out, &format!("took out of {path}: {}", inserted.trim()))
}

/// Shows what is kept. What could not be looked at, and why: whether it is kept is not known.
fn status(app: &App, out: &mut Output) -> Result<Vec<Error>> {
    let state = app
        .home
        .as_deref()
        .map(KeepConfig::load)
        .transpose()?
        .flatten();
    let fates = Fates::read(app)?;
    let kept = match &app.home {
        Some(_) => app.reading_runner()?.vault().kept()?,
        None => ChunkedCopies::default(),
    };
    if !out.json {
        out.line(&match &state {
            Some(state) => format!("keeping is on since {}", state.since.to_rfc3339()),
            None => "keeping is off; `boswell keep on` begins".to_owned(),
        })?;
    }
    let mut left_out = Vec::new();
    for (id, store) in app.stores.iter() {
        let days = match store.deletes_after() {
            Ok(None) => continue,
            Ok(Some(days)) => Some(days),
            Err(error) => {
                left_out.push(error);
                None
            }
        };
        let listing = match store.list() {
            Ok(listing) => listing,
            Err(error) => {
                left_out.push(error);
                continue;
            }
        };
        let unreadable: Vec<String> = listing
            .unlisted
            .iter()
            .map(|(key, _)| key.clone())
            .collect();
        left_out.extend(unlisted(&listing.unlisted, store));
        let sessions: Vec<_> = listing
            .sessions
            .into_iter()
            .filter(|it| it.owner.is_none() && it.size > 0)
            .collect();
        let current = sessions
            .iter()
            .filter(|location| kept.has(store, location))
            .count();
        // A session of an excluded project is not gone.
        let gone = gone(&kept, store, &store.whole().list()?.sessions, &unreadable);
        let soon = fates.lost_soon(id, store, &sessions, app.now);
        let trigger = state
            .as_ref()
            .and_then(|state| state.triggers.iter().find(|it| it.serves(store.root())));
        let works = trigger.map(|trigger| is_installed(trigger, store));
        if out.json {
            out.object(
                &Json::object()
                    .with("v", 1)
                    .with("type", "keep")
                    .with("dialect", store.dialect().name())
                    .with("root", store.root().display().to_string())
                    .with("on", state.is_some())
                    .with(
                        "since",
                        state.as_ref().map(|state| state.since.to_rfc3339()),
                    )
                    .with("trigger", trigger.map(Trigger::word))
                    .with("installed", works)
                    .with("deletes_after_days", days)
                    .with("sessions", sessions.len())
                    .with("kept", current)
                    .with("unreadable", paths(store, &unreadable))
                    .with("gone", gone.clone())
                    .with(
                        "lost_soon",
                        soon.iter()
                            .map(|it| Json::from(it.id.as_str()))
                            .collect::<Vec<_>>(),
                    ),
            )?;
            continue;
        }
        let root = store.root().display().to_string();
        out.line(&format!(
            "{}  {current} of {} sessions are kept as they are; their agent deletes them after {} days  {}",
            store.dialect().name(),
            sessions.len(),
            days.map_or_else(|| "an unknown number of".to_owned(), |days| days.to_string()),
            one_line(&root)
        ))?;
        if works == Some(false) {
            out.line(
                "  its trigger is gone: `boswell keep off` and `boswell keep on` install it anew",
            )?;
        }
        for key in &unreadable {
            let path = store.backend().describe(key);
            out.line(&format!(
                "  cannot be read, so nothing new in it is kept: {}",
                one_line(&path)
            ))?;
        }
        for session in &gone {
            out.line(&format!(
                "  gone, and kept: {session}; `boswell restore {}` puts it back",
                shell_quote(session)
            ))?;
        }
        if !soon.is_empty() {
            out.line(&format!(
                "  {} will be deleted within {AHEAD} days and are not kept",
                soon.len()
            ))?;
        }
    }
    if keepable(app).is_empty() && !app.quiet {
        error_report::say(
            "no agent on this machine deletes sessions by itself, so there is nothing to keep",
        );
    }
    Ok(left_out)
}

fn paths(store: &Store, keys: &[String]) -> Vec<Json> {
    keys.iter()
        .map(|key| Json::from(store.backend().describe(key)))
        .collect()
}

/// Sessions that are kept and whose log is not there any more. Of those in a folder that cannot
/// be read nobody knows.
fn gone(
    kept: &ChunkedCopies,
    store: &Store,
    here: &[boswell_dialect::SessionLocation],
    unreadable: &[String],
) -> Vec<String> {
    let is_here = |id: &str| here.iter().any(|location| location.id == id);
    let is_below = |key: &str, folder: &String| {
        key.strip_prefix(folder.as_str())
            .is_some_and(|it| it.starts_with('/'))
    };
    let mut gone: Vec<String> = kept
        .files()
        .filter(|file| file.root == store.root() && file.session.dialect == store.dialect().name())
        .filter(|file| !is_here(&file.session.id))
        .filter(|file| !unreadable.iter().any(|folder| is_below(&file.key, folder)))
        .map(|file| file.session.to_string())
        .collect();
    gone.sort();
    gone.dedup();
    gone
}

fn is_installed(trigger: &Trigger, store: &Store) -> bool {
    match trigger {
        Trigger::Hook { command, .. } => store
            .settings(settings::SETTINGS, 16 << 20)
            .is_ok_and(|bytes| bytes.is_some_and(|bytes| settings::has_hook(&bytes, command))),
        Trigger::Timer { folder, .. } => PathBuf::from(folder).join(timer::TIMER).is_file(),
    }
}
