//! The facts of pi and of the programs that share its format.

use super::flavour::Flavour;
use super::repair::READERS;
use crate::{
    BlobPolicy, Capabilities, Capability, Depth, DialectFacts, ForkOrigin, HistoryKind,
    ImageIntake, Intake, MemoryPolicy, Support, ThinkingIntake, UntiedFile,
};

const FAMILY: DialectFacts = DialectFacts {
    sessions_folder: Some("sessions"),
    check_depth: Depth::Calls,
    readers: READERS,
    answer_sets_model: true,
    has_own_records: true,
    forks_all_branches: true,
    forks_to_other_projects: true,
    log_is_session: true,
    keeps_breadcrumbs: true,
    intake: Some(Intake {
        thinking: ThinkingIntake::Text,
        images: ImageIntake::PromptsAndResults,
        ..Intake::PLAIN
    }),
    ..DialectFacts::new("pi", "pi")
};

macro_rules! table {
    ($title:ident, $metadata:ident, $resume:ident) => {
        &[
            (Capability::Read, Support::Native),
            (Capability::Context, Support::Native),
            (Capability::Append, Support::Native),
            (Capability::Branch, Support::Native),
            (Capability::Rewind, Support::Native),
            (Capability::Fork, Support::Native),
            (Capability::Title, Support::$title),
            (Capability::Tag, Support::$metadata),
            (Capability::Label, Support::Native),
            (Capability::Status, Support::$metadata),
            (Capability::Delete, Support::Native),
            (Capability::Resume, Support::$resume),
        ]
    };
}

const PI_CAN: &[(Capability, Support)] = table!(Native, Note, Native);
/// Their title is in the first line of the file, so a new title needs a new file.
const HEIRS_CAN: &[(Capability, Support)] = table!(Rewrites, Note, Native);
/// Boswell is not an agent: no program could resume its conversations.
const OWN_CAN: &[(Capability, Support)] = table!(Native, Native, No);

/// The prompt history of xcsh and oh-my-pi.
const HISTORY: &[UntiedFile] = &[UntiedFile {
    path: "history.db",
    what: "prompts in the history of its agent",
    is_database: true,
}];

static PI: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(PI_CAN),
    fork_origin: ForkOrigin::Path,
    ..FAMILY
};

static OMP: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(HEIRS_CAN),
    name: "omp",
    title: "oh-my-pi",
    agent: "omp",
    blobs: BlobPolicy::Omp,
    fork_origin: ForkOrigin::PathOfBranch,
    // Current versions of oh-my-pi have their own rules for what is added to the history.
    prompt_history: HistoryKind::Database {
        takes_prompts: false,
    },
    untied_files: HISTORY,
    rewrites_logs: true,
    ..FAMILY
};

static XCSH: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(HEIRS_CAN),
    name: "xcsh",
    title: "xcsh",
    agent: "xcsh",
    blobs: BlobPolicy::Xcsh,
    fork_origin: ForkOrigin::PathOfBranch,
    prompt_history: HistoryKind::Database {
        takes_prompts: true,
    },
    untied_files: HISTORY,
    rewrites_logs: true,
    ..FAMILY
};

static BOSWELL: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(OWN_CAN),
    name: "boswell",
    title: "Boswell",
    agent: "boswell",
    is_own: true,
    sessions_folder: None,
    blobs: BlobPolicy::Own,
    memory: MemoryPolicy::Own,
    intake: Some(Intake {
        thinking: ThinkingIntake::Everything,
        states_models: true,
        images: ImageIntake::PromptsAndResults,
        ..Intake::PLAIN
    }),
    ..FAMILY
};

pub(super) fn of(flavour: Flavour) -> &'static DialectFacts {
    match flavour {
        Flavour::Pi => &PI,
        Flavour::Omp => &OMP,
        Flavour::Xcsh => &XCSH,
        Flavour::Boswell => &BOSWELL,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pi;
    use super::*;
    use crate::Dialect;

    #[test]
    fn only_our_own_store_has_a_place_for_tags_and_only_agents_resume() {
        let support = |pi: Pi, operation| pi.facts().capabilities.support(operation);
        assert_eq!(support(Pi::PI, Capability::Title), Support::Native);
        assert_eq!(support(Pi::XCSH, Capability::Title), Support::Rewrites);
        assert_eq!(support(Pi::OMP, Capability::Tag), Support::Note);
        assert_eq!(support(Pi::BOSWELL, Capability::Tag), Support::Native);
        assert_eq!(support(Pi::BOSWELL, Capability::Resume), Support::No);
        for operation in Capability::ALL {
            assert_ne!(
                support(Pi::PI, operation),
                Support::No,
                "{}",
                operation.word()
            );
        }
    }
}
