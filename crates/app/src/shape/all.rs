//! Every shape that stands on a line of its own.

use super::{EntryShape, Page, SessionShape, Shape as _, ShapeDefinition};

/// Every shape that stands on a line of its own, in the order of the documentation. A shape that is
/// not listed here is not documented: a test compares the list with the source.
pub fn all() -> Vec<ShapeDefinition> {
    vec![
        SessionShape::definition(),
        Page::definition(),
        EntryShape::definition(),
        crate::planned_change::PlanStep::definition(),
        crate::keep::KeepStep::definition(),
        crate::keep::KeepShape::definition(),
        crate::keep::KeptShape::definition(),
        crate::memory::MemoryShape::definition(),
        crate::memory::MemoryChanged::definition(),
        crate::memory::MemoryHit::definition(),
        crate::memory::MemoryProblemShape::definition(),
        crate::demo::DemoShape::definition(),
    ]
}
