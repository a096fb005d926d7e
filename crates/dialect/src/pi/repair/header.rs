//! Repairs the header: moves it to the front, completes it, or rebuilds it from what is left.

use boswell_model::json::{Json, Raw, RawKind};
use boswell_model::{EntryKind, Gap, ProblemKind, Repair, Result, Slot, SpanKind};

use super::super::head::is_slot;
use super::super::link_scheme::{Shape, header};
use super::Entries;
use crate::{Confidence, Fix, Splice};

/// Maximum length of a header; of a torn one, only this much is examined.
const LONGEST: u64 = 1 << 16;

pub(super) fn fixes(entries: &Entries<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let log = entries.view.log;
    if let Some(mark) = log
        .gaps
        .iter()
        .find(|gap| gap.kind == SpanKind::Gap(Gap::Bom))
    {
        let does = "drop the byte order mark: with it the header cannot be read".to_owned();
        let splices = vec![Splice {
            at: mark.at,
            len: mark.len,
            with: Vec::new(),
        }];
        fixes.push(Fix {
            problem: ProblemKind::BadHeader,
            line: Some(1),
            slot: None,
            repair: Repair::Rewrite,
            confidence: Confidence::Certain,
            does,
            helps: &[],
            stage: 0,
            splices,
        });
    }
    let Some((first, _)) = log
        .entries()
        .find(|(_, head)| head.kind != EntryKind::Title)
    else {
        return Ok(());
    };
    // The header becomes the first line, even before the rest of a torn one, because pi reads only
    // the first line. Only oh-my-pi's title slot stays before it.
    let after_slot = log
        .entries()
        .find(|(slot, _)| !is_slot(log.word(*slot)))
        .filter(|(slot, _)| *slot > Slot(0));
    let front = after_slot.map_or(0, |(_, head)| head.at);
    match header(log) {
        Some(slot) if slot == first => fixes.extend(nameless(entries, slot)?),
        Some(slot) => {
            let does = "move the header to the first line".to_owned();
            let mut fix = entries.fix(ProblemKind::BadHeader, slot, Confidence::Certain, does);
            fix.repair = Repair::Rewrite;
            let record = entries.view.payload(slot)?;
            fix.splices = vec![
                Splice::insert(front, [&record[..], b"\n"].concat()),
                // The old line becomes empty: byte-level fixes have already separated other records
                // from it.
                entries.replaced(slot, Vec::new()),
            ];
            fixes.push(fix);
        }
        None => {
            let does = "make a header from what is left of the old one, the file's name and the first entry".to_owned();
            let mut fix = entries.fix(ProblemKind::BadHeader, first, Confidence::Likely, does);
            let line = made(entries, first)?;
            fix.splices = vec![Splice::insert(front, [line, b"\n".to_vec()].concat())];
            fixes.push(fix);
        }
    }
    Ok(())
}

fn nameless(entries: &Entries<'_>, slot: Slot) -> Result<Option<Fix>> {
    let has_id = |record: &[u8]| {
        Raw::trusted(record)
            .get("id")
            .is_some_and(|id| id.kind() == RawKind::String)
    };
    if has_id(&entries.view.payload(slot)?) {
        return Ok(None);
    }
    let id = entries.repair_input.location.id.as_str();
    let does = format!("give the header the id {id} of the file's name");
    let mut fix = entries.fix(ProblemKind::BadHeader, slot, Confidence::Certain, does);
    fix.splices = vec![entries.set(slot, "id", &Json::from(id))?];
    Ok(Some(fix))
}

fn made(entries: &Entries<'_>, first: Slot) -> Result<Vec<u8>> {
    let log = entries.view.log;
    let torn = log
        .gaps
        .iter()
        .find(|gap| gap.kind == SpanKind::Gap(Gap::Garbage));
    let first_at = log.head(first).map_or(0, |head| head.at);
    let torn = match torn.filter(|gap| gap.at < first_at) {
        Some(gap) => entries
            .view
            .payloads
            .payload(gap.at, gap.len.min(LONGEST))?
            .into_owned(),
        None => Vec::new(),
    };
    let time = entries
        .view
        .with_object(first, |entry| {
            entry.text("timestamp").map(|time| time.into_owned())
        })?
        .flatten();
    let version = (Shape::of(log) == Shape::Tree).then_some(3);
    let header = Json::object()
        .with("type", "session")
        .with_some("version", version)
        .with(
            "id",
            left_of(&torn, "id").unwrap_or_else(|| entries.repair_input.location.id.clone()),
        )
        .with_some("timestamp", left_of(&torn, "timestamp").or(time))
        .with(
            "cwd",
            left_of(&torn, "cwd")
                .or_else(|| entries.repair_input.meta.project.clone())
                .unwrap_or_default(),
        );
    Ok(header.to_bytes())
}

/// Returns the string value of a key in a torn header, if the value is complete.
fn left_of(torn: &[u8], key: &str) -> Option<String> {
    let mark = format!("\"{key}\":\"");
    let at = memchr::memmem::find(torn, mark.as_bytes())? + mark.len() - 1;
    let end = boswell_model::json::value_end(torn, at).ok()?;
    Raw::parse(torn.get(at..end)?)
        .ok()?
        .text()
        .map(|text| text.into_owned())
}
