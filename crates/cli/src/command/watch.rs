//! `watch`: follows live sessions.

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use boswell_dialect::{Depth, Located};
use boswell_model::Result;
use boswell_store::{Resolved, Store};
use clap::Args;

use crate::machine::{Machine, until};
use crate::output::Output;
use crate::shape::{EntryPlace, entry};
use crate::terminal::{Style, cut, one_line};
use crate::when;

/// How long between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// Follow live sessions: print entries as they are written
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell watch --for 5s                 everything that any agent writes in the next five seconds
  boswell watch @last --json --for 5s    the same of one session, as JSON")]
pub(crate) struct WatchArgs {
    /// Only this session
    session: Option<String>,
    /// Stop after this time (10s, 5m)
    #[arg(long = "for", value_name = "TIME")]
    limit: Option<String>,
}

/// Runs the command.
pub(crate) fn run(machine: &Machine, args: &WatchArgs) -> Result<ExitCode> {
    let limit = args.limit.as_deref().map(when::span).transpose()?;
    let only = args.session.as_deref().map(|session| machine.resolve(session)).transpose()?;
    let go_on = until(limit.unwrap_or(Duration::MAX));
    let mut watch = Watch { machine, seen: HashMap::new() };
    for (store, located) in watch.logs(only.as_ref()) {
        watch.seen.insert(name(&store, &located), located.size);
    }
    let mut out = Output::paged(machine);
    while go_on() && !out.gone() {
        std::thread::sleep(PAUSE);
        for (store, located) in watch.logs(only.as_ref()) {
            watch.look(&store, &located, &mut out)?;
        }
        out.flush()?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn name(store: &Store, located: &Located) -> String {
    format!("{} {}", store.root().display(), located.key.as_deref().unwrap_or(&located.id))
}

struct Watch<'m> {
    machine: &'m Machine,
    /// How much of each log was shown, or was there at the start.
    seen: HashMap<String, u64>,
}

impl Watch<'_> {
    /// The logs as they are now. A store that cannot be listed right now is looked at again the next time.
    fn logs(&self, only: Option<&Resolved>) -> Vec<(Store, Located)> {
        if let Some(found) = only {
            let stat = found.located.key.as_ref().and_then(|key| found.store.backend().stat(key).ok().flatten());
            let size = stat.map_or(0, |info| info.size);
            return vec![(found.store.clone(), Located { size, ..found.located.clone() })];
        }
        let (held, _) = self.machine.stores.held();
        held.into_iter()
            .filter(|held| held.located.key.is_some())
            .filter_map(|held| Some((self.machine.stores.get(held.store)?.clone(), held.located)))
            .collect()
    }

    fn look(&mut self, store: &Store, located: &Located, out: &mut Output) -> Result<()> {
        let before = self.seen.entry(name(store, located)).or_insert(0);
        if located.size <= *before {
            // A log that was rewritten begins anew; what it holds was not written just now.
            *before = located.size;
            return Ok(());
        }
        // One that cannot be read at this moment is tried again.
        let Ok(session) = store.read(located, Depth::Heads) else { return Ok(()) };
        let log = session.log();
        let fresh = log.slots().filter(|slot| log.head(*slot).is_some_and(|head| head.at >= *before));
        let leaf = session.leaf().ok().flatten();
        let mut end = *before;
        for slot in fresh {
            let Some(head) = log.head(slot) else { continue };
            if head.flags.has(boswell_model::Flags::UNENDED) {
                break;
            }
            end = head.at + head.len;
            let Ok(it) = session.entry(slot) else { continue };
            if out.json {
                let place = EntryPlace { on_branch: true, leaf: leaf == Some(slot) };
                out.object(&entry(&session, slot, &it.bytes, it.view.as_ref(), &place, false))?;
                continue;
            }
            let text = it.view.as_ref().map(|view| match view.text() {
                text if text.trim().is_empty() => {
                    let calls: Vec<_> = view.calls().map(|(_, name, input)| format!("→ {name} {input}")).collect();
                    if calls.is_empty() { view.remark.clone().unwrap_or_default() } else { calls.join(" ") }
                }
                text => text,
            });
            let Some(text) = text.filter(|text| !text.trim().is_empty()) else { continue };
            let who = head.kind.role().map_or_else(|| log.word(slot).to_owned(), str::to_owned);
            let lead = format!("{} {} ", one_line(&cut(&session.reference().to_string(), 20)), one_line(&who));
            let room = self.machine.width.saturating_sub(crate::terminal::columns(&lead)).max(20);
            out.line(&format!("{}{}", out.paint(Style::Faint, &lead), cut(&one_line(&text), room)))?;
        }
        *before = end.max(*before);
        Ok(())
    }
}
