//! Codex on real files: no byte is lost, and all metadata is pinned.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests over real files read them and the variable that names them, and skip loudly"
)]

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use boswell_dialect::codex::Codex;
use boswell_dialect::{Depth, Dialect, Match, ReadSession, Reader, Sample, SessionLocation};
use boswell_model::json::{Member, Object, scan_object};
use boswell_model::{Context, ContextItem, Framing, Message, Payloads, Result, SessionView};

struct Bytes(Vec<u8>);

impl Payloads for Bytes {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        self.0.as_slice().payload(at, len)
    }
}

/// Returns the folder of real files. Skipping prints a message, and is a failure in CI.
fn corpus() -> Option<PathBuf> {
    match std::env::var_os("BOSWELL_CORPUS").filter(|value| !value.is_empty()) {
        Some(path) => Some(path.into()),
        None => {
            let ci = std::env::var("CI").is_ok_and(|value| value == "true");
            assert!(
                !ci,
                "BOSWELL_CORPUS is not set: this group may not be skipped under CI"
            );
            eprintln!(
                "SKIPPED: BOSWELL_CORPUS is not set, so the tests over real files did not run"
            );
            None
        }
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// Returns files at any depth: some agents have a deep folder tree per session.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) =
        files_in(folder).into_iter().partition(|path| path.is_dir());
    folders
        .iter()
        .for_each(|folder| files.extend(files_below(folder)));
    files
}

fn read(bytes: &[u8]) -> ReadSession {
    let location = SessionLocation::of("by-path", Framing::Lines, bytes.len() as u64);
    Reader::read(&Codex, &location, bytes, Depth::Facts)
}

fn context(view: &SessionView<'_>) -> (Context, Vec<Message>) {
    let context = Codex.context(view, Codex.tip(view).unwrap()).unwrap();
    let render =
        |item: &ContextItem| view.with_object(item.slot, |object| Codex.render(item, &[*object]));
    let messages = context
        .items
        .iter()
        .map(|item| render(item).unwrap().unwrap())
        .collect();
    (context, messages)
}

/// Returns one line per file: its listing, and the size of its context.
fn summary(bytes: Vec<u8>) -> String {
    let read = read(&bytes);
    let bytes = Bytes(bytes);
    let view = read.view(&bytes);
    let (context, messages) = context(&view);
    assert_eq!(context.items.len(), messages.len());
    let (mut calls, mut answers) = (0, 0);
    for slot in read.log.slots() {
        let shown = view
            .with_object(slot, |object| Codex.view(object))
            .unwrap()
            .unwrap();
        assert!(
            !shown.parts.is_empty() || shown.remark.is_some(),
            "{} shows nothing",
            read.log.label(slot)
        );
        calls += shown.calls().count();
        answers += shown.results().count();
    }
    let meta = &read.meta;
    let usage = meta.usage.total();
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    format!(
        "{} records, {} gaps, id {}, version {}, in {}, branch {}, parent {}, hidden {}, models {}, permissions {}, \
         {} messages, {} turns, {} tool calls, tokens {:?}/{:?}/{:?}, {calls} calls, {answers} answers, {} sent, {:.40}",
        read.log.heads.len(),
        read.log.gaps.len(),
        text(&meta.id),
        text(&meta.agent_version),
        text(&meta.project).rsplit('/').next().unwrap_or("-"),
        text(&meta.git_branch),
        text(&meta.parent),
        meta.hidden.unwrap_or("-"),
        meta.models.join("+"),
        text(&meta.permission_mode),
        meta.messages,
        meta.turns,
        meta.tool_calls,
        usage.input,
        usage.cache_read,
        usage.output,
        messages.len(),
        text(&meta.first_prompt),
    )
}

/// Records, messages, turns, calls and tokens as counted by a program that shares no code with this
/// one.
const PINNED: [(&str, &str); 8] = [
    (
        "agent-sessions-large.jsonl",
        "17 records, 0 gaps, id 019b2ea4-aaaa-bbbb-cccc-58208e1f0000, version 0.73.0, in large, branch -, \
         parent -, hidden -, models , permissions -, 13 messages, 6 turns, 0 tool calls, tokens \
         None/None/None, 0 calls, 0 answers, 14 sent, Start",
    ),
    (
        "agent-sessions-small.jsonl",
        "87 records, 0 gaps, id 019fc8be-3658-7ca3-9e29-000000000000, version 0.146.0, in repo, branch \
         main, parent -, hidden -, models \
         gpt-5.6-luna+gpt-5.5+codex-auto-review+gpt-5.4+gpt-5.2+gpt-5.2-codex+gpt-5.1, permissions \
         [trimmed for fixture]/[trimmed for fixture], 2 messages, 1 turns, 6 tool calls, tokens \
         Some(12757)/Some(3584)/Some(81), 4 calls, 4 answers, 28 sent, List the files",
    ),
    (
        "claude-code-transcripts-sample-codex-session.jsonl",
        "3 records, 0 gaps, id test-session, version 0.0.0, in project, branch -, parent -, hidden -, \
         models , permissions -, 2 messages, 1 turns, 0 tool calls, tokens None/None/None, 0 calls, 0 \
         answers, 2 sent, Write a hello world function",
    ),
    (
        "ctx-codex-malformed-session.jsonl",
        "3 records, 1 gaps, id codex-malformed-session, version 0.202.0, in app, branch -, parent -, \
         hidden -, models , permissions -, 2 messages, 1 turns, 0 tool calls, tokens None/None/None, 0 \
         calls, 0 answers, 2 sent, Valid event before malformed Codex sessi",
    ),
    (
        "entire-graph-783223eff3-0.jsonl.001",
        "145 records, 0 gaps, id -, version -, in -, branch -, parent -, hidden -, models , permissions \
         -, 1 messages, 0 turns, 35 tool calls, tokens Some(12612811)/Some(903963392)/Some(1259253), 35 \
         calls, 35 answers, 100 sent, -",
    ),
    (
        "git-sync-56387d7a8a-19.jsonl",
        "63 records, 0 gaps, id 019ed6c3-ed8a-7931-9967-3839ce81c127, version 0.139.0, in git-sync, \
         branch fix/tokenstore-windows-flock, parent 019ed6c3-ed1e-73a2-8651-8353917974b6, hidden \
         subagent, models gpt-5.5, permissions never/workspace-write, 2 messages, 1 turns, 13 tool calls, \
         tokens Some(37903)/Some(180736)/Some(4838), 13 calls, 13 answers, 43 sent, Review the code \
         changes against the base",
    ),
    (
        "git-sync-56387d7a8a-5.jsonl",
        "27 records, 0 gaps, id 019ed48b-4c03-7482-a261-fa313e05f801, version 0.139.0, in git-sync, \
         branch fix/checkpoint-nil-deref, parent 019ed48b-4b97-77f0-89c4-4398b4e93e73, hidden subagent, \
         models gpt-5.5, permissions never/workspace-write, 2 messages, 1 turns, 4 tool calls, tokens \
         Some(39244)/Some(25600)/Some(858), 4 calls, 4 answers, 17 sent, Review the code changes against \
         the base",
    ),
    (
        "git-sync-ea5c699ef8-2.jsonl",
        "955 records, 0 gaps, id 019d7e3d-0164-79d1-af76-e4ee6689b94f, version 0.118.0, in git-sync, \
         branch soph/rewrite, parent 019d7d08-46c9-7f73-affe-4e6ca9852d56, hidden subagent, models \
         gpt-5.4, permissions on-request/workspace-write, 93 messages, 15 turns, 219 tool calls, tokens \
         Some(1314693)/Some(7144192)/Some(11743), 217 calls, 217 answers, 32 sent, can you get yourself \
         an overview over th",
    ),
];

#[test]
fn every_file_reads_as_pinned() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("codex");
    // A file without a row is listed and not compared: a new file in the corpus must not fail the
    // rows of others.
    for file in files_in(&folder) {
        if !PINNED.iter().any(|(name, _)| file.ends_with(name)) {
            eprintln!("NOT PINNED: {} has no row in PINNED", file.display());
        }
    }
    for (name, expected) in PINNED {
        assert_eq!(
            summary(std::fs::read(folder.join(name)).unwrap()),
            expected,
            "{name}"
        );
    }
}

fn likeness_of(file: &Path) -> Match {
    let bytes = std::fs::read(file).unwrap();
    let lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').take(20).collect();
    let scanned: Vec<(&[u8], Vec<Member>)> = lines
        .into_iter()
        .filter_map(|line| {
            let mut members = Vec::new();
            let end = scan_object(line, &mut members).ok()?;
            Some((&line[..end], members))
        })
        .collect();
    let records: Vec<Object<'_>> = scanned
        .iter()
        .map(|(bytes, members)| Object::new(bytes, members))
        .collect();
    let name = file.file_name().unwrap().to_str().unwrap();
    Codex.recognises(&Sample {
        name,
        folders: &[],
        records: &records,
    })
}

#[test]
fn files_of_codex_are_claimed_and_no_others() {
    let Some(corpus) = corpus() else { return };
    let mut others = 0;
    for file in files_below(&corpus) {
        let own = file.starts_with(corpus.join("codex"));
        let expected = if own { Match::Certain } else { Match::No };
        assert_eq!(likeness_of(&file), expected, "{}", file.display());
        others += usize::from(!own);
    }
    assert!(
        others > 100,
        "the corpus has other agents' files too: {others}"
    );
}

#[test]
fn a_file_cut_anywhere_is_read_up_to_there() {
    let Some(corpus) = corpus() else { return };
    let bytes = std::fs::read(corpus.join("codex/agent-sessions-small.jsonl")).unwrap();
    for end in (0..bytes.len()).step_by(97) {
        let cut = bytes[..end].to_vec();
        let whole_lines = cut.iter().filter(|b| **b == b'\n').count();
        let read = read(&cut);
        let cut = Bytes(cut);
        let view = read.view(&cut);
        assert!(
            (whole_lines..=whole_lines + 1).contains(&read.log.heads.len()),
            "{end}"
        );
        let (context, messages) = context(&view);
        assert_eq!(context.items.len(), messages.len(), "{end}");
    }
}
