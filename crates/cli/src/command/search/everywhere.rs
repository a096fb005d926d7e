//! `search --host`: hits of several machines, joined.

use std::ffi::OsString;
use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::hosts::{FoundThere, HostHit, HostSelection, HostsSearchRequest};
use boswell_app::search::{Found, FoundConversation, HitShape, Order};
use boswell_app::shape::{Maybe, Page, Shape as _};
use boswell_model::{Error, ErrorKind, Instant, Result};

use super::{HitLine, SHOWN, SearchArgs, heading, line, print_conversation};
use crate::app::App;
use crate::command::host_args::words_there;
use crate::error_report::say;
use crate::output::Output;
use crate::terminal::Style;
use crate::words::count;

/// Runs the command on several machines.
pub(super) fn run(
    app: &App,
    args: &SearchArgs,
    (machines, words): (HostSelection, &[OsString]),
) -> Result<ExitCode> {
    if args.cursor.is_some() {
        let what = "a search of several machines has no cursor";
        return Err(Error::new(ErrorKind::Invalid, what).advising("raise `--limit`"));
    }
    let request = HostsSearchRequest {
        search: args.request(app),
        here: machines.here,
        hosts: machines.hosts,
        words: words_there(words, None),
    };
    let found = app.shown(app.requests.search_hosts(&request, &Cancel::new()))?;
    let is_empty = found.there.iter().all(Vec::is_empty)
        && found.here.as_ref().is_none_or(|it| it.hits.is_empty());
    let mut out = Output::paged(app);
    let here = match out.json {
        true => lines(found, &request, &mut out)?,
        false => text(app, found, request.search.order, &mut out)?,
    };
    out.finish()?;
    if is_empty && !app.json && !app.quiet {
        say("nothing found");
    }
    if let Some(here) = here {
        here.index_a_little();
    }
    Ok(ExitCode::from(u8::from(is_empty)))
}

/// A hit of this machine or of a host.
enum AnyHit {
    Here(Box<HitShape>),
    There(Box<HostHit>),
}

impl AnyHit {
    fn at(&self) -> Option<Instant> {
        match self {
            AnyHit::Here(hit) => hit.at,
            AnyHit::There(hit) => hit.at,
        }
    }
}

/// Prints lines of JSON; returns what this machine found.
fn lines(
    mut found: FoundThere,
    request: &HostsSearchRequest,
    out: &mut Output,
) -> Result<Option<Found>> {
    let own = found.here.as_mut().map(|it| std::mem::take(&mut it.hits));
    let own = own.unwrap_or_default().into_iter();
    let mut lists: Vec<Vec<AnyHit>> = vec![own.map(|hit| AnyHit::Here(Box::new(hit))).collect()];
    for hits in std::mem::take(&mut found.there) {
        let hits = hits.into_iter();
        lists.push(hits.map(|hit| AnyHit::There(Box::new(hit))).collect());
    }
    let mut hits = FoundThere::joined(lists, request.search.order, AnyHit::at);
    let is_cut = hits.len() > request.search.limit;
    hits.truncate(request.search.limit);
    let shown = hits.len();
    for hit in hits {
        match hit {
            AnyHit::Here(hit) => out.object(&hit.object())?,
            AnyHit::There(hit) => out.written(|to| to.extend_from_slice(&hit.line))?,
        }
    }
    let whole = found.here.as_ref().is_none_or(|it| it.page.complete);
    let page = Page {
        shown,
        total: None,
        sessions: Maybe::Absent,
        cursor: None,
        complete: found.complete && whole && !is_cut,
        scanned_bytes: Maybe::Absent,
        as_of: found.as_of,
    };
    out.object(&page.object())?;
    Ok(found.here)
}

/// Hits of one session.
enum Group<'f> {
    Here(&'f FoundConversation, Option<Instant>),
    There(Vec<HostHit>),
}

impl Group<'_> {
    fn at(&self) -> Option<Instant> {
        match self {
            Group::Here(_, at) => *at,
            Group::There(hits) => hits.first().and_then(|hit| hit.at),
        }
    }

    fn name(&self) -> String {
        match self {
            Group::Here(conversation, _) => conversation.session.clone(),
            Group::There(hits) => hits.first().map(HostHit::full_name).unwrap_or_default(),
        }
    }
}

/// Prints the hits of each session; returns what this machine found.
fn text(app: &App, found: FoundThere, order: Order, out: &mut Output) -> Result<Option<Found>> {
    let FoundThere { here, there, .. } = found;
    let mut lists: Vec<Vec<Group<'_>>> = Vec::new();
    if let Some(here) = &here {
        let at = |it: &FoundConversation| here.hits.get(*it.hits.first()?)?.at;
        let conversations = here.conversations.iter();
        lists.push(conversations.map(|it| Group::Here(it, at(it))).collect());
    }
    lists.extend(there.into_iter().map(groups));
    let groups = FoundThere::joined(lists, order, Group::at);
    let numbered = app.requests.remembers_lists();
    for (place, group) in groups.iter().enumerate() {
        if place > 0 {
            out.line("")?;
        }
        let number = numbered.then_some(place + 1);
        match (group, &here) {
            (Group::Here(conversation, _), Some(here)) => {
                print_conversation(app, here, (number, conversation), out)?;
            }
            (Group::There(hits), _) => print_there(app, number, hits, out)?,
            _ => {}
        }
    }
    if numbered {
        let names: Vec<String> = groups.iter().map(Group::name).collect();
        app.requests.remember_list(names.iter().map(String::as_str));
    }
    drop(groups);
    Ok(here)
}

/// Puts the hits of each session together, the session with the first hit first.
fn groups<'f>(hits: Vec<HostHit>) -> Vec<Group<'f>> {
    let mut groups: Vec<Vec<HostHit>> = Vec::new();
    for hit in hits {
        let is_its = |group: &&mut Vec<HostHit>| {
            let first = group.first();
            first.is_some_and(|first| first.session == hit.session)
        };
        match groups.iter_mut().find(is_its) {
            Some(group) => group.push(hit),
            None => groups.push(vec![hit]),
        }
    }
    groups.into_iter().map(Group::There).collect()
}

fn print_there(app: &App, number: Option<usize>, hits: &[HostHit], out: &mut Output) -> Result<()> {
    let Some(first) = hits.first() else {
        return Ok(());
    };
    let called = (first.name.as_str(), first.project.as_deref());
    out.line(&heading(app, (number, &first.full_name()), called, out))?;
    for hit in hits.iter().take(SHOWN) {
        let shown = HitLine {
            entry: hit.entry.as_deref(),
            field: &crate::terminal::one_line(&hit.field),
            at: hit.at,
            snippet: &hit.snippet,
            ranges: &hit.ranges,
        };
        out.line(&line(app, &shown, out))?;
    }
    let more = hits.len().saturating_sub(SHOWN);
    if more > 0 {
        let more = format!("  and {}", count(more, "more hit", "more hits"));
        out.line(&out.paint(Style::Faint, &more))?;
    }
    Ok(())
}
