//! The cases of xcsh: recorded messages, and the messages that are sent.

/// A case: the upstream test, the recorded messages, the messages that are sent.
///
/// Recorded: `u:` a user text, `c:` a custom message, `s:` an assistant text, `a:` an assistant
/// message with calls (`id=tool`, comma-separated), `r:` a result (`id=text`), `{` a whole message,
/// or the type of another entry before its object. Sent: role, author, parts; a result as
/// `id@author=parts`; `!id` is a result that was generated for a call.
type Case = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

pub(super) const ORDER: &[Case] = &[
    (
        "messages-repair:57 correctly ordered messages pass",
        &["u:do something", "a:tc1=read", "r:tc1=done"],
        &["user@user:do something", "assistant", "tc1@agent=done"],
    ),
    (
        "messages-repair:71 a custom message between call and result",
        &["u:do something", "a:tc1=read", "c:reminder", "r:tc1=done"],
        &[
            "user@user:do something",
            "assistant",
            "tc1@agent=done",
            "user:reminder",
        ],
    ),
    (
        "messages-repair:87 a result that is missing entirely",
        &["u:do something", "a:tc1=bash", "u:next turn"],
        &[
            "user@user:do something",
            "assistant",
            "!tc1 bash",
            "user@user:next turn",
        ],
    ),
    (
        "messages-repair:104 several calls with something in between",
        &[
            "u:multi",
            "a:tc1=read,tc2=grep",
            "c:injected",
            "r:tc1=1",
            "r:tc2=2",
        ],
        &[
            "user@user:multi",
            "assistant",
            "tc1@agent=1",
            "tc2@agent=2",
            "user:injected",
        ],
    ),
    (
        "messages-repair:123 a result that stands later",
        &[
            "u:start",
            "a:tc1=read",
            "u:typed meanwhile",
            "u:another",
            "r:tc1=done",
        ],
        &[
            "user@user:start",
            "assistant",
            "tc1@agent=done",
            "user@user:typed meanwhile|another",
        ],
    ),
    (
        "messages-repair:137 nothing was called",
        &["u:hello", "s:hi there", "u:thanks"],
        &["user@user:hello", "assistant:hi there", "user@user:thanks"],
    ),
    (
        "messages-repair:166 none of several calls has a result",
        &["u:multi", "a:tc1=read,tc2=grep,tc3=find", "u:next turn"],
        &[
            "user@user:multi",
            "assistant",
            "!tc1 read",
            "!tc2 grep",
            "!tc3 find",
            "user@user:next turn",
        ],
    ),
    (
        "messages-repair:187 two answers in a row, each without results",
        &["u:start", "a:tc1=read", "a:tc2=grep", "u:end"],
        &[
            "user@user:start",
            "assistant",
            "!tc1 read",
            "assistant",
            "!tc2 grep",
            "user@user:end",
        ],
    ),
    (
        "messages-repair:206 a result that moves stands there once",
        &[
            "u:start",
            "a:tc1=read",
            "u:typed",
            "a:tc2=grep",
            "r:tc2=2",
            "r:tc1=late",
        ],
        &[
            "user@user:start",
            "assistant",
            "tc1@agent=late",
            "user@user:typed",
            "assistant",
            "tc2@agent=2",
        ],
    ),
    (
        "messages-repair:225 a result behind the boundary of a compaction",
        &[
            "u:do work",
            "a:tc1=bash",
            "c:boundary",
            "c:more",
            "r:tc1=done",
        ],
        &[
            "user@user:do work",
            "assistant",
            "tc1@agent=done",
            "user:boundary|more",
        ],
    ),
    (
        "messages-repair:243 an answer that was pushed away finds its result",
        &["u:start", "a:tc1=read", "a:tc2=grep", "r:tc1=1", "r:tc2=2"],
        &[
            "user@user:start",
            "assistant",
            "tc1@agent=1",
            "assistant",
            "tc2@agent=2",
        ],
    ),
    (
        "messages-repair:538 no second result for an answer that was pushed away",
        &[
            "u:start",
            "a:tc1=read",
            "a:tc2=grep",
            "r:tc1=1",
            "u:intervening",
            "r:tc2=real",
        ],
        &[
            "user@user:start",
            "assistant",
            "tc1@agent=1",
            "assistant",
            "tc2@agent=real",
            "user@user:intervening",
        ],
    ),
    ("messages-repair:556 nothing", &[], &[]),
    (
        "messages-repair:561 only the user speaks",
        &["u:hello", "u:world"],
        &["user@user:hello|world"],
    ),
    (
        // This version of xcsh sends it, and providers reject it; later versions drop it, and so do
        // we.
        "messages-repair:569 a result without a call",
        &["u:start", "r:tc-orphan=orphaned", "u:end"],
        &["user@user:start|end"],
    ),
    (
        "messages-repair:621 several results of an answer that was pushed away",
        &[
            "u:start",
            "a:tc1=read",
            "a:tc2=grep,tc3=find",
            "r:tc1=1",
            "u:in",
            "r:tc2=2",
            "u:between",
            "r:tc3=3",
        ],
        &[
            "user@user:start",
            "assistant",
            "tc1@agent=1",
            "assistant",
            "tc2@agent=2",
            "tc3@agent=3",
            "user@user:in|between",
        ],
    ),
    (
        "messages-repair:770 a failed result of a call without input",
        &[
            "u:go",
            "a:tc1=read",
            r#"{"role":"toolResult","toolCallId":"tc1","toolName":"read","content":[{"type":"text","text":"bad input"}],"isError":true}"#,
        ],
        &["user@user:go", "assistant", "tc1@agent=bad input"],
    ),
    (
        "messages-repair:807 texts of the user in a row become one",
        &["u:one", "u:two", "u:three", "s:ok", "u:four"],
        &["user@user:one|two|three", "assistant:ok", "user@user:four"],
    ),
    (
        "messages-repair:822 results keep users apart",
        &["u:one", "a:tc1=read", "r:tc1=done", "u:two"],
        &[
            "user@user:one",
            "assistant",
            "tc1@agent=done",
            "user@user:two",
        ],
    ),
    (
        "messages-repair:835 wedged, pushed away and late at once",
        &[
            "u:start",
            "a:tc1=read",
            "c:injected",
            "a:tc2=grep",
            "r:tc1=1",
            "u:typed",
            "r:tc2=2",
        ],
        &[
            "user@user:start",
            "assistant",
            "tc1@agent=1",
            "user:injected",
            "assistant",
            "tc2@agent=2",
            "user@user:typed",
        ],
    ),
];

pub(super) const KINDS: &[Case] = &[
    (
        "messages-repair:272 a command that is kept from the model",
        &[
            "u:start",
            r#"{"role":"bashExecution","command":"x","output":"y","exitCode":0,"excludeFromContext":true}"#,
        ],
        &["user@user:start"],
    ),
    (
        "messages-repair:291 a command",
        &[
            r#"{"role":"bashExecution","command":"ls -la","output":"total 8","exitCode":0,"cancelled":false}"#,
        ],
        &["user@user:Ran `ls -la`\n```\ntotal 8\n```"],
    ),
    (
        "messages-repair:311 a mentioned file",
        &[r#"{"role":"fileMention","files":[{"path":"src/a.ts","content":"let a;"}]}"#],
        &[
            "user@user:<system-reminder>\n<file path=\"src/a.ts\">\nlet a;\n</file>\n</system-reminder>",
        ],
    ),
    (
        "messages-repair:332 a custom message of one string",
        &["c:injected"],
        &["user:injected"],
    ),
    (
        "messages-repair:349 a result that was pruned is one text",
        &[
            "a:tc1=read",
            r#"{"role":"toolResult","toolCallId":"tc1","content":[{"type":"text","text":"first"},{"type":"image","data":"x"},{"type":"text","text":" second"}],"isError":false,"prunedAt":100}"#,
        ],
        &["assistant", "tc1@agent=first second"],
    ),
    (
        "messages-repair:373 a result that was pruned of all its text",
        &[
            "a:tc1=read",
            r#"{"role":"toolResult","toolCallId":"tc1","content":[],"isError":false,"prunedAt":100}"#,
        ],
        &["assistant", "tc1@agent=[Output truncated]"],
    ),
    (
        "messages-repair:393 the summary of a branch",
        &[r#"branch_summary "summary":"auth done","fromId":"x""#],
        &["user@agent:<summary>\nauth done\n</summary>"],
    ),
    (
        "messages-repair:410 the summary of a compaction keeps what the provider gave",
        &[
            r#"compaction "summary":"condensed","tokensBefore":5,"preserveData":{"openaiRemoteCompaction":{"provider":"openai","replacementHistory":[{"id":"item1"}]}}"#,
        ],
        &[r#"user@agent:<summary>
condensed
</summary> {"type":"openaiResponsesHistory","provider":"openai","items":[{"id":"item1"}]}"#],
    ),
    (
        "messages-repair:430 the agent is behind a result",
        &["a:tc1=read", "r:tc1=done"],
        &["assistant", "tc1@agent=done"],
    ),
    (
        "messages-repair:441 a mentioned picture",
        &[
            r#"{"role":"fileMention","files":[{"path":"s.png","content":"","image":{"type":"image","data":"aa","mimeType":"image/png"}}]}"#,
        ],
        &["user@user:<system-reminder>\n<file path=\"s.png\">\n</file>\n</system-reminder>|image"],
    ),
    (
        "messages-repair:470 Python that is kept from the model",
        &[
            "u:start",
            r#"{"role":"pythonExecution","code":"x","output":"y","excludeFromContext":true}"#,
        ],
        &["user@user:start"],
    ),
    (
        "messages-repair:489 a hook message of old",
        &[
            r#"{"role":"hookMessage","customType":"old","content":[{"type":"text","text":"hook"}],"display":true}"#,
        ],
        &["user:hook"],
    ),
    (
        "messages-repair:506 the user is behind what the user says",
        &["u:hello"],
        &["user@user:hello"],
    ),
    (
        "messages-repair:512 the agent is behind what the developer says",
        &[r#"{"role":"developer","content":"guidance"}"#],
        &["developer@agent:guidance"],
    ),
    (
        "messages-repair:526 nobody is behind an answer",
        &["a:tc1=read", "r:tc1=x"],
        &["assistant", "tc1@agent=x"],
    ),
    (
        "messages-repair:583 a custom message of several parts",
        &[
            r#"custom_message "customType":"t","content":[{"type":"text","text":"1"},{"type":"text","text":"2"}],"display":true"#,
        ],
        &["user:1|2"],
    ),
    (
        "messages-repair:605 a mentioned file without content",
        &[r#"{"role":"fileMention","files":[{"path":"large.bin","content":""}]}"#],
        &["user@user:<system-reminder>\n<file path=\"large.bin\">\n</file>\n</system-reminder>"],
    ),
    (
        "messages-repair:654 several files in one message",
        &[
            r#"{"role":"fileMention","files":[{"path":"a","content":"1"},{"path":"b","content":"2"},{"path":"c","content":"3"}]}"#,
        ],
        &[
            "user@user:<system-reminder>\n<file path=\"a\">\n1\n</file>\n\n<file path=\"b\">\n2\n</file>\n\n<file path=\"c\">\n3\n</file>\n</system-reminder>",
        ],
    ),
    (
        "messages-repair:678 who is behind it already stays",
        &[r#"{"role":"user","content":[{"type":"text","text":"hello"}],"attribution":"agent"}"#],
        &["user@agent:hello"],
    ),
    (
        "messages-repair:692 Python",
        &[r#"{"role":"pythonExecution","code":"print(42)","output":"42","exitCode":0}"#],
        &["user@user:Ran Python:\n```python\nprint(42)\n```\nOutput:\n```\n42\n```"],
    ),
];
