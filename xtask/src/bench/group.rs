//! Bench groups: the type and the list.

use super::append::{AppendDurable, AppendOpen, AppendOs, AppendShared};
use super::bindings::BindingsGroup;
use super::blame::BlameGroup;
use super::check_1gb::Check1Gb;
use super::context_1gb::Context1Gb;
use super::context_native_1gb::ContextNative1Gb;
use super::find::{Databases, FirstIndex, KnownFirstPage, Refresh, Scan, Search, UsageReport};
use super::fsyncs::Fsyncs;
use super::lab::Lab;
use super::mcp::McpGroup;
use super::read_all::ReadAll;
use super::records_1gb::Records1Gb;
use super::remote::RemoteGroup;
use super::screen::ScreenGroup;
use super::serve::ServeGroup;
use super::startup::Startup;
use super::table::Row;
use crate::Outcome;

/// Cases that share their data and their baseline.
pub(crate) trait Group: Sync {
    /// Returns the name on the command line and in the page's markers.
    fn name(&self) -> &'static str;

    /// Returns one sentence: what is compared with what.
    fn about(&self) -> &'static str;

    /// Whether it measures release builds of this workspace, which are made first.
    fn needs_release_build(&self) -> bool {
        true
    }

    /// Creates missing data, measures, and returns the rows of its table.
    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>>;
}

/// All groups, in the order of the page.
pub(crate) const ALL: &[&dyn Group] = &[
    &AppendDurable,
    &AppendOpen,
    &AppendOs,
    &AppendShared,
    &Fsyncs,
    &ContextNative1Gb,
    &Context1Gb,
    &Records1Gb,
    &ReadAll,
    &FirstIndex,
    &Databases,
    &Refresh,
    &KnownFirstPage,
    &Search,
    &Scan,
    &UsageReport,
    &ScreenGroup,
    &ServeGroup,
    &McpGroup,
    &BlameGroup,
    &RemoteGroup,
    &BindingsGroup,
    &Check1Gb,
    &Startup,
];
