//! Every shape that stands on a line of its own.

use super::{EntryShape, Page, SessionShape, Shape as _, ShapeDefinition};

/// Every shape that stands on a line of its own, in the order of the documentation. A shape that is
/// not listed here is not documented: a test compares the list with the source.
pub fn all() -> Vec<ShapeDefinition> {
    vec![
        SessionShape::definition(),
        Page::definition(),
        EntryShape::definition(),
        crate::check::DamageShape::definition(),
        crate::check::WarningShape::definition(),
        crate::repair::RepairStepShape::definition(),
        crate::repair::LossShape::definition(),
        crate::repair::RepairOperation::definition(),
        crate::operations::LoggedOperation::definition(),
        crate::clean::CleanStep::definition(),
        crate::clean::VaultStep::definition(),
        crate::clean::LockStep::definition(),
        crate::clean::CleanOperation::definition(),
        crate::doctor::ReportShape::definition(),
        crate::settings::SettingShape::definition(),
    ]
}
