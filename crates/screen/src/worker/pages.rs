//! Previews and pages of transcripts.
//!
//! Of a long log the end is read first, so that the first page does not wait for a gigabyte; the
//! page itself, from the whole log, follows.

use std::path::Path;
use std::sync::Arc;

use boswell_app::resume::{Permissions, ResumePlan, ResumeRequest, ResumeWay, WaysRequest};
use boswell_app::show::{BranchPoint, ShowRequest, ShownItem};
use boswell_app::text::size;
use boswell_app::{App, Refusal};

use super::shown::{error, refusal};
use super::{Answers, Latest};
use crate::ask::{Answer, Page, PageAsk, PagePart, Preview, Resumable, Sought, Way};
use crate::transcript::{self, Block, BlockKind};
use crate::words::{self, Language, fill};

/// Entries of a preview, and of a page of the reader.
const PREVIEWED: usize = 24;
const PAGE: usize = 200;

pub(super) type Outcome<T> = std::result::Result<T, String>;

/// Answers previews, always the newest one.
pub(crate) fn previews(
    app: &App,
    answers: &Answers,
    asks: &Latest<(String, Option<String>)>,
    language: Language,
) {
    while let Some((session, entry)) = asks.take(None) {
        let resume = plan(app, &session, Permissions::Asked).map(|plan| {
            let folder = plan.cwd.as_deref();
            Resumable {
                folder_exists: folder.is_none_or(|folder| Path::new(folder).is_dir()),
                plan,
            }
        });
        let send = |blocks: Outcome<Page>| {
            let blocks = blocks.map(|mut page| {
                transcript::cut_for_preview(&mut page.blocks);
                page.blocks
            });
            answers.send(Answer::Preview(Preview {
                session: session.clone(),
                entry: entry.clone(),
                blocks,
                resume: Some(resume.clone()),
            }));
        };
        if entry.is_none()
            && let Some(page) = first_look(app, &session, PREVIEWED)
        {
            send(Ok(page));
        }
        // While the arrow key is held, the whole log of every session on the way is not wanted.
        if asks.is_waiting() {
            continue;
        }
        let ask = PageAsk {
            session: session.clone(),
            part: entry.clone().map_or(PagePart::End, PagePart::Around),
            branch: None,
            inline: false,
        };
        send(page(app, &ask, PREVIEWED, language));
    }
}

/// Returns how a session is resumed.
pub(super) fn plan(app: &App, session: &str, permissions: Permissions) -> Outcome<Arc<ResumePlan>> {
    let request = ResumeRequest {
        session: session.to_owned(),
        permissions,
    };
    let answer = app.resume(&request).map_err(|it| refusal(&it))?;
    Ok(Arc::new(answer.value))
}

/// Returns the ways to resume a session.
pub(super) fn ways(app: &App, session: &str, linked: Vec<String>) -> Outcome<Vec<Way>> {
    let request = WaysRequest {
        session: session.to_owned(),
        linked,
    };
    let answer = app.ways_to_resume(&request).map_err(|it| refusal(&it))?;
    let way = |way: ResumeWay| Way {
        kind: way.kind,
        session: way.session,
        plan: way.plan.map(Arc::new).map_err(|it| error(&it)),
    };
    Ok(answer.value.into_iter().map(way).collect())
}

/// Answers a page of the reader; of a long log first what its end alone shows.
pub(super) fn answer(app: &App, answers: &Answers, ask: PageAsk, language: Language) {
    let at_end = ask.part == PagePart::End && ask.branch.is_none() && !ask.inline;
    if at_end && let Some(page) = first_look(app, &ask.session, PAGE / 4) {
        let ask = ask.clone();
        answers.send(Answer::Page {
            ask,
            page: Ok(page),
        });
    }
    let page = page(app, &ask, PAGE, language);
    answers.send(Answer::Page { ask, page });
}

/// Returns the last entries of a long log as its end shows them. They have no names: what is asked
/// about them must wait for the whole log.
fn first_look(app: &App, session: &str, count: usize) -> Option<Page> {
    let mut blocks = Vec::new();
    let shown = app.show_end(session, count, &mut |item| {
        if let ShownItem::Entry { entry, depth, .. } = item {
            blocks.extend(transcript::blocks(&entry, depth));
        }
        Ok(true)
    });
    let is_long = shown.is_ok_and(|it| it.value);
    is_long.then(|| Page {
        blocks,
        is_first_look: true,
        ..Page::default()
    })
}

fn request(ask: &PageAsk, count: usize) -> ShowRequest {
    let mut request = ShowRequest {
        session: ask.session.clone(),
        limit: Some(count),
        branch: ask.branch.clone(),
        subagents: ask.inline,
        places: count == PAGE,
        ..ShowRequest::default()
    };
    match &ask.part {
        PagePart::Start => request.from = Some(0),
        PagePart::End => {}
        PagePart::Around(entry) => {
            request.around = Some(entry.clone());
            request.nearby = Some(count / 2);
        }
        PagePart::Before(entry) => request.before = Some(entry.clone()),
        PagePart::After(entry) => request.after = Some(entry.clone()),
    }
    request
}

/// Reads a page.
fn page(app: &App, ask: &PageAsk, count: usize, language: Language) -> Outcome<Page> {
    let read = read_page(app, &request(ask, count), (&ask.part, count), language);
    read.map_err(|it| refusal(&it))
}

/// A page while its items arrive.
struct Filling<'p> {
    page: Page,
    part: &'p PagePart,
    language: Language,
    entries: usize,
    /// Entries before the one that the page is around.
    before: usize,
}

impl Filling<'_> {
    fn take(&mut self, item: ShownItem<'_>) {
        let page = &mut self.page;
        match item {
            ShownItem::Entry { entry, depth, .. } => {
                page.blocks.extend(transcript::blocks(&entry, depth));
                // The entries of a subagent are no place to read on from.
                if depth == 0 {
                    let label = entry.label.as_deref().map(str::to_owned);
                    self.count(label);
                }
            }
            // The screen has a header of its own.
            ShownItem::Header(_) => {}
            ShownItem::Subagent { id, task, depth } => {
                page.blocks.push(transcript::subagent(id, task, depth));
            }
            ShownItem::Gap { line, bytes } => {
                let values = [line.to_string(), size(bytes)];
                let [line, bytes] = &values;
                let text = fill(self.language.say(words::GAP), &[line, bytes]);
                page.blocks.push(Block::note(BlockKind::Gap, text, 0));
            }
            ShownItem::Branches(point) => self.branches(point),
        }
    }

    fn count(&mut self, label: Option<String>) {
        self.entries += 1;
        if let PagePart::Around(wanted) = self.part
            && label.as_ref() == Some(wanted)
        {
            self.before = self.entries - 1;
        }
        self.page.first = self.page.first.take().or_else(|| label.clone());
        self.page.last = label;
    }

    fn branches(&mut self, point: &BranchPoint) {
        let values = [(point.shown + 1).to_string(), point.ends.len().to_string()];
        let [shown, count] = &values;
        let text = fill(self.language.say(words::BRANCH_POINT), &[shown, count]);
        let entry = self.page.last.clone();
        self.page.blocks.push(Block {
            entry,
            part: point.shown,
            ends: point.ends.clone(),
            ..Block::note(BlockKind::Branch, text, 0)
        });
    }
}

fn read_page(
    app: &App,
    request: &ShowRequest,
    (part, count): (&PagePart, usize),
    language: Language,
) -> std::result::Result<Page, Refusal> {
    let mut filling = Filling {
        page: Page::default(),
        part,
        language,
        entries: 0,
        before: 0,
    };
    let shown = app.show(request, &mut |item| {
        filling.take(item);
        Ok(true)
    })?;
    let Filling {
        mut page,
        entries,
        before,
        ..
    } = filling;
    page.branch = shown.value.branch;
    page.more_above = match part {
        PagePart::End | PagePart::Before(_) => entries >= count,
        PagePart::Around(_) => before >= count / 2,
        PagePart::Start | PagePart::After(_) => false,
    };
    page.more_below = match part {
        PagePart::Start | PagePart::After(_) => entries >= count,
        PagePart::Around(_) => entries - before > count / 2,
        PagePart::End | PagePart::Before(_) => false,
    };
    Ok(page)
}

/// Returns an entry that is sought: the first one of the part, before an entry the last one.
pub(super) fn find_in(app: &App, ask: &PageAsk, sought: &Sought) -> Option<String> {
    let is_prompt = *sought == Sought::Prompt;
    let request = ShowRequest {
        // Prompts are known without reading the entries between them.
        prompts: is_prompt,
        limit: is_prompt.then_some(1),
        places: false,
        ..request(ask, 0)
    };
    let is_hit = |it: &Block| match sought {
        Sought::Prompt => true,
        Sought::Failure => transcript::is_failure(it),
        Sought::Text(text) => {
            it.text.to_lowercase().contains(text) || it.head.to_lowercase().contains(text)
        }
    };
    let is_back = matches!(ask.part, PagePart::Before(_));
    let mut found = None;
    let shown = app.show(&request, &mut |item| {
        if let ShownItem::Entry {
            entry, depth: 0, ..
        } = item
            && transcript::blocks(&entry, 0).iter().any(is_hit)
        {
            found = entry.label.as_deref().map(str::to_owned);
        }
        Ok(found.is_none() || is_back)
    });
    shown.ok().and(found)
}
