//! Lists of sessions of several machines.
//!
//! Rows of hosts come from their mirrors at once; the caller brings those up to date after it has
//! shown the list ([`App::update_hosts`]). A host without a mirror is asked first.

use std::cmp::{Ordering, Reverse};

use boswell_model::{Error, ErrorKind, Instant, Remark, Result};

use super::asked::HostSelection;
use super::mirror::Mirror;
use super::row::HostRow;
use super::setting::Host;
use crate::app::AppState;
use crate::list::{self, ListRequest, LookedAt, SessionRow, Sort};
use crate::sessions::filter::{Filter, Side};
use crate::sessions::list::messages;
use crate::shape::{Maybe, Page};
use crate::{App, AppResult, Notice, RequestContext};

/// A mirror that is younger is not brought up to date.
const FRESH_MS: i64 = 30_000;

/// A request to list sessions of several machines.
#[derive(Debug, Clone, Default)]
pub struct HostsListRequest {
    /// What is listed. A cursor is not supported.
    pub list: ListRequest,
    /// Whose sessions.
    pub machines: HostSelection,
    /// Whether hosts are asked first, even if their rows are mirrored.
    pub refresh: bool,
}

/// A row of a list.
#[derive(Debug)]
pub enum ListedRow {
    /// A session of this machine.
    Here(Box<SessionRow>),
    /// A session of a host.
    There(Box<HostRow>),
}

/// A page of sessions of several machines.
#[derive(Debug)]
pub struct ListedPage {
    /// The rows in order.
    pub rows: Vec<ListedRow>,
    /// The end of the page.
    pub page: Page,
    /// Whether there is any session, before filters.
    pub found_any: bool,
    /// Folders of this machine that were examined.
    pub looked_at: Vec<LookedAt>,
    /// Hosts whose rows are not of now: for [`App::update_hosts`].
    pub stale: Vec<Host>,
}

impl App {
    /// Lists sessions of several machines.
    ///
    /// Each host of which nothing current could be shown is a warning.
    ///
    /// # Errors
    ///
    /// As [`App::list`]; Unavailable if no machine answered and nothing is mirrored of any.
    pub fn list_hosts(&self, request: &HostsListRequest) -> AppResult<ListedPage> {
        self.answer(|cx| list_hosts(cx, request))
    }

    /// Brings mirrors up to date, all at the same time. Returns a warning for each host that could
    /// not be asked.
    pub fn update_hosts(&self, hosts: &[Host]) -> Vec<Notice> {
        let state = self.state();
        let asked = at_once(hosts, |host| state.update_mirror(host));
        let failed = asked.into_iter().filter_map(|(_, asked)| asked.err());
        failed.map(Notice::Warning).collect()
    }

    /// Returns the rows that are mirrored of hosts which lists show, filtered as in a list.
    ///
    /// # Errors
    ///
    /// Invalid for a time that is not valid.
    pub fn mirrored_rows(&self, request: &ListRequest) -> AppResult<Vec<HostRow>> {
        self.answer_unlooked(|cx| {
            let hosts = self.hosts().into_iter().filter(|host| host.shown);
            let mirrors = hosts.filter_map(|host| cx.mirror(&host));
            let rows = mirrors.flat_map(|mirror| mirror.rows).collect();
            taken(cx, request, rows)
        })
    }
}

/// Does something for each host at the same time, and returns the results in order.
pub(super) fn at_once<T: Send>(hosts: &[Host], ask: impl Fn(&Host) -> T + Sync) -> Vec<(&Host, T)> {
    let ask = &ask;
    std::thread::scope(|scope| {
        let asked: Vec<_> = hosts
            .iter()
            .map(|host| (host, scope.spawn(move || ask(host))))
            .collect();
        let results = asked.into_iter();
        results
            .filter_map(|(host, thread)| Some((host, thread.join().ok()?)))
            .collect()
    })
}

fn list_hosts(cx: &RequestContext, request: &HostsListRequest) -> Result<ListedPage> {
    let list = &request.list;
    let mut there = Gathered::default();
    there.gather(cx, request);
    let found_there = !there.rows.is_empty();
    let rows = taken(cx, list, std::mem::take(&mut there.rows))?;
    let mut here = if request.machines.here {
        match list::list(cx, &own_part(list)) {
            Ok(page) => Some(page),
            // A value that no session here has may be one of a session there.
            Err(error) if error.kind() == ErrorKind::Invalid && !rows.is_empty() => None,
            Err(error) => return Err(error),
        }
    } else {
        there.refuse_silence(found_there)?;
        None
    };
    there.failed.into_iter().for_each(|error| cx.warn(error));
    let own = here.as_mut().map(|page| std::mem::take(&mut page.rows));
    let own = own.unwrap_or_default().into_iter();
    let mut all: Vec<ListedRow> = own.map(|row| ListedRow::Here(Box::new(row))).collect();
    let count = here.as_ref().and_then(|page| page.page.total);
    let total = count.unwrap_or(0) + rows.len() as u64;
    all.extend(rows.into_iter().map(|row| ListedRow::There(Box::new(row))));
    sort(&mut all, list);
    let rows = all.into_iter().skip(list.offset);
    let rows: Vec<ListedRow> = rows.take(list.limit.unwrap_or(usize::MAX)).collect();
    Ok(ListedPage {
        page: Page {
            shown: rows.len(),
            total: Some(total),
            sessions: Maybe::Absent,
            cursor: None,
            complete: true,
            scanned_bytes: Maybe::Absent,
            as_of: cx.now,
        },
        rows,
        found_any: found_there || here.as_ref().is_some_and(|page| page.found_any),
        looked_at: here.map(|page| page.looked_at).unwrap_or_default(),
        stale: there.stale,
    })
}

/// The part of the request that this machine answers: the first rows, because rows of others may
/// come between them.
fn own_part(list: &ListRequest) -> ListRequest {
    ListRequest {
        limit: list.limit.map(|limit| limit.saturating_add(list.offset)),
        offset: 0,
        ..list.clone()
    }
}

/// What was gathered of hosts.
#[derive(Default)]
struct Gathered {
    rows: Vec<HostRow>,
    stale: Vec<Host>,
    failed: Vec<Error>,
}

impl Gathered {
    fn gather(&mut self, cx: &RequestContext, request: &HostsListRequest) {
        let hosts = &request.machines.hosts;
        let known = hosts.iter().map(|host| cx.mirror(host));
        let known: Vec<Option<Mirror>> = known.collect();
        let pairs = hosts.iter().zip(&known);
        let unknown = pairs.filter(|(_, mirror)| request.refresh || mirror.is_none());
        let unknown: Vec<Host> = unknown.map(|(host, _)| host.clone()).collect();
        let state: &AppState = cx;
        let mut asked = at_once(&unknown, |host| state.update_mirror(host)).into_iter();
        for (host, mirror) in hosts.iter().zip(known) {
            let is_asked = request.refresh || mirror.is_none();
            let answer = is_asked.then(|| asked.next()).flatten();
            match (answer, mirror) {
                (Some((_, Ok(mirror))), _) => self.rows.extend(mirror.rows),
                (Some((_, Err(error))), None) => self.failed.push(error),
                (Some((_, Err(error))), Some(mirror)) => {
                    self.failed.push(error);
                    self.old(cx, host, mirror);
                }
                (None, Some(mirror)) => {
                    if cx.now.millis() - mirror.at.millis() > FRESH_MS {
                        self.stale.push(host.clone());
                    }
                    self.old(cx, host, mirror);
                }
                (None, None) => {}
            }
        }
    }

    /// Takes rows that are not of now, and says of when they are.
    fn old(&mut self, cx: &RequestContext, host: &Host, mirror: Mirror) {
        cx.remark(Remark::new(format!(
            "sessions of {} as of {}",
            host.name,
            age(mirror.at, cx)
        )));
        self.rows.extend(mirror.rows);
    }

    /// Fails if no host answered and nothing is known of any.
    fn refuse_silence(&mut self, found_any: bool) -> Result<()> {
        if found_any || self.failed.is_empty() {
            return Ok(());
        }
        Err(self.failed.remove(0))
    }
}

fn age(at: Instant, cx: &RequestContext) -> String {
    crate::time::ago(at, cx.now, &cx.zone)
}

/// Leaves the rows that were asked for.
pub(super) fn taken(
    cx: &RequestContext,
    request: &ListRequest,
    mut rows: Vec<HostRow>,
) -> Result<Vec<HostRow>> {
    let filter = Filter::new(cx, &request.filter)?;
    let matching = request.matching.as_ref().map(|text| text.to_lowercase());
    rows.retain(|row| {
        filter.takes_time(row.last_active)
            && filter.takes_side(&Side::there(row))
            && cx.shows(row.project.as_deref())
            && matching.as_deref().is_none_or(|text| row.has_text(text))
    });
    Ok(rows)
}

fn sort(rows: &mut [ListedRow], request: &ListRequest) {
    if request.by_cost {
        let cost = |row: &ListedRow| row.cost().unwrap_or(-1.0);
        rows.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
        return;
    }
    match request.sort {
        Sort::Active => rows.sort_by_key(|row| Reverse(row.last_active())),
        Sort::Created => rows.sort_by_key(|row| Reverse(row.created())),
        Sort::Messages => rows.sort_by_key(|row| Reverse(row.messages())),
        Sort::Size => rows.sort_by_key(|row| Reverse(row.bytes())),
        Sort::Name => rows.sort_by(by_name),
    }
}

fn by_name(a: &ListedRow, b: &ListedRow) -> Ordering {
    a.name().to_lowercase().cmp(&b.name().to_lowercase())
}

impl ListedRow {
    /// Returns the session as other requests name it.
    pub fn full_name(&self) -> String {
        match self {
            ListedRow::Here(row) => row.conversation.front.1.reference.to_string(),
            ListedRow::There(row) => row.full_name(),
        }
    }

    /// Returns the time of the last entry.
    pub fn last_active(&self) -> Option<Instant> {
        match self {
            ListedRow::Here(row) => row.conversation.last_active(),
            ListedRow::There(row) => row.last_active,
        }
    }

    fn created(&self) -> Option<Instant> {
        match self {
            ListedRow::Here(row) => row.conversation.front.1.meta.created,
            ListedRow::There(row) => row.created,
        }
    }

    fn messages(&self) -> Option<u64> {
        match self {
            ListedRow::Here(row) => messages(&row.conversation.front.1),
            ListedRow::There(row) => row.messages,
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            ListedRow::Here(row) => row.conversation.front.1.location.size,
            ListedRow::There(row) => row.bytes,
        }
    }

    fn cost(&self) -> Option<f64> {
        match self {
            ListedRow::Here(row) => row.cost,
            ListedRow::There(row) => row.cost,
        }
    }

    fn name(&self) -> String {
        match self {
            ListedRow::Here(row) => row.conversation.front.1.name(),
            ListedRow::There(row) => row.name.clone(),
        }
    }
}
