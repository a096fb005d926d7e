//! Appends messages to a log of operations: one batch for each, behind the last that counts.
//!
//! Every message is written as complete, and a prompt with its turn, because the app marks what is
//! not complete as interrupted when it opens the session.

use boswell_model::json::{Json, Raw, RawKind};
use boswell_model::{Advice, EntryId, EntryKind, Error, ErrorKind, Lines, Result, Slot};

use crate::{Draft, Expected, Modified, Planned, Step};

use super::super::encode::{Encoded, MessagePosition, encode};
use super::super::row::{PENDING, Row};
use super::super::{indent, v2};
use super::append::{Rows, check_parents, stale, told};
use super::input::Work;

/// The longest line that the app accepts, with its line end.
const LONGEST: usize = 8 << 20;
/// Bytes that are read of the log at a time.
const CHUNK: usize = 1 << 20;

pub(super) fn plan(
    mut work: Work<'_>,
    drafts: &[Draft],
    expect: Option<&Expected>,
) -> Result<Planned> {
    work.refuse_while_app_runs()?;
    let row = work.row()?;
    refuse_unsettled(&work, Row(row.raw()))?;
    let key = v2::key_of(work.id());
    let folded = folded(&work, &key)?;
    check_parents(&work, drafts)?;
    check_expected(&work, expect)?;
    let mut turn = last_turn(&work)?;
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    let mut revision = folded.revision;
    for draft in drafts {
        let (id, encoded) = encoded(&work, draft, &mut turn)?;
        work.entries.push(id.clone());
        if folded.state.has(&id) {
            is_same(&work, &id, &encoded)?;
            work.already += 1;
            continue;
        }
        let batch = batch(&work, &encoded.row, &mut revision)?;
        lines.extend(batch);
        rows.push(encoded);
    }
    if rows.is_empty() {
        return work.finish("append", "nothing to add");
    }
    work.steps.extend(attachments(&rows));
    let step = written(&work, key, &folded, lines)?;
    work.steps.push(step);
    let title = format!("append {} messages", rows.len());
    let row = told(&work, row, &Rows { rows })?;
    work.put_row(row);
    work.finish("append", &title)
}

/// Returns the steps that write the attachments of the rows.
fn attachments(rows: &[Encoded]) -> Vec<Step> {
    let files = rows.iter().flat_map(|it| &it.files);
    files
        .map(|(key, bytes)| Step::put(key, bytes.clone()))
        .collect()
}

/// Refuses a session whose row announces something that only the app can finish.
fn refuse_unsettled(work: &Work<'_>, row: Row<'_>) -> Result<()> {
    let set = |key: &str| row.0.get(key).is_some_and(|value| !value.is_null());
    let prepared = row.0.get("materializationState");
    let why = if set(PENDING) {
        "a rewind of it is not finished"
    } else if prepared.is_some_and(|state| state.is("prepared")) {
        "MyAgents prepares it"
    } else if row.runtime() == "dsh" || row.0.members().any(|(key, _)| is_of_dsh(&key.to_text())) {
        "its engine keeps a journal of its own"
    } else {
        return Ok(());
    };
    Err(Error::new(
        ErrorKind::Conflict,
        format!("session {} cannot be appended to now", work.id()),
    )
    .because(why)
    .advising("open it in MyAgents, and append when it is closed there"))
}

fn is_of_dsh(key: &str) -> bool {
    key.starts_with("pendingDsh")
}

/// Folds the log as it is now, under the locks.
fn folded(work: &Work<'_>, key: &str) -> Result<v2::Folded> {
    let files = work.asked.files;
    let done = v2::fold(Some(work.id()), &mut |sink| {
        let (mut lines, mut at) = (Lines::new(0, 1), 0);
        loop {
            let bytes = files.read(key, at, CHUNK)?;
            if bytes.is_empty() {
                break;
            }
            at += bytes.len() as u64;
            lines.push(&bytes, sink);
        }
        lines.finish(sink);
        Ok(())
    })?;
    let folded = done.map_err(|fault| v2::refused(key, &fault))?;
    if folded.tail == v2::Tail::Invalid {
        return Err(Error::new(
            ErrorKind::Damaged,
            format!("the transcript of {} is damaged", work.id()),
        )
        .because("MyAgents reads nothing behind its first bad line, so nothing is added there")
        .advising(Advice::check(format!("myagents:{}", work.id()))));
    }
    Ok(folded)
}

fn check_expected(work: &Work<'_>, expect: Option<&Expected>) -> Result<()> {
    let log = work.view().log;
    match expect {
        Some(Expected::Revision(revision)) => {
            let actual = work.revision();
            if revision.fits(&actual) {
                return Ok(());
            }
            Err(stale(work, &revision.to_string(), &actual.to_string()))
        }
        Some(Expected::Leaf(leaf)) => {
            let last = last_message(work).map(|slot| log.label(slot));
            let last = last.unwrap_or_else(|| "the root".into());
            if last == *leaf {
                Ok(())
            } else {
                Err(stale(work, leaf, &last))
            }
        }
        _ => Ok(()),
    }
}

fn last_message(work: &Work<'_>) -> Option<Slot> {
    let log = work.view().log;
    log.slots()
        .rfind(|slot| log.kind(*slot) != EntryKind::Header)
}

/// Returns the turn of the last message, in which an answer without a prompt is.
fn last_turn(work: &Work<'_>) -> Result<Option<String>> {
    let Some(last) = last_message(work) else {
        return Ok(None);
    };
    let turn = work.view().with_object(last, |message| {
        message.text("turnId").map(std::borrow::Cow::into_owned)
    })?;
    Ok(turn.flatten())
}

/// Encodes a draft as a message; a prompt starts a turn.
fn encoded(work: &Work<'_>, draft: &Draft, turn: &mut Option<String>) -> Result<(String, Encoded)> {
    let id_source = work.asked.id_source;
    let new = || match &draft.body {
        crate::Body::Assistant(_) => format!("assistant-{}", id_source.uuid_v4()),
        _ => id_source.uuid_v4(),
    };
    let given = draft.id.as_ref().map(EntryId::as_str);
    let id = given.map_or_else(new, str::to_owned);
    let at = draft.at.or_else(|| time_of(work, &id));
    let place = MessagePosition {
        session: work.id(),
        id: &id,
        at: at.unwrap_or_else(|| work.now()),
        name: &|| id_source.uuid_v4(),
    };
    let Encoded { row, files } = encode(draft, place)?;
    let row = Raw::trusted(&row);
    let text = |key: &str| row.get(key).and_then(|it| it.text()).unwrap_or_default();
    let id = text("id").into_owned();
    if text("role") == "user" {
        *turn = Some(id.clone());
    }
    let row = message(&id, row, turn.as_deref()).to_bytes();
    Ok((id, Encoded { row, files }))
}

/// Returns a row as a complete message of a turn.
fn message(id: &str, row: Raw<'_>, turn: Option<&str>) -> Json {
    let mut message = Json::object();
    for (key, value) in row.members() {
        let key = key.to_text();
        message = match &*key {
            "content" => message.with("content", content(id, value)),
            _ => message.with(&key, value),
        };
    }
    message
        .with_some("turnId", turn)
        .with("transcriptState", "complete")
}

/// Returns the time of a message that is there already: a retry without a time of its own means it.
fn time_of(work: &Work<'_>, id: &str) -> Option<boswell_model::Instant> {
    let log = work.view().log;
    log.head(log.find(id)?)?.instant()
}

/// Returns the content of a row as the app converts it: a string that holds blocks becomes blocks.
fn content(id: &str, value: Raw<'_>) -> Json {
    let text = value.text().unwrap_or_default();
    let array = Raw::parse(text.as_bytes()).ok();
    let typed = |item: Raw<'_>| {
        item.kind() == RawKind::Object && item.get("type").is_some_and(|it| it.string().is_some())
    };
    let array = array.filter(|it| text.starts_with('[') && it.items().all(typed));
    let Some(array) = array else {
        return Json::from(value);
    };
    let block = |(at, item): (usize, Raw<'_>)| {
        let mut block = Json::object().with("id", format!("{id}:block:{at}"));
        for (key, value) in item.members().filter(|(key, _)| !key.is("id")) {
            block = match key.is("tool") {
                true => block.with("tool", tool(value)),
                false => block.with(&key.to_text(), value),
            };
        }
        block
    };
    Json::Array(array.items().enumerate().map(block).collect())
}

/// Returns a call whose arguments are the text that the app streams them as.
fn tool(tool: Raw<'_>) -> Json {
    let mut out = Json::object();
    for (key, value) in tool.members() {
        let has_input = key.is("input") && value.members().next().is_some();
        out = if has_input {
            let text = indent::compact(value.bytes());
            out.with("input", Json::object())
                .with("inputJson", String::from_utf8_lossy(&text).into_owned())
                .with("inputComplete", true)
        } else {
            out.with(&key.to_text(), value)
        };
    }
    out
}

/// Returns the line of a batch that creates a message, and for a prompt its turn.
fn batch(work: &Work<'_>, message: &[u8], revision: &mut u64) -> Result<Vec<u8>> {
    let message = Raw::trusted(message);
    let create = Json::object()
        .with("kind", "message-create")
        .with("message", message);
    let mut operations = vec![create];
    if message.get("role").is_some_and(|role| role.is("user")) {
        let turn = Json::object()
            .with_some("id", message.get("id"))
            .with_some("rootUserMessageId", message.get("id"))
            .with_some("startedAt", message.get("timestamp"))
            .with("status", "complete");
        let update = Json::object()
            .with("kind", "turn-update")
            .with("turn", turn);
        operations.insert(0, update);
    }
    let from = *revision + 1;
    *revision += operations.len() as u64;
    let body = Json::object()
        .with("id", work.asked.id_source.uuid_v4())
        .with("mode", "delta")
        .with("fromRevision", from)
        .with("revision", *revision)
        .with("operations", Json::Array(operations));
    let line = v2::batch_line(&body.to_bytes());
    if line.len() > LONGEST {
        return Err(Error::new(
            ErrorKind::Invalid,
            "this message is too long for a transcript of MyAgents",
        )
        .because("a line of it has at most 8 MiB")
        .advising("attach long texts as files"));
    }
    Ok(line)
}

/// Fails unless the message with this id has the content of the draft.
fn is_same(work: &Work<'_>, id: &str, encoded: &Encoded) -> Result<()> {
    let view = work.view();
    let there = view
        .log
        .find(id)
        .map(|slot| view.payload(slot))
        .transpose()?;
    let member = |row: &[u8], key: &str| Raw::trusted(row).get(key).map(|it| it.bytes().to_vec());
    let same = there.as_ref().is_some_and(|there| {
        ["role", "content", "timestamp"]
            .iter()
            .all(|key| member(there, key) == member(&encoded.row, key))
    });
    if same {
        return Ok(());
    }
    Err(work.id_is_taken(id))
}

/// Returns the step that writes the lines: in place of a torn batch, which the app would cut off.
fn written(work: &Work<'_>, key: String, folded: &v2::Folded, lines: Vec<u8>) -> Result<Step> {
    if folded.tail == v2::Tail::Clean {
        return Ok(Step::append(key, lines));
    }
    let torn = folded.bytes - folded.valid_bytes;
    let torn = usize::try_from(torn).unwrap_or(usize::MAX);
    let old = work.asked.files.read(&key, folded.valid_bytes, torn)?;
    Ok(Step::Edit {
        key,
        at: Some(folded.valid_bytes),
        old,
        new: lines,
        modified: Modified::Now,
    })
}
