//! Lists sessions, in order, one page at a time.

use std::collections::HashMap;

use boswell_dialect::REPAIRED_TITLE;
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};
use boswell_store::links::Conversation;
use boswell_store::store::{Summaries, Summary};

use crate::sessions::cursor::cursor_of;
use crate::sessions::expiry::Expiries;
use crate::sessions::filter::Filter;
pub use crate::sessions::filter::SessionFilter;
pub use crate::sessions::list::Sort;
use crate::sessions::list::{Look, SessionList, matches, sides};
use crate::sessions::misspelt::refuse_misspelt;
use crate::shape::{self, Maybe, Page, SessionShape};
use crate::{App, AppResult, RequestContext, stats};

/// A request to list sessions.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// The sessions to list.
    pub filter: SessionFilter,
    /// Only sessions whose name, prompts, project, tags or id contain this text.
    pub matching: Option<String>,
    /// Order.
    pub sort: Sort,
    /// Maximum number of rows; `None` for all.
    pub limit: Option<usize>,
    /// Number of rows to skip.
    pub offset: usize,
    /// Continue after an earlier page.
    pub cursor: Option<String>,
    /// Include subagents, empty, archived, deleted and otherwise hidden sessions.
    pub hidden: bool,
    /// Whether rows contain what the session cost, for which every log is read once.
    pub with_cost: bool,
    /// Order by cost, whatever `sort` is; such a list has no cursor.
    pub by_cost: bool,
    /// Whether rows contain their JSON shape, for which settings and vault are read.
    pub with_shapes: bool,
}

/// A page of sessions.
#[derive(Debug)]
pub struct SessionPage {
    /// The rows in order.
    pub rows: Vec<SessionRow>,
    /// The end of the page.
    pub page: Page,
    /// Whether there is any session, before filters.
    pub found_any: bool,
    /// Folders that were examined, for a list without sessions.
    pub looked_at: Vec<LookedAt>,
}

/// A row of a page.
#[derive(Debug)]
pub struct SessionRow {
    /// The conversation, with a summary for each store that contains it.
    pub conversation: Conversation,
    /// Agents and the label of the store, in a few characters.
    pub agents: String,
    /// As many characters of its id as name it and no other session that lists show.
    pub short_id: String,
    /// What the session and its subagents cost in dollars, if it was requested and is known.
    pub cost: Option<f64>,
    /// The short id of the repaired fork that replaces it, if that is on the same page.
    pub superseded_by: Option<String>,
    /// The JSON shape, if it was requested.
    pub shape: Option<SessionShape>,
}

/// A folder that was examined.
#[derive(Debug)]
pub struct LookedAt {
    /// The dialect of the sessions that it would contain.
    pub dialect: &'static str,
    /// The folder.
    pub root: String,
    /// Whether the folder exists.
    pub exists: bool,
}

impl App {
    /// Lists sessions, a page at a time.
    ///
    /// # Errors
    ///
    /// Invalid for a time or a cursor that is not valid.
    pub fn list(&self, request: &ListRequest) -> AppResult<SessionPage> {
        self.answer(|cx| list(cx, request))
    }
}

pub(crate) fn list(cx: &RequestContext, request: &ListRequest) -> Result<SessionPage> {
    let filter = Filter::new(cx, &request.filter)?;
    let with_cost = request.with_cost || request.by_cost;
    let costs = with_cost.then(|| stats::costs(cx)).transpose()?;
    let mut sessions = SessionList::open(cx, look(request, &filter))?;
    let found_any = !sessions.is_empty();
    narrow(&mut sessions, request, &filter);
    sessions.sort(request.sort);
    let total = sessions.len();
    if let Some(cursor) = &request.cursor {
        sessions.skip_to(request.sort, cursor)?;
    }
    let limit = request.limit.unwrap_or(usize::MAX);
    let more = sessions.len().saturating_sub(request.offset) > limit && !request.by_cost;
    let conversations = page(&mut sessions, request, costs.as_ref())?;
    let short_ids = sessions.short_ids(&conversations);
    warn_about(cx, sessions.take_rest());
    sessions.keep_conversations();
    sessions.leave();
    if total == 0 && found_any {
        refuse_misspelt(cx, &request.filter)?;
    }
    let last = conversations.last().filter(|_| more);
    Ok(SessionPage {
        page: Page {
            shown: conversations.len(),
            total: u64::try_from(total).ok(),
            sessions: Maybe::Absent,
            cursor: last.map(|last| cursor_of(last, request.sort)),
            complete: true,
            scanned_bytes: Maybe::Absent,
            as_of: cx.now,
        },
        rows: rows(cx, conversations, (short_ids, costs), request.with_shapes)?,
        found_any,
        looked_at: looked_at(cx),
    })
}

/// The conversations of the page in order.
fn page(
    sessions: &mut SessionList<'_>,
    request: &ListRequest,
    costs: Option<&Costs>,
) -> Result<Vec<Conversation>> {
    let limit = request.limit.unwrap_or(usize::MAX);
    match costs {
        Some(costs) if request.by_cost => {
            let all = sessions.page(0, usize::MAX)?;
            let dearest = dearest_first(all, costs).into_iter();
            Ok(dearest.skip(request.offset).take(limit).collect())
        }
        _ => sessions.page(request.offset, limit),
    }
}

/// How closely sessions must be looked at to answer the request.
fn look(request: &ListRequest, filter: &Filter<'_>) -> Look {
    match (request.hidden, &request.matching, request.sort) {
        (true, ..) => Look::DeletedSessions,
        (_, None, sort) if sort != Sort::Name && !filter.asks_status() => Look::Keys,
        _ => Look::Close,
    }
}

/// Leaves the sessions that were asked for.
fn narrow(sessions: &mut SessionList<'_>, request: &ListRequest, filter: &Filter<'_>) {
    let matching = request.matching.as_ref().map(|text| text.to_lowercase());
    let fits = |side: &Summary| matching.as_deref().is_none_or(|text| matches(side, text));
    if !request.hidden {
        sessions.without_hidden();
    }
    sessions.active(|at| filter.takes_time(at));
    sessions.retain(
        |it| filter.takes(it) && sides(it).any(fits),
        |side| filter.takes_side(side),
    );
}

fn rows(
    cx: &RequestContext,
    conversations: Vec<Conversation>,
    (short_ids, costs): (Vec<String>, Option<Costs>),
    with_shapes: bool,
) -> Result<Vec<SessionRow>> {
    let expiries = with_shapes.then(|| Expiries::read(cx)).transpose()?;
    let forks = repaired_forks(&conversations, &short_ids);
    let row = |(conversation, short_id): (Conversation, String)| {
        let fork = forks.get(&conversation.front.1.reference);
        let shape = expiries
            .as_ref()
            .map(|expiries| shape::conversation(cx, &conversation, expiries));
        SessionRow {
            short_id,
            cost: costs.as_ref().and_then(|it| cost_of(&conversation, it)),
            agents: agents_of(cx, &conversation),
            superseded_by: fork.map(|(short_id, _)| short_id.clone()),
            shape: shape.map(|shape| SessionShape {
                superseded_by: fork.map(|(_, fork)| fork.to_string()).into(),
                ..shape
            }),
            conversation,
        }
    };
    Ok(conversations.into_iter().zip(short_ids).map(row).collect())
}

/// Returns the repaired forks of a page by the session that each replaces: short id and ref.
fn repaired_forks(
    conversations: &[Conversation],
    short_ids: &[String],
) -> HashMap<SessionRef, (String, SessionRef)> {
    let mut forks = HashMap::new();
    for (conversation, short_id) in conversations.iter().zip(short_ids) {
        let (fork, meta) = (&conversation.front.1.reference, &conversation.front.1.meta);
        let is_repaired = |title: &str| title.ends_with(REPAIRED_TITLE);
        let Some(parent) = meta.parent.as_deref() else {
            continue;
        };
        if meta.title.as_deref().is_some_and(is_repaired) {
            let original = SessionRef::new(&fork.dialect, parent);
            forks.insert(original, (short_id.clone(), fork.clone()));
        }
    }
    forks
}

/// What sessions cost, by their refs.
type Costs = HashMap<String, f64>;

fn cost_of(conversation: &Conversation, costs: &Costs) -> Option<f64> {
    let mut sides = conversation.sides();
    sides.find_map(|side| costs.get(&side.reference.to_string()).copied())
}

fn dearest_first(mut all: Vec<Conversation>, costs: &Costs) -> Vec<Conversation> {
    // The order among those of the same cost stays.
    all.sort_by(|a, b| {
        let cost = |it| cost_of(it, costs).unwrap_or(-1.0);
        cost(b).total_cmp(&cost(a))
    });
    all
}

/// Returns the folders that were examined for stores.
pub(crate) fn looked_at(cx: &RequestContext) -> Vec<LookedAt> {
    let folders = cx.stores.locations().iter();
    folders
        .map(|folder| LookedAt {
            dialect: folder.dialect,
            root: folder.root.display().to_string(),
            exists: folder.exists,
        })
        .collect()
}

/// Returns the agents of a conversation in a few characters: `claude`, `myagents+claude`,
/// `claude@work`.
pub(crate) fn agents_of(cx: &RequestContext, conversation: &Conversation) -> String {
    let (store, summary) = &conversation.front;
    let dialect = &summary.reference.dialect;
    let own = cx
        .stores
        .get(*store)
        .map_or("", |s| s.dialect().facts().agent);
    let mut text = match &summary.meta.agent {
        // The name of the engine follows below.
        Some(agent)
            if conversation
                .linked
                .iter()
                .any(|(_, other)| other.reference.dialect == *agent) =>
        {
            dialect.clone()
        }
        Some(agent) if agent != own => format!("{dialect}/{agent}"),
        _ => dialect.clone(),
    };
    for (_, other) in &conversation.linked {
        text = format!("{text}+{}", other.reference.dialect);
    }
    if let Some(label) = cx.stores.get(*store).and_then(|store| store.label()) {
        text = format!("{text}@{label}");
    }
    text
}

/// Adds notices about stores and sessions that could not be read.
pub(crate) fn warn_about(cx: &RequestContext, rest: Summaries) {
    for (_, error) in rest.store_errors {
        cx.warn(error);
    }
    let failed = rest.session_errors.len();
    for (_, _, error) in rest.session_errors.into_iter().take(10) {
        cx.warn(error);
    }
    if failed > 10 {
        let what = match failed - 10 {
            1 => "1 more session could not be read".to_owned(),
            more => format!("{more} more sessions could not be read"),
        };
        cx.warn(Error::new(ErrorKind::Unavailable, what).advising(Advice::Check { session: None }));
    }
}
