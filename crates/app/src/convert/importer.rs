//! Sessions that an agent's own program imports, because they are rows of its database.
//!
//! The program is given a document, the new session is read back, and a difference removes it
//! again. The document is kept in boswell's home by an operation, so that `undo` knows what was
//! imported; it has the program remove the session.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use boswell_dialect::{
    Depth, IdSource as _, ImportSession, Plan, Precondition, Step, by_name, store_environment,
};
use boswell_model::json::Raw;
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};
use boswell_store::Store;
use boswell_store::disk::{Disk as _, RealDisk, SystemIds, durable};
use boswell_store::operations::{Conversion, Operation};
use boswell_store::vault::Reason;

use crate::RequestContext;

/// The folder of the home with the documents that were imported.
const FOLDER: &str = "imports";
/// The most of what a program printed that an error shows.
const SHOWN: usize = 500;

/// Returns the line of a plan for an import.
pub(super) fn step(target: &Store, conversion: &Conversion) -> Option<String> {
    let importer = target.dialect().powers().import?;
    let words = importer.import_words("DOCUMENT").join(" ");
    let bytes = conversion.log.len();
    (!conversion.exists).then(|| format!("run `{words}` with a document of {bytes} bytes"))
}

/// Looks for a session that was imported before under an id that its program gave it.
pub(super) fn find_earlier(cx: &RequestContext, target: &Store, conversion: &mut Conversion) {
    let renamed = conversion.import.as_ref().is_some_and(|it| !it.keeps_id);
    let Some(notes) = cx.notes().ok().filter(|_| renamed) else {
        return;
    };
    let source = (conversion.source.clone(), conversion.entry.clone());
    let made = notes.of(&conversion.source).converted_to;
    let is_it = |session: &&SessionRef| {
        session.dialect == conversion.target.dialect
            && notes.of(session).converted_from.as_ref() == Some(&source)
            && target.whole().find(&session.id).is_ok()
    };
    let earlier = made.iter().rev().find(is_it).cloned();
    if let Some(earlier) = earlier {
        conversion.target = earlier;
        conversion.exists = true;
    }
}

/// Has the program of the target import the session, and records it. Sets the session's id.
pub(super) fn import(
    cx: &RequestContext,
    target: &Store,
    importer: &dyn ImportSession,
    conversion: &mut Conversion,
) -> Result<Operation> {
    let before = ids(target)?;
    let home = cx.home()?;
    let document = Document::put(home, &conversion.log)?;
    let words = importer.import_words(&document.0.display().to_string());
    let project = conversion.import.as_ref().map(|it| it.project.clone());
    run(cx, target, &words, project.as_deref())?;
    drop(document);
    let made = made(target, &before, conversion)?;
    conversion.target.id = made;
    if let Err(error) = read_back(target, conversion) {
        let words = importer.removal_words(&conversion.target.id);
        let is_removed = !importer.removal_asks() && run(cx, target, &words, None).is_ok();
        return Err(match is_removed {
            true => error,
            false => error.advising(format!("remove it: `{}`", words.join(" "))),
        });
    }
    let key = key_of(&conversion.target);
    let plan = Plan::new("convert", conversion.plan.title.clone())
        .requiring(Precondition::Absent { key: key.clone() })
        .step(Step::put(key, conversion.log.clone()));
    cx.runner()?.run_with(
        home,
        &conversion.target,
        Reason::Before,
        &conversion.locks,
        &|| Ok(plan.clone()),
    )
}

fn key_of(session: &SessionRef) -> String {
    format!("{FOLDER}/{}-{}.json", session.dialect, session.id)
}

fn ids(store: &Store) -> Result<HashSet<String>> {
    let sessions = store.whole().list()?.sessions.into_iter();
    Ok(sessions.map(|location| location.id).collect())
}

/// Returns the id of the session that was not there before.
fn made(target: &Store, before: &HashSet<String>, conversion: &Conversion) -> Result<String> {
    let keeps_id = conversion.import.as_ref().is_some_and(|it| it.keeps_id);
    let now = ids(target)?;
    let mut new = now.difference(before);
    let is_it = |id: &&String| !keeps_id || **id == conversion.target.id;
    let found = new.find(is_it).cloned();
    found.ok_or_else(|| {
        Error::new(
            ErrorKind::Unavailable,
            format!(
                "{} said that it imported the session, and does not list it",
                target.dialect().facts().title
            ),
        )
        .advising(handoff(&conversion.source))
    })
}

fn handoff(source: &SessionRef) -> Advice {
    Advice::Handoff {
        session: source.to_string(),
    }
}

fn read_back(target: &Store, conversion: &Conversion) -> Result<()> {
    let differences = target.import_differences(&conversion.target.id, conversion)?;
    if differences.is_empty() {
        return Ok(());
    }
    let what = format!(
        "{} did not import the conversation as it is",
        target.dialect().facts().title
    );
    Err(Error::new(ErrorKind::Unsupported, what)
        .because(differences.join("\n"))
        .advising(handoff(&conversion.source)))
}

/// Has the program of an agent remove the session that an operation imported, before the operation
/// is undone.
pub(crate) fn take_back(cx: &RequestContext, undone: &Operation) -> Result<()> {
    if undone.kind != super::CONVERT {
        return Ok(());
    }
    let session = &undone.session;
    let importer = by_name(&session.dialect).and_then(|dialect| dialect.powers().import);
    let Some(importer) = importer else {
        return Ok(());
    };
    let target = super::target_store(cx, &session.dialect)?;
    let Ok(location) = target.whole().find(&session.id) else {
        return Ok(());
    };
    let session = target.read_conversation(&location, Depth::Facts)?;
    let entries = session.log().heads.iter();
    let messages = entries.filter(|head| head.kind.is_conversation()).count();
    refuse_grown(&target, undone, messages)?;
    let words = importer.removal_words(&undone.session.id);
    match importer.removal_asks() {
        true => Err(needs_a_terminal(&target, undone, &words)),
        false => run(cx, &target, &words, None),
    }
}

fn needs_a_terminal(target: &Store, undone: &Operation, words: &[String]) -> Error {
    let title = target.dialect().facts().title;
    Error::new(
        ErrorKind::Unsupported,
        format!("{title} removes a session only after a question"),
    )
    .because("it asks on a terminal, and has no option to answer it")
    .advising(
        Advice::from(format!("run `{}`", words.join(" "))).then(Advice::Undo {
            operation: Some(undone.id.clone()),
        }),
    )
}

/// Refuses to remove a session that its agent went on with.
fn refuse_grown(target: &Store, undone: &Operation, messages: usize) -> Result<()> {
    let path = undone.root.join(key_of(&undone.session));
    let document = durable::read(&RealDisk, &path)?.unwrap_or_default();
    let document = Raw::parse(&document).ok();
    let list = document.and_then(|it| it.get("messages").or_else(|| it.get("conversation")));
    let imported = list.map_or(0, |list| list.items().count());
    if messages <= imported {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!(
            "{} went on with the session",
            target.dialect().facts().title
        ),
    )
    .because(format!(
        "it has {messages} messages, and {imported} were imported"
    ))
    .advising(Advice::ListOperations))
}

/// A document that is there as long as the program reads it.
struct Document(PathBuf);

impl Document {
    fn put(home: &Path, bytes: &[u8]) -> Result<Document> {
        let unique = SystemIds.hex16();
        let folder = home.join(FOLDER);
        durable::make_folders(&RealDisk, &folder)?;
        let document = Document(folder.join(format!("{unique}.json")));
        durable::put(&RealDisk, &document.0, bytes, &unique)?;
        Ok(document)
    }
}

impl Drop for Document {
    fn drop(&mut self) {
        // A document that stays is found by nothing.
        RealDisk.remove(&self.0).ok();
    }
}

/// Runs the program of an agent until it ends, with the variables that make it use the store. It
/// runs in the project, if that exists: some programs file a session under their working folder.
fn run(cx: &RequestContext, store: &Store, words: &[String], project: Option<&str>) -> Result<()> {
    let (program, arguments) = words.split_first().ok_or_else(|| {
        let what = "the program of the agent has no name";
        Error::new(ErrorKind::Internal, what)
    })?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    if let Some(project) = project.map(Path::new).filter(|it| it.is_dir()) {
        command.current_dir(project);
    }
    let environment = store_environment(store.dialect(), &cx.env, (store.root(), None), &|a, b| {
        cx.real_folders.are_same(a, b)
    });
    for (name, value) in environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let line = words.join(" ");
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(failed(&line, &output)),
        Err(error) => Err(Error::new(
            ErrorKind::Unavailable,
            format!("`{}` cannot be started", program.escape_debug()),
        )
        .caused_by(error)
        .advising(format!("install it, and run `{line}`"))),
    }
}

fn failed(line: &str, output: &Output) -> Error {
    let printed = [&output.stderr, &output.stdout].map(|it| String::from_utf8_lossy(it));
    let printed = printed.iter().map(|it| it.trim()).find(|it| !it.is_empty());
    let printed: String = printed.unwrap_or("nothing").chars().take(SHOWN).collect();
    Error::new(
        ErrorKind::Unavailable,
        format!("`{line}` failed: {}", output.status),
    )
    .because(printed)
    .advising("try it by hand")
}
