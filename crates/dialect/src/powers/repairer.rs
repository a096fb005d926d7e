//! Problems of one agent's logs, and what can be done about them.

use boswell_model::json::Object;
use boswell_model::{Flags, Interner, Problem, Result, SessionMeta, SessionView, Slot, Tip};

use crate::reader::tool_links_of_view;
use crate::{Dialect, Fix, ForkPlace, RepairInput, ToolLink};

/// An agent whose own problems are known. Those of bytes, links and calls are found and repaired
/// for all dialects alike.
pub trait Repairer: Dialect {
    /// Adds problems that only this dialect knows.
    fn check(
        &self,
        view: &SessionView<'_>,
        meta: &SessionMeta,
        problems: &mut Vec<Problem>,
    ) -> Result<()>;

    /// Calls and answers that an entry holds, by the ids of the calls, read from the record itself:
    /// faster than from its view. Gives what else is seen in passing: [`Flags::REFUSED`].
    fn tool_links(
        &self,
        object: &Object<'_>,
        names: &mut Interner,
        sink: &mut dyn FnMut(ToolLink),
    ) -> Flags {
        tool_links_of_view(&self.view(object), names, sink)
    }

    /// The entries of a branch that the agent's newest version itself reaches: fewer than
    /// [`branch`](Dialect::branch) gives where it loses records that are in the file.
    fn entries_agent_sees(&self, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
        self.branch(view, tip)
    }

    /// What could be done about problems that only this dialect understands. Records that share a
    /// line, follow garbage or are there twice are repaired for all dialects alike, before this is
    /// asked.
    fn fixes(&self, _input: &RepairInput<'_>) -> Result<Vec<Fix>> {
        Ok(Vec::new())
    }

    /// Two goals that cannot both be reached for this session, and why.
    fn exclusive(
        &self,
        _input: &RepairInput<'_>,
        _goals: &[&'static str],
    ) -> Result<Option<String>> {
        Ok(None)
    }

    /// Where a repaired fork of the session goes; `original` is how people name its log. None
    /// where none can be made.
    fn repaired_fork(
        &self,
        _input: &RepairInput<'_>,
        _original: &str,
    ) -> Result<Option<ForkPlace>> {
        Ok(None)
    }
}
