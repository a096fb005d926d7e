//! Brings a session from a file into boswell's own store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Depth, NewSession, SideFile, Surroundings, by_name};
use boswell_model::json::{Json, Raw};
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::backend::MemoryBackend;
use boswell_store::operations::{ImportLimits, Imported};
use boswell_store::store::Resolved;
use boswell_store::vault::Digest;
use boswell_store::{Session, Store};

use crate::shape::{self, ImportedFile, LeftFile, Maybe, SessionShape, shape};
use crate::{App, AppResult, RequestContext};

/// A longer document is refused: it is held in memory.
const LONGEST: u64 = 1 << 30;
/// How much of each own log is examined for where it came from, which is near its beginning.
const BEGINNING: u64 = 64 << 10;

/// What to import, and as what.
#[derive(Debug, Clone, Default)]
pub struct ImportRequest {
    /// A session file of any agent, or a document that `export --format json` wrote.
    pub file: PathBuf,
    /// The folder that it is about, if not the one that it names.
    pub project: Option<PathBuf>,
    /// Its title, if not the one that it has.
    pub title: Option<String>,
    /// Whether a file that was imported before is imported once more.
    pub again: bool,
}

shape! {
    /// From `import`: a session that would be imported.
    ImportStep: "step" {
        /// what would be done
        done: &'static str,
        /// the session in the file
        session: String,
        /// how many records it has
        records: usize,
        /// how many side files it has
        files: usize,
        /// the project folder
        project: String,
    }
}

/// A session that was imported.
#[derive(Debug)]
pub struct ImportedSession {
    /// The new session.
    pub reference: SessionRef,
    /// What a list shows of it.
    pub session: SessionShape,
    /// Side files of the source that came along.
    pub brought: Vec<ImportedFile>,
    /// Side files of the source that did not.
    pub left: Vec<LeftFile>,
}

impl ImportedSession {
    /// The shape, with the side files.
    pub fn shape(self) -> SessionShape {
        SessionShape {
            brought: Maybe::Given(self.brought),
            left: Maybe::Given(self.left),
            ..self.session
        }
    }
}

impl App {
    /// What importing a file would bring over. Nothing is changed.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such file, Conflict if it was imported before, Damaged if it is an
    /// export that is not whole.
    pub fn plan_import(&self, request: &ImportRequest) -> AppResult<ImportStep> {
        self.answer(|cx| {
            let source = Source::read(cx, request)?;
            Ok(ImportStep {
                done: "would import",
                session: source.session.reference().to_string(),
                records: source.session.log().heads.len(),
                files: source.at.store.side_files(&source.at.location)?.len(),
                project: source.project,
            })
        })
    }

    /// Brings a session from a file into boswell's own store. The file stays as it is.
    ///
    /// # Errors
    ///
    /// As [`plan_import`](App::plan_import); Invalid for a session that is too large.
    pub fn import(&self, request: &ImportRequest) -> AppResult<ImportedSession> {
        self.answer(|cx| {
            cx.may_write()?;
            import(cx, request)
        })
    }
}

/// A file that is to be imported.
struct Source {
    /// Where the session is read from.
    at: Resolved,
    session: Session,
    /// Of the file.
    sha256: String,
    /// The folder that the new session is about.
    project: String,
    /// Where it goes; only importing needs that there is one.
    own: Result<Store>,
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
        let session = at.store.read(&at.location, Depth::Facts)?;
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
    let path = |file: &SideFile| from.backend().describe(&file.key);
    let came = brought.iter().map(|file| ImportedFile {
        kind: file.kind.word(),
        path: path(file),
    });
    let stayed = left.iter().map(|it| LeftFile {
        kind: it.file.kind.word(),
        path: path(&it.file),
        why: it.why.to_string(),
    });
    Ok(ImportedSession {
        session: shape::session(&own.summary(&own.find(&reference.id)?)?, Some(&own)),
        brought: came.collect(),
        left: stayed.collect(),
        reference,
    })
}

/// The store that imported sessions go to: the one that was named or found, else boswell's home.
fn own_store(cx: &RequestContext) -> Result<Store> {
    let is_own = |store: &Store| store.dialect().facts().is_own;
    match cx.stores.iter().find(|(_, store)| is_own(store)) {
        Some((_, store)) => cx.writable(store.clone()),
        None => Store::open(cx.home()?),
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
    .hinting(format!(
        "read it with `boswell show {}`, or import it once more with --again",
        before.to_argument()
    )))
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
