//! What is always true of pi and of the programs that share its format.

use super::flavour::Flavour;
use super::repair::READERS;
use crate::{BlobPolicy, Depth, DialectFacts, ForkOrigin, HistoryKind, MemoryPolicy, UntiedFile};

const FAMILY: DialectFacts = DialectFacts {
    sessions_folder: Some("sessions"),
    check_depth: Depth::Calls,
    readers: READERS,
    appends: true,
    has_own_records: true,
    log_is_session: true,
    keeps_breadcrumbs: true,
    ..DialectFacts::new("pi", "pi")
};

/// The prompt history of xcsh and oh-my-pi.
const HISTORY: &[UntiedFile] = &[UntiedFile {
    path: "history.db",
    what: "prompts in the history of its agent",
    is_database: true,
}];

static PI: DialectFacts = DialectFacts {
    fork_origin: ForkOrigin::Path,
    ..FAMILY
};

static OMP: DialectFacts = DialectFacts {
    name: "omp",
    title: "oh-my-pi",
    agent: "omp",
    blobs: BlobPolicy::Omp,
    fork_origin: ForkOrigin::PathOfBranch,
    // Today's oh-my-pi has rules of its own for what goes there.
    prompt_history: HistoryKind::Database {
        takes_prompts: false,
    },
    untied_files: HISTORY,
    ..FAMILY
};

static XCSH: DialectFacts = DialectFacts {
    name: "xcsh",
    title: "xcsh",
    agent: "xcsh",
    blobs: BlobPolicy::Xcsh,
    fork_origin: ForkOrigin::PathOfBranch,
    prompt_history: HistoryKind::Database {
        takes_prompts: true,
    },
    untied_files: HISTORY,
    ..FAMILY
};

static BOSWELL: DialectFacts = DialectFacts {
    name: "boswell",
    title: "Boswell",
    agent: "boswell",
    is_own: true,
    sessions_folder: None,
    blobs: BlobPolicy::Own,
    memory: MemoryPolicy::Own,
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
