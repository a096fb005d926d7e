//! Previews, pages of transcripts, trees, checks, costs, and every change that the user confirmed.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use boswell_app::annotate::{AnnotateRequest, Annotation};
use boswell_app::check::{CheckEvent, CheckRequest};
use boswell_app::delete::DeleteRequest;
use boswell_app::fork::ForkRequest;
use boswell_app::operations::UndoRequest;
use boswell_app::repair::{SessionRepair, SessionRepairRequest};
use boswell_app::resume::{Permissions, ResumePlan, ResumeRequest};
use boswell_app::show::{ShowRequest, ShownItem};
use boswell_app::stats::StatsRequest;
use boswell_app::text::one_line;
use boswell_app::tree::TreeRequest;
use boswell_app::{App, Cancel, Refusal};

use super::looker::LookAsk;
use super::shown::refusal;
use super::{Answers, Latest};
use crate::ask::{
    Answer, Ask, Grouping, HealthFacts, Node, Page, PageAsk, PagePart, Preview, RepairStepLine,
    Resumable, Stat,
};
use crate::transcript::{self, Block};
use crate::words::{self, Language, fill};

/// Entries of a preview, and of a page of the reader.
const PREVIEWED: usize = 24;
const PAGE: usize = 200;

type Outcome<T> = std::result::Result<T, String>;

/// Answers previews, always the newest one.
pub(crate) fn previews(app: &App, answers: &Answers, asks: &Latest<(String, Option<String>)>) {
    while let Some((session, entry)) = asks.take(None) {
        let resume = plan(app, &session, Permissions::Asked).map(|plan| {
            let folder = plan.cwd.as_deref();
            Resumable {
                folder_exists: folder.is_none_or(|folder| Path::new(folder).is_dir()),
                plan,
            }
        });
        let part = match &entry {
            Some(entry) => PagePart::Around(entry.clone()),
            None => PagePart::End,
        };
        let ask = PageAsk {
            session: session.clone(),
            part,
        };
        let blocks = page(app, &ask, PREVIEWED).map(|mut page| {
            transcript::cut_for_preview(&mut page.blocks);
            page.blocks
        });
        answers.send(Answer::Preview(Preview {
            session,
            entry,
            blocks,
            resume: Some(resume),
        }));
    }
}

fn plan(app: &App, session: &str, permissions: Permissions) -> Outcome<Arc<ResumePlan>> {
    let request = ResumeRequest {
        session: session.to_owned(),
        permissions,
    };
    let answer = app.resume(&request).map_err(|it| refusal(&it))?;
    Ok(Arc::new(answer.value))
}

/// Answers everything else, one after the other.
pub(crate) fn run(
    app: &App,
    answers: &Answers,
    asks: &Receiver<Ask>,
    (looker, language): (&Latest<LookAsk>, Language),
) {
    while let Ok(ask) = asks.recv() {
        let changes = matches!(
            ask,
            Ask::Fork { .. }
                | Ask::Rename { .. }
                | Ask::Tag { .. }
                | Ask::Delete(_)
                | Ask::Repair(_)
                | Ask::Undo
        );
        if !changes {
            read(app, answers, ask);
            continue;
        }
        match change(app, &ask, language) {
            Ok((message, select)) => answers.send(Answer::Done { message, select }),
            Err(error) => answers.send(Answer::Failed(error)),
        }
        looker.put(LookAsk::Refresh);
    }
}

fn read(app: &App, answers: &Answers, ask: Ask) {
    let answer = match ask {
        Ask::Page(ask) => {
            let page = page(app, &ask, PAGE);
            Answer::Page { ask, page }
        }
        Ask::Tree(session) => {
            let nodes = tree(app, &session);
            Answer::Tree { session, nodes }
        }
        Ask::Check(session) => {
            let health = health(app, &session);
            Answer::Health { session, health }
        }
        Ask::Stats { by, since } => Answer::Stats {
            by,
            since,
            stats: stats(app, by, since),
        },
        Ask::PlanSame(session) => Answer::Planned(plan(app, &session, Permissions::Same)),
        _ => return,
    };
    answers.send(answer);
}

/// Reads a page. An entry that is not on the current branch is read from the records of the file.
fn page(app: &App, ask: &PageAsk, count: usize) -> Outcome<Page> {
    let mut request = ShowRequest {
        session: ask.session.clone(),
        limit: Some(count),
        ..ShowRequest::default()
    };
    match &ask.part {
        PagePart::End => {}
        PagePart::Around(entry) => {
            request.around = Some(entry.clone());
            request.nearby = Some(count / 2);
        }
        PagePart::Before(entry) => request.before = Some(entry.clone()),
        PagePart::After(entry) => request.after = Some(entry.clone()),
    }
    let read = read_page(app, &request, &ask.part, count);
    if read.is_err() && request.around.is_some() {
        request.records = true;
        return read_page(app, &request, &ask.part, count).map_err(|it| refusal(&it));
    }
    read.map_err(|it| refusal(&it))
}

fn read_page(
    app: &App,
    request: &ShowRequest,
    part: &PagePart,
    count: usize,
) -> std::result::Result<Page, Refusal> {
    let mut page = Page::default();
    let (mut entries, mut before) = (0, 0);
    let mut blocks: Vec<Block> = Vec::new();
    let _ = app.show(request, &mut |item| {
        match item {
            ShownItem::Entry { entry, depth } => {
                let label = entry.label.as_deref().map(str::to_owned);
                entries += 1;
                if let PagePart::Around(wanted) = part
                    && label.as_ref() == Some(wanted)
                {
                    before = entries - 1;
                }
                page.first = page.first.take().or_else(|| label.clone());
                page.last = label;
                blocks.extend(transcript::blocks(&entry, depth));
            }
            // The screen has a header of its own.
            ShownItem::Header(_) => {}
            ShownItem::Subagent { id, task, depth } => {
                blocks.push(transcript::subagent(id, task, depth));
            }
        }
        Ok(true)
    })?;
    page.blocks = blocks;
    page.more_above = match part {
        PagePart::End | PagePart::Before(_) => entries >= count,
        PagePart::Around(_) => before >= count / 2,
        PagePart::After(_) => false,
    };
    page.more_below = match part {
        PagePart::After(_) => entries >= count,
        PagePart::Around(_) => entries - before > count / 2,
        PagePart::End | PagePart::Before(_) => false,
    };
    Ok(page)
}

fn tree(app: &App, session: &str) -> Outcome<Vec<Node>> {
    let request = TreeRequest {
        session: session.to_owned(),
    };
    let mut nodes = Vec::new();
    let read = app.tree(&request, &mut |node| {
        let shape = node.shape;
        nodes.push(Node {
            entry: shape.id,
            depth: shape.depth,
            between: shape.between,
            role: one_line(shape.role.unwrap_or(&shape.kind)),
            text: one_line(&shape.text),
            label: shape.label.as_deref().map(one_line),
            leaf: shape.leaf,
            on_branch: shape.on_branch,
            compaction: shape.compaction,
        });
        Ok(true)
    });
    read.map(|_| nodes).map_err(|it| refusal(&it))
}

fn health(app: &App, session: &str) -> Outcome<HealthFacts> {
    let request = CheckRequest {
        sessions: vec![session.to_owned()],
    };
    let mut facts = HealthFacts::default();
    let checked = app.check(&request, &Cancel::new(), &mut |event| {
        match event {
            CheckEvent::Session(session) => {
                facts.findings.extend(session.findings.iter().map(|it| {
                    let line = it.problem.line.map(|line| format!(":{line}"));
                    let word = it.problem.kind.word();
                    one_line(&format!(
                        "{word}{}  {}",
                        line.unwrap_or_default(),
                        it.problem.detail
                    ))
                }));
            }
            CheckEvent::Unchecked(place) => facts.findings.push(one_line(&place.problem.detail)),
            _ => {}
        }
        Ok(true)
    });
    let _ = checked.map_err(|it| refusal(&it))?;
    let request = SessionRepairRequest {
        session: session.to_owned(),
        ..SessionRepairRequest::default()
    };
    // A format that cannot be repaired has findings and no plan.
    if let Ok(answer) = app.plan_repair(&request) {
        let plan = answer.value;
        facts.reach = Some((plan.reachable, plan.total, plan.would_reach));
        facts.steps = (plan.steps.iter())
            .map(|it| RepairStepLine {
                taken: it.taken,
                text: one_line(&format!("{} ({})", it.does, it.confidence)),
            })
            .collect();
    }
    Ok(facts)
}

fn stats(app: &App, by: Grouping, since: Option<&'static str>) -> Outcome<Vec<Stat>> {
    let mut request = StatsRequest {
        by: by.into(),
        ..StatsRequest::default()
    };
    request.filter.since = since.map(str::to_owned);
    let answer = app
        .stats(&request, &Cancel::new())
        .map_err(|it| refusal(&it))?;
    let stats = answer.value.sums.into_iter().map(|it| Stat {
        key: one_line(it.key.as_deref().unwrap_or("-")),
        sessions: it.sessions,
        messages: it.messages,
        output: it.tokens.output,
        cost: it.cost_usd,
        unpriced: !it.unpriced_models.is_empty(),
        prices_as_of: it.prices_as_of.to_owned(),
    });
    Ok(stats.collect())
}

type Changed = (String, Option<String>);

/// Makes a change; returns a message and the session to select.
fn change(app: &App, ask: &Ask, language: Language) -> Outcome<Changed> {
    let done = match ask {
        Ask::Fork { session, at } => fork(app, session, at.as_deref(), language),
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
        Ask::Repair(session) => repair(app, session, language),
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

fn repair(app: &App, session: &str, language: Language) -> Done {
    let request = SessionRepairRequest {
        session: session.to_owned(),
        ..SessionRepairRequest::default()
    };
    let (steps, made) = match app.repair(&request)?.value {
        SessionRepair::AlreadyRepaired { fork } => (0, Some(fork)),
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
