//! Live updates as server-sent events.
//!
//! The id of an entry's event is the revision of the log after that entry: a client that comes back
//! with `Last-Event-ID` gets exactly what follows, also from another run of the server. A client
//! that reads slowly slows its own stream down and loses nothing; one that reads nothing for half a
//! minute gets `lag` and is disconnected.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use boswell_app::changes::{Change, ChangeFeed, ChangeShape, HealthShape};
use boswell_app::session_info::SessionRequest;
use boswell_app::shape::Shape as _;
use boswell_app::text::json_line;
use boswell_app::{Answer, AppResult};
use boswell_model::json::Json;
use boswell_model::{ErrorKind, Result as AppOutcome, Revision, SessionRef};
use bytes::Bytes;
use http_body::Frame;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

use crate::answer::{Reply, ask};
use crate::call::Call;
use crate::pool::Lane;
use crate::problem::Problem;
use crate::state::ServerState;

/// How often a comment shows that the connection is alive.
const ALIVE: Duration = Duration::from_secs(15);
/// How long a client may take nothing.
const STALLED: Duration = Duration::from_secs(30);
/// How many events wait for a slow client.
const WAITING: usize = 64;

/// Follows all sessions.
pub(crate) async fn all_events(mut call: Call) -> Reply {
    call.no_params()?;
    let place = listen(&call)?;
    let feed = ask(&call, Lane::Read, |app| app.changes()).await?;
    let mut first = Event::new("start", Json::object().with("v", 1).with("type", "start"));
    if call.header("last-event-id").is_some() {
        // What changed in between is not stored: the client lists again.
        first = Event::new("reset", Json::object().with("v", 1).with("type", "reset"));
    }
    Ok(stream(&call, place, (feed, None), vec![first]))
}

/// Follows the entries of one session.
pub(crate) async fn session_events(mut call: Call) -> Reply {
    let session = call.session()?;
    call.no_params()?;
    let since = call.header("last-event-id").map(str::parse::<Revision>);
    let since = since
        .transpose()
        .map_err(|_| Problem::invalid("`Last-Event-ID` is not a revision of this session"))?;
    let place = listen(&call)?;
    let (feed, session, revision) = ask(&call, Lane::Read, move |app| {
        let request = SessionRequest {
            session: session.clone(),
        };
        let revision = match since {
            Some(since) => since,
            None => app.revision(&request)?.value,
        };
        follow(app.changes()?, &session, revision)
    })
    .await?;
    let first = Event::new("session", place_json(&session, &revision)).with_id(&revision);
    Ok(stream(&call, place, (feed, Some(session)), vec![first]))
}

fn follow(
    feed: Answer<ChangeFeed>,
    session: &str,
    since: Revision,
) -> AppResult<(ChangeFeed, SessionRef, Revision)> {
    let mut feed = feed.value;
    let followed = feed.follow(session, Some(&since))?;
    Ok(Answer {
        value: (feed, followed.value, since),
        notices: followed.notices,
    })
}

fn place_json(session: &SessionRef, revision: &Revision) -> Json {
    Json::object()
        .with("v", 1)
        .with("type", "place")
        .with("session", session.to_string())
        .with("revision", revision.to_string())
}

/// The place of one listener.
struct Place {
    _permit: OwnedSemaphorePermit,
    _page: Option<PageCount>,
}

/// Counts an open page until it is dropped.
struct PageCount(watch::Sender<usize>);

impl Drop for PageCount {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

fn listen(call: &Call) -> Result<Place, Problem> {
    let permit = Arc::clone(&call.server.listeners).try_acquire_owned();
    let permit = permit.map_err(|_| {
        Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Unavailable,
            format!("{} clients follow changes already", crate::state::LISTENERS),
        )
    })?;
    let page = call.bearer.filter(|it| it.is_page).map(|_| {
        call.server.pages.send_modify(|count| *count += 1);
        PageCount(call.server.pages.clone())
    });
    Ok(Place {
        _permit: permit,
        _page: page,
    })
}

/// One event.
struct Event {
    name: &'static str,
    id: Option<String>,
    data: Json,
}

impl Event {
    fn new(name: &'static str, data: Json) -> Event {
        Event {
            name,
            id: None,
            data,
        }
    }

    fn with_id(mut self, revision: &Revision) -> Event {
        self.id = Some(revision.to_string());
        self
    }

    fn bytes(&self) -> Bytes {
        let id = self.id.as_ref().map(|id| format!("id: {id}\n"));
        let id = id.unwrap_or_default();
        // A line of JSON has no line break in it.
        let text = format!(
            "{id}event: {}\ndata: {}\n\n",
            self.name,
            json_line(&self.data)
        );
        text.into()
    }
}

/// Starts a stream of events.
fn stream(
    call: &Call,
    place: Place,
    (feed, session): (ChangeFeed, Option<SessionRef>),
    first: Vec<Event>,
) -> Response<Body> {
    let (sender, events) = mpsc::channel(WAITING);
    let listener = Listener {
        server: call.server.clone(),
        feed,
        session,
        sender,
        _place: place,
    };
    tokio::spawn(listener.run(first));
    let mut response = Response::new(Body::new(EventBody(events)));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream");
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies would collect events.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Sends the changes of a feed to one client.
struct Listener {
    server: ServerState,
    feed: ChangeFeed,
    session: Option<SessionRef>,
    sender: mpsc::Sender<Bytes>,
    _place: Place,
}

impl Listener {
    async fn run(mut self, first: Vec<Event>) {
        let mut ending = self.server.ending.subscribe();
        if !send(&self.sender, Bytes::from_static(b"retry: 1000\n\n")).await {
            return;
        }
        for event in first {
            if !send(&self.sender, event.bytes()).await {
                return;
            }
        }
        let mut alive = tokio::time::interval(ALIVE);
        alive.tick().await;
        loop {
            let pause = self.feed.pause();
            tokio::select! {
                () = end_of(&mut ending) => {
                    let bye = Event::new("bye", Json::object().with("v", 1).with("type", "bye"));
                    let _ = self.sender.try_send(bye.bytes());
                    return;
                }
                _ = alive.tick() => {
                    if !send(&self.sender, Bytes::from_static(b": alive\n\n")).await {
                        return;
                    }
                }
                () = tokio::time::sleep(pause) => {
                    match self.poll().await {
                        Some(polled) => self = polled,
                        None => return,
                    }
                }
                () = self.sender.closed() => return,
            }
        }
    }

    /// Polls the feed on a thread of the pool, and sends what is new. `None` if the client is gone.
    async fn poll(mut self) -> Option<Listener> {
        let permit = Arc::clone(&self.server.polls).acquire_owned().await.ok()?;
        let polled = tokio::task::spawn_blocking(move || {
            let events = self.changes();
            drop(permit);
            (self, events)
        });
        let (listener, events) = polled.await.ok()?;
        // A store that cannot be listed now is tried again by the next poll.
        for event in events.unwrap_or_default() {
            if !send(&listener.sender, event.bytes()).await {
                return None;
            }
        }
        Some(listener)
    }

    fn changes(&mut self) -> AppOutcome<Vec<Event>> {
        let changes = self.feed.poll()?;
        let mut events = Vec::new();
        let mut was_reset = false;
        for change in changes {
            match change {
                Change::Restarted(session) => {
                    events.extend(self.reset(&session));
                    was_reset = true;
                }
                // The entries of a log that was replaced are read again by the client.
                Change::Entry(_) if was_reset => {}
                change => events.extend(self.event(change)),
            }
        }
        Ok(events)
    }

    /// Follows a log that was replaced from its end on.
    fn reset(&mut self, session: &SessionRef) -> Option<Event> {
        let name = session.to_string();
        let request = SessionRequest {
            session: name.clone(),
        };
        let revision = self.server.app.revision(&request).ok()?.value;
        let _ = self.feed.follow(&name, Some(&revision)).ok()?;
        let event = Event::new("reset", place_json(session, &revision));
        Some(event.with_id(&revision))
    }

    fn event(&self, change: Change) -> Option<Event> {
        let is_ours = |session: &SessionRef| {
            let followed = self.session.as_ref();
            followed.is_none_or(|followed| followed == session)
        };
        match change {
            Change::Entry(entry) => {
                let revision = entry.entry.revision;
                Some(Event::new("entry", entry.shape().object()).with_id(&revision))
            }
            Change::Added(change) if is_ours(&change.session) => {
                Some(Event::new("added", ChangeShape::from(change).object()))
            }
            Change::Changed(change) if is_ours(&change.session) => {
                Some(Event::new("changed", ChangeShape::from(change).object()))
            }
            Change::Health(health) if is_ours(&health.session) => {
                Some(Event::new("health", HealthShape::from(health).object()))
            }
            Change::Gone(session) if is_ours(&session) => {
                self.server.app.forget_open_sessions();
                Some(Event::new("gone", ChangeShape::gone(&session).object()))
            }
            Change::Missed => {
                let data = Json::object().with("v", 1).with("type", "reset");
                self.session.is_none().then(|| Event::new("reset", data))
            }
            _ => None,
        }
    }
}

/// Waits until the server ends.
async fn end_of(ending: &mut watch::Receiver<bool>) {
    let _ = ending.wait_for(|it| *it).await;
}

/// Sends bytes to a client. Returns false if it is gone, or reads nothing.
async fn send(sender: &mpsc::Sender<Bytes>, bytes: Bytes) -> bool {
    let sent = tokio::time::timeout(STALLED, sender.send(bytes)).await;
    if sent.is_err() {
        let lag = Event::new("lag", Json::object().with("v", 1).with("type", "lag"));
        let _ = sender.try_send(lag.bytes());
    }
    matches!(sent, Ok(Ok(())))
}

/// The events of one client as a body.
struct EventBody(mpsc::Receiver<Bytes>);

impl http_body::Body for EventBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let next = self.0.poll_recv(cx);
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
