//! Counts calls of `fsync`: once per durable append, and for nothing else.

use std::sync::Arc;

use boswell_store::disk::SystemIds;
use boswell_store::model::json::Json;
use boswell_store::{
    Body, Draft, Durability, Expect, Home, NewSession, Result, SessionWriter, Wait, WritableStore,
};

use super::counting_disk::SyncCount;
use super::group::Group;
use super::lab::Lab;
use super::table::{Row, Target};
use crate::Outcome;

/// Each case is repeated, so that an occasional sync is noticed too.
const TIMES: u64 = 20;

pub(crate) struct Fsyncs;

impl Group for Fsyncs {
    fn name(&self) -> &'static str {
        "fsyncs"
    }

    fn about(&self) -> &'static str {
        "syncs of files and folders per operation, counted below the store, against those that durability demands"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let home = lab.data.join("append").join("fsyncs");
        if home.exists() {
            std::fs::remove_dir_all(&home)?;
        }
        std::fs::create_dir_all(&home)?;
        let counted = Arc::new(SyncCount::default());
        let store = Home::on(counted.disk(), Arc::new(SystemIds), &home).sessions()?;
        let writer = store.create(NewSession::in_project("/home/dev/proj/fsyncs"))?;
        let id = writer.reference().id.clone();
        let asked = writer.append(Draft::user("first"))?.entry;
        let mut rows = of_writer(&counted, &writer, asked.as_str())?;
        rows.extend(of_annotations(&counted, &store, &id, asked.as_str())?);
        writer.release()?;
        rows.push(count(&counted, "open, append, close", 1, &|| {
            let writer = store.writer(&id, Wait::No)?;
            writer.append(Draft::user("x"))?;
            writer.release()
        })?);
        Ok(rows)
    }
}

/// What an open writer does.
fn of_writer(counted: &SyncCount, writer: &SessionWriter, asked: &str) -> Outcome<Vec<Row>> {
    Ok(vec![
        count(counted, "append, writer kept open", 1, &|| {
            writer.append(Draft::user("x")).map(drop)
        })?,
        count(counted, "append, not durable", 0, &|| {
            writer
                .append_with(Draft::user("x"), Expect::Any, Durability::Os)
                .map(drop)
        })?,
        count(counted, "batch of 10", 1, &|| {
            let drafts = vec![Draft::user("x"); 10];
            writer
                .append_all(drafts, Expect::Any, Durability::Fsync)
                .map(drop)
        })?,
        count(counted, "10 submitted, then waited for", 1, &|| {
            let mut tickets = Vec::new();
            for _ in 0..10 {
                tickets.push(writer.submit(Draft::user("x"))?);
            }
            for ticket in tickets {
                ticket.wait()?;
            }
            Ok(())
        })?,
        count(counted, "branch", 1, &|| writer.branch(asked).map(drop))?,
    ])
}

/// What needs no lease, while a writer has it.
fn of_annotations(
    counted: &SyncCount,
    store: &WritableStore,
    id: &str,
    asked: &str,
) -> Outcome<Vec<Row>> {
    Ok(vec![
        count(counted, "tag while a writer drives", 1, &|| {
            let tag = Json::object().with("tag", "urgent");
            store
                .annotate(id, Draft::custom("boswell.tag", tag))
                .map(drop)
        })?,
        count(counted, "label while a writer drives", 1, &|| {
            let label = Body::Label {
                target: asked.into(),
                label: Some("start".to_owned()),
            };
            store.annotate(id, Draft::new(label)).map(drop)
        })?,
    ])
}

fn count(
    counted: &SyncCount,
    case: &str,
    needed: u64,
    work: &dyn Fn() -> Result<()>,
) -> Outcome<Row> {
    let before = counted.syncs();
    for _ in 0..TIMES {
        work()?;
    }
    let each = (counted.syncs() - before) as f64 / TIMES as f64;
    Ok(Row {
        case: case.to_owned(),
        ours: format!("{each}"),
        baseline: format!("{needed}"),
        // If none is needed, one per repetition is as bad as one too many.
        ratio: each / needed.max(1) as f64,
        target: Some(Target::AtMost(needed.min(1) as f64)),
    })
}
