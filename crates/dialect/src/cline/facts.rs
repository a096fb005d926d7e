//! The constants of Cline and of the programs that came from it.

use crate::{Capabilities, Capability, DialectFacts, Support};

use super::{ClineFamily, FRAMING};

const READ: &[(Capability, Support)] = &[
    (Capability::Read, Support::Native),
    (Capability::Context, Support::Native),
];

static CLINE: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(&[
        (Capability::Read, Support::Native),
        (Capability::Context, Support::Native),
        (Capability::Resume, Support::Native),
    ]),
    document_framing: Some(FRAMING),
    ..DialectFacts::new("cline", "Cline")
};

static ROO: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(READ),
    sessions_folder: Some("tasks"),
    document_framing: Some(FRAMING),
    ..DialectFacts::new("roo", "Roo Code")
};

static KILO: DialectFacts = DialectFacts {
    capabilities: Capabilities::new(READ),
    sessions_folder: Some("tasks"),
    document_framing: Some(FRAMING),
    ..DialectFacts::new("kilo-code", "Kilo Code (extension)")
};

pub(super) fn of(program: ClineFamily) -> &'static DialectFacts {
    match program {
        ClineFamily::Cline => &CLINE,
        ClineFamily::Roo => &ROO,
        ClineFamily::Kilo => &KILO,
    }
}
