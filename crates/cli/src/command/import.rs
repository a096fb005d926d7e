//! `import`: a session from a file into boswell's own store.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use boswell_dialect::{Depth, NewSession, SideFile, Surroundings, by_name};
use boswell_model::json::{Json, Raw};
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::{
    Digest, ImportLimits, Imported, LeftBehind, MemoryBackend, Outcome, Resolved, Store,
};
use clap::Args;

use crate::app::App;
use crate::output::Output;

/// A longer document is refused: it is held in memory.
const LONGEST: u64 = 1 << 30;
/// How many files that were left behind are named.
const NAMED: usize = 10;
/// How much of each own log is looked at for where it came from, which stands near its beginning.
const BEGINNING: u64 = 64 << 10;

/// Bring a session from a file into boswell's own store
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell import ~/Downloads/session.jsonl --title 'red build'
  boswell export claude:0b7e --format json > s.json && boswell import s.json --dry-run")]
pub(crate) struct ImportArgs {
    /// A session file of any agent, or a document that `export --format json` wrote
    file: std::path::PathBuf,
    /// The folder that it is about, if not the one that it names
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// Its title, if not the one that it has
    #[arg(long)]
    title: Option<String>,
    /// Only show what would be brought over
    #[arg(long)]
    dry_run: bool,
    /// Even if this very file was imported before
    #[arg(long)]
    again: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ImportArgs) -> Result<ExitCode> {
    if !args.dry_run {
        app.may_write()?;
    }
    let found = app.stores.at_path(&args.file)?;
    let given = Resolved {
        store: found.0,
        location: found.1,
    };
    let bytes = whole(&given, &args.file)?;
    let sha256 = Digest::of(&bytes).to_string();
    let own = super::new::store_for(app, "boswell");
    if let (Ok(own), false) = (&own, args.again)
        && let Some(before) = imported(own, &sha256)?
    {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("`{}` was imported before", args.file.display()),
        )
        .because(format!("it is the session {before}"))
        .hinting(format!(
            "read it with `boswell show {}`, or import it once more with --again",
            before.to_argument()
        )));
    }
    let source = unpacked(&bytes, &given)?.unwrap_or(given);
    let session = source.store.read(&source.location, Depth::Facts)?;
    let meta = session.meta();
    let project = match &args.project {
        Some(project) => app.env.cwd.join(project).display().to_string(),
        None => meta
            .project
            .clone()
            .unwrap_or_else(|| app.env.cwd.display().to_string()),
    };
    let title = args.title.clone().or_else(|| meta.title.clone());
    let mut out = Output::paged(app);
    if args.dry_run {
        let records = session.log().heads.len();
        let side_files = source.store.side_files(&source.location)?.len();
        if out.json {
            out.object(
                &Json::object()
                    .with("v", 1)
                    .with("type", "step")
                    .with("done", "would import")
                    .with("session", session.reference().to_string())
                    .with("records", records)
                    .with("files", side_files)
                    .with("project", project),
            )?;
        } else {
            let files = if side_files > 0 {
                format!(", {side_files} files beside it")
            } else {
                String::new()
            };
            let what = format!(
                "would import {} ({records} records{files})",
                session.reference()
            );
            out.line(&crate::terminal::one_line(&what))?;
        }
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let origin = Json::object()
        .with("ref", session.reference().to_string())
        .with(
            "path",
            std::path::absolute(&args.file)
                .unwrap_or_else(|_| args.file.clone())
                .display()
                .to_string(),
        )
        .with("sha256", sha256);
    let new = NewSession {
        project,
        title,
        around: Surroundings::of(&app.env),
        ..NewSession::default()
    };
    let own = own?;
    let Imported {
        writer,
        brought,
        left,
    } = own.import_whole(
        &source.store,
        &session,
        new,
        origin,
        ImportLimits::default(),
    )?;
    let reference = writer.reference().clone();
    writer.close(Outcome::Open)?;
    if out.json {
        let location = own.find(&reference.id)?;
        let named = |file: &SideFile| {
            Json::object()
                .with("kind", file.kind.word())
                .with("path", source.store.backend().describe(&file.key))
        };
        let came: Vec<Json> = brought.iter().map(named).collect();
        let stayed: Vec<Json> = left
            .iter()
            .map(|it| named(&it.file).with("why", it.why.to_string()))
            .collect();
        let shape = crate::json_shape::session(&own.summary(&location)?, Some(&own));
        out.object(&shape.with("brought", came).with("left", stayed))?;
    } else {
        out.line(&reference.to_string())?;
    }
    out.finish()?;
    if !app.quiet {
        tell_files(&source.store, &brought, &left);
    }
    Ok(ExitCode::SUCCESS)
}

/// Says which files beside the source came along, and names those that did not.
fn tell_files(from: &Store, brought: &[SideFile], left: &[LeftBehind]) {
    if !brought.is_empty() {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        brought
            .iter()
            .for_each(|file| *kinds.entry(file.kind.word()).or_default() += 1);
        let kinds: Vec<String> = kinds
            .iter()
            .map(|(kind, count)| format!("{kind}×{count}"))
            .collect();
        crate::error_report::say(&format!(
            "files beside the source came along: {}",
            kinds.join(", ")
        ));
    }
    if left.is_empty() {
        return;
    }
    crate::error_report::say(&format!(
        "{} files beside the source were not brought over:",
        left.len()
    ));
    for LeftBehind { file, why } in left.iter().take(NAMED) {
        crate::error_report::say(&format!(
            "  {}  {}: {why}",
            file.kind.word(),
            from.backend().describe(&file.key)
        ));
    }
    if left.len() > NAMED {
        crate::error_report::say(&format!("  and {} more", left.len() - NAMED));
    }
}

fn whole(found: &Resolved, path: &Path) -> Result<Vec<u8>> {
    let key = found.location.key.as_deref().unwrap_or_default();
    found.store.file(key, LONGEST)?.ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            format!("there is no file `{}`", path.display()),
        )
        .hinting("give the path of a session's file")
    })
}

/// The session of boswell's own that came from a file of this content.
fn imported(own: &Store, sha256: &str) -> Result<Option<SessionRef>> {
    let mark = format!("\"sha256\":\"{sha256}\"");
    for location in own.whole().list()?.sessions {
        let Some(key) = &location.key else { continue };
        let Ok(beginning) = own
            .backend()
            .open(key)
            .and_then(|log| log.read(0, BEGINNING))
        else {
            continue;
        };
        if String::from_utf8_lossy(&beginning).contains(&mark) {
            return Ok(Some(SessionRef::new("boswell", &location.id)));
        }
    }
    Ok(None)
}

/// The session inside a document that `export --format json` wrote; none if the file
/// is no such document.
fn unpacked(bytes: &[u8], given: &Resolved) -> Result<Option<Resolved>> {
    let Ok(document) = Raw::parse(bytes.trim_ascii()) else {
        return Ok(None);
    };
    let text = |key: &str| document.get(key)?.text().map(std::borrow::Cow::into_owned);
    if text("type").as_deref() != Some("export") {
        return Ok(None);
    }
    let broken = |why: &str| {
        Error::new(
            ErrorKind::Damaged,
            format!("`{}` is not a whole export", given.store.root().display()),
        )
        .because(why.to_owned())
        .hinting("export it again with `boswell export SESSION --format json`")
    };
    let (Some(dialect), Some(id), Some(files)) = (
        text("dialect").and_then(|name| by_name(&name)),
        text("id"),
        document.get("files"),
    ) else {
        return Err(broken("it lacks its dialect, id or files"));
    };
    let mut backend = MemoryBackend::default();
    for file in files.items() {
        let key = file
            .get("key")
            .and_then(|key| key.text().map(std::borrow::Cow::into_owned));
        let (Some(key), Some(content)) = (key, file.get("content")) else {
            return Err(broken("a file lacks its name"));
        };
        let mut whole = Vec::new();
        for piece in content.items() {
            match (
                piece.text(),
                piece
                    .get("base64")
                    .and_then(|it| it.text().map(std::borrow::Cow::into_owned)),
            ) {
                (Some(text), _) => whole.extend_from_slice(text.as_bytes()),
                (None, Some(encoded)) => {
                    match boswell_store::blobs::base64::decode_canonical(encoded.as_bytes()) {
                        Some(bytes) => whole.extend_from_slice(&bytes),
                        None => return Err(broken("a piece is not base64")),
                    }
                }
                (None, None) => return Err(broken("a piece is neither text nor base64")),
            }
        }
        let stated = file
            .get("sha256")
            .and_then(|it| it.text().map(std::borrow::Cow::into_owned));
        if stated.is_some_and(|stated| stated != Digest::of(&whole).to_string()) {
            return Err(broken(
                "a file has another hash than the one that is stated",
            ));
        }
        backend.put(&key, whole, None);
    }
    let store = Store::on(dialect, Arc::new(backend), given.store.root());
    let location = store
        .whole()
        .list()?
        .sessions
        .into_iter()
        .find(|it| it.id == id);
    location
        .map(|location| Some(Resolved { store, location }))
        .ok_or_else(|| broken("the session is not in its files"))
}
