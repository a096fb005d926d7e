//! `GET /v1/sessions`.

use boswell_app::list::{ListRequest, Sort};
use boswell_app::shape::Shape as _;
use boswell_app::{Answer, App, AppResult};

use crate::answer::{Plan, Reply, run_shared};
use crate::call::Call;
use crate::lines::{Last, Lines};
use crate::problem::Problem;

/// The orders of a list. By cost it has no cursor.
const ORDERS: [(&str, (Sort, bool)); 6] = [
    ("active", (Sort::Active, false)),
    ("created", (Sort::Created, false)),
    ("messages", (Sort::Messages, false)),
    ("size", (Sort::Size, false)),
    ("name", (Sort::Name, false)),
    ("cost", (Sort::Active, true)),
];

/// Lists sessions.
pub(crate) async fn sessions(mut call: Call) -> Reply {
    let request = list_request(&mut call)?;
    let plan = Plan::list(&call);
    run_shared(&call, plan, move |app, _, lines| list(app, &request, lines)).await
}

fn list_request(call: &mut Call) -> Result<ListRequest, Problem> {
    let params = call.params()?;
    let (sort, by_cost) = params.one_of("sort", &ORDERS, (Sort::Active, false))?;
    let request = ListRequest {
        filter: params.filter(),
        matching: params.text("match"),
        sort,
        by_cost,
        with_cost: false,
        limit: Some(params.limit("limit", 50, 500)?),
        offset: params.number("offset")?.unwrap_or(0),
        cursor: params.text("cursor"),
        hidden: params.switch("hidden")?,
        with_shapes: true,
    };
    params.end()?;
    Ok(request)
}

fn list(app: &App, request: &ListRequest, lines: &mut Lines) -> AppResult<Last> {
    let answer = app.list(request)?;
    for shape in answer.value.rows.into_iter().filter_map(|row| row.shape) {
        if !lines.object(&shape.object())? {
            break;
        }
    }
    Ok(Answer {
        value: Last::Line(answer.value.page.object()),
        notices: answer.notices,
    })
}
