//! How a page gets in: one-time codes, tickets for downloads, and the right to change something.

use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, Response, StatusCode};
use boswell_app::Answer;
use boswell_model::ErrorKind;
use boswell_model::json::Json;
use tower::ServiceExt as _;

use crate::access::{Bearer, Scope};
use crate::answer::{Plan, Reply, run};
use crate::call::Call;
use crate::config::Changes;
use crate::entity::Entity;
use crate::lines::Last;
use crate::pool::Lane;
use crate::problem::Problem;
use crate::routes;
use crate::state::ServerState;

async fn one(call: &Call, value: Json) -> Reply {
    let plan = Plan::one(call).in_lane(Lane::Change);
    run(call, plan, move |_, _, lines| {
        lines.object(&value)?;
        Ok(Answer {
            value: Last::None,
            notices: Vec::new(),
        })
    })
    .await
}

fn failed(call: &Call, error: &boswell_model::Error) -> Problem {
    Problem::of(error, call.server.phrase)
}

/// Exchanges a one-time code for the token of a page.
pub(crate) async fn login(call: Call, body: Body) -> Reply {
    let entity = Entity::read(&call, body).await?;
    entity.only(&["code"])?;
    let code = entity.required("code")?;
    let token = call.server.access.login(&code);
    let Some(token) = token.map_err(|error| failed(&call, &error))? else {
        return Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            ErrorKind::Denied,
            "the code is not valid any more",
        )
        .hinting("open the page again with `boswell web`"));
    };
    let value = Json::object().with("token", token).with("scope", "read");
    one(&call, value).await
}

/// Gives a page the right to change something, after its user agreed. Other programs have a token
/// for that.
pub(crate) async fn allow_changes(call: Call, body: Body) -> Reply {
    let entity = Entity::read(&call, body).await?;
    entity.only(&["allow"])?;
    let is_page = call.bearer.is_some_and(|it| it.is_page);
    let may = call.server.access.changes() != Changes::Never && !call.server.app.is_read_only();
    if !is_page || !may || !entity.switch("allow")? {
        let what = "only a page that was opened with `boswell web` may ask for this";
        return Err(Problem::new(StatusCode::FORBIDDEN, ErrorKind::Denied, what));
    }
    let token = call.server.access.page_token(Scope::Write);
    let token = token.map_err(|error| failed(&call, &error))?;
    let value = Json::object().with("token", token).with("scope", "write");
    one(&call, value).await
}

/// Returns a ticket for one download, because a link cannot send a token.
pub(crate) async fn ticket(call: Call, body: Body) -> Reply {
    let entity = Entity::read(&call, body).await?;
    entity.only(&["path"])?;
    let path = entity.required("path")?;
    let is_download = path.starts_with("/v1/sessions/")
        && (path.contains("/export") || path.contains("/attachments/") || path.contains("/media/"));
    if !is_download {
        let what = "tickets are for exports and attachments of sessions";
        return Err(Problem::invalid(what));
    }
    let ticket = call.server.access.ticket(&path);
    let ticket = ticket.map_err(|error| failed(&call, &error))?;
    one(&call, Json::object().with("ticket", ticket)).await
}

/// Answers a request that a ticket was issued for.
pub(crate) async fn take(State(server): State<ServerState>, mut call: Call) -> Reply {
    let ticket = call.name("ticket")?;
    let path = server.access.take(&ticket).ok_or_else(|| {
        let what = "the ticket is not valid any more";
        Problem::new(StatusCode::NOT_FOUND, ErrorKind::NotFound, what)
    })?;
    let request = Request::get(path).extension(Bearer {
        scope: Scope::Read,
        is_page: false,
    });
    let request = request
        .body(Body::empty())
        .map_err(|_| Problem::invalid("the ticket is for an address that is not valid"))?;
    // The checks of the guard were made for this request; the ticket replaces its token.
    let answered: Result<Response<Body>, _> = routes::inner(server).oneshot(request).await;
    answered.map_err(|never| match never {})
}
