//! What there is on this machine: stores, projects, memory, operations, and the server itself.

use boswell_app::memory::{MemoryRequest, MemoryScope};
use boswell_app::shape::Shape as _;
use boswell_app::{Answer, AppResult, Notice};
use boswell_model::json::Json;

use super::session::ended;
use crate::access::Scope;
use crate::answer::{Plan, Reply, run};
use crate::call::Call;
use crate::config::Changes;
use crate::lines::{Last, Lines};

/// Returns what the server is and what the client may do.
pub(crate) async fn about(mut call: Call) -> Reply {
    call.no_params()?;
    let server = &call.server;
    let scope = call.bearer.map_or(Scope::Read, |it| it.scope);
    let may_allow =
        server.access.changes() == Changes::OnceAllowed && call.bearer.is_some_and(|it| it.is_page);
    let value = Json::object()
        .with("v", 1)
        .with("type", "server")
        .with("version", server.version)
        .with("read_only", server.app.is_read_only())
        .with("scope", scope.word())
        .with("may_allow_changes", may_allow && !server.app.is_read_only())
        .with("limits", limits());
    let plan = Plan::one(&call);
    run(&call, plan, move |_, _, lines| {
        lines.object(&value)?;
        Ok(Answer {
            value: Last::None,
            notices: Vec::new(),
        })
    })
    .await
}

fn limits() -> Json {
    Json::object()
        .with("sessions", 500)
        .with("entries", 500)
        .with("heads", 200_000)
        .with("hits", 100)
        .with("body_bytes", crate::entity::LARGEST)
        .with("append_bytes", crate::entity::LARGEST_APPEND)
        .with("listeners", crate::state::LISTENERS)
}

/// Writes shapes, and then nothing more.
fn all(shapes: impl Iterator<Item = Json>, lines: &mut Lines) -> AppResult<Last> {
    for shape in shapes {
        if !lines.object(&shape)? {
            break;
        }
    }
    Ok(Answer {
        value: Last::None,
        notices: Vec::new(),
    })
}

/// Lists the stores.
pub(crate) async fn stores(mut call: Call) -> Reply {
    call.no_params()?;
    let (plan, phrase) = (Plan::list(&call), call.server.phrase);
    run(&call, plan, move |app, _, lines| {
        let Answer { mut value, notices } = app.stores()?;
        let warnings = value.stores.iter_mut().flat_map(|it| &mut it.warnings);
        warnings.for_each(|it| it.detail = it.detail.phrased(phrase).into());
        let written = all(value.stores.into_iter().map(|it| it.object()), lines)?;
        let value = written.value;
        Ok(Answer { value, notices })
    })
    .await
}

/// Lists the projects.
pub(crate) async fn projects(mut call: Call) -> Reply {
    call.no_params()?;
    let plan = Plan::list(&call);
    run(&call, plan, move |app, _, lines| {
        let Answer { value, notices } = app.projects()?;
        let written = all(value.projects.into_iter().map(|it| it.object()), lines)?;
        let value = written.value;
        Ok(Answer { value, notices })
    })
    .await
}

/// Lists the stores whose agents delete sessions, with what will be lost soon.
pub(crate) async fn kept(mut call: Call) -> Reply {
    call.no_params()?;
    let plan = Plan::list(&call).in_lane(crate::pool::Lane::Search);
    run(&call, plan, move |app, _, lines| {
        let Answer { value, mut notices } = app.keep_status()?;
        notices.extend(value.left_out.into_iter().map(Notice::Failure));
        let written = all(value.stores.into_iter().map(|it| it.object()), lines)?;
        let value = written.value;
        Ok(Answer { value, notices })
    })
    .await
}

/// Lists the operations that can be undone.
pub(crate) async fn ops(mut call: Call) -> Reply {
    call.no_params()?;
    let plan = Plan::list(&call);
    run(&call, plan, move |app, _, lines| {
        let Answer { value, notices } = app.operations()?;
        let written = all(value.operations.into_iter().map(|it| it.object()), lines)?;
        let value = written.value;
        Ok(Answer { value, notices })
    })
    .await
}

/// Lists the memory pages of all projects; with `text` their content too.
pub(crate) async fn memory(mut call: Call) -> Reply {
    let params = call.params()?;
    let request = MemoryRequest {
        scope: MemoryScope::EveryProject,
        with_text: params.switch("text")?,
    };
    params.end()?;
    let plan = Plan::list(&call);
    run(&call, plan, move |app, _, lines| {
        let answer = app.memory(&request, &mut |page| lines.object(&page.object()))?;
        ended(answer, |_| Last::None)
    })
    .await
}
