//! Rebuilds `sessions-index.json` from the logs.
//!
//! Versions around 2.1.17 list sessions from this index, but no version keeps it up to date; later
//! versions neither write nor read it. So an existing index is corrected, and a missing one is not
//! created. Unknown members stay, in the index and in its entries.

use std::collections::BTreeMap;

use boswell_model::json::{Json, Raw, RawKind, set_member};
use boswell_model::{Error, Framing, Instant, Lines, Problem, Remark, Result, SessionMeta};

use super::{Claude, discover};
use crate::uuid::is_uuid;
use crate::{Depth, FileInfo, Files, Plan, Planned, Reader, SessionLocation, SideFiles, Step};

const NAME: &str = "sessions-index.json";
const LIMIT: u64 = 256 << 20;
const CHUNK: usize = 1 << 20;

/// Plans the corrections of every index of the store. `summaries` (by id) have priority over those
/// in the logs.
pub(super) fn plan(files: &dyn Files, summaries: &BTreeMap<String, String>) -> Result<Planned> {
    let mut planned = Planned::of(Plan::new("index", "rebuild the indexes of Claude Code"));
    let mut without = 0;
    for project in discover::projects(files)? {
        // Every project has its own index: an unreadable one does not prevent the correction of
        // others.
        match step(files, &project, summaries) {
            Ok(Some(step)) => planned.plan.steps.push(step),
            Ok(None) => {}
            Err(Left::Without) => without += 1,
            Err(Left::Unreadable(error)) => planned
                .left_out
                .push((files.describe(&project), Problem::unreadable(&error).detail)),
        }
    }
    if without > 0 {
        planned.remarks.push(Remark::new(format!(
            "{without} projects have no {NAME}: today's Claude Code needs none, and none was made"
        )));
    }
    Ok(planned)
}

/// Why the index of a project is not changed.
enum Left {
    /// The project has sessions but no index.
    Without,
    /// The folder or a file in it cannot be read.
    Unreadable(Error),
}

impl From<Error> for Left {
    fn from(error: Error) -> Self {
        Left::Unreadable(error)
    }
}

/// Plans the correction of one project's index.
fn step(
    files: &dyn Files,
    project: &str,
    summaries: &BTreeMap<String, String>,
) -> std::result::Result<Option<Step>, Left> {
    let listing = files.list(project)?;
    let Some(index) = listing
        .iter()
        .find(|info| info.is_file() && info.name() == NAME)
    else {
        return if listing.iter().any(is_log) {
            Err(Left::Without)
        } else {
            Ok(None)
        };
    };
    let old = files.read_whole(&index.key, LIMIT)?.unwrap_or_default();
    let new = corrected(files, summaries, &listing, &old)?;
    let key = index.key.clone();
    Ok((new != old).then_some(Step::Edit {
        key,
        at: Some(0),
        old,
        new,
        modified: crate::Modified::Now,
    }))
}

fn is_log(info: &FileInfo) -> bool {
    info.is_file() && info.size > 0 && info.stem(".jsonl").is_some_and(is_uuid)
}

fn corrected(
    files: &dyn Files,
    summaries: &BTreeMap<String, String>,
    listing: &[FileInfo],
    old: &[u8],
) -> Result<Vec<u8>> {
    let whole = Raw::parse(old)
        .ok()
        .filter(|raw| raw.kind() == RawKind::Object);
    let known = whole.and_then(|raw| raw.get("entries"));
    let known: Vec<Raw<'_>> = known.map_or_else(Vec::new, |raw| raw.items().collect());
    let mut entries = Vec::new();
    let mut folder = None;
    for log in listing.iter().filter(|info| is_log(info)) {
        let id = log.stem(".jsonl").unwrap_or_default();
        let before = known.iter().find(|entry| is_of(entry, id)).map(Raw::bytes);
        let (entry, project) = entry(files, log, id, summaries.get(id), before)?;
        folder = folder.or(project);
        entries.push(entry);
    }
    let list = match entries.as_slice() {
        [] => b"[]".to_vec(),
        entries => [
            b"[\n    ".as_slice(),
            &entries.join(&b",\n    "[..]),
            b"\n  ]",
        ]
        .concat(),
    };
    if let Some(changed) = whole.and_then(|_| set_member(old, &["entries"], &list).ok()) {
        return Ok(changed);
    }
    // The old file was not an index. The vault has a copy of it before this is written.
    let mut original = Vec::new();
    Json::from(folder).write(&mut original);
    Ok([
        b"{\n  \"version\": 1,\n  \"entries\": ".as_slice(),
        &list,
        b",\n  \"originalPath\": ",
        &original,
        b"\n}",
    ]
    .concat())
}

/// Whether an entry of the index belongs to the session `id`.
fn is_of(entry: &Raw<'_>, id: &str) -> bool {
    let stated = entry.get("sessionId").and_then(|it| it.text());
    stated.is_some_and(|it| it.eq_ignore_ascii_case(id))
}

/// Reads the facts of a session, chunk by chunk.
fn meta_of(files: &dyn Files, log: &FileInfo, id: &str) -> Result<SessionMeta> {
    let location = SessionLocation::at(id, log, Framing::Lines);
    let mut reader = Reader::new(&Claude, &location, Depth::Facts);
    let mut lines = Lines::new(0, 1);
    let mut at = 0;
    while at < log.size {
        let chunk = files.read(&log.key, at, CHUNK)?;
        if chunk.is_empty() {
            break;
        }
        at += chunk.len() as u64;
        lines.push(&chunk, &mut |line| reader.line(line));
    }
    lines.finish(&mut |line| reader.line(line));
    let mut meta = reader.finish().meta;
    Claude.collect_side_meta(files, &location, &mut meta)?;
    Ok(meta)
}

/// Returns the entry of a session, with the members of its old entry, and the project folder of the
/// session.
fn entry(
    files: &dyn Files,
    log: &FileInfo,
    id: &str,
    summary: Option<&String>,
    before: Option<&[u8]>,
) -> Result<(Vec<u8>, Option<String>)> {
    let meta = meta_of(files, log, id)?;
    let title = meta
        .title
        .filter(|_| meta.title_source.as_deref() == Some("user"));
    let prompt = meta.first_prompt.as_deref().unwrap_or("No prompt");
    let branch = meta.git_branch.as_deref().unwrap_or("");
    let time = |time: Instant| Json::from(time.to_rfc3339());
    let members: [(&str, Option<Json>); 12] = [
        ("sessionId", Some(Json::from(id))),
        ("fullPath", Some(Json::from(files.describe(&log.key)))),
        (
            "fileMtime",
            log.modified.map(|time| Json::from(time.millis())),
        ),
        ("firstPrompt", Some(Json::from(prompt))),
        ("summary", summary.or(meta.summary.as_ref()).map(Json::from)),
        ("customTitle", title.map(Json::from)),
        ("messageCount", Some(Json::from(meta.messages))),
        ("created", meta.created.map(time)),
        ("modified", meta.last_active.map(time)),
        ("gitBranch", Some(Json::from(branch))),
        ("projectPath", meta.project.as_deref().map(Json::from)),
        (
            "isSidechain",
            Some(Json::from(meta.hidden == Some("subagent"))),
        ),
    ];
    let mut stated = Vec::new();
    for (key, value) in members {
        stated.extend(value.map(|value| (key, value.to_bytes())));
    }
    Ok((text_of(stated, before), meta.project))
}

/// An entry with these members: the old one with its other members, or a new one.
fn text_of(members: Vec<(&str, Vec<u8>)>, before: Option<&[u8]>) -> Vec<u8> {
    if let Some(before) = before {
        let mut entry = before.to_vec();
        for (key, value) in members {
            entry = set_member(&entry, &[key], &value).unwrap_or(entry);
        }
        return entry;
    }
    let mut lines = Vec::new();
    for (key, value) in members {
        lines.push([b"      \"", key.as_bytes(), b"\": ", &value].concat());
    }
    [b"{\n".as_slice(), &lines.join(&b",\n"[..]), b"\n    }"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    const A: &str = "aaaaaaaa-0001-4001-8001-000000000001";
    const B: &str = "aaaaaaaa-0002-4001-8001-000000000002";
    const GHOST: &str = "aaaaaaaa-0003-4001-8001-000000000003";

    fn store(index: &str) -> MemoryFiles {
        let mut files = MemoryFiles::default();
        for id in [A, B] {
            let line = format!(
                r#"{{"parentUuid":null,"type":"user","uuid":"{id}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","message":{{"role":"user","content":"ask {id}"}}}}"#
            );
            files.put(&format!("projects/-w/{id}.jsonl"), line + "\n", None);
        }
        files.put("projects/-w/sessions-index.json", index, None);
        files.put(&format!("projects/-x/{A}.jsonl"), "{}\n", None);
        files
    }

    fn written(index: &str) -> (String, Planned) {
        let planned = plan(&store(index), &BTreeMap::new()).unwrap();
        let [Step::Edit { new, .. }] = planned.plan.steps.as_slice() else {
            panic!("{planned:?}")
        };
        (String::from_utf8(new.clone()).unwrap(), planned)
    }

    #[test]
    fn an_index_is_merged_with_the_truth_and_keeps_what_it_does_not_know() {
        let index = format!(
            "{{\n  \"version\": 1,\n  \"entries\": [\n    {{\"sessionId\": \"{A}\", \"future\": [1.0], \"messageCount\": 99}},\n    {{\"sessionId\": \"{GHOST}\"}}\n  ],\n  \"originalPath\": \"/w\",\n  \"later\": true\n}}"
        );
        let (text, planned) = written(&index);
        let raw = Raw::parse(text.as_bytes()).unwrap();
        let entries: Vec<Raw<'_>> = raw.get("entries").unwrap().items().collect();
        let ids: Vec<_> = entries
            .iter()
            .map(|entry| entry.get("sessionId").unwrap().text().unwrap())
            .collect();
        assert_eq!(ids, [A, B]);
        assert_eq!(entries[0].get("future").unwrap().bytes(), b"[1.0]");
        assert_eq!(entries[0].get("messageCount").unwrap().u64(), Some(1));
        assert_eq!(
            entries[1].get("firstPrompt").unwrap().text().unwrap(),
            format!("ask {B}")
        );
        assert_eq!(raw.get("later").unwrap().bool(), Some(true));
        assert!(
            planned.remarks[0].text.contains("1 projects"),
            "{:?}",
            planned.remarks
        );
        assert!(
            plan(&store(&text), &BTreeMap::new())
                .unwrap()
                .plan
                .steps
                .is_empty(),
            "what is right is left alone"
        );
    }

    #[test]
    fn what_is_said_beyond_the_log_becomes_the_summary_and_stays() {
        let index = format!(
            "{{\"version\":1,\"entries\":[{{\"sessionId\":\"{A}\",\"summary\":\"old\"}}]}}"
        );
        let said = BTreeMap::from([
            (A.to_owned(), "why \"it\" was 红".to_owned()),
            (GHOST.to_owned(), "gone".to_owned()),
        ]);
        let planned = plan(&store(&index), &said).unwrap();
        let [Step::Edit { new, .. }] = planned.plan.steps.as_slice() else {
            panic!("{planned:?}")
        };
        let entries: Vec<Raw<'_>> = Raw::parse(new)
            .unwrap()
            .get("entries")
            .unwrap()
            .items()
            .collect();
        let summaries: Vec<_> = entries
            .iter()
            .map(|entry| entry.get("summary").and_then(|it| it.text()))
            .collect();
        assert_eq!(summaries, [Some("why \"it\" was 红".into()), None]);
        let text = String::from_utf8(new.clone()).unwrap();
        assert!(
            plan(&store(&text), &said).unwrap().plan.steps.is_empty(),
            "it is right now"
        );
        assert!(
            plan(&store(&text), &BTreeMap::new())
                .unwrap()
                .plan
                .steps
                .is_empty(),
            "and nobody takes it away"
        );
    }

    #[test]
    fn garbage_in_its_place_becomes_an_index() {
        let (text, _) = written("not json");
        assert_eq!(
            Raw::parse(text.as_bytes())
                .unwrap()
                .get("originalPath")
                .unwrap()
                .text()
                .unwrap(),
            "/w"
        );
    }
}
