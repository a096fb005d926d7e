//! The first commands to try in a demo.

/// Commands, and what each of them shows.
pub(super) const TOUR: &[(&str, &str)] = &[
    ("list", "every session of nine stores"),
    ("search 二元 分词", "find any text, Chinese too"),
    ("show 5ac5", "read one: a bug, a subagent, an edit"),
    ("tree 8045", "its branches and its current leaf"),
    ("files 5ac5", "the files that it read and changed"),
    ("check", "find damage: a full disk cut off one log"),
    ("show 833e", "a damaged log is shown all the same"),
    (
        "repair 833e",
        "plan the repair; --apply does it, undo reverts it",
    ),
    ("secrets", "a key that was pasted, shown masked"),
    ("summarize --missing", "generate titles and summaries"),
    (
        "rename 833e 'Stuck deployment'",
        "write a title in the agent's own format",
    ),
    ("undo", "undo it, byte for byte"),
    ("stats --by model", "count messages, tokens and cost"),
    (
        "resume 5ac5 --print",
        "the agent's own command to resume it",
    ),
];
