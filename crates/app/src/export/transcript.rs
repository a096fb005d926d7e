//! The content of a page: the current branch, the other branches, and the subagents of a session.
//!
//! Both pages for reading, `md` and `html`, are written from it. Texts over 1 MiB are cut.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use boswell_dialect::{Depth, SessionLocation, SideKind};
use boswell_find::{SecretCount, Secrets};
use boswell_model::{EntryKind, Flags, Instant, Result, Slot, View};
use boswell_store::Session;
use boswell_store::store::Resolved;

use crate::text::{escape, one_line};
use crate::time::TimeZone;

/// A longer block of text is truncated on a page: no reader scrolls through it, and browsers become
/// slow.
const LONGEST: usize = 1 << 20;

/// A session prepared for a page.
pub(super) struct Transcript {
    /// The session itself.
    pub(super) session: Session,
    /// The subagents, each a session.
    pub(super) subagents: Vec<(String, Session)>,
    /// Stretches of conversation, the current branch first.
    pub(super) sections: Vec<Section>,
    /// The time zone of the page.
    pub(super) zone: TimeZone,
    /// The sections that diverge at each entry, by their numbers.
    diverging: HashMap<Slot, Vec<usize>>,
    secrets: Secrets,
    redact: bool,
    /// The secrets that were redacted, or that are in the output if nothing is redacted.
    count: RefCell<SecretCount>,
}

/// A section of the page: a branch of the session or of a subagent.
#[derive(Debug)]
pub(super) struct Section {
    /// Title of the section.
    pub(super) title: String,
    /// Index of the subagent; `None` for the session itself.
    pub(super) subagent: Option<usize>,
    /// The entry of the current branch where this one diverges.
    pub(super) from: Option<Slot>,
    /// Entries of the section.
    pub(super) slots: Vec<Slot>,
}

impl Transcript {
    /// Reads a session and its subagents. Secrets are redacted unless `redact` is false.
    pub(super) fn read(found: &Resolved, redact: bool, zone: &TimeZone) -> Result<Transcript> {
        let session = found
            .store
            .read_conversation(&found.location, Depth::Facts)?;
        let branch = session.branch(session.tip()?)?;
        let on_branch: HashSet<Slot> = branch.iter().copied().collect();
        let mut sections = vec![Section {
            title: "Conversation".into(),
            subagent: None,
            from: None,
            slots: branch,
        }];
        sections.extend(other_branches(&session, &on_branch));
        let mut subagents = Vec::new();
        for location in &locations_of_subagents(found)? {
            let agent = found.store.read_conversation(location, Depth::Heads)?;
            let slots = agent.branch(agent.tip()?)?;
            sections.push(Section {
                title: format!("Subagent {}", escape(&location.id)),
                subagent: Some(subagents.len()),
                from: None,
                slots,
            });
            subagents.push((location.id.clone(), agent));
        }
        let mut diverging: HashMap<Slot, Vec<usize>> = HashMap::new();
        for (number, section) in sections.iter().enumerate() {
            if let Some(from) = section.from {
                diverging.entry(from).or_default().push(number);
            }
        }
        let (secrets, count) = (Secrets::new()?, RefCell::default());
        Ok(Transcript {
            session,
            subagents,
            sections,
            zone: zone.clone(),
            diverging,
            secrets,
            redact,
            count,
        })
    }

    /// When the session began, with the offset of all times on the page: a page is sent to people
    /// in other zones.
    pub(super) fn begun(&self, at: Instant) -> String {
        format!("{} (UTC{})", self.zone.minute(at), self.zone.offset(at))
    }

    /// Returns the secrets that were redacted so far, or that are in the output if nothing is
    /// redacted.
    pub(super) fn count(&self) -> SecretCount {
        self.count.borrow().clone()
    }

    /// Returns the sections that diverge at an entry, with their numbers.
    pub(super) fn diverging_at(&self, slot: Slot) -> impl Iterator<Item = (usize, &Section)> {
        let numbers = self.diverging.get(&slot).into_iter().flatten();
        numbers.filter_map(|number| Some((*number, self.sections.get(*number)?)))
    }

    /// The session that a section is of.
    pub(super) fn session_of(&self, section: &Section) -> &Session {
        section
            .subagent
            .and_then(|index| self.subagents.get(index))
            .map_or(&self.session, |(_, session)| session)
    }

    /// Returns the visible view of an entry; `None` for hidden entries and plain metadata.
    pub(super) fn visible(&self, session: &Session, slot: Slot) -> Result<Option<View>> {
        let Some(head) = session.log().head(slot) else {
            return Ok(None);
        };
        if head.flags.has(Flags::HIDDEN) || !head.kind.is_conversation() {
            return Ok(None);
        }
        Ok(session
            .entry(slot)?
            .view
            .filter(|view| !view.hidden && (!view.parts.is_empty() || view.remark.is_some())))
    }

    /// Returns a text for a page: truncated, sanitised, redacted.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut end = text.len().min(LONGEST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let kept = text.get(..end).unwrap_or(text);
        let shown = self.without_secrets(kept, end < text.len());
        let shown = match escape(&shown) {
            safe if safe == shown => shown,
            safe => Cow::Owned(safe),
        };
        if end == text.len() {
            return shown;
        }
        Cow::Owned(format!(
            "{shown}\n[cut: {} of {} bytes shown; `boswell show --entry` shows all]",
            end,
            text.len()
        ))
    }

    /// Returns a text as it is, redacted.
    pub(super) fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.without_secrets(text, false)
    }

    /// Returns a title, a path or another short text on one line. It may be truncated, so the
    /// beginning of a key at its end counts as a key.
    pub(super) fn label(&self, text: &str) -> String {
        let kept = text.strip_suffix('…').unwrap_or(text);
        one_line(&self.without_secrets(kept, true)) + text.get(kept.len()..).unwrap_or("")
    }

    fn without_secrets<'t>(&self, text: &'t str, cut: bool) -> Cow<'t, str> {
        let shown = self
            .secrets
            .redact_into(text, cut, &mut self.count.borrow_mut());
        if self.redact {
            shown
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Returns the author of an entry.
    pub(super) fn who(&self, session: &Session, slot: Slot) -> String {
        match session.log().kind(slot) {
            EntryKind::User => "User".to_owned(),
            EntryKind::Assistant => "Assistant".to_owned(),
            EntryKind::ToolResult | EntryKind::Shell => "Tool".to_owned(),
            _ => self.label(session.log().word(slot)),
        }
    }
}

/// Finds the sessions of subagents. A store of ten thousand sessions is listed only if there are
/// any: that takes longer than most exports.
fn locations_of_subagents(found: &Resolved) -> Result<Vec<SessionLocation>> {
    let files = found.store.side_files(&found.location)?;
    let subagents = files
        .into_iter()
        .filter(|file| file.kind == SideKind::Subagent);
    let places: HashMap<String, usize> = subagents
        .enumerate()
        .map(|(place, file)| (file.key, place))
        .collect();
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let place = |it: &SessionLocation| places.get(it.key.as_ref()?).copied();
    let mut listed = found.store.list()?.sessions;
    listed.retain(|it| place(it).is_some());
    listed.sort_by_key(place);
    Ok(listed)
}

/// For every end of the tree that is not on the current branch: the entries
/// that lead there from it.
fn other_branches(session: &Session, on_branch: &HashSet<Slot>) -> Vec<Section> {
    let (log, tree) = (session.log(), session.tree());
    let mut shown: HashSet<Slot> = on_branch.clone();
    let mut sections = Vec::new();
    for tip in log
        .slots()
        .filter(|slot| tree.is_tip(*slot) && !on_branch.contains(slot))
    {
        let mut slots: Vec<Slot> = tree
            .ancestors(tip)
            .take_while(|slot| !shown.contains(slot))
            .collect();
        if !slots.iter().any(|slot| log.kind(*slot).is_conversation()) {
            continue;
        }
        slots.reverse();
        shown.extend(&slots);
        let from = slots.first().and_then(|first| tree.parent(*first));
        sections.push(Section {
            title: format!("Branch {}", sections.len() + 2),
            subagent: None,
            from,
            slots,
        });
    }
    sections
}
