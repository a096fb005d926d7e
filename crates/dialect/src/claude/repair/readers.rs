//! The known readers of transcripts, and what each loses because of which damage: measured, see
//! `docs/dialects/claude.md`.

use boswell_model::ProblemKind::{
    DuplicateCall, DuplicateId, GluedRecords, InvalidUtf8, LostBranch, LostTitle, MissingParent,
    MissingResult, NotJson, NulBytes, OrphanResult, ParentCycle, RefusedBlock, TornTail,
};

use crate::KnownReader;

/// Readers that stop at a missing parent.
pub(super) const STOP_AT_GAPS: &[&str] = &["2.1.17", "2.1.50", "sdk-py", "sdk-ts"];
/// Readers that fail on a cycle of parents.
pub(super) const LOST_IN_CIRCLES: &[&str] = &["2.1.17", "2.1.50", "sdk-py", "sdk-ts"];
/// Readers that leave out a call without a result at the end of a session, or return it unchanged.
pub(super) const LEAVE_CALLS_OPEN: &[&str] = &["2.1.17", "2.1.50", "2.1.150", "sdk-py", "sdk-ts"];
/// Versions that end with an error where a message has no content, or an answer is one text, and
/// that stop at a line of `null`.
pub(super) const FAIL_ON_MALFORMED: &[&str] = &["2.1.17", "2.1.50", "2.1.150"];
/// Readers that send blank texts, which the provider rejects.
pub(super) const SEND_BLANKS: &[&str] = &["2.1.17", "2.1.50", "2.1.150"];
/// Whether a client of this version, and all newer ones, omit blank texts. An unknown version is
/// treated as the newest.
pub(in super::super) fn leaves_out_blanks(version: Option<&str>) -> bool {
    let part = |text: &str| {
        text.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
            .parse::<u32>()
            .ok()
    };
    let parts = version
        .map(|it| it.split('.').map_while(part).collect::<Vec<u32>>())
        .filter(|parts| parts.len() > 1);
    let first = READERS
        .iter()
        .filter(|reader| !SEND_BLANKS.contains(&reader.name))
        .find_map(|reader| reader.version);
    parts
        .zip(first)
        .is_none_or(|(parts, first)| parts.as_slice() >= first.as_slice())
}

/// Versions that resume the branch with the newest time, not the one written last.
pub(super) const BY_TIME: &[&str] = &["2.1.17", "2.1.50"];
/// Versions that follow single parents only, so that they see one of several parallel calls.
pub(super) const ONE_PARENT: &[&str] = &["2.1.17", "2.1.50"];

/// The known readers. The SDKs read the files themselves, without a client.
pub(in super::super) const READERS: &[KnownReader] = &[
    KnownReader {
        name: "2.1.17",
        title: "Claude Code 2.1.17",
        version: Some([2, 1, 17]),
        measured_as: Some("2.1.50"),
        loses: &[
            (MissingParent, "everything before the gap"),
            (ParentCycle, "everything: it never comes back"),
            (GluedRecords, "both records, and everything before them"),
            (NotJson, "a record that shares its line with other bytes"),
            (NulBytes, "a record behind NULs"),
            (TornTail, "the next record, which it glues to the torn one"),
            (MissingResult, "the call"),
            (
                OrphanResult,
                "every further request: the answer is sent without its call",
            ),
            (LostBranch, "the branch"),
            (
                RefusedBlock,
                "every further request: the provider refuses the block",
            ),
        ],
    },
    KnownReader {
        name: "2.1.50",
        title: "Claude Code 2.1.50",
        version: Some([2, 1, 50]),
        measured_as: Some("2.1.50"),
        loses: &[
            (MissingParent, "everything before the gap"),
            (ParentCycle, "everything before the circle"),
            (GluedRecords, "both records, and everything before them"),
            (NotJson, "a record that shares its line with other bytes"),
            (NulBytes, "a record behind NULs"),
            (TornTail, "the next record, which it glues to the torn one"),
            (MissingResult, "the call"),
            (
                OrphanResult,
                "every further request: the answer is sent without its call",
            ),
            (LostBranch, "the branch"),
            (
                RefusedBlock,
                "every further request: the provider refuses the block",
            ),
        ],
    },
    KnownReader {
        name: "2.1.150",
        title: "Claude Code 2.1.150",
        version: Some([2, 1, 150]),
        measured_as: Some("2.1.150"),
        loses: &[
            (GluedRecords, "all but the first record of the line"),
            (NotJson, "a record that shares its line with other bytes"),
            (NulBytes, "a record behind NULs"),
            (TornTail, "the next record, which it glues to the torn one"),
            (MissingResult, "the call"),
            (OrphanResult, "the answer"),
            (LostBranch, "the branch"),
            (
                RefusedBlock,
                "every further request: the provider refuses the block",
            ),
        ],
    },
    KnownReader {
        name: "2.1.325",
        title: "Claude Code 2.1.325",
        version: Some([2, 1, 325]),
        measured_as: Some("2.1.325"),
        loses: &[
            (GluedRecords, "all but the first record of the line"),
            (NotJson, "a record that shares its line with other bytes"),
            (NulBytes, "a record behind NULs"),
            (MissingResult, "the call, unless it ends the session"),
            (OrphanResult, "the answer"),
            (DuplicateCall, "the second call"),
            (DuplicateId, "all but the last of the lines"),
            (LostBranch, "the branch"),
            (
                RefusedBlock,
                "every further request: the provider refuses the block",
            ),
            (LostTitle, "the title"),
        ],
    },
    KnownReader {
        name: "sdk-py",
        title: "Claude Agent SDK for Python 0.2",
        version: None,
        measured_as: Some("2.1.50"),
        loses: &[
            (MissingParent, "everything before the gap"),
            (ParentCycle, "the order of messages"),
            (GluedRecords, "both records, and everything before them"),
            (
                NotJson,
                "a record that shares its line with other bytes, and everything before it",
            ),
            (NulBytes, "a record behind NULs, and everything before it"),
            (
                TornTail,
                "the title or tag that it glues to the torn record",
            ),
            (InvalidUtf8, "the session: it stops with an exception"),
            (DuplicateId, "all but the last of the lines"),
            (LostBranch, "the branch"),
        ],
    },
    KnownReader {
        name: "sdk-ts",
        title: "Claude Agent SDK for TypeScript 0.3",
        version: None,
        measured_as: Some("2.1.50"),
        loses: &[
            (MissingParent, "everything before the gap"),
            (ParentCycle, "the order of messages"),
            (GluedRecords, "both records, and everything before them"),
            (
                NotJson,
                "a record that shares its line with other bytes, and everything before it",
            ),
            (
                TornTail,
                "the title or tag that it glues to the torn record",
            ),
            (DuplicateId, "all but the last of the lines"),
            (LostBranch, "the branch"),
        ],
    },
];
