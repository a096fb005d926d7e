//! The list of all shapes that are written as lines.

use super::{
    EntryRange, EntryShape, ErrorShape, NoticeShape, Page, ProgressShape, ServingShape,
    SessionShape, Shape as _, ShapeDefinition,
};
use crate::acknowledgement::{NoteShape, ReceiptShape};
use crate::archive::ArchiveStep;
use crate::attachments::AttachmentShape;
use crate::blame::{BlameShape, CommitBlameShape, ProjectFile};
use crate::changes::{ChangeShape, HealthShape};
use crate::check::{DamageShape, WarningShape};
use crate::clean::{CleanStep, LockStep, VaultStep};
use crate::context::{ContextShape, MessageShape};
use crate::convert::ConversionShape;
use crate::delete::DeleteStep;
use crate::demo::DemoShape;
use crate::doctor::ReportShape;
use crate::export::ExportShape;
use crate::files::{CheckpointFile, FileDifference, FormerFile, RestoreStep, TouchedFile};
use crate::handoff::HandoffShape;
use crate::heads::HeadsShape;
use crate::index::IndexShape;
use crate::keep::{KeepShape, KeepStep, KeptShape};
use crate::memory::{MemoryChanged, MemoryHit, MemoryProblemShape, MemoryShape};
use crate::operations::LoggedOperation;
use crate::outline::OutlineShape;
use crate::planned_change::{OperationShape, PlanStep};
use crate::projects::ProjectShape;
use crate::prompts::PromptShape;
use crate::purge::PurgeOp;
use crate::repair::{LossShape, RepairPlanShape, RepairStepShape, UnsentShape};
use crate::resume::ResumeLine;
use crate::rewind::RewoundShape;
use crate::scrub::{ScrubCopiesStep, ScrubFileStep, ScrubbedStep};
use crate::search::HitShape;
use crate::secrets::SecretShape;
use crate::settings::SettingShape;
use crate::stats::StatShape;
use crate::statusline::StatuslineShape;
use crate::store_change::ChangeStep;
use crate::stores::{PairsShape, StoreShape};
use crate::summarize::SummaryShape;
use crate::today::TodayShape;
use crate::tree::NodeShape;

macro_rules! definitions {
    ($($shape:ident)*) => {
        vec![$($shape::definition()),*]
    };
}

/// Returns every shape that is written as a line, in the order of the documentation. A shape that
/// is not listed here is not documented: a test compares the list with the source.
pub fn all() -> Vec<ShapeDefinition> {
    let mut all = found();
    all.extend(read());
    all.extend(changed());
    all.extend(kept());
    all
}

/// Shapes about sessions and stores.
fn found() -> Vec<ShapeDefinition> {
    definitions![
        SessionShape Page HitShape PromptShape StatShape IndexShape StoreShape PairsShape
        ProjectShape SecretShape
    ]
}

/// Shapes about the content of a session.
fn read() -> Vec<ShapeDefinition> {
    definitions![
        EntryShape EntryRange HeadsShape NodeShape ContextShape MessageShape AttachmentShape CheckpointFile TouchedFile
        FormerFile FileDifference SummaryShape ExportShape ResumeLine
        HandoffShape OutlineShape TodayShape StatuslineShape BlameShape CommitBlameShape
        ProjectFile
    ]
}

/// Shapes about changes and plans.
fn changed() -> Vec<ShapeDefinition> {
    definitions![
        ConversionShape
        DamageShape WarningShape LossShape UnsentShape ReceiptShape RewoundShape NoteShape PlanStep
        RepairStepShape RepairPlanShape RestoreStep DeleteStep ArchiveStep ChangeStep CleanStep VaultStep
        LockStep ScrubFileStep ScrubCopiesStep ScrubbedStep KeepStep OperationShape LoggedOperation
        PurgeOp
    ]
}

/// Shapes about boswell's own data and environment.
fn kept() -> Vec<ShapeDefinition> {
    definitions![
        KeepShape KeptShape MemoryShape MemoryChanged MemoryHit MemoryProblemShape ReportShape
        SettingShape DemoShape ErrorShape NoticeShape ChangeShape HealthShape ServingShape
        ProgressShape
    ]
}
