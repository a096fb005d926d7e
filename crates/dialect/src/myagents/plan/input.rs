//! The state of a session while a change of it is planned.

use boswell_model::{
    Advice, Error, ErrorKind, Flags, Framing, Gap, Instant, Remark, Result, Revision, SessionView,
    Span, SpanKind,
};

use crate::{Plan, PlanInput, Planned, Step};

use super::super::index_file::{IndexFile, RowEdit};
use super::super::stats::Stats;
use super::super::{preview, v2};
use super::transcript::Transcript;

/// Maximum length of a title.
const LONGEST_TITLE: usize = 4096;

/// A change while it is planned: the new index, and the steps that come before it is written.
#[derive(Debug)]
pub(super) struct Work<'a> {
    pub(super) asked: &'a PlanInput<'a>,
    pub(super) index: IndexFile,
    pub(super) steps: Vec<Step>,
    pub(super) remarks: Vec<Remark>,
    /// Ids of entries that the change adds.
    pub(super) entries: Vec<String>,
    /// How many of these entries were already in the transcript.
    pub(super) already: usize,
    /// Id of the session that the change creates.
    pub(super) session: Option<String>,
}

impl<'a> Work<'a> {
    /// Returns the error for an entry whose id another entry has.
    pub(super) fn id_is_taken(&self, id: &str) -> Error {
        let id = id.escape_debug();
        let what = format!("session {} has an entry `{id}` already", self.id());
        Error::new(ErrorKind::Conflict, what)
            .because("it has other content")
            .advising("leave the id out, and one is generated")
    }

    pub(super) fn begin(asked: &'a PlanInput<'a>) -> Result<Self> {
        let index = IndexFile::load(asked.files)?;
        let (steps, remarks, entries) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Work {
            asked,
            index,
            steps,
            remarks,
            entries,
            already: 0,
            session: None,
        })
    }

    pub(super) fn id(&self) -> &'a str {
        &self.asked.location.id
    }

    pub(super) fn view(&self) -> SessionView<'a> {
        self.asked.view
    }

    /// Returns the revision of the transcript.
    pub(super) fn revision(&self) -> Revision {
        let end = self.view().log.bytes;
        self.asked.location.revision().with_end(end)
    }

    pub(super) fn now(&self) -> Instant {
        self.asked.id_source.now()
    }

    /// Returns the row of the session.
    pub(super) fn row(&self) -> Result<RowEdit> {
        self.index.row(self.id()).ok_or_else(|| {
            Error::new(
                ErrorKind::Conflict,
                format!("the index of MyAgents has no row for session {}", self.id()),
            )
            .because("what is wanted is kept in that row")
            .advising(Advice::RebuildAgentIndex)
        })
    }

    pub(super) fn put_row(&mut self, row: RowEdit) {
        self.index.put(self.id(), row);
    }

    /// Whether the transcript is a log of operations.
    pub(super) fn is_operations(&self) -> bool {
        let by_key = self.asked.location.key.as_deref().and_then(v2::session_of);
        let row = self.index.row(self.id());
        by_key.is_some() || row.is_some_and(|row| row.raw().get("transcriptFormat").is_some())
    }

    /// Refuses a change of a log of operations that the engine would have to follow.
    pub(super) fn refuse_operations(&self) -> Result<()> {
        if !self.is_operations() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "session {} can be changed like that only by MyAgents",
                self.id()
            ),
        )
        .because(
            "its transcript is a log of operations, and the session of its engine must be changed \
             with it",
        )
        .advising("do it in MyAgents; entries can be appended here while it does not run"))
    }

    /// Refuses to write a log of operations while the app runs: it would notice another writer, and
    /// save nothing to the session until its next start.
    pub(super) fn refuse_while_app_runs(&self) -> Result<()> {
        let Some(pid) = self.asked.running_app else {
            return Ok(());
        };
        Err(Error::new(
            ErrorKind::Busy,
            format!(
                "MyAgents runs (pid {pid}) and may use session {}",
                self.id()
            ),
        )
        .because("it would save nothing to a session that another program changed")
        .advising(Advice::CloseAgent.also("titles can be set meanwhile")))
    }

    /// Refuses to truncate a transcript with unreadable lines: they would be lost, or miscounted.
    pub(super) fn refuse_malformed(&self) -> Result<()> {
        if self.is_sound() {
            Ok(())
        } else {
            Err(self.malformed())
        }
    }

    pub(super) fn malformed(&self) -> Error {
        Error::new(
            ErrorKind::Damaged,
            format!(
                "the transcript of {} has rows that cannot be read",
                self.id()
            ),
        )
        .because("what is rewritten must be read whole first")
        .advising(Advice::check(format!("myagents:{}", self.id())))
    }

    /// Whether the app can parse every line: records that share a line or follow garbage are
    /// malformed to it.
    pub(super) fn is_sound(&self) -> bool {
        let log = self.asked.view.log;
        if self.is_document() {
            let framed =
                |gap: &Span| matches!(gap.kind, SpanKind::Gap(Gap::Frame | Gap::Bom | Gap::Blank));
            return log.gaps.iter().all(framed);
        }
        log.gaps.is_empty()
            && !log
                .heads
                .iter()
                .any(|h| h.flags.has(Flags::GLUED) || h.flags.has(Flags::SALVAGED))
    }

    pub(super) fn is_document(&self) -> bool {
        self.asked.location.framing != Framing::Lines
    }

    pub(super) fn transcript(&self) -> Result<Transcript> {
        Transcript::of(self)
    }

    /// Returns the sums over the first `count` rows.
    pub(super) fn stats(&self, count: usize) -> Result<Stats> {
        let mut stats = Stats::default();
        for slot in self.view().log.slots().take(count) {
            self.view().with_object(slot, |row| stats.count(row))?;
        }
        Ok(stats)
    }

    /// Returns the preview of the first `count` rows.
    pub(super) fn preview(&self, count: usize) -> Result<Option<String>> {
        preview_of(&self.view(), count)
    }

    /// Returns the plan: the collected steps, then the index.
    pub(super) fn finish(self, kind: &str, title: &str) -> Result<Planned> {
        let mut plan = Plan::new(kind, title);
        plan.steps = self.steps;
        plan.steps.extend(
            self.index
                .steps(self.asked.files, self.asked.id_source.now())?,
        );
        let Work {
            session,
            entries,
            already,
            remarks,
            ..
        } = self;
        Ok(Planned {
            plan,
            session,
            entries,
            already,
            remarks,
            ..Planned::default()
        })
    }

    /// Finishes a plan that creates a transcript: the index is written first.
    pub(super) fn finish_index_first(self, kind: &str, title: &str) -> Result<Planned> {
        let mut plan = Plan::new(kind, title);
        plan.steps = self
            .index
            .steps(self.asked.files, self.asked.id_source.now())?;
        plan.steps.extend(self.steps);
        let Work {
            session,
            entries,
            already,
            remarks,
            ..
        } = self;
        Ok(Planned {
            plan,
            session,
            entries,
            already,
            remarks,
            ..Planned::default()
        })
    }
}

/// Returns the preview of the first `count` rows of a transcript.
pub(super) fn preview_of(view: &SessionView<'_>, count: usize) -> Result<Option<String>> {
    for slot in view.log.slots().take(count).rev() {
        let said = view.with_object(slot, |row| {
            let is_user = row.get("role").is_some_and(|role| role.is("user"));
            row.get("content")
                .filter(|_| is_user)
                .and_then(|content| content.text())
                .map(std::borrow::Cow::into_owned)
        })?;
        if let Some(preview) = said
            .flatten()
            .and_then(|text| preview::last_visible([text.as_str()]))
        {
            return Ok(Some(preview));
        }
    }
    Ok(None)
}

/// Sets or removes a member.
pub(super) fn set_or_remove(row: &mut RowEdit, key: &str, value: Option<String>) -> Result<()> {
    match value {
        Some(value) => row.set(key, value),
        None => row.remove(key),
    }
}

/// Returns a title on one line, without control characters.
pub(super) fn one_line(title: &str) -> Result<String> {
    let words: Vec<&str> = title
        .split(|c: char| c.is_control() || c.is_whitespace())
        .filter(|w| !w.is_empty())
        .collect();
    let title = words.join(" ");
    if title.is_empty() || title.len() > LONGEST_TITLE {
        return Err(Error::new(ErrorKind::Invalid, "this is not a valid title")
            .because("a title has 1 to 4096 bytes and is not only white space")
            .advising("give it a few words"));
    }
    Ok(title)
}
