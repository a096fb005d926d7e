//! A boswell session in the demo, written by the session writer at a fixed time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use boswell_model::{Instant, Result};
use boswell_store::disk::RealDisk;
use boswell_store::disk::{Clock, IdSource};
use boswell_store::{Body, Draft, Home, NewSession};

use super::DemoLayout;

/// Id of the session.
const ID: &str = "019a2f00-0000-7000-8000-00000000de30";
/// Start time: 2026-10-16 08:00 UTC.
const BEGUN: i64 = 1_792_137_600_000;

/// A clock that advances by a second per call, and ids that count up.
#[derive(Debug, Default)]
struct Counting(AtomicU64);

impl Clock for Counting {
    fn now(&self) -> Instant {
        let seconds = i64::try_from(self.0.fetch_add(1, Ordering::Relaxed)).unwrap_or(0);
        Instant::from_millis(BEGUN + seconds * 1000)
    }
}

impl IdSource for Counting {
    fn random(&self) -> u64 {
        // Spread out, so that ids already differ in their first characters, which users see.
        self.0
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// Writes the session: a question in two languages, and two answers to it.
pub(super) fn write(place: &DemoLayout) -> Result<()> {
    let own = place.own();
    let id_source = Arc::new(Counting(AtomicU64::new(1)));
    let store = Home::on(Arc::new(RealDisk), id_source, own).sessions()?;
    let new = NewSession {
        project: place.project("blog"),
        id: Some(ID.into()),
        title: Some("Release notes / 发布说明".to_owned()),
        ..NewSession::default()
    };
    let writer = store.create(new)?;
    let asked = writer.append(Draft::user("Draft the release notes, in English and 中文."))?;
    writer.append(Draft::assistant("Search finds every word. 搜索支持中文。"))?;
    writer.append(Draft::new(Body::Label {
        target: asked.entry.clone(),
        label: Some("start".to_owned()),
    }))?;
    writer.branch(&asked.entry)?;
    writer.append(Draft::assistant(
        "New: full-text search, also in Chinese. 新功能：全文搜索，支持中文。",
    ))?;
    writer.release()
}
