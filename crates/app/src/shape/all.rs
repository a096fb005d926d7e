//! All shapes that are written as a line of their own.

use crate::attachments::AttachmentShape;
use crate::context::{ContextShape, MessageShape};
use crate::export::ExportShape;
use crate::index::IndexShape;
use crate::projects::ProjectShape;
use crate::prompts::PromptShape;
use crate::resume::ResumeLine;
use crate::search::HitShape;
use crate::secrets::SecretShape;
use crate::stats::StatShape;
use crate::stores::{PairsShape, StoreShape};

use crate::files::{CheckpointFile, FileDifference, FormerFile, RestoreStep, TouchedFile};
use crate::tree::NodeShape;

use super::{EntryShape, Page, SessionShape, Shape as _, ShapeDefinition};
use crate::archive::ArchiveStep;
use crate::delete::{DeleteStep, SessionOp};
use crate::import::ImportStep;
use crate::purge::PurgeOp;
use crate::scrub::{ScrubCopiesStep, ScrubFileStep, ScrubbedStep};
use crate::store_change::{ChangeStep, StoreChangeOp};

/// Every shape that is written as a line of its own, in the order of the documentation. A shape
/// that is not listed here is not documented: a test compares the list with the source.
pub fn all() -> Vec<ShapeDefinition> {
    vec![
        SessionShape::definition(),
        Page::definition(),
        HitShape::definition(),
        PromptShape::definition(),
        StatShape::definition(),
        IndexShape::definition(),
        StoreShape::definition(),
        PairsShape::definition(),
        ProjectShape::definition(),
        ResumeLine::definition(),
        SecretShape::definition(),
        EntryShape::definition(),
        NodeShape::definition(),
        ContextShape::definition(),
        MessageShape::definition(),
        AttachmentShape::definition(),
        crate::acknowledgement::ReceiptShape::definition(),
        crate::rewind::RewoundShape::definition(),
        crate::acknowledgement::NoteShape::definition(),
        crate::summarize::SummaryShape::definition(),
        crate::planned_change::PlanStep::definition(),
        crate::planned_change::OperationShape::definition(),
        TouchedFile::definition(),
        FormerFile::definition(),
        FileDifference::definition(),
        CheckpointFile::definition(),
        RestoreStep::definition(),
        ExportShape::definition(),
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
        DeleteStep::definition(),
        SessionOp::definition(),
        PurgeOp::definition(),
        ArchiveStep::definition(),
        ImportStep::definition(),
        ChangeStep::definition(),
        StoreChangeOp::definition(),
        ScrubFileStep::definition(),
        ScrubCopiesStep::definition(),
        ScrubbedStep::definition(),
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
