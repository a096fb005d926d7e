//! The [`Repairer`] power: problems of one agent's logs, and fixes for them.

use boswell_model::json::Object;
use boswell_model::{Flags, Interner, Problem, Result, SessionMeta, SessionView, Slot, Tip};

use crate::reader::tool_links_of_view;
use crate::{Dialect, Fix, ForkPlace, ReaderLoss, Reading, RepairInput, ToolLink, UnsentReason};

/// An agent with known problems of its own. Problems of bytes, links and tool calls are found and
/// repaired for all dialects by generic code.
pub trait Repairer: Dialect {
    /// Adds the problems that only this dialect can find.
    fn check(
        &self,
        view: &SessionView<'_>,
        meta: &SessionMeta,
        problems: &mut Vec<Problem>,
    ) -> Result<()>;

    /// Passes the tool calls and results of an entry to `sink`, read from the record directly,
    /// which is faster than through its view. Returns flags that are found on the way:
    /// [`Flags::REFUSED`].
    fn tool_links(
        &self,
        object: &Object<'_>,
        names: &mut Interner,
        sink: &mut dyn FnMut(ToolLink),
    ) -> Flags {
        tool_links_of_view(&self.view(object), names, sink)
    }

    /// Returns the entries of a branch that the agent's newest version reaches: fewer than
    /// [`branch`](Dialect::branch) if it loses records that are in the file.
    fn entries_agent_sees(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        self.branch(view, tip)
    }

    /// Returns possible fixes for the problems that only this dialect understands. Called after the
    /// generic fixes for glued, salvaged and duplicate records were applied.
    fn fixes(&self, _input: &RepairInput<'_>) -> Result<Vec<Fix>> {
        Ok(Vec::new())
    }

    /// Predicts what known readers lose of the session; empty if they lose nothing, or if what they
    /// do was never measured. `problems` are those that were found.
    fn losses(&self, _view: &SessionView<'_>, _problems: &[Problem]) -> Result<Vec<ReaderLoss>> {
        Ok(Vec::new())
    }

    /// Returns the names of the known readers that a problem costs something, given the losses of
    /// all readers. Where there is none, the problem is not damage.
    fn hurt(
        &self,
        view: &SessionView<'_>,
        losses: &[ReaderLoss],
        problem: &Problem,
    ) -> Vec<&'static str> {
        let readers = self.facts().readers.iter();
        let hurt = readers.filter(|reader| reader.is_hurt(view.log, losses, problem));
        hurt.map(|reader| reader.name).collect()
    }

    /// Whether it was measured what a known reader makes of sessions.
    fn predicts(&self, _reader: &str) -> bool {
        false
    }

    /// Predicts what a known reader makes of the session; `None` if that was never measured.
    fn reading(&self, _view: &SessionView<'_>, _reader: &str) -> Result<Option<Reading>> {
        Ok(None)
    }

    /// Returns the messages that a known reader does not send, each with the reason; `None` if that
    /// was never measured. A record is sent if a copy of it is.
    fn unsent_records(
        &self,
        _view: &SessionView<'_>,
        _reader: &str,
    ) -> Result<Option<Vec<(Slot, UnsentReason)>>> {
        Ok(None)
    }

    /// Returns the id and key for a repaired fork of the session; `None` if a fork is not possible.
    /// `_original` is the displayed name of its log.
    fn repaired_fork(
        &self,
        _input: &RepairInput<'_>,
        _original: &str,
    ) -> Result<Option<ForkPlace>> {
        Ok(None)
    }
}
