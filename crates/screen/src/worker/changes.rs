//! Every change that the user confirmed, and files that the user named.

use std::io::Write as _;
use std::path::PathBuf;

use boswell_app::annotate::{AnnotateRequest, Annotation};
use boswell_app::archive::ArchiveRequest;
use boswell_app::attachments::AttachmentsRequest;
use boswell_app::convert::ConvertRequest;
use boswell_app::delete::DeleteRequest;
use boswell_app::export::{ExportFormat, ExportRequest};
use boswell_app::fork::ForkRequest;
use boswell_app::move_project::MoveRequest;
use boswell_app::operations::UndoRequest;
use boswell_app::repair::{SessionRepair, SessionRepairRequest};
use boswell_app::shape::Maybe;
use boswell_app::store_change::StoreChange;
use boswell_app::system::new_file;
use boswell_app::text::one_line;
use boswell_app::{App, Cancel, Refusal};
use boswell_model::Error;

use super::pages::Outcome;
use super::shown::refusal;
use crate::ask::{Answer, Ask, Converting, Moved};
use crate::words::{self, Language, fill};

type Changed = (String, Option<String>);

/// Makes a change; returns a message and the session to select.
pub(super) fn change(app: &App, ask: &Ask, language: Language) -> Outcome<Changed> {
    let done = match ask {
        Ask::Fork { session, at, .. } => fork(app, session, at.as_deref(), language),
        Ask::Convert(converting) => convert(app, converting),
        Ask::Move(moved) => move_folder(app, moved, language),
        Ask::Archive(sessions) => archive(app, sessions, language),
        Ask::Keep => keep(app, language),
        Ask::Export { session, path } => export(app, session, path, language),
        Ask::Picture {
            session,
            entry,
            folder,
        } => picture(app, (session, entry), folder, language),
        Ask::Rename { session, title } => {
            let annotation = Annotation::Title(title.clone());
            annotate(app, std::slice::from_ref(session), &annotation).map(|()| {
                (
                    language.say(words::DONE_RENAMED).to_owned(),
                    Some(session.clone()),
                )
            })
        }
        Ask::Tag {
            sessions,
            add,
            remove,
        } => {
            let annotation = Annotation::Tags {
                add: add.clone(),
                remove: remove.clone(),
            };
            annotate(app, sessions, &annotation)
                .map(|()| (language.say(words::DONE_TAGGED).to_owned(), None))
        }
        Ask::Delete(sessions) => delete(app, sessions, language),
        Ask::Repair { session, steps } => repair(app, session, steps, language),
        _ => undo(app, language),
    };
    done.map_err(|it| refusal(&it))
}

type Done = std::result::Result<Changed, Refusal>;

fn fork(app: &App, session: &str, at: Option<&str>, language: Language) -> Done {
    let request = ForkRequest {
        session: session.to_owned(),
        at: at.map(str::to_owned),
        ..ForkRequest::default()
    };
    let made = app.fork(&request)?.value.reference.to_string();
    let text = fill(language.say(words::DONE_FORKED), &[&one_line(&made)]);
    Ok((text, Some(made)))
}

/// Returns the other agents that can go on with a session.
pub(super) fn agents(app: &App, session: &str) -> Outcome<Vec<(String, String)>> {
    let ways = app.agents_for(session).map_err(|it| refusal(&it))?;
    let others = ways.value.into_iter().filter(|way| !way.own);
    Ok(others
        .map(|way| (way.agent.to_owned(), way.title.to_owned()))
        .collect())
}

/// Plans a session for another agent.
pub(super) fn plan_conversion(app: &App, mut converting: Converting) -> Answer {
    let lacks = app
        .plan_conversion(&conversion(&converting))
        .map_err(|it| refusal(&it))
        .map(|planned| {
            let plan = planned.value;
            converting.shown = Some(plan.token);
            let losses = plan.conversion.losses.iter();
            let losses = losses.map(|loss| format!("{} {}", loss.count, loss.text));
            (plan.title.to_owned(), losses.collect())
        });
    Answer::ConversionPlanned { converting, lacks }
}

fn convert(app: &App, converting: &Converting) -> Done {
    let made = app.convert(&conversion(converting))?.value.reference;
    Ok((made.to_string(), Some(made.to_string())))
}

fn conversion(converting: &Converting) -> ConvertRequest {
    ConvertRequest {
        session: converting.session.clone(),
        to: converting.agent.clone(),
        shown: converting.shown.clone(),
        ..ConvertRequest::default()
    }
}

fn annotate(
    app: &App,
    sessions: &[String],
    annotation: &Annotation,
) -> std::result::Result<(), Refusal> {
    for session in sessions {
        let _ = app.annotate(&AnnotateRequest {
            session: session.clone(),
            annotation: annotation.clone(),
        })?;
    }
    Ok(())
}

fn delete(app: &App, sessions: &[String], language: Language) -> Done {
    let request = DeleteRequest {
        sessions: sessions.to_vec(),
    };
    let mut gone = Vec::new();
    let _ = app.delete(&request, &mut |it| {
        gone.push(one_line(&it.session.to_string()));
        Ok(())
    })?;
    let text = fill(language.say(words::DONE_DELETED), &[&gone.join(", ")]);
    Ok((text, None))
}

fn repair(app: &App, session: &str, steps: &[usize], language: Language) -> Done {
    let request = SessionRepairRequest {
        session: session.to_owned(),
        steps: steps.to_vec(),
        ..SessionRepairRequest::default()
    };
    let (steps, made) = match app.repair(&request)?.value {
        SessionRepair::AlreadyRepaired { fork, .. } => (0, Some(fork)),
        SessionRepair::Done(done) => (done.steps.len(), done.fork),
    };
    let text = fill(language.say(words::DONE_REPAIRED), &[&steps.to_string()]);
    Ok((text, made.map(|it| it.to_string())))
}

fn undo(app: &App, language: Language) -> Done {
    let mut undone = Vec::new();
    let _ = app.undo(&UndoRequest::default(), &mut |it| {
        undone.push(one_line(&it.title));
        Ok(())
    })?;
    let text = fill(language.say(words::DONE_UNDONE), &[&undone.join(", ")]);
    Ok((text, None))
}

/// Returns what a move would change, a line for each store.
pub(super) fn plan_move(app: &App, moved: &Moved) -> Outcome<Vec<String>> {
    let mut steps = Vec::new();
    let planned = app.plan_move(&move_request(moved), &mut |change| {
        steps.extend(match change {
            StoreChange::Planned(plan) if plan.steps.is_empty() => None,
            StoreChange::Planned(plan) => plan.text.lines().next().map(one_line),
            StoreChange::Step(step) => Some(one_line(&step.does)),
            StoreChange::Changed(_) => None,
        });
        Ok(())
    });
    planned.map(|_| steps).map_err(|it| refusal(&it))
}

fn move_request(moved: &Moved) -> MoveRequest {
    MoveRequest {
        old: PathBuf::from(&moved.old),
        new: PathBuf::from(&moved.new),
    }
}

fn move_folder(app: &App, moved: &Moved, language: Language) -> Done {
    let _ = app.move_project(&move_request(moved), &mut |_| Ok(()))?;
    Ok((language.say(words::DONE_MOVED).to_owned(), None))
}

fn archive(app: &App, sessions: &[String], language: Language) -> Done {
    let request = ArchiveRequest::Named(sessions.to_vec());
    let mut done = Vec::new();
    let _ = app.archive(&request, &mut |it| {
        done.push(one_line(&it.session.to_string()));
        Ok(())
    })?;
    let text = fill(language.say(words::DONE_ARCHIVED), &[&done.join(", ")]);
    Ok((text, None))
}

fn keep(app: &App, language: Language) -> Done {
    let kept = app.keep_now(&Cancel::new(), &mut |_| {})?.value;
    let count = kept.counts.sessions.to_string();
    Ok((fill(language.say(words::DONE_KEPT), &[&count]), None))
}

/// Writes an export to a new file; the ending of its name decides the format.
fn export(app: &App, session: &str, path: &str, language: Language) -> Done {
    let format = match path.rsplit('.').next() {
        Some("md" | "markdown") => ExportFormat::Markdown,
        Some("json") => ExportFormat::Json,
        Some("jsonl") => ExportFormat::Jsonl,
        _ => ExportFormat::Html,
    };
    let request = ExportRequest {
        session: session.to_owned(),
        format,
        keep_secrets: false,
    };
    let place = app.environment().cwd.join(path);
    let mut file = new_file(&place)?;
    let done = app.export(&request, &Cancel::new(), &mut |bytes| {
        let written = file.write_all(bytes);
        written.map_err(|error| Error::io(place.display(), "write the export", error))?;
        Ok(true)
    })?;
    let (shown, removed) = (one_line(&place.display().to_string()), done.value.removed);
    let values = [&*shown, &removed.to_string()];
    Ok((fill(language.say(words::DONE_EXPORTED), &values), None))
}

/// Writes the pictures of an entry to a folder.
fn picture(app: &App, (session, entry): (&str, &str), folder: &str, language: Language) -> Done {
    let request = AttachmentsRequest {
        session: session.to_owned(),
        extract: Some(PathBuf::from(folder)),
        entry: Some(entry.to_owned()),
    };
    let mut written = Vec::new();
    let _ = app.attachments(&request, &mut |it| {
        if let Maybe::Given(path) = it.written {
            written.push(one_line(&path));
        }
        Ok(true)
    })?;
    let text = match written.is_empty() {
        true => language.say(words::NO_FILE).to_owned(),
        false => fill(language.say(words::DONE_PICTURE), &[&written.join(", ")]),
    };
    Ok((text, None))
}
