//! Long work on request: the search index, and copies of sessions that their agents will delete.
//!
//! It ends when the client goes away; what was done until then stays, and the next request
//! continues. With `Accept: text/event-stream` the answer is a stream with its progress.

use axum::body::Body;
use boswell_app::index::IndexRequest;
use boswell_app::shape::{ProgressShape, Shape as _};
use boswell_app::system::Stopwatch;
use boswell_app::{Answer, Notice};

use crate::answer::{Plan, Reply, run};
use crate::call::Call;
use crate::entity::Entity;
use crate::lines::{Last, Lines};
use crate::pool::Lane;

/// How often progress is sent at most, in milliseconds.
const OFTEN: u128 = 100;

/// Sends progress, not too often.
pub(crate) struct Progress {
    work: &'static str,
    since: Option<Stopwatch>,
}

impl Progress {
    pub(crate) fn of(work: &'static str) -> Progress {
        Progress { work, since: None }
    }

    /// Sends how far the work is, if the client follows it and the last message is old enough.
    pub(crate) fn send(&mut self, lines: &mut Lines, (done, total): (usize, usize)) {
        let is_soon = |since: &Stopwatch| since.elapsed().as_millis() < OFTEN;
        if !lines.is_events() || (done < total && self.since.as_ref().is_some_and(is_soon)) {
            return;
        }
        self.since = Some(Stopwatch::start());
        let work = self.work;
        // Short sources have no block of their own in the total.
        let total = total.max(done);
        // A client that is gone cancels the work by itself.
        let _ = lines.object(&ProgressShape { work, done, total }.object());
    }
}

/// Updates the search index.
pub(crate) async fn index(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let entity = Entity::read(&call, body).await?;
    entity.only(&["rebuild"])?;
    let request = IndexRequest {
        rebuild: entity.switch("rebuild")?,
    };
    let plan = long(&call);
    run(&call, plan, move |app, cancel, lines| {
        let mut progress = Progress::of("index");
        let done = app.index(&request, cancel, &mut |at| {
            progress.send(lines, (at.done, at.total));
        })?;
        lines.object(&done.value.object())?;
        let notices = done.notices;
        Ok(Answer {
            value: Last::None,
            notices,
        })
    })
    .await
}

/// Copies every session that changed and that its agent may delete.
pub(crate) async fn keep(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    Entity::read(&call, body).await?.only(&[])?;
    let plan = long(&call);
    run(&call, plan, move |app, cancel, lines| {
        let mut progress = Progress::of("keep");
        let done = app.keep_now(cancel, &mut |at| {
            progress.send(lines, (at.done, at.total));
        })?;
        lines.object(&done.value.counts.object())?;
        let failures = done.value.left_out.into_iter().map(Notice::Failure);
        let notices = done.notices.into_iter().chain(failures).collect();
        Ok(Answer {
            value: Last::None,
            notices,
        })
    })
    .await
}

fn long(call: &Call) -> Plan {
    let mut plan = Plan::list(call).in_lane(Lane::Change).with_progress(call);
    plan.is_long = true;
    plan
}
