//! What an agent's status line shows: the cost of the session and of today, and the context.
//!
//! An agent runs the program again after every message, so this neither lists a store nor updates
//! anything: today's cost is what the catalog knew at its last refresh, and of the session itself
//! also what its log says since.

use std::path::{Component, Path, PathBuf};

use boswell_dialect::SessionLocation;
use boswell_dialect::claude::StatusInput;
use boswell_find::{Catalog, GrowingLog, RecentSpending, Tally};
use boswell_model::{Error, ErrorKind, Framing, Instant, Result, SessionRef};
use boswell_store::Store;
use boswell_store::store::Stores;

use crate::config::expanded;
use crate::list::ListRequest;
use crate::sessions::filter::SessionFilter;
use crate::shape::shape;
use crate::{App, AppResult, RequestContext, known_sessions, stats};

/// A request for a status line.
#[derive(Debug, Clone, Default)]
pub struct StatuslineRequest {
    /// The JSON object that the agent passes. If empty, the last known session of the current
    /// folder is used.
    pub input: Vec<u8>,
}

shape! {
    /// From `statusline`: what an agent's status line shows.
    StatuslineShape: "statusline" {
        /// the session; `null` if none is known
        session: Option<String>,
        /// the model as the agent or the log names it
        model: Option<String>,
        /// what the session cost, as the agent says or computed from prices
        cost_usd: Option<f64>,
        /// what all sessions cost on this local day, as far as it is known
        today_usd: Option<f64>,
        /// time of the last refresh of the catalog: what other sessions spent since is missing
        as_of: Option<Instant>,
        /// tokens in the context
        context_tokens: Option<u64>,
        /// size of the context window, if the agent says it
        context_window: Option<u64>,
        /// how much of the window is used, in percent
        context_percent: Option<f64>,
    }
}

impl App {
    /// Returns what a status line shows. No store is listed, and nothing is written.
    ///
    /// # Errors
    ///
    /// Invalid for an input that is not a JSON object, and for invalid prices in the settings.
    pub fn statusline(&self, request: &StatuslineRequest) -> AppResult<StatuslineShape> {
        self.answer_unlooked(|cx| statusline(cx, request))
    }
}

/// The session of the line, and its log if it is a file that can be read on.
#[derive(Default)]
struct Subject {
    session: Option<SessionRef>,
    log: Option<(Store, SessionLocation)>,
}

fn statusline(cx: &RequestContext, request: &StatuslineRequest) -> Result<StatuslineShape> {
    let is_empty = request.input.trim_ascii().is_empty();
    let input = match is_empty {
        true => StatusInput::default(),
        false => StatusInput::parse(&request.input).ok_or_else(not_an_object)?,
    };
    let catalog = catalog(cx)?;
    let subject = match is_empty {
        true => last_here(cx, &catalog),
        false => named(cx, &input),
    };
    let open = subject.log.as_ref();
    let open = open.map(|(store, location)| GrowingLog { store, location });
    let since = cx.zone.midnight(cx.now, 0);
    let scope = cx.conversation_scope();
    let spending = catalog
        .recent_spending(&scope, since, open)
        // It is derived; the next refresh makes a damaged one again.
        .or_else(|_| Catalog::in_memory()?.recent_spending(&scope, since, open))
        .unwrap_or_default();
    shape_of(cx, input, subject, spending)
}

fn shape_of(
    cx: &RequestContext,
    input: StatusInput,
    subject: Subject,
    spending: RecentSpending,
) -> Result<StatuslineShape> {
    let prices = stats::prices(&cx.config)?;
    let cost = |tally: &Tally| {
        let sum = tally.sums(&prices).remove("");
        sum.map(|sum| sum.usage.cost)
    };
    let computed = cost(&spending.session).flatten();
    let computed = computed.filter(|_| spending.whole_session);
    // A catalog that knows no spending of today says that there was none. Without one it is
    // unknown.
    let nothing = spending.as_of.map(|_| 0.0);
    let today = cost(&spending.since).unwrap_or(nothing);
    let (model, sent) = spending.last.unzip();
    let context_tokens = input.context.or(sent);
    let percent = context_tokens.zip(input.window.filter(|window| *window > 0));
    let percent = percent.map(|(used, window)| used as f64 * 100.0 / window as f64);
    Ok(StatuslineShape {
        session: subject.session.map(|session| session.to_string()),
        model: input.model.or(model.flatten()),
        cost_usd: input.cost.or(computed),
        today_usd: today,
        as_of: spending.as_of,
        context_tokens,
        context_window: input.window,
        context_percent: input.used_percent.or(percent),
    })
}

fn catalog(cx: &RequestContext) -> Result<Catalog> {
    let path = cx.home.as_ref().map(|home| home.join("catalog.db"));
    // A catalog cannot be opened without writing files next to it.
    let path = path.filter(|path| !cx.is_read_only() && path.is_file());
    match path.and_then(|path| Catalog::open(&path).ok()) {
        Some(catalog) => Ok(catalog),
        None => Catalog::in_memory(),
    }
}

/// The session that an agent names.
fn named(cx: &RequestContext, input: &StatusInput) -> Subject {
    let path = input.transcript.as_deref().map(Path::new);
    let Some((store, key)) = path.and_then(|path| store_of(cx, path)) else {
        return Subject::default();
    };
    let session = input.session.clone().or_else(|| {
        let stem = path?.file_stem()?;
        Some(stem.to_str()?.to_owned())
    });
    session.map_or_else(Subject::default, |id| Subject {
        session: Some(SessionRef::new(store.dialect().name(), &id)),
        log: located(store, &key, &id),
    })
}

/// The most recently active session of the current folder that the catalog knows.
fn last_here(cx: &RequestContext, catalog: &Catalog) -> Subject {
    let request = ListRequest {
        filter: SessionFilter {
            here: true,
            ..SessionFilter::default()
        },
        limit: Some(1),
        ..ListRequest::default()
    };
    let page = known_sessions::known(cx, &request).unwrap_or_default();
    let Some(row) = page.rows.into_iter().next() else {
        return Subject::default();
    };
    let session = row.front.reference;
    let known = catalog.known_log(&cx.conversation_scope(), &session);
    let log = known.ok().flatten().and_then(|known| {
        let store = store_in(&known.dialect, known.root)?;
        located(store, &known.key, &session.id)
    });
    Subject {
        session: Some(session),
        log,
    }
}

/// Returns the store whose folder contains a path, and the key of the path there.
fn store_of(cx: &RequestContext, path: &Path) -> Option<(Store, String)> {
    let mut places = cx.named_places().to_vec();
    if places.is_empty() {
        for dialect in boswell_dialect::all() {
            let roots = dialect.roots(&cx.env).into_iter();
            places.extend(roots.map(|root| (dialect.name().to_owned(), root)));
        }
        let added = cx.config.stores().into_iter();
        places.extend(added.map(|it| (it.dialect, expanded(&it.path, &cx.env))));
    }
    let (dialect, root) = places
        .into_iter()
        .filter(|(_, root)| path.starts_with(root))
        .max_by_key(|(_, root)| root.as_os_str().len())?;
    let below = path.strip_prefix(&root).ok()?;
    let part = |part: Component<'_>| match part {
        Component::Normal(part) => part.to_str().map(str::to_owned),
        _ => None,
    };
    let parts: Option<Vec<String>> = below.components().map(part).collect();
    let key = parts?.join("/");
    Some((store_in(&dialect, root)?, key))
}

fn store_in(dialect: &str, root: PathBuf) -> Option<Store> {
    let mut stores = Stores::default();
    stores.add(dialect, root).ok()?;
    let (_, store) = stores.iter().next()?;
    Some(store.clone())
}

/// Returns the location of a log of lines, if there is such a file.
fn located(store: Store, key: &str, id: &str) -> Option<(Store, SessionLocation)> {
    if !key.ends_with(".jsonl") {
        return None;
    }
    let info = store.backend().stat(key).ok().flatten()?;
    let location = SessionLocation::at(id, &info, Framing::Lines);
    info.is_file().then_some((store, location))
}

fn not_an_object() -> Error {
    Error::new(
        ErrorKind::Invalid,
        "the input of a status line is not a JSON object",
    )
    .advising("pass what the agent passes to the program of its status line, or nothing")
}
