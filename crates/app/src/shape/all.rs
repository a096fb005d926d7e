//! Every shape that stands on a line of its own.

use crate::index::IndexShape;
use crate::projects::ProjectShape;
use crate::prompts::PromptShape;
use crate::resume::ResumeLine;
use crate::search::HitShape;
use crate::secrets::SecretShape;
use crate::stats::StatShape;
use crate::stores::{PairsShape, StoreShape};

use crate::files::{CheckpointFile, FileDifference, FormerFile, RestoreStep, TouchedFile};

use super::{EntryShape, Page, SessionShape, Shape as _, ShapeDefinition};
use crate::archive::ArchiveStep;
use crate::delete::{DeleteStep, SessionOp};
use crate::import::ImportStep;
use crate::purge::PurgeOp;
use crate::scrub::{ScrubCopiesStep, ScrubFileStep, ScrubbedStep};
use crate::store_change::{ChangeStep, StoreChangeOp};

/// Every shape that stands on a line of its own, in the order of the documentation. A shape that is
/// not listed here is not documented: a test compares the list with the source.
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
        TouchedFile::definition(),
        FormerFile::definition(),
        FileDifference::definition(),
        CheckpointFile::definition(),
        RestoreStep::definition(),
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
    ]
}
