//! `POST /v1/sessions/{session}/entries`.
//!
//! An entry's own id makes an append idempotent. Where the body has none, `Idempotency-Key` gives
//! one: the same request again, after an answer was lost, finds its entries and writes nothing.

use std::time::Duration;

use axum::body::Body;
use axum::http::{StatusCode, header};
use boswell_app::append::{AppendRequest, Draft, Durability, Expect, Wait, draft_of_line};
use boswell_app::shape::Shape as _;
use boswell_app::{Answer, App, AppResult, Notice};
use boswell_model::json::{Raw, RawKind};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::answer::{Plan, Reply, run};
use crate::call::Call;
use crate::entity::{self, LARGEST_APPEND};
use crate::lines::{Last, Lines};
use crate::pool::Lane;
use crate::problem::Problem;

/// How long a client may ask to wait for a session that another process writes.
const LONGEST_WAIT: u64 = 25;

/// Appends entries, and answers once they are as durable as was asked for.
pub(crate) async fn append(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let request = append_request(&mut call)?;
    let bytes = entity::read(&call, body, LARGEST_APPEND).await?;
    let key = call.header("idempotency-key").map(str::to_owned);
    let drafts = drafts(&call, &bytes, key.as_deref())?;
    let plan = Plan::list(&call)
        .in_lane(Lane::Change)
        .with_status(StatusCode::CREATED);
    run(&call, plan, move |app, _, lines| {
        write(app, &request, drafts, lines)
    })
    .await
}

fn append_request(call: &mut Call) -> Result<AppendRequest, Problem> {
    let leaf = call.header("boswell-expect-leaf");
    let expect = match (call.expected()?, leaf) {
        (Some(revision), _) => Expect::Revision(revision),
        (None, Some(leaf)) => Expect::Leaf(leaf.into()),
        (None, None) => Expect::Any,
    };
    let (durability, wait) = preferences(call.header("prefer").unwrap_or_default())?;
    Ok(AppendRequest {
        session: call.session()?,
        parent: None,
        expect,
        durability,
        wait,
    })
}

/// Reads `Prefer: durability=os, wait=10`.
fn preferences(text: &str) -> Result<(Durability, Wait), Problem> {
    let (mut durability, mut wait) = (Durability::Fsync, Wait::No);
    for preference in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        match preference.split_once('=').unwrap_or((preference, "")) {
            ("durability", "os") => durability = Durability::Os,
            ("durability", "fsync") => durability = Durability::Fsync,
            ("wait", seconds) => {
                let seconds: u64 = seconds
                    .parse()
                    .map_err(|_| Problem::invalid("`Prefer: wait` is not a number of seconds"))?;
                wait = Wait::For(Duration::from_secs(seconds.min(LONGEST_WAIT)));
            }
            ("durability", _) => {
                let what = "`Prefer: durability` is neither `os` nor `fsync`";
                return Err(Problem::invalid(what));
            }
            // Preferences that a server does not know are ignored (RFC 7240).
            _ => {}
        }
    }
    Ok((durability, wait))
}

/// Returns the entries of a body: an array, an object, or one object a line.
fn drafts(call: &Call, bytes: &Bytes, key: Option<&str>) -> Result<Vec<Draft>, Problem> {
    let kind = call.header(header::CONTENT_TYPE.as_str());
    let is_lines = kind.is_some_and(|it| it.starts_with("application/x-ndjson"));
    let wrong = |error: boswell_model::Error| Problem::of(&error, call.server.phrase);
    let mut drafts = Vec::new();
    let mut add = |record: &[u8], number: usize| {
        let draft = draft_of_line(record, number).map_err(wrong)?;
        drafts.extend(draft);
        Ok(())
    };
    if is_lines {
        let mut lines = bytes.split(|byte| *byte == b'\n').enumerate();
        lines.try_for_each(|(number, line)| add(line, number + 1))?;
    } else {
        let raw = Raw::parse(bytes.trim_ascii())
            .map_err(|error| Problem::invalid(format!("the body is not JSON: {error}")))?;
        match raw.kind() {
            RawKind::Array => raw
                .items()
                .enumerate()
                .try_for_each(|(number, item)| add(item.bytes(), number + 1))?,
            _ => add(raw.bytes(), 1)?,
        }
    }
    if drafts.is_empty() {
        return Err(Problem::invalid("the body has no entries"));
    }
    if let Some(key) = key {
        for (number, draft) in drafts.iter_mut().enumerate() {
            if draft.id.is_none() {
                draft.id = Some(id_from_key(key, number).into());
            }
        }
    }
    Ok(drafts)
}

/// Returns the id that an idempotency key gives to its n-th entry: a UUID of version 8.
pub(super) fn id_from_key(key: &str, number: usize) -> String {
    let mut hash = Sha256::new();
    hash.update(b"boswell idempotency key\n");
    hash.update(key.as_bytes());
    hash.update([0]);
    hash.update(number.to_be_bytes());
    let digest = hash.finalize();
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(digest.get(..16).unwrap_or(&[0; 16]));
    bytes[6] = bytes[6] & 0x0F | 0x80;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let part = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default().concat();
    let parts = [
        part(0..4),
        part(4..6),
        part(6..8),
        part(8..10),
        part(10..16),
    ];
    parts.join("-")
}

fn write(
    app: &App,
    request: &AppendRequest,
    drafts: Vec<Draft>,
    lines: &mut Lines,
) -> AppResult<Last> {
    let Answer {
        value: mut appender,
        mut notices,
    } = app.append(request)?;
    let mut submitted = Ok(());
    for draft in drafts {
        submitted = appender.submit(draft);
        if submitted.is_err() {
            break;
        }
    }
    // What was submitted before a failure is written, and is acknowledged.
    let settled: Answer<()> = appender.settle(&mut |receipts| {
        for receipt in receipts {
            lines.object(&receipt.object())?;
        }
        Ok(())
    })?;
    notices.extend(settled.notices);
    let closed = appender.close();
    match submitted {
        Err(error) if lines.is_empty() => return Err(error.into()),
        Err(error) => notices.push(Notice::Failure(error)),
        Ok(()) => closed?,
    }
    Ok(Answer {
        value: Last::None,
        notices,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_key_gives_the_same_ids_and_another_key_others() {
        assert_eq!(id_from_key("a", 0), id_from_key("a", 0));
        assert_ne!(id_from_key("a", 0), id_from_key("a", 1));
        assert_ne!(id_from_key("a", 0), id_from_key("b", 0));
        let id = id_from_key("a", 0);
        assert_eq!(id.len(), 36);
        assert_eq!(id.as_bytes()[14], b'8');
    }

    #[test]
    fn preferences_say_how_durable_and_how_long_to_wait() {
        let (durability, wait) = preferences("durability=os, wait=3").unwrap();
        assert_eq!(durability, Durability::Os);
        assert_eq!(wait, Wait::For(Duration::from_secs(3)));
        assert_eq!(preferences("").unwrap(), (Durability::Fsync, Wait::No));
        assert!(preferences("durability=none").is_err());
        assert!(preferences("respond-async").is_ok());
    }
}
