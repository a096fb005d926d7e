//! Every command that writes, in the dialects with different code paths.

use super::case::{Case, Judged};

const CLAUDE: &str = "claude:5ac5e505-ca12-40e3-a6c1-82bfd1662e80";
const SHOP: &str = "{d}/projects/shop";
/// Lines for `append`: three entries, each acknowledged separately.
const THREE: &str = "{\"role\":\"user\",\"text\":\"one of three\"}\n{\"role\":\"assistant\",\"text\":\"two of three\"}\n{\"role\":\"user\",\"text\":\"three of three\"}\n";
const NO_RETENTION: &[&str] = &[
    "sh",
    "printf '[retention]\\nbefore = \"0s\"\\ndeleted = \"0s\"\\n' > {d}/config.toml; sleep 0.01",
];

/// All cases.
pub fn cases() -> Vec<Case> {
    [
        creating(),
        appending(),
        importing(),
        branching(),
        describing(),
        repairing(),
        summarizing(),
        checkout(),
        memory(),
        forking(),
        deleting(),
        archiving(),
        cleaning_and_moving(),
        bringing_back(),
        side_files(),
        derived(),
        outputs(),
    ]
    .concat()
}

/// `new` in a dialect that needs nothing more to be said.
macro_rules! new_in {
    ($dialect:literal) => {
        Case::new(
            concat!("new ", $dialect),
            &[
                "new",
                "--dialect",
                $dialect,
                "--project",
                SHOP,
                "--title",
                "Fresh",
            ],
        )
    };
}

fn creating() -> Vec<Case> {
    vec![
        Case::new(
            "new boswell",
            &["new", "--project", SHOP, "--title", "Fresh"],
        ),
        new_in!("claude"),
        new_in!("pi"),
        new_in!("omp"),
        new_in!("xcsh"),
        new_in!("myagents"),
        new_in!("clinvoker"),
        Case::new(
            "new oas",
            &[
                "new",
                "--dialect",
                "oas",
                "--project",
                SHOP,
                "--backend",
                "openai/gpt-4o",
            ],
        ),
    ]
}

fn appending() -> Vec<Case> {
    vec![
        Case::new(
            "append boswell",
            &["append", "019a", "--user", "hello again"],
        ),
        Case::new("append boswell-lines", &["append", "019a"])
            .reading(THREE)
            .judged(Judged::Parts),
        Case::new(
            "append boswell-attach",
            &[
                "append",
                "019a",
                "--user",
                "look",
                "--attach",
                "{d}/picture.png",
            ],
        ),
        Case::new(
            "append claude",
            &["append", "833e", "--user", "hello again"],
        ),
        Case::new("append pi", &["append", "80459", "--user", "hello again"]),
        Case::new(
            "append omp",
            &["append", "demoRss", "--user", "hello again"],
        ),
        Case::new("append xcsh", &["append", "15ae", "--user", "hello again"]),
        Case::new(
            "append myagents",
            &["append", "b8cc", "--user", "hello again"],
        ),
        Case::new("append oas", &["append", "476e", "--user", "hello again"]),
    ]
}

fn importing() -> Vec<Case> {
    vec![
        Case::new("import claude", &["import", "{d}/home/.claude/projects/SHOP/5ac5e505-ca12-40e3-a6c1-82bfd1662e80.jsonl"]).judged(Judged::Parts),
        Case::new("import document", &["import", "{d}/doc.json"])
            .after(&[&["export", CLAUDE, "--format", "json", "-o", "{d}/doc.json"]])
            .judged(Judged::Parts),
        Case::new("import codex", &["import", "{d}/home/.codex/sessions/2026/10/25/rollout-2026-10-25T13-00-00-ad4b5f79-905d-7142-a365-c37251cd26cd.jsonl"]).judged(Judged::Parts),
        Case::new("import damaged", &["import", "{d}/home/.claude/projects/SHOP/833ea297-bc15-46f2-af48-b629cdef98bd.jsonl"]).judged(Judged::Parts),
    ]
}

fn branching() -> Vec<Case> {
    vec![
        Case::new("branch boswell", &["branch", "019a", "538454127b096493"]),
        Case::new(
            "branch pi",
            &["branch", "80459", "9f28cd7a", "--summary", "left behind"],
        ),
        Case::new(
            "branch claude",
            &["branch", "5ac5", "7001829f-4eb2-44eb-ae38-2d49a867ff61"],
        ),
        Case::new("rewind boswell", &["rewind", "019a", "1715609f7c746c69"]),
        Case::new(
            "rewind claude",
            &["rewind", "5ac5", "5a6594a4-5ea5-4583-a5d8-686cb4d0a9de"],
        ),
        Case::new("rewind myagents", &["rewind", "b8cc", "#1", "--apply"]),
    ]
}

fn describing() -> Vec<Case> {
    vec![
        Case::new("rename boswell", &["rename", "019a", "Another name"]),
        Case::new("rename claude", &["rename", "833e", "Another name"]),
        Case::new("rename pi", &["rename", "80459", "Another name"]),
        Case::new("rename omp", &["rename", "demoRss", "Another name"]),
        Case::new("rename myagents", &["rename", "b8cc", "Another name"]),
        Case::new("rename clinvoker", &["rename", "2c37", "Another name"]),
        Case::new("rename note", &["rename", "476e", "Another name"]),
        Case::new("tag boswell", &["tag", "019a", "later"]),
        Case::new("tag claude", &["tag", "5ac5", "later"]),
        Case::new("tag clinvoker", &["tag", "2c37", "later"]),
        Case::new("tag note", &["tag", "80459", "later"]),
        Case::new("untag boswell", &["untag", "019a", "later"]).after(&[&["tag", "019a", "later"]]),
        Case::new("untag note", &["untag", "80459", "earlier"]),
        Case::new(
            "label boswell",
            &["label", "019a", "08d12e6b76c84d11", "a label"],
        ),
        Case::new("label pi", &["label", "80459", "9f28cd7a", "a label"]),
        Case::new(
            "label note",
            &[
                "label",
                "5ac5",
                "7001829f-4eb2-44eb-ae38-2d49a867ff61",
                "a label",
            ],
        ),
        Case::new("status boswell", &["status", "019a", "paused"]),
        Case::new("status clinvoker", &["status", "2c37", "paused"]),
        Case::new(
            "status note",
            &["status", "833e", "error", "--message", "it hangs"],
        ),
        Case::new("close boswell", &["close", "019a"]),
    ]
}

fn repairing() -> Vec<Case> {
    vec![
        Case::new("migrate pi", &["migrate", "aged", "--apply"]),
        Case::new("repair claude", &["repair", "833e", "--apply"]),
        Case::new(
            "repair in-place",
            &["repair", "833e", "--apply", "--in-place", "--step", "1"],
        ),
        Case::new("repair pi", &["repair", "aged", "--apply", "--likely"]),
    ]
}

fn summarizing() -> Vec<Case> {
    vec![
        // Title and summary are one note each: a torn line leaves the first of them.
        Case::new("summarize extract", &["summarize", "833e"])
            .after(&[&["sh", "printf '' > {d}/config.toml"]])
            .judged(Judged::Parts),
        Case::new("summarize program", &["summarize", "833e"]).judged(Judged::Parts),
        Case::new(
            "summarize missing",
            &["summarize", "--missing", "--limit", "3"],
        )
        .judged(Judged::Parts),
    ]
}

fn checkout() -> Vec<Case> {
    vec![Case::new(
        "checkout claude",
        &[
            "checkout",
            "5ac5",
            "5a6594a4-5ea5-4583-a5d8-686cb4d0a9de",
            "--force",
            "--apply",
        ],
    )]
}

fn memory() -> Vec<Case> {
    vec![
        Case::new(
            "memory add",
            &["memory", "add", "extra", "one more fact", "--project", SHOP],
        ),
        Case::new(
            "memory add-claude",
            &[
                "memory",
                "add",
                "extra",
                "one more fact",
                "--project",
                SHOP,
                "--agent",
                "claude",
            ],
        ),
        Case::new(
            "memory edit",
            &[
                "memory",
                "edit",
                "money",
                "whole new page",
                "--project",
                SHOP,
                "--agent",
                "claude",
            ],
        ),
        Case::new(
            "memory rm",
            &[
                "memory",
                "rm",
                "--apply",
                "money",
                "--project",
                SHOP,
                "--agent",
                "claude",
            ],
        ),
    ]
}

fn forking() -> Vec<Case> {
    vec![
        Case::new("fork boswell", &["fork", "019a"]),
        Case::new("fork claude", &["fork", "5ac5"]),
        Case::new("fork claude-sdk", &["fork", "5ac5", "--style", "sdk"]),
        Case::new("fork pi-whole", &["fork", "80459", "--whole"]),
        Case::new("fork omp", &["fork", "demoRss"]),
        Case::new("fork myagents", &["fork", "b8cc"]),
        Case::new("fork clinvoker", &["fork", "2c37"]),
        Case::new("fork oas", &["fork", "476e"]),
    ]
}

fn deleting() -> Vec<Case> {
    vec![
        Case::new("delete boswell", &["delete", "019a", "--apply"]),
        Case::new("delete claude", &["delete", "5ac5", "--apply"]),
        Case::new("delete pi", &["delete", "80459", "--apply"]),
        Case::new("delete myagents", &["delete", "b8cc", "--apply"]),
        Case::new("delete clinvoker", &["delete", "2c37", "--apply"]),
        Case::new("delete oas", &["delete", "476e", "--apply"]),
        Case::new("delete codex", &["delete", "codex:ad4b", "--apply"]),
        Case::new("delete several", &["delete", "80459", "demoRss", "--apply"])
            .judged(Judged::Parts),
        Case::new("purge boswell", &["delete", "019a", "--purge", "--apply"]),
        Case::new("purge claude", &["delete", "5ac5", "--purge", "--apply"]),
        Case::new("purge myagents", &["delete", "b8cc", "--purge", "--apply"]),
        Case::new("purge kept", &["delete", "5ac5", "--purge", "--apply"]).after(&[
            &["keep", "run"],
            &["tag", "5ac5", "later"],
            &["summarize", "5ac5"],
            &["index"],
        ]),
    ]
}

fn archiving() -> Vec<Case> {
    vec![
        Case::new("archive boswell", &["archive", "019a", "--apply"]).after(&[&[
            "status",
            "019a",
            "completed",
        ]]),
        Case::new("archive claude", &["archive", "5ac5", "--apply"]),
        Case::new("archive myagents", &["archive", "b8cc", "--apply"]),
        Case::new("archive clinvoker", &["archive", "2c37", "--apply"]),
        Case::new(
            "archive several",
            &["archive", "80459", "demoRss", "--apply"],
        )
        .judged(Judged::Parts),
    ]
}

fn cleaning_and_moving() -> Vec<Case> {
    vec![
        Case::new(
            "clean older",
            &["clean", "--older-than", "1d", "--agent", "pi", "--apply"],
        )
        .judged(Judged::Parts),
        Case::new(
            "clean leftovers",
            &["clean", "--leftovers", "--agent", "claude", "--apply"],
        ),
        Case::new("clean vault", &["clean", "--vault", "--apply"])
            .after(&[&["delete", "80459", "--apply"], NO_RETENTION])
            .judged(Judged::Parts),
        Case::new(
            "move claude-pi",
            &["move", SHOP, "{d}/projects/store", "--apply"],
        )
        .after(&[&["sh", "mv {d}/projects/shop {d}/projects/store"]])
        .judged(Judged::Parts),
    ]
}

fn bringing_back() -> Vec<Case> {
    vec![
        Case::new("restore deleted", &["restore", CLAUDE]).after(&[&["delete", "5ac5", "--apply"]]),
        Case::new("restore archived", &["restore", CLAUDE])
            .after(&[&["archive", "5ac5", "--apply"]]),
        Case::new(
            "restore myagents",
            &["restore", "myagents:b8cc3c41-d97a-4e8c-a9bc-7d62f396c650"],
        )
        .after(&[&["archive", "b8cc", "--apply"]]),
        Case::new("restore kept", &["restore", CLAUDE]).after(&[
            &["keep", "run"],
            &["sh", "rm -r {d}/home/.claude/projects/SHOP/5ac5e505*"],
        ]),
        Case::new("undo rename", &["undo", "{op}"]).after(&[&["rename", "833e", "Another name"]]),
        Case::new("undo header", &["undo", "{op}"]).after(&[&[
            "rename",
            "demoRss",
            "Another name",
        ]]),
        Case::new("undo delete", &["undo", "{op}"]).after(&[&["delete", "5ac5", "--apply"]]),
        Case::new("undo move", &["undo", "{op}"]).after(&[
            &["sh", "mv {d}/projects/shop {d}/projects/store"],
            &["move", SHOP, "{d}/projects/store", "--apply"],
        ]),
        Case::new("undo memory", &["undo", "{op}"]).after(&[&[
            "memory",
            "rm",
            "--apply",
            "money",
            "--project",
            SHOP,
            "--agent",
            "claude",
        ]]),
        Case::new("undo undo", &["undo", "{op}"])
            .after(&[&["rename", "demoRss", "Another name"], &["undo"]]),
    ]
}

fn side_files() -> Vec<Case> {
    vec![
        Case::new("keep on", &["keep", "on", "--apply"]).judged(Judged::Parts),
        Case::new("keep off", &["keep", "off"])
            .after(&[&["keep", "on", "--apply"]])
            .judged(Judged::Parts),
        Case::new("keep run", &["keep", "run"]).judged(Judged::Parts),
        Case::new("keep grown", &["keep", "run"])
            .after(&[&["keep", "run"], &["append", "833e", "--user", "grown"]])
            .judged(Judged::Parts),
        // With automatic copies on, every command copies changed files after its output.
        Case::new("rename kept", &["rename", "833e", "Another name"])
            .after(&[&["keep", "on", "--apply"]]),
    ]
}

/// Commands that only update derived data.
fn derived() -> Vec<Case> {
    vec![
        Case::new("index all", &["index"]),
        Case::new("index rebuild", &["index", "--rebuild"]).after(&[&["index"]]),
        Case::new("index native", &["index", "--native", "--apply"]),
        Case::new("list stale", &["list"]).after(&[&[
            "append",
            "80459",
            "--user",
            "not in the catalog",
        ]]),
        Case::new("search first", &["search", "cents"]),
        Case::new("stats first", &["stats"]),
        Case::new("prompts first", &["prompts"]),
    ]
}

fn outputs() -> Vec<Case> {
    vec![
        Case::new(
            "export json",
            &["export", CLAUDE, "--format", "json", "-o", "{d}/out.json"],
        )
        .judged(Judged::Output),
        Case::new(
            "export html",
            &["export", CLAUDE, "--format", "html", "-o", "{d}/out.html"],
        )
        .judged(Judged::Output),
        Case::new("export jsonl", &["export", CLAUDE, "-o", "{d}/out.jsonl"])
            .judged(Judged::Output),
        Case::new(
            "attachments extract",
            &["attachments", "019a", "--extract", "{d}/out"],
        )
        .after(&[&[
            "append",
            "019a",
            "--user",
            "look",
            "--attach",
            "{d}/picture.png",
        ]])
        .judged(Judged::Output),
        Case::new("doctor bundle", &["doctor", "--bundle", "{d}/out.json"]).judged(Judged::Output),
        Case::new("man output", &["man", "--output", "{d}/out"]).judged(Judged::Output),
        Case::new("demo again", &["demo", "{d}/out"]).judged(Judged::Output),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own() {
        let names: Vec<&str> = cases().iter().map(|case| case.name).collect();
        let different: std::collections::BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), different.len());
    }
}
