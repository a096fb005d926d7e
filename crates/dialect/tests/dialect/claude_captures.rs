//! Every file that the real client wrote: read whole, and standing where the
//! client takes it up again.
//!
//! Tips and contexts were compared with the requests of Claude Code 2.1.325
//! resuming the same files.

#![expect(
    clippy::disallowed_methods,
    reason = "tests over captures read real files, named by the environment, and stop at the first that is not there"
)]

use boswell_dialect::claude::{Claude, project_key};
use boswell_dialect::{Dialect, MemoryFiles};
use boswell_model::EntryKind;

use crate::claude_support::{Session, files_below, root};

/// Scenario and file, tip, how many entries the branch has, roles of the context, first
/// and last text of it.
const EXPECTED: &[(&str, &str, usize, &str, &str, &str)] = &[
    (
        "apierror/r-work/aaaaaaaa-0001-4001-8001-000000000001",
        "eb6e4d5a",
        12,
        "usssssuu",
        "SCRIPT=[[{\"error\":400}]]",
        "again",
    ),
    (
        "attach/h-work/aaaaaaaa-0001-4001-8001-000000000001",
        "617da279",
        35,
        "sussssssususuausauuauusa",
        "<text 93>",
        "ECHO: see @CLAUDE.md ple",
    ),
    (
        "bigoutput/t-work/aaaaaaaa-0001-4001-8001-000000000001",
        "fe8db957",
        17,
        "usssssuauauaua",
        "SCRIPT=[[{\"tool\":\"Bash\",",
        "ECHO: next",
    ),
    (
        "checkpoint/t-work/aaaaaaaa-0001-4001-8001-000000000001",
        "58aa189f",
        21,
        "usssssuauauuauaua",
        "SCRIPT=[[{\"tool\":\"Read\",",
        "edited again",
    ),
    (
        "childsess/s-work/651258a6-abfc-4ca1-8ed4-909046733ade",
        "354f9cb2",
        9,
        "usssua",
        "child",
        "ECHO: child",
    ),
    (
        "compact/t-work/aaaaaaaa-0001-4001-8001-000000000001",
        "8723e447",
        29,
        "uauuussusssua",
        "<text 1064>",
        "ECHO: after compact",
    ),
    (
        "concurrent/t-work/aaaaaaaa-0001-4001-8001-000000000001",
        "2a163d9a",
        18,
        "usssuauauauausa",
        "base",
        "ECHO: elsewhere",
    ),
    (
        "cut/t-work/aaaaaaaa-0001-4001-8001-000000000001",
        "e26f2870",
        13,
        "usssssuaua",
        "SCRIPT=[[{\"text\":\"partia",
        "ECHO: Your response abov",
    ),
    (
        "denied/d-work/aaaaaaaa-0001-4001-8001-000000000001",
        "2d1864e0",
        11,
        "usssuaua",
        "SCRIPT=[[{\"tool\":\"Bash\",",
        "ok",
    ),
    (
        "fork/k-work/aaaaaaaa-0001-4001-8001-000000000001",
        "1efd78f6",
        13,
        "usssssuaua",
        "first",
        "ECHO: second",
    ),
    (
        "fork/k-work/aaaaaaaa-0002-4002-8002-000000000002",
        "f267fc98",
        15,
        "usssssuauaua",
        "first",
        "ECHO: forked2",
    ),
    (
        "fork/k-work/c44d224e-2a4e-40f8-acdb-55d8a025f282",
        "162cba28",
        15,
        "usssssuauaua",
        "first",
        "ECHO: forked turn",
    ),
    (
        "git/t-work/aaaaaaaa-0001-4001-8001-000000000001",
        "5297f2dc",
        16,
        "usssssuauausa",
        "on main",
        "ECHO: cross resume",
    ),
    (
        "git/git-wt/aaaaaaaa-0002-4002-8002-000000000002",
        "fc291944",
        11,
        "usssssua",
        "in worktree",
        "ECHO: in worktree",
    ),
    (
        "interactive/e-work/33bddc9c-b23b-4c6c-8676-88287c555cac",
        "32bccd75",
        17,
        "usssssssuaua",
        "Please fix the login bug",
        "ECHO: after rewind",
    ),
    (
        "interactive/e-work/9620801f-a583-4ea6-8952-4c3088ca0184",
        "28009b89",
        51,
        "uauuuuuuuusssssuuusua",
        "<text 1077>",
        "ECHO: in the branch",
    ),
    (
        "interactive/e-work/c99b62da-2c1a-4a93-b269-80d1dbf6d76f",
        "0b0c70d6",
        41,
        "uauuuuuuuusssss",
        "<text 1077>",
        "<text 161>",
    ),
    (
        "interactive/e-work/d9c15322-f507-421b-a3e8-c431c8d1091b",
        "275dc6df",
        21,
        "usssssssuauaussa",
        "Please fix the login bug",
        "ECHO: probe",
    ),
    (
        "interactive/e-work/debac6b4-c627-46b3-b510-ca1d834262b6",
        "12eca9cc",
        17,
        "uuuusssssssua",
        "<text 217>",
        "ECHO: after clear",
    ),
    (
        "killed/d-work/aaaaaaaa-0001-4001-8001-000000000001",
        "f3ef88c3",
        14,
        "usssuauaua",
        "K SCRIPT=[[{\"text\":\"work",
        "ECHO: after kill",
    ),
    (
        "lean/n-work/aaaaaaaa-0001-4001-8001-000000000001",
        "193dc3a7",
        11,
        "usssssua",
        "hello world",
        "ECHO: hello world",
    ),
    (
        "live/e-work/aaaaaaaa-0001-4001-8001-000000000001",
        "7f664b9c",
        17,
        "usssssssuaua",
        "live one",
        "ECHO: live two",
    ),
    (
        "moved/d-work/aaaaaaaa-0001-4001-8001-000000000001",
        "f9e5cc43",
        12,
        "usssuausa",
        "before move",
        "ECHO: y",
    ),
    (
        "moved/-work2/507f9c73-10ba-4834-86ce-17aa5c037140",
        "e3b9a31f",
        9,
        "usssua",
        "x",
        "ECHO: x",
    ),
    (
        "multi/i-work/aaaaaaaa-0001-4001-8001-000000000001",
        "97379d11",
        15,
        "usssssuauaua",
        "first",
        "ECHO: third",
    ),
    (
        "name/e-work/aaaaaaaa-0001-4001-8001-000000000001",
        "73d51d3e",
        13,
        "usssssuaua",
        "hello",
        "ECHO: by name",
    ),
    (
        "old-1.0.128/8-work/0ec56b92-8320-4df4-bd81-f659ff8c50a6",
        "root",
        0,
        "",
        "",
        "",
    ),
    (
        "old-1.0.128/8-work/6d186475-9e0f-4410-a175-401bb25d574e",
        "root",
        0,
        "",
        "",
        "",
    ),
    (
        "old-1.0.128/8-work/aaaaaaaa-0001-4001-8001-000000000001",
        "05240c8c",
        17,
        "uuuuaua",
        "<text 184>",
        "ECHO: after compact",
    ),
    (
        "old-1.0.128/8-work/cba230de-cd6f-40ce-b0b5-f91340783c92",
        "root",
        0,
        "",
        "",
        "",
    ),
    (
        "old-2.0.76/6-work/7ad86532-c57a-4413-a093-108ba9dfa047",
        "root",
        0,
        "",
        "",
        "",
    ),
    (
        "old-2.0.76/6-work/a13eaf22-38b5-4885-beca-a9343f43b859",
        "root",
        0,
        "",
        "",
        "",
    ),
    (
        "old-2.0.76/6-work/a5620ef6-e0be-495d-96d6-e305272716f0",
        "root",
        0,
        "",
        "",
        "",
    ),
    (
        "old-2.0.76/6-work/aaaaaaaa-0001-4001-8001-000000000001",
        "a81a7f50",
        17,
        "uuuuaua",
        "<text 184>",
        "ECHO: after compact",
    ),
    (
        "old-2.0.76/6-work/agent-a016bda",
        "67d93cd5",
        2,
        "ua",
        "Warmup",
        "ECHO: Warmup",
    ),
    (
        "old-2.0.76/6-work/agent-a4d685e",
        "bb06535e",
        2,
        "ua",
        "sub says hi",
        "ECHO: sub says hi",
    ),
    (
        "old-2.0.76/6-work/agent-a828723",
        "2a0066c5",
        2,
        "ua",
        "Warmup",
        "ECHO: Warmup",
    ),
    (
        "old-2.0.76/6-work/agent-a90a8f1",
        "9c7c93db",
        2,
        "ua",
        "Warmup",
        "ECHO: Warmup",
    ),
    (
        "old-2.0.76/6-work/agent-aa1d348",
        "aeb0d459",
        2,
        "ua",
        "Warmup",
        "ECHO: Warmup",
    ),
    (
        "old-2.0.76/6-work/agent-ab3d76b",
        "62667cc6",
        2,
        "ua",
        "Warmup",
        "ECHO: Warmup",
    ),
    (
        "old-2.0.76/6-work/agent-aba88f3",
        "0c5cbb4f",
        2,
        "ua",
        "Warmup",
        "ECHO: Warmup",
    ),
    (
        "old-2.0.76/6-work/agent-abb7d70",
        "cbbf8873",
        2,
        "ua",
        "Warmup",
        "ECHO: Warmup",
    ),
    (
        "old-2.0.76/6-work/agent-ad58928",
        "f0627742",
        2,
        "ua",
        "Warmup",
        "ECHO: Warmup",
    ),
    (
        "old-2.1.150/0-work/aaaaaaaa-0001-4001-8001-000000000001",
        "d8ad1780",
        19,
        "uuuuaua",
        "<text 475>",
        "ECHO: after compact",
    ),
    (
        "old-2.1.150/0-work/agent-a7b90716f2266524e",
        "9b991d65",
        3,
        "ua",
        "sub says hi",
        "ECHO: sub says hi",
    ),
    (
        "old-2.1.17/7-work/aaaaaaaa-0001-4001-8001-000000000001",
        "32d32f90",
        17,
        "uuuuaua",
        "<text 497>",
        "ECHO: after compact",
    ),
    (
        "old-2.1.17/7-work/agent-aa1d38a",
        "b5472dcb",
        2,
        "ua",
        "sub says hi",
        "ECHO: sub says hi",
    ),
    (
        "old-2.1.220/0-work/aaaaaaaa-0001-4001-8001-000000000001",
        "0a315378",
        24,
        "uauuuuaua",
        "<text 756>",
        "ECHO: after compact",
    ),
    (
        "old-2.1.220/0-work/agent-a66e97705edac7d13",
        "69d79050",
        3,
        "ua",
        "sub says hi",
        "ECHO: sub says hi",
    ),
    (
        "old-2.1.50/0-work/aaaaaaaa-0001-4001-8001-000000000001",
        "f2158495",
        17,
        "uuuuaua",
        "<text 497>",
        "ECHO: after compact",
    ),
    (
        "old-2.1.50/0-work/agent-a022a0ff84428a289",
        "3499f9b1",
        2,
        "ua",
        "sub says hi",
        "ECHO: sub says hi",
    ),
    (
        "paths/------/58add483-a828-4027-85e7-88ecac8678f5",
        "da0b2ab8",
        9,
        "usssua",
        "unicode",
        "ECHO: unicode",
    ),
    (
        "paths/rk----/167df23b-8239-4b84-90a5-7856d74baebf",
        "aba611de",
        9,
        "usssua",
        "cjk",
        "ECHO: cjk",
    ),
    (
        "paths/en-dir/2fb6b81d-26bd-417a-9505-f4785e093948",
        "7e811e39",
        9,
        "usssua",
        "dot",
        "ECHO: dot",
    ),
    (
        "paths/rk-ABC/9b49903e-638d-408f-b2bc-d7a56d0ed2fd",
        "3ac6078d",
        9,
        "usssua",
        "upper",
        "ECHO: upper",
    ),
    (
        "paths/d-e--f/0f0b38fe-a286-42f1-9f84-5066835e59b0",
        "a58cb54f",
        9,
        "usssua",
        "special",
        "ECHO: special",
    ),
    (
        "paths/-a-b-c/054e6589-b12d-4cc6-8feb-874aa84d5f9f",
        "c4eb39cd",
        9,
        "usssua",
        "coll2",
        "ECHO: coll2",
    ),
    (
        "paths/-a-b-c/7bb2fad8-69e3-4e0d-8d47-6630ac87d70a",
        "26f111e1",
        9,
        "usssua",
        "coll1",
        "ECHO: coll1",
    ),
    (
        "paths/rk-a-b/8991a4f8-7030-4345-94e9-40677bd3fbac",
        "3576bb1f",
        9,
        "usssua",
        "under",
        "ECHO: under",
    ),
    (
        "paths/k-caf-/18a056ad-fae7-45c1-ac95-45bbc1d2d437",
        "15911542",
        9,
        "usssua",
        "nfc",
        "ECHO: nfc",
    ),
    (
        "paths/-cafe-/c7b5085e-26d9-475a-b04d-a220ca46a3f3",
        "30696980",
        9,
        "usssua",
        "nfd",
        "ECHO: nfd",
    ),
    (
        "paths/roject/007a4667-946e-45ab-918a-391bd434f3d8",
        "4ffe687c",
        9,
        "usssua",
        "link",
        "ECHO: link",
    ),
    (
        "paths/roject/8903b7c6-2483-4b70-8dd3-0a009aa56c40",
        "6b79a620",
        9,
        "usssua",
        "space",
        "ECHO: space",
    ),
    (
        "paths/k-p--q/b0f0f3bb-6635-42b4-9d2b-e978f12f9c2b",
        "ccc17bd3",
        9,
        "usssua",
        "emoji",
        "ECHO: emoji",
    ),
    (
        "paths/xxxxxx/1ca53e7a-8530-410f-8c7e-4ea7ed3d687c",
        "7debd64d",
        9,
        "usssua",
        "k",
        "ECHO: k",
    ),
    (
        "paths/xxxxxx/63e0612d-de26-4782-af66-4082b4945978",
        "5b6c8949",
        9,
        "usssua",
        "k",
        "ECHO: k",
    ),
    (
        "plain/n-work/aaaaaaaa-0001-4001-8001-000000000001",
        "91f1a721",
        12,
        "ussssssua",
        "hello world",
        "ECHO: hello world",
    ),
    (
        "rewindat/t-work/aaaaaaaa-0001-4001-8001-000000000001",
        "1b8b1b83",
        13,
        "usssssuaua",
        "first",
        "ECHO: replacement",
    ),
    (
        "sdkops/s-work/aaaaaaaa-0001-4001-8001-000000000001",
        "c9c0503a",
        12,
        "ussssuaua",
        "hello ops",
        "ECHO: by title",
    ),
    (
        "sdkops/s-work/d1490bb5-9c89-4c55-a874-f6d380c5d9be",
        "f0b63204",
        12,
        "ussssuaua",
        "hello ops",
        "ECHO: by title",
    ),
    (
        "sdkops/s-work/d98f139c-bf79-48f9-99b3-81a39658f36f",
        "6df6cbeb",
        10,
        "ussssua",
        "hello ops",
        "ECHO: hello ops",
    ),
    (
        "sdkstore/e-work/49957ba0-598b-4d6a-ab9b-340ceec68957",
        "3a84ae23",
        12,
        "ussssuaua",
        "SCRIPT=[[{\"tool\":\"Agent\"",
        "done",
    ),
    (
        "sdkstore/e-work/agent-aa6c21faa9b49e96a",
        "da3e51fd",
        9,
        "usssua",
        "sub hi",
        "ECHO: sub hi",
    ),
    (
        "sessreg/g-work/aaaaaaaa-0001-4001-8001-000000000001",
        "7162e2ef",
        11,
        "usssuaua",
        "SCRIPT=[[{\"tool\":\"Bash\",",
        "x",
    ),
    (
        "strace1/1-work/7ed7cc9d-9e5c-4395-b210-860827006e35",
        "a6aa3c82",
        9,
        "usssua",
        "hello",
        "ECHO: hello",
    ),
    (
        "subagent/t-work/aaaaaaaa-0001-4001-8001-000000000001",
        "e4e2385f",
        18,
        "usssssuauuaua",
        "<text 403>",
        "ECHO: after sub",
    ),
    (
        "subagent/t-work/agent-a0b8d756dccbea103",
        "5240c82e",
        9,
        "usssua",
        "say two",
        "ECHO: say two",
    ),
    (
        "subagent/t-work/agent-af2cd256bb72477c3",
        "061e8fc5",
        13,
        "usssuaussa",
        "SCRIPT=[[{\"tool\":\"Bash\",",
        "sub result",
    ),
    (
        "subbg/g-work/aaaaaaaa-0001-4001-8001-000000000001",
        "cdfdad3d",
        15,
        "usssssuauaua",
        "SCRIPT=[[{\"tool\":\"Agent\"",
        "notified",
    ),
    (
        "subbg/g-work/agent-a4024874f9f1016f2",
        "dcca3ecb",
        9,
        "usssua",
        "bg says hi",
        "ECHO: bg says hi",
    ),
    (
        "subnested/d-work/aaaaaaaa-0001-4001-8001-000000000001",
        "942e88eb",
        13,
        "usssssuaua",
        "SCRIPT=[[{\"tool\":\"Agent\"",
        "parent done",
    ),
    (
        "subnested/d-work/agent-a581627d251d69c2c",
        "12f71341",
        9,
        "usssua",
        "inner says hi",
        "ECHO: inner says hi",
    ),
    (
        "subnested/d-work/agent-ac8456491128db4e1",
        "b2e4a545",
        13,
        "usssuaussa",
        "SCRIPT=[[{\"tool\":\"Agent\"",
        "outer result",
    ),
    (
        "tasks/s-work/aaaaaaaa-0001-4001-8001-000000000001",
        "91d22218",
        17,
        "usssssssuauua",
        "SCRIPT=[[{\"tool\":\"TaskCr",
        "ok",
    ),
    (
        "tasks2/2-work/aaaaaaaa-0001-4001-8001-000000000001",
        "08966a24",
        10,
        "usssaua",
        "SCRIPT=[[{\"tool\":\"TaskCr",
        "ok",
    ),
    (
        "tooluse/e-work/22222222-2222-4222-8222-222222222222",
        "7d4d46b0",
        27,
        "usssssssuauuauauauaua",
        "<text 574>",
        "all done",
    ),
    (
        "u2028/8-work/53463dd7-2f79-4c2a-b84e-f99907444a20",
        "c0fe7e87",
        11,
        "usssuaua",
        "first\u{2028}line two\u{85}nel",
        "ECHO: second",
    ),
    (
        "u2028/8-work/aaaaaaaa-0001-4001-8001-000000000001",
        "f19bae4a",
        11,
        "usssuaua",
        "first\u{2028}line two\u{85}nel",
        "ECHO: second",
    ),
    (
        "u2028/8-work/eb9335f2-4567-4c77-9946-826f889d8df8",
        "74ced6c4",
        3,
        "ua",
        "second",
        "ECHO: second",
    ),
    (
        "worktree/mytree/aaaaaaaa-0002-4002-8002-000000000002",
        "a809c0d3",
        12,
        "usssssusua",
        "with -w flag",
        "ECHO: with -w flag",
    ),
    (
        "worktree/ub-dir/aaaaaaaa-0003-4003-8003-000000000003",
        "52fade2f",
        12,
        "usssssusua",
        "in subdir",
        "ECHO: in subdir",
    ),
    (
        "worktree/ree-wt/aaaaaaaa-0001-4001-8001-000000000001",
        "b2d1a0b0",
        12,
        "usssssusua",
        "in wt",
        "ECHO: in wt",
    ),
];

#[test]
fn every_capture_stands_where_the_client_takes_it_up_again() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let files = files_below(&root.join("claude-code"), ".jsonl");
    let mut seen = 0;
    for (name, tip, branch, roles, first, last) in EXPECTED {
        let path = files
            .iter()
            .find(|path| short(path) == *name)
            .unwrap_or_else(|| panic!("{name} is missing"));
        let session = Session::read(path);
        assert_eq!(session.tip_label(), *tip, "{name}: tip");
        assert_eq!(session.branch().len(), *branch, "{name}: branch");
        let messages = session.messages();
        let sent: String = messages
            .iter()
            .map(|(role, _)| role.chars().next().unwrap_or('?'))
            .collect();
        assert_eq!(sent, *roles, "{name}: roles");
        let text = |message: Option<&(String, String)>| {
            message.map_or("", |(_, text)| text.as_str()).to_owned()
        };
        assert_eq!(cut(&text(messages.first())), *first, "{name}: first");
        assert_eq!(cut(&text(messages.last())), *last, "{name}: last");
        seen += 1;
    }
    assert_eq!(seen, files.len(), "a capture without an expectation");
}

/// The scenario and the start of the file's name.
fn short(path: &std::path::Path) -> String {
    let name = |path: &std::path::Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let project = path
        .ancestors()
        .find(|p| name(p).starts_with("-srv"))
        .unwrap_or(path);
    let scenario = project.parent().map(name).unwrap_or_default();
    let folder = name(project);
    let tail: String = folder
        .chars()
        .rev()
        .take(6)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    format!(
        "{scenario}/{tail}/{}",
        name(path).trim_end_matches(".jsonl")
    )
}

fn cut(text: &str) -> String {
    text.chars().take(24).collect()
}

#[test]
fn spans_tile_every_capture() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let files = files_below(&root.join("claude-code"), ".jsonl");
    assert!(files.len() > 90);
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(
            crate::claude_support::spans(&bytes),
            bytes,
            "{}",
            path.display()
        );
    }
}

#[test]
fn no_line_of_a_capture_is_of_an_unknown_kind() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    for path in files_below(&root.join("claude-code"), ".jsonl") {
        let session = Session::read(&path);
        assert_eq!(session.read.log.gaps, [], "{}", path.display());
        for (slot, head) in session.read.log.entries() {
            assert_ne!(
                head.kind,
                EntryKind::Unknown,
                "{}: {}",
                path.display(),
                session.read.log.word(slot)
            );
        }
    }
}

#[test]
fn project_keys_of_the_captures_follow_from_the_folders_they_name() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let mut checked = 0;
    for path in files_below(&root.join("claude-code/paths"), ".jsonl") {
        let folder = path
            .parent()
            .and_then(|p| p.file_name())
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let project = Session::read(&path).read.meta.project.unwrap();
        // The folders were renamed in the captures, so long ones no longer have
        // the hash of their path.
        if folder.len() <= 200 && project_key(&project).len() <= 200 {
            assert_eq!(project_key(&project), folder);
            checked += 1;
        }
    }
    assert!(checked >= 12, "{checked}");
}

#[test]
fn facts_of_captures_are_those_that_the_client_recorded() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let meta = |scenario: &str, start: &str| {
        let files = files_below(&root.join("claude-code").join(scenario), ".jsonl");
        let name = |path: &std::path::PathBuf| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(start)
        };
        Session::read(files.iter().find(|path| name(path)).unwrap())
            .read
            .meta
    };
    let plain = meta("plain", "aaaa");
    assert_eq!(plain.stated.usage.cost, Some(0.058_460_000_000_000_005));
    assert_eq!(plain.usage.total().output, Some(20));
    assert_eq!(plain.models, ["claude-opus-5-5"]);
    assert_eq!((plain.messages, plain.turns), (2, 1));
    let renamed = meta("interactive", "33bddc9c");
    assert_eq!(renamed.title.as_deref(), Some("Login bug fix"));
    assert_eq!(renamed.title_source.as_deref(), Some("user"));
    assert!(renamed.duration_ms.is_some());
    let branched = meta("interactive", "9620801f");
    assert_eq!(
        branched.parent.as_deref(),
        Some("c99b62da-2c1a-4a93-b269-80d1dbf6d76f")
    );
    let agent = meta("old-2.0.76", "agent-a016bda");
    assert_eq!(agent.hidden, Some("subagent"));
    assert_eq!(
        meta("git", "aaaa").git_branch.as_deref(),
        Some("wt"),
        "last held in a worktree"
    );
}

#[test]
fn the_branch_that_a_second_client_wrote_over_is_reported() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let lost = |scenario: &str| -> usize {
        files_below(&root.join("claude-code").join(scenario), ".jsonl")
            .iter()
            .map(|p| Session::read(p).problems().len())
            .sum()
    };
    assert_eq!(lost("concurrent"), 1);
    for scenario in [
        "multi",
        "rewindat",
        "compact",
        "interactive",
        "attach",
        "old-1.0.128",
        "subagent",
    ] {
        assert_eq!(lost(scenario), 0, "{scenario}");
    }
}

/// The files below a folder as a store.
fn memory_files(folder: &std::path::Path) -> MemoryFiles {
    let mut files = MemoryFiles::default();
    for path in files_below(folder, "") {
        let key = path
            .strip_prefix(folder)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        files.put(&key, std::fs::read(&path).unwrap(), None);
    }
    files
}

#[test]
fn stores_of_captures_are_discovered_from_their_folders() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let files = memory_files(&root.join("claude-code/old-2.0.76"));
    let found = Claude.discover(&files).unwrap();
    let count = |hidden: Option<&str>| found.sessions.iter().filter(|s| s.hidden == hidden).count();
    assert_eq!(
        (count(None), count(Some("empty")), count(Some("subagent"))),
        (1, 3, 9)
    );
    let files = memory_files(&root.join("claude-code/subagent"));
    let found = Claude.discover(&files).unwrap();
    let owned = found
        .sessions
        .iter()
        .filter(|s| s.owner.as_deref() == Some("aaaaaaaa-0001-4001-8001-000000000001"));
    assert_eq!(owned.count(), 2);
    let main = found.sessions.iter().find(|s| s.hidden.is_none()).unwrap();
    assert_eq!(Claude.side_files(&files, main).unwrap().len(), 4);
    let files = memory_files(&root.join("claude-code/old-2.1.17"));
    assert!(
        Claude.discover(&files).unwrap().problems.is_empty(),
        "its index lists the one session there is"
    );
}
