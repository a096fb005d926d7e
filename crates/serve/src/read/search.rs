//! Searches, prompts and statistics over all sessions.

use std::time::Duration;

use boswell_app::prompts::PromptsRequest;
use boswell_app::search::{Order, QueryForm, SearchRequest};
use boswell_app::shape::Shape as _;
use boswell_app::stats::{By, GROUPINGS, StatsRequest};
use boswell_app::{Answer, App, AppResult, Cancel};

use crate::answer::{Plan, Reply, run, run_shared};
use crate::call::Call;
use crate::lines::{Last, Lines};
use crate::params::Params;
use crate::pool::Lane;
use crate::problem::Problem;
use crate::session_name::session_name;

const MODES: [(&str, QueryForm); 3] = [
    ("words", QueryForm::Words),
    ("substring", QueryForm::Substring),
    ("regex", QueryForm::Regex),
];
const ORDERS: [(&str, Order); 2] = [("relevance", Order::Relevance), ("newest", Order::Newest)];

/// Searches text in every session.
pub(crate) async fn search(mut call: Call) -> Reply {
    let params = call.params()?;
    let query = params.text("q");
    let request = SearchRequest {
        query: query.ok_or_else(|| Problem::invalid("`q` is missing: what to search for"))?,
        form: params.one_of("mode", &MODES, QueryForm::Words)?,
        fields: params.words("in"),
        session: params
            .text("session")
            .map(|it| session_name(&it))
            .transpose()?,
        filter: params.filter(),
        order: params.one_of("sort", &ORDERS, Order::Relevance)?,
        limit: params.limit("limit", 20, 100)?,
        cursor: params.text("cursor"),
        ..SearchRequest::default()
    };
    let plan = timed(&call, &params)?;
    params.end()?;
    run_shared(&call, plan, move |app, cancel, lines| {
        find(app, &request, cancel, lines)
    })
    .await
}

/// A request that returns what it found until its time is over.
fn timed(call: &Call, params: &Params) -> Result<Plan, Problem> {
    let timeout = params.limit("timeout_ms", 2_000, 10_000)?;
    let mut plan = Plan::list(call).in_lane(Lane::Search);
    plan.until = Some(Duration::from_millis(timeout.max(1) as u64));
    Ok(plan)
}

fn find(app: &App, request: &SearchRequest, cancel: &Cancel, lines: &mut Lines) -> AppResult<Last> {
    let Answer { mut value, notices } = app.search(request, cancel)?;
    for hit in std::mem::take(&mut value.hits) {
        if !lines.object(&hit.object())? {
            break;
        }
    }
    let page = value.page.clone().object();
    // The next search has less to read. The answer waits a few milliseconds for it.
    value.index_a_little();
    Ok(Answer {
        value: Last::Line(page),
        notices,
    })
}

/// Returns prompts of the user, newest first.
pub(crate) async fn prompts(mut call: Call) -> Reply {
    let params = call.params()?;
    let request = PromptsRequest {
        query: params.text("q").unwrap_or_default(),
        filter: params.filter(),
        limit: params.limit("limit", 100, 500)?,
    };
    let plan = timed(&call, &params)?;
    params.end()?;
    run(&call, plan, move |app, cancel, lines| {
        let Answer { value, notices } = app.prompts(&request, cancel)?;
        for prompt in value {
            if !lines.object(&prompt.object())? {
                break;
            }
        }
        let value = Last::None;
        Ok(Answer { value, notices })
    })
    .await
}

/// Returns statistics of all sessions.
pub(crate) async fn stats(call: Call) -> Reply {
    counted(call, None).await
}

/// Returns statistics of one session.
pub(crate) async fn session_stats(mut call: Call) -> Reply {
    let session = call.session()?;
    counted(call, Some(session)).await
}

async fn counted(mut call: Call, session: Option<String>) -> Reply {
    let params = call.params()?;
    let by = params.words("by");
    let group = |word: &String| {
        let found = GROUPINGS.iter().find(|(known, _)| known == word);
        found.map(|(_, by)| *by).ok_or_else(|| {
            let known: Vec<&str> = GROUPINGS.iter().map(|(known, _)| *known).collect();
            Problem::invalid(format!("`by={}` is not known", word.escape_debug()))
                .hinting(format!("use one or two of: {}", known.join(", ")))
        })
    };
    let request = StatsRequest {
        session,
        by: by.first().map_or(Ok(By::Total), group)?,
        then: by.get(1).map(group).transpose()?,
        filter: params.filter(),
    };
    params.end()?;
    let plan = Plan::list(&call).in_lane(Lane::Search);
    run_shared(&call, plan, move |app, cancel, lines| {
        let Answer { value, notices } = app.stats(&request, cancel)?;
        for sum in value.sums {
            if !lines.object(&sum.object())? {
                break;
            }
        }
        Ok(Answer {
            value: Last::Extra(value.total.object()),
            notices,
        })
    })
    .await
}
