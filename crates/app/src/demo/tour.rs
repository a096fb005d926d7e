//! The first commands to try in a demo.

/// Commands, and what each of them shows.
pub(super) const TOUR: &[(&str, &str)] = &[
    ("list", "every session of nine stores, last active first"),
    ("search 二元 分词", "find any text; 中文 too"),
    ("show 5ac5", "read one: a bug, a subagent, an edit"),
    ("tree 8045", "branches, and the current leaf"),
    ("files 5ac5", "what its tools read and changed"),
    (
        "check",
        "what is damaged: one log was cut off by a full disk",
    ),
    ("show 833e", "and is read as far as it goes"),
    (
        "repair 833e",
        "how it would be repaired; --apply does it, and undo reverts it",
    ),
    ("secrets", "a key in a pasted text, never shown whole"),
    ("summarize --missing", "titles and summaries, kept as notes"),
    (
        "rename 833e 'Stuck deployment'",
        "a change in an agent's own format",
    ),
    ("undo", "and back, bit for bit"),
    ("stats --by model", "messages, tokens, cost"),
    ("resume 5ac5 --print", "the agent's own command to resume"),
];
