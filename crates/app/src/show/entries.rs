//! Entries as shapes, with what is between them as members of the entry before or after it.

use boswell_model::Result;

use super::{ShowRequest, ShownItem, ShownRange};
use crate::shape::{BranchesPlace, EntryShape, GapPlace, Maybe, StartedSubagent};
use crate::{Answer, App, AppResult};

/// Receives the shapes of entries in order; returns false to stop.
pub type EntrySink<'s> = &'s mut dyn FnMut(EntryShape) -> Result<bool>;

impl App {
    /// As [`show`](App::show), with each entry as its shape: position, gaps of the log, other
    /// branches and started subagents are members of it. Texts are cut after `text_limit` bytes.
    ///
    /// # Errors
    ///
    /// Those of [`show`](App::show).
    pub fn entries(
        &self,
        request: &ShowRequest,
        text_limit: Option<usize>,
        sink: EntrySink<'_>,
    ) -> AppResult<ShownRange> {
        let mut collected = Collected {
            raw: request.raw,
            text_limit,
            sink,
            gaps: Vec::new(),
            last: None,
        };
        let Answer { value, notices } = self.show(request, &mut |item| collected.take(item))?;
        collected.end()?;
        Ok(Answer { value, notices })
    }

    /// Passes on the entries of the subagents that the calls of one entry started.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or entry; and every error of the sink.
    pub fn subagent_entries(
        &self,
        session: &str,
        entry: &str,
        text_limit: Option<usize>,
        sink: EntrySink<'_>,
    ) -> AppResult<ShownRange> {
        let request = ShowRequest {
            session: session.to_owned(),
            entry: Some(entry.to_owned()),
            subagents: true,
            ..ShowRequest::default()
        };
        let mut is_caller = true;
        self.entries(
            &request,
            text_limit,
            &mut |shape| match std::mem::take(&mut is_caller) {
                true => Ok(true),
                false => sink(shape),
            },
        )
    }
}

/// The last entry, until it is known what follows it.
struct Collected<'s> {
    raw: bool,
    text_limit: Option<usize>,
    sink: EntrySink<'s>,
    /// Gaps that no entry has yet.
    gaps: Vec<GapPlace>,
    /// The last entry, and its nesting depth.
    last: Option<(EntryShape, usize)>,
}

impl Collected<'_> {
    fn take(&mut self, item: ShownItem<'_>) -> Result<bool> {
        match item {
            ShownItem::Header(_) => {}
            ShownItem::Entry {
                entry,
                depth,
                position,
            } => {
                let goes_on = self.pass()?;
                let mut shape = entry.shape(self.raw);
                shape.position = Maybe::Given(position);
                if let Some(limit) = self.text_limit {
                    shape = shape.cut(limit);
                }
                shape.gaps = given(std::mem::take(&mut self.gaps));
                self.last = Some((shape, depth));
                return Ok(goes_on);
            }
            ShownItem::Gap { line, bytes } => self.gaps.push(GapPlace { line, bytes }),
            ShownItem::Subagent { id, task, depth } => self.start(id, task, depth),
            ShownItem::Branches(point) => {
                if let Some((shape, 0)) = &mut self.last {
                    shape.branches = Maybe::Given(BranchesPlace {
                        ends: point.ends.clone(),
                        shown: point.shown,
                    });
                }
            }
        }
        Ok(true)
    }

    fn start(&mut self, id: &str, task: Option<&str>, depth: usize) {
        let Some((shape, at)) = &mut self.last else {
            return;
        };
        // A second subagent of a call comes after the entries of the first one.
        if *at != depth {
            return;
        }
        let started = StartedSubagent {
            id: id.to_owned(),
            task: task.map(str::to_owned),
        };
        match &mut shape.subagents {
            Maybe::Given(all) => all.push(started),
            none => *none = Maybe::Given(vec![started]),
        }
    }

    /// Passes on the last entry.
    fn pass(&mut self) -> Result<bool> {
        match self.last.take() {
            Some((shape, _)) => (self.sink)(shape),
            None => Ok(true),
        }
    }

    /// Passes on the last entry, with what follows it in the log.
    fn end(mut self) -> Result<()> {
        let gaps = std::mem::take(&mut self.gaps);
        if let Some((shape, _)) = &mut self.last {
            shape.gaps_after = given(gaps);
        }
        self.pass().map(|_| ())
    }
}

fn given(gaps: Vec<GapPlace>) -> Maybe<Vec<GapPlace>> {
    Some(gaps).filter(|it| !it.is_empty()).into()
}
