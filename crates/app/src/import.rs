//! Imports a session from a file into boswell's own store.

mod atif;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Depth, NewSession, Surroundings, by_name};
use boswell_model::json::{Json, Raw};
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};
use boswell_store::backend::MemoryBackend;
use boswell_store::blobs::base64::decode_canonical;
use boswell_store::operations::{ImportLimits, Imported, LeftBehind};
use boswell_store::store::Resolved;
use boswell_store::vault::Digest;
use boswell_store::{Session, Store, WritableStore};

use crate::gaps::{require_conversation, warn_about_history};
use crate::shape::{self, ImportedFile, LeftFile, Maybe, SessionShape};
use crate::{App, AppResult, RequestContext};

/// A larger document is refused, because it is held in memory.
const LONGEST: u64 = 1 << 30;
/// How much of each own log is read to find its origin, which is near its beginning.
const BEGINNING: u64 = 64 << 10;

/// A request to import a session.
#[derive(Debug, Clone, Default)]
pub struct ImportRequest {
    /// A session file of any agent, a document that `export --format json` wrote, or a trajectory
    /// (ATIF).
    pub file: PathBuf,
    /// The project folder, if not the one that the session names.
    pub project: Option<PathBuf>,
    /// The title, if not the session's own.
    pub title: Option<String>,
    /// Whether a file that was imported before is imported again.
    pub again: bool,
}

/// A session that was imported.
#[derive(Debug)]
pub struct ImportedSession {
    /// The new session.
    pub reference: SessionRef,
    /// The new session in its JSON shape.
    pub session: SessionShape,
    /// Side files of the source that were imported.
    pub brought: Vec<ImportedFile>,
    /// Side files of the source that were not imported.
    pub left: Vec<LeftFile>,
}

impl ImportedSession {
    /// Returns the JSON shape, with the side files.
    pub fn shape(self) -> SessionShape {
        SessionShape {
            brought: Maybe::Given(self.brought),
            left: Maybe::Given(self.left),
            ..self.session
        }
    }
}

impl App {
    /// Imports a session from a file into boswell's own store. The file is not changed.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such file, Conflict if it was imported before, Damaged if it is an
    /// incomplete export, Invalid for a session that is too large.
    pub fn import(&self, request: &ImportRequest) -> AppResult<ImportedSession> {
        self.answer(|cx| {
            cx.may_write()?;
            import(cx, request)
        })
    }
}

/// A file to import.
struct Source {
    /// The session in the file.
    at: Resolved,
    session: Session,
    /// Hash of the file.
    sha256: String,
    /// Project folder of the new session.
    project: String,
    /// The target store; only the import itself needs it to exist.
    own: Result<WritableStore>,
}

impl Source {
    fn read(cx: &RequestContext, request: &ImportRequest) -> Result<Source> {
        let (store, location) = cx.stores.at_path(&request.file)?;
        let given = Resolved { store, location };
        let bytes = whole(&given, &request.file)?;
        let sha256 = Digest::of(&bytes).to_string();
        let own = own_store(cx);
        if let (Ok(own), false) = (&own, request.again) {
            refuse_again(own, &sha256, &request.file)?;
        }
        let at = unpacked(&bytes, &given)?.unwrap_or(given);
        let session = at.store.read_conversation(&at.location, Depth::Facts)?;
        require_conversation(&session)?;
        warn_about_history(cx, &session);
        let project = match &request.project {
            Some(project) => cx.env.cwd.join(project).display().to_string(),
            None => {
                let named = session.meta().project.clone();
                named.unwrap_or_else(|| cx.env.cwd.display().to_string())
            }
        };
        Ok(Source {
            at,
            session,
            sha256,
            project,
            own,
        })
    }
}

fn import(cx: &RequestContext, request: &ImportRequest) -> Result<ImportedSession> {
    let source = Source::read(cx, request)?;
    let title = request.title.clone();
    let path = std::path::absolute(&request.file).unwrap_or_else(|_| request.file.clone());
    let origin = Json::object()
        .with("ref", source.session.reference().to_string())
        .with("path", path.display().to_string())
        .with("sha256", source.sha256);
    let new = NewSession {
        project: source.project,
        title: title.or_else(|| source.session.meta().title.clone()),
        around: Surroundings::of(&cx.env),
        ..NewSession::default()
    };
    let (own, from) = (source.own?, &source.at.store);
    let limits = ImportLimits::default();
    let Imported {
        writer,
        brought,
        left,
    } = own.import_whole(from, &source.session, new, origin, limits)?;
    let reference = writer.reference().clone();
    writer.release()?;
    let came = brought.iter().map(|file| ImportedFile {
        kind: file.kind.word(),
        path: from.backend().describe(&file.key),
    });
    Ok(ImportedSession {
        session: shape::session(&own.summary(&own.find(&reference.id)?)?, Some(&own)),
        brought: came.collect(),
        left: left.iter().map(|it| left_file(from, it)).collect(),
        reference,
    })
}

fn left_file(from: &Store, left: &LeftBehind) -> LeftFile {
    LeftFile {
        kind: left.file.kind.word(),
        path: from.backend().describe(&left.file.key),
        why: left.why.to_string(),
    }
}

/// Returns the store for imported sessions: the named or discovered one, else boswell's home.
fn own_store(cx: &RequestContext) -> Result<WritableStore> {
    let is_own = |store: &Store| store.dialect().facts().is_own;
    match cx.stores.iter().find(|(_, store)| is_own(store)) {
        Some((_, store)) => cx.writable(store.clone()),
        None => cx.own_home()?.sessions(),
    }
}

fn refuse_again(own: &Store, sha256: &str, file: &Path) -> Result<()> {
    let Some(before) = imported(own, sha256)? else {
        return Ok(());
    };
    Err(Error::new(
        ErrorKind::Conflict,
        format!("`{}` was imported before", file.display()),
    )
    .because(format!("it is the session {before}"))
    .advising(Advice::show(before).or(Advice::ImportAgain)))
}

fn whole(found: &Resolved, path: &Path) -> Result<Vec<u8>> {
    let key = found.location.key.as_deref().unwrap_or_default();
    found.store.file(key, LONGEST)?.ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            format!("there is no file `{}`", path.display()),
        )
        .advising("give the path of a session's file")
    })
}

/// Returns the boswell session that was imported from a file with this content.
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

/// Returns the session inside a document from `export --format json`, or inside a trajectory;
/// `None` if the file is neither.
fn unpacked(bytes: &[u8], given: &Resolved) -> Result<Option<Resolved>> {
    let Ok(document) = Raw::parse(bytes.trim_ascii()) else {
        return Ok(None);
    };
    if text_of(&document, "type").as_deref() != Some("export") {
        return atif::unpacked(&document, given);
    }
    let broken = |why: &str| {
        Error::new(
            ErrorKind::Damaged,
            format!("`{}` is not a whole export", given.store.root().display()),
        )
        .because(why.to_owned())
        .advising(Advice::ExportDocument)
    };
    let dialect = text_of(&document, "dialect").and_then(|name| by_name(&name));
    let (Some(dialect), Some(id), Some(files)) =
        (dialect, text_of(&document, "id"), document.get("files"))
    else {
        return Err(broken("it lacks its dialect, id or files"));
    };
    let mut backend = MemoryBackend::default();
    for file in files.items() {
        let (key, whole) = unpacked_file(&file).map_err(broken)?;
        backend.put(&key, whole, None);
    }
    let store = Store::on(dialect, Arc::new(backend), given.store.root());
    let sessions = store.whole().list()?.sessions;
    match sessions.into_iter().find(|it| it.id == id) {
        Some(location) => Ok(Some(Resolved { store, location })),
        None => Err(broken("the session is not in its files")),
    }
}

fn text_of(object: &Raw<'_>, key: &str) -> Option<String> {
    Some(object.get(key)?.text()?.into_owned())
}

/// The name and the bytes of a file in a document, or what is wrong with it.
pub(crate) fn unpacked_file(
    file: &Raw<'_>,
) -> std::result::Result<(String, Vec<u8>), &'static str> {
    let (Some(key), Some(content)) = (text_of(file, "key"), file.get("content")) else {
        return Err("a file lacks its name");
    };
    let mut whole = Vec::new();
    for piece in content.items() {
        if let Some(text) = piece.text() {
            whole.extend_from_slice(text.as_bytes());
            continue;
        }
        let encoded = text_of(&piece, "base64").ok_or("a piece is neither text nor base64")?;
        let bytes = decode_canonical(encoded.as_bytes()).ok_or("a piece is not base64")?;
        whole.extend_from_slice(&bytes);
    }
    let stated = text_of(file, "sha256");
    if stated.is_some_and(|stated| stated != Digest::of(&whole).to_string()) {
        return Err("a file has another hash than the one that is stated");
    }
    Ok((key, whole))
}
