//! The commands of the tour.

/// Shows no line: the source of a page or a script.
const NOTHING: usize = 0;

/// All of a short answer.
const ALL: usize = 40;

/// The log of another agent, in place of the file in the demo's folder.
pub(super) const LOG: &str = "rollout.jsonl";

/// A file that a session of the demo changed, in place of the one in the demo's folder.
pub(super) const CODE: &str = "src/coupon.rs";

/// A command of the tour.
pub(super) struct Step {
    /// The sentence before it.
    pub(super) about: &'static str,
    pub(super) args: &'static [&'static str],
    pub(super) code: i32,
    /// How many lines of the answer are shown.
    pub(super) shown: usize,
    /// Parts of the right answer: each must be printed.
    pub(super) telling: &'static [&'static str],
}

const fn step(
    about: &'static str,
    args: &'static [&'static str],
    (code, shown): (i32, usize),
    telling: &'static [&'static str],
) -> Step {
    Step {
        about,
        args,
        code,
        shown,
        telling,
    }
}

const FIND: &[Step] = &[
    step(
        "All sessions, most recently active first:",
        &["list"],
        (0, 12),
        &["ID", "shop", "blog", "claude", "codex"],
    ),
    step(
        "Text in any session of any agent:",
        &["search", "二元"],
        (0, ALL),
        &["分词"],
    ),
    step(
        "Your prompts to all agents:",
        &["prompts", "coupon"],
        (0, ALL),
        &["The coupon SPRING10 takes 10.01 off"],
    ),
    step(
        "What was done in a time, by project, for a stand-up:",
        &["today", "--since", "2026-01-01", "--until", "2027-01-01"],
        (0, 14),
        &["### Asked", "### Changed", "SPRING10"],
    ),
    step(
        "Memory files of agents:",
        &["memory", "all", "search", "cents"],
        (0, 1),
        &["Amounts are whole cents"],
    ),
    step(
        "Project folders with their sessions:",
        &["projects"],
        (0, ALL),
        &["projects/shop", "projects/blog"],
    ),
    step(
        "The stores that were found, and what each supports:",
        &["stores"],
        (0, ALL),
        &["Claude Code: read context append", "codex", "own"],
    ),
];

const READ: &[Step] = &[
    step(
        "The transcript of a session:",
        &["show", "5ac5"],
        (0, 26),
        &["SPRING10"],
    ),
    step(
        "Its prompts, changed files, failures and open ends:",
        &["outline", "5ac5"],
        (0, 14),
        &["## Prompts", "1. ", "SPRING10", "src/coupon.rs"],
    ),
    step(
        "Which session wrote each line of a file, and because of which prompt:",
        &["blame", CODE],
        (0, ALL),
        &["unexplained: 2 of 3 lines", "SPRING10"],
    ),
    step(
        "Its branches; ● is on the current branch, ◉ is the current leaf:",
        &["tree", "8045"],
        (0, ALL),
        &["cause found"],
    ),
    step(
        "The messages that the model would be sent next:",
        &["context", "d542"],
        (0, 6),
        &["user"],
    ),
    step(
        "The files that it read or changed:",
        &["files", "5ac5"],
        (0, 4),
        &["src/coupon.rs"],
    ),
    step(
        "Its images and other attachments:",
        &["attachments", "5ac5"],
        (0, ALL),
        &["has no attachments"],
    ),
    step(
        "Messages, tokens and cost:",
        &["stats", "5ac5"],
        (0, 12),
        &["messages", "tool calls"],
    ),
    step(
        "New entries as agents write them:",
        &["watch", "--for", "100ms"],
        (0, NOTHING),
        &[],
    ),
    step(
        "A page with all of it in a browser; `--no-open` prints its address:",
        &["web", "--no-open", "--quiet", "--for", "100ms"],
        (0, NOTHING),
        &["/#k="],
    ),
    step(
        "The same JSON over HTTP, for programs:",
        &["serve", "--quiet", "--for", "100ms"],
        (0, NOTHING),
        &["http://127.0.0.1:"],
    ),
    step(
        "A line for an agent's status line, which gets the session on standard input:",
        &["statusline"],
        (0, ALL),
        &["$0.00 today"],
    ),
    step(
        "What registers boswell with an agent, so that the agent can ask itself:",
        &["mcp", "--print-config", "claude"],
        (0, ALL),
        &["claude mcp add --scope user boswell -- boswell mcp"],
    ),
];

const RESUME: &[Step] = &[
    step(
        "Choose a session on the screen, which needs a terminal:",
        &["pick"],
        (2, ALL),
        &[],
    ),
    step(
        "The agent's own command for a session; without `--print` it is started:",
        &["resume", "5ac5", "--print"],
        (0, 1),
        &["claude --resume 5ac5e505"],
    ),
    step(
        "The same for the last session:",
        &["continue", "--print"],
        (0, ALL),
        &["codex resume ad4b5f79"],
    ),
    step(
        "The plan of a session for another agent, and what it does not carry over:",
        &["convert", "5ac5", "--to", "codex"],
        (2, ALL),
        &["Codex CLI", "--apply"],
    ),
    step(
        "A session of another machine is copied here; without a host in the settings there is none:",
        &["copy", "box:5ac5"],
        (2, ALL),
        &["names no session of a host", "[[hosts]]"],
    ),
    step(
        "A digest for an agent whose sessions cannot be written:",
        &["handoff", "5ac5"],
        (0, 12),
        &["SPRING10"],
    ),
];

const REPAIR: &[Step] = &[
    step(
        "A full disk cut off one log of the demo:",
        &["check"],
        (1, 10),
        &["torn_tail", "glued_records"],
    ),
    step(
        "The plan of the repair; `--apply` carries it out, and `undo` reverts it:",
        &["repair", "833e"],
        (2, 8),
        &["glued_records: put it on a line of its own", "--apply"],
    ),
    step(
        "Which sessions have a copy in the vault, and which will be deleted by their agent:",
        &["keep", "status"],
        (0, 1),
        &[
            "keep is off; turn it on with `try keep on`",
            "0 of 3 sessions are up to date",
        ],
    ),
];

const CHANGE: &[Step] = &[
    step(
        "A title, written in the agent's own format:",
        &["rename", "833e", "Stuck deployment"],
        (0, ALL),
        &["claude:833ea297"],
    ),
    step(
        "Undo it:",
        &["undo"],
        (0, ALL),
        &["undo: call it Stuck deployment"],
    ),
    step(
        "All changes, and which can be undone:",
        &["ops"],
        (0, 3),
        &["undone", "call it Stuck deployment"],
    ),
    step(
        "A tag; the format of open-agent-sdk has none, so it becomes a note:",
        &["tag", "476e", "design"],
        (0, 1),
        &["oas:476e9250", "note"],
    ),
    step(
        "Remove it again:",
        &["untag", "476e", "design"],
        (0, 1),
        &["oas:476e9250"],
    ),
    step(
        "A name for an entry:",
        &["label", "476e", "#2", "start"],
        (0, 1),
        &["oas:476e9250"],
    ),
    step(
        "A status:",
        &["status", "476e", "paused"],
        (0, 1),
        &["oas:476e9250"],
    ),
    step(
        "The status `completed`:",
        &["close", "476e"],
        (0, 1),
        &["oas:476e9250"],
    ),
    step(
        "A generated title and summary:",
        &["summarize", "5ac5"],
        (0, 2),
        &["SPRING10"],
    ),
    step(
        "Delete a session:",
        &["delete", "--apply", "b8cc"],
        (0, ALL),
        &["deleted myagents:b8cc3c41", "try restore myagents:b8cc3c41"],
    ),
    step(
        "Restore it from the vault:",
        &["restore", "myagents:b8cc3c41-d97a-4e8c-a9bc-7d62f396c650"],
        (0, ALL),
        &["restored myagents:b8cc3c41-d97a-4e8c-a9bc-7d62f396c650"],
    ),
    step(
        "The plan to archive it; archived sessions stay readable:",
        &["archive", "b8cc"],
        (2, ALL),
        &["would archive myagents:b8cc3c41", "--apply"],
    ),
    step(
        "The plan to delete old sessions:",
        &["clean", "--older-than", "30d"],
        (0, ALL),
        &["0 sessions"],
    ),
    step(
        "The plan after a project folder was moved:",
        &["move", "/proj/old", "/proj/new"],
        (0, ALL),
        &["has no session of /proj/old"],
    ),
    step(
        "Files as they were at an entry; this one was changed since, so nothing is restored:",
        &[
            "checkout",
            "--apply",
            "5ac5",
            "5a6594a4-5ea5-4583-a5d8-686cb4d0a9de",
        ],
        (3, 8),
        &[],
    ),
];

const SHARE: &[Step] = &[
    step(
        "Keys and passwords in sessions, masked:",
        &["secrets"],
        (1, 2),
        &["github-token", "ghp_…"],
    ),
    step(
        "A session as Markdown, with secrets removed:",
        &["export", "5ac5", "--format", "md"],
        (0, 4),
        &["SPRING10"],
    ),
    step(
        "A session of any agent in boswell's own store:",
        &["import", LOG],
        (0, ALL),
        &["boswell:"],
    ),
];

const STORE: &[Step] = &[
    step(
        "A new session; prints its ref:",
        &[
            "new",
            "--project",
            "/proj/new",
            "--title",
            "A session of boswell's own",
        ],
        (0, ALL),
        &["boswell:"],
    ),
    step(
        "A durable entry; prints its id once it is on disk:",
        &["append", "019a", "--user", "And in German?"],
        (0, ALL),
        &[],
    ),
    step(
        "Continue from an earlier entry:",
        &["branch", "8045", "2eb268f0"],
        (0, ALL),
        &[],
    ),
    step(
        "Go back to before a prompt, and print it:",
        &["rewind", "5ac5", "4bfb659b-eb73-468d-a251-33b485a65470"],
        (0, 1),
        &[],
    ),
    step(
        "Copy a branch into a new session:",
        &["fork", "8045"],
        (0, ALL),
        &["pi:"],
    ),
    step(
        "Upgrade a session to the newest version of its format; this one is new:",
        &["migrate", "8045"],
        (0, ALL),
        &["is of version 3 already"],
    ),
];

const ABOUT: &[Step] = &[
    step(
        "Update the catalog and the search index:",
        &["index"],
        (0, ALL),
        &["sessions and memory files"],
    ),
    step(
        "Settings and their origin:",
        &["config"],
        (0, ALL),
        &["read_only", "built in"],
    ),
    step(
        "A report for bug reports:",
        &["doctor"],
        (0, ALL),
        &["version", "system"],
    ),
    step(
        "Another demo:",
        &["demo", "another"],
        (0, 8),
        &["sample sessions are in", "alias try="],
    ),
    step(
        "The manual page of a command:",
        &["man", "list"],
        (0, NOTHING),
        &[".TH boswell-list 1"],
    ),
    step(
        "A key of a shell that opens the screen:",
        &["init", "zsh"],
        (0, ALL),
        &["bindkey '^G'"],
    ),
    step(
        "Completions for a shell:",
        &["completions", "bash"],
        (0, NOTHING),
        &["complete -F _boswell_live"],
    ),
];

pub(super) const SECTIONS: &[(&str, &[Step])] = &[
    ("Find sessions", FIND),
    ("Read a session", READ),
    ("Resume", RESUME),
    ("Check, repair and back up", REPAIR),
    ("Use boswell as a store", STORE),
    ("Change, delete and undo", CHANGE),
    ("Share", SHARE),
    ("Boswell itself", ABOUT),
];
