//! Entries of a session: pages, one entry, and the table of all.

use boswell_app::AppResult;
use boswell_app::heads::HeadsRequest;
use boswell_app::shape::{EntryRange, Maybe, Shape as _};
use boswell_app::show::ShowRequest;

use super::session::{ended, run_by_revision};
use crate::answer::{Plan, Reply, run};
use crate::call::Call;
use crate::lines::{Last, Lines};
use crate::params::Params;
use crate::problem::Problem;
use crate::session_name::entry_name;

/// How many bytes of a text a page has, unless another limit is asked for.
const TEXT: usize = 64 << 10;
/// How many entries the table of a session has at most.
const HEADS: usize = 200_000;

/// Returns a page of entries.
pub(crate) async fn entries(mut call: Call) -> Reply {
    let params = call.params()?;
    let session = call.session()?;
    let (request, text_limit) = page_request(&params, session, call.wants_lines)?;
    params.end()?;
    let session = request.session.clone();
    run_by_revision(&call, Plan::list(&call), session, move |app, lines| {
        show(app, &request, text_limit, lines)
    })
    .await
}

fn page_request(
    params: &Params,
    session: String,
    wants_lines: bool,
) -> Result<(ShowRequest, Option<usize>), Problem> {
    let entry = |name: &'static str| params.text(name).map(|it| entry_name(&it)).transpose();
    let views = [("branch", false), ("records", true)];
    let limit = params.limit("limit", 100, 500)?;
    let request = ShowRequest {
        session,
        records: params.one_of("view", &views, false)?,
        around: entry("around")?,
        nearby: Some(limit / 2),
        limit: Some(limit),
        before: entry("before")?,
        after: entry("after")?,
        from: params.number("from")?,
        prompts: params.one_of("only", &[("prompts", true)], false)?,
        matching: params.text("match"),
        raw: params.switch("raw")?,
        full_output: params.one_of("tools", &[("summary", false), ("full", true)], false)?,
        subagents: params.switch("subagents")?,
        branch: entry("branch")?,
        places: !wants_lines,
        ..ShowRequest::default()
    };
    let places = [
        request.around.is_some(),
        request.after.is_some(),
        request.from.is_some(),
    ];
    if places.iter().filter(|it| **it).count() > 1 {
        let what = "`around`, `after` and `from` exclude each other";
        return Err(Problem::invalid(what));
    }
    // Lines are those of `--json`, which cuts nothing.
    let text_limit = match (params.number("text_limit")?, wants_lines) {
        (None, true) => None,
        (None, false) => Some(TEXT),
        (limit, _) => limit,
    };
    Ok((request, text_limit))
}

fn show(
    app: &boswell_app::App,
    request: &ShowRequest,
    text_limit: Option<usize>,
    lines: &mut Lines,
) -> AppResult<Last> {
    let answer = app.entries(request, text_limit, &mut |mut shape| {
        if lines.is_ndjson() {
            // `--json` has neither.
            shape.position = Maybe::Absent;
            shape.subagents = Maybe::Absent;
        }
        lines.object(&shape.object())
    })?;
    ended(answer, |range| {
        Last::Extra(EntryRange::from(range).object())
    })
}

/// Returns one entry with its whole text, or a part of a long one.
pub(crate) async fn entry(mut call: Call) -> Reply {
    let params = call.params()?;
    let request = ShowRequest {
        session: call.session()?,
        entry: Some(call.entry()?),
        raw: params.switch("raw")?,
        full_output: params.one_of("tools", &[("summary", false), ("full", true)], false)?,
        ..ShowRequest::default()
    };
    let text_limit = params.number("text_limit")?;
    params.end()?;
    let session = request.session.clone();
    run_by_revision(&call, Plan::one(&call), session, move |app, lines| {
        show(app, &request, text_limit, lines)
    })
    .await
}

/// Returns the entries of the subagents that one entry started.
pub(crate) async fn subagents(mut call: Call) -> Reply {
    let params = call.params()?;
    let (session, entry) = (call.session()?, call.entry()?);
    let text_limit = params.number("text_limit")?.or(Some(TEXT));
    params.end()?;
    let plan = Plan::list(&call);
    run(&call, plan, move |app, _, lines| {
        let answer = app.subagent_entries(&session, &entry, text_limit, &mut |shape| {
            lines.object(&shape.object())
        })?;
        ended(answer, |_| Last::None)
    })
    .await
}

/// Returns the table of entries.
pub(crate) async fn heads(mut call: Call) -> Reply {
    let params = call.params()?;
    let views = [("branch", false), ("records", true)];
    let request = HeadsRequest {
        session: call.session()?,
        records: params.one_of("view", &views, false)?,
        branch: params
            .text("branch")
            .map(|it| entry_name(&it))
            .transpose()?,
        from: params.number("from")?.unwrap_or(0),
        count: Some(params.limit("count", HEADS, HEADS)?),
        marks_only: params.one_of("as", &[("columns", false), ("marks", true)], false)?,
    };
    params.end()?;
    let session = request.session.clone();
    run_by_revision(&call, Plan::one(&call), session, move |app, lines| {
        let answer = app.heads(&request)?;
        lines.object(&answer.value.clone().object())?;
        ended(answer, |_| Last::None)
    })
    .await
}
