//! Runs a request on the pool and turns its answer into a response.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use boswell_app::{App, AppResult, Cancel, CancelOnDrop};
use boswell_model::ErrorKind;
use tokio::sync::{mpsc, oneshot};

use crate::body::PieceBody;
use crate::call::Call;
use crate::lines::{Form, Last, Lines, Piece, Tag, WholeAnswer};
use crate::pool::{Lane, Permit};
use crate::problem::Problem;
use crate::shared::Share;

/// How long a request may take before its first byte.
const LONGEST: Duration = Duration::from_secs(30);

/// What a handler returns.
pub(crate) type Reply = Result<Response<Body>, Problem>;

/// What a request does on its thread: it writes shapes. Boxed for the same reason as a
/// [job](crate::pool::Job).
type Work = Box<dyn FnOnce(&App, &Cancel, &mut Lines) -> AppResult<Last> + Send>;

/// How a request is answered.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Where it runs.
    pub(crate) lane: Lane,
    /// The form of its answer.
    pub(crate) form: Form,
    /// The status of success.
    pub(crate) status: StatusCode,
    /// Headers of success.
    pub(crate) headers: Vec<(HeaderName, String)>,
    /// Whether it may take longer than others, and begins at once.
    pub(crate) is_long: bool,
    /// When it is cancelled; what was found until then is the answer.
    pub(crate) until: Option<Duration>,
}

impl Plan {
    /// A list that is read.
    pub(crate) fn list(call: &Call) -> Plan {
        Plan::new(call, Form::List)
    }

    /// One shape that is read.
    pub(crate) fn one(call: &Call) -> Plan {
        Plan::new(call, Form::One)
    }

    fn new(call: &Call, form: Form) -> Plan {
        Plan {
            lane: Lane::Read,
            form: if call.wants_lines { Form::Ndjson } else { form },
            status: StatusCode::OK,
            headers: Vec::new(),
            is_long: false,
            until: None,
        }
    }

    /// In another lane.
    pub(crate) fn in_lane(mut self, lane: Lane) -> Plan {
        self.lane = lane;
        self
    }

    /// As a stream of events with progress, if the client asks for one.
    pub(crate) fn with_progress(mut self, call: &Call) -> Plan {
        let accept = call.header(header::ACCEPT.as_str());
        if accept.is_some_and(|it| it.contains("text/event-stream")) {
            self.form = Form::Events;
        }
        self
    }

    /// With another status.
    pub(crate) fn with_status(mut self, status: StatusCode) -> Plan {
        self.status = status;
        self
    }

    /// Whether its answer has an ETag already, or needs none.
    fn is_tagged(&self) -> bool {
        self.lane == Lane::Change || self.headers.iter().any(|(name, _)| *name == header::ETAG)
    }

    /// With a header.
    pub(crate) fn with_header(mut self, name: HeaderName, value: String) -> Plan {
        self.headers.push((name, value));
        self
    }
}

/// Runs a request that writes shapes.
pub(crate) fn run<'c, F>(call: &'c Call, plan: Plan, work: F) -> impl Future<Output = Reply> + 'c
where
    F: FnOnce(&App, &Cancel, &mut Lines) -> AppResult<Last> + Send + 'static,
{
    run_boxed(call, plan, Box::new(work))
}

async fn run_boxed(call: &Call, plan: Plan, work: Work) -> Reply {
    let begun = begin(call, &plan, work).await?;
    respond(call, plan, begun)
}

/// As [`run`], for a request that looks at every session: others for the same address may get its
/// answer.
pub(crate) fn run_shared<'c, F>(
    call: &'c Call,
    plan: Plan,
    work: F,
) -> impl Future<Output = Reply> + 'c
where
    F: FnOnce(&App, &Cancel, &mut Lines) -> AppResult<Last> + Send + 'static,
{
    run_shared_boxed(call, plan, Box::new(work))
}

async fn run_shared_boxed(call: &Call, plan: Plan, work: Work) -> Reply {
    let address = format!("{:?} {}", plan.form, call.address);
    let request = call.server.shared.request(address);
    match request.wait().await {
        Share::Answer(answer) => {
            let response = whole(call, &plan, answer);
            Ok(with_headers(plan, response))
        }
        Share::Turn(turn) => {
            let begun = begin(call, &plan, work).await?;
            if let Piece::Whole(answer) = &begun.first {
                turn.share(answer);
            }
            respond(call, plan, begun)
        }
    }
}

/// A request that has begun to answer.
struct Begun {
    first: Piece,
    rest: mpsc::Receiver<Piece>,
    /// The ETag that the request found.
    tag: Tag,
    /// Cancels the request when its client goes away.
    guard: CancelOnDrop,
}

/// Runs a request until the first piece of its answer.
async fn begin(call: &Call, plan: &Plan, work: Work) -> Result<Begun, Problem> {
    let server = &call.server;
    let permit: Permit = server.pool.enter(plan.lane).await?;
    let cancel = Cancel::new();
    let guard = cancel.on_drop();
    let (sender, mut rest) = mpsc::channel(4);
    let runtime = tokio::runtime::Handle::current();
    let lines = Lines::new(plan.form, server.phrase, cancel.clone(), sender, runtime);
    let mut lines = lines.tagged(plan.is_tagged());
    let tag = lines.tag();
    let (app, worker) = (server.app.clone(), cancel.clone());
    let is_long = plan.is_long;
    let job = move || {
        if is_long {
            lines.begin();
        }
        let done = work(&app, &worker, &mut lines);
        lines.end(done);
        drop(permit);
    };
    server.pool.run(plan.lane, Box::new(job));
    let timer = plan.until.map(|until| {
        let cancel = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(until).await;
            cancel.cancel();
        })
    });
    let first = tokio::time::timeout(LONGEST, rest.recv()).await;
    if let Some(timer) = timer {
        timer.abort();
    }
    let first = first.map_err(|_| too_slow())?.ok_or_else(bug)?;
    Ok(Begun {
        first,
        rest,
        tag,
        guard,
    })
}

/// Runs a request that returns a value for the handler, such as a revision.
pub(crate) async fn ask<T, F>(call: &Call, lane: Lane, work: F) -> Result<T, Problem>
where
    T: Send + 'static,
    F: FnOnce(&App) -> AppResult<T> + Send + 'static,
{
    let permit = call.server.pool.enter(lane).await?;
    let app = call.server.app.clone();
    let (sender, done) = oneshot::channel();
    let job = move || {
        let answer = work(&app);
        drop(permit);
        // Without a receiver the client is gone.
        let _ = sender.send(answer);
    };
    call.server.pool.run(lane, Box::new(job));
    // A panic drops the sender.
    let answer = done.await.map_err(|_| bug())?;
    let answer = answer.map_err(|refusal| Problem::of(&refusal.error, call.server.phrase))?;
    Ok(answer.value)
}

fn respond(call: &Call, plan: Plan, begun: Begun) -> Reply {
    let Begun {
        first,
        rest,
        tag,
        guard,
    } = begun;
    let tag = tag.get();
    if let Some(tag) = tag.filter(|tag| call.conditions.has(tag)) {
        return Ok(not_modified(tag));
    }
    let mut response = match first {
        Piece::Failed(refusal) => return Err(Problem::of(&refusal.error, call.server.phrase)),
        Piece::Whole(answer) => whole(call, &plan, answer),
        Piece::Part(first) => Response::new(Body::new(PieceBody::new(first, rest, guard))),
    };
    if let Some(tag) = tag.and_then(|tag| HeaderValue::from_str(tag).ok()) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(with_headers(plan, response))
}

/// Returns an answer with its status, its type and the headers of its plan.
fn with_headers(plan: Plan, mut response: Response<Body>) -> Response<Body> {
    let kind = match plan.form {
        Form::Ndjson => "application/x-ndjson",
        Form::Events => "text/event-stream",
        _ => "application/json",
    };
    if response.status() == StatusCode::OK {
        *response.status_mut() = plan.status;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
    for (name, value) in plan.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    response
}

/// A complete answer. One without a revision gets a weak ETag of its bytes.
fn whole(call: &Call, plan: &Plan, answer: WholeAnswer) -> Response<Body> {
    let tag = answer.tag.filter(|_| !plan.is_tagged());
    if let Some(tag) = &tag
        && call.conditions.has(tag)
    {
        return not_modified(tag);
    }
    let mut response = Response::new(Body::from(answer.bytes));
    let headers = response.headers_mut();
    if let Some(tag) = tag.and_then(|tag| HeaderValue::from_str(&tag).ok()) {
        headers.insert(header::ETAG, tag);
    }
    for warning in answer.warnings.into_iter().take(8) {
        let plain = warning.escape_default().to_string();
        if let Ok(value) = HeaderValue::from_str(&plain) {
            headers.append(HeaderName::from_static("boswell-warning"), value);
        }
    }
    response
}

/// Returns the answer to a client that has the current version.
pub(crate) fn not_modified(tag: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn too_slow() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Unavailable,
        format!("the answer took longer than {} s", LONGEST.as_secs()),
    )
}

/// A panic on a thread of the pool.
fn bug() -> Problem {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        ErrorKind::Internal,
        "this is a bug in boswell",
    )
}
