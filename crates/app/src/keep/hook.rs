//! A hook in the settings of an agent that copies its sessions when one ends.

use std::path::Path;

use boswell_dialect::claude::settings;
use boswell_dialect::{ExpectedState, Plan, Precondition, Step};
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::Store;
use boswell_store::disk::{Disk, RealDisk};
use boswell_store::vault::{Digest, Reason};

use super::config::Trigger;
use super::{StepSink, step};
use crate::RequestContext;

/// Maximum size of a settings file.
const LARGEST: u64 = 16 << 20;

/// Adds a hook to the agent's settings; `None` if that is not possible and a timer is needed.
pub(super) fn install(
    cx: &RequestContext,
    store: &Store,
    command: &str,
    plan_only: bool,
    sink: StepSink<'_>,
) -> Result<Option<Trigger>> {
    if !store.dialect().facts().has_end_hook {
        return Ok(None);
    }
    let before = store.settings(settings::SETTINGS, LARGEST)?;
    let hooked = match settings::add_hook(before.as_deref(), command) {
        Ok(hooked) => hooked,
        Err(error) => {
            cx.fail(error);
            return Ok(None);
        }
    };
    let path = store.root().join(settings::SETTINGS).display().to_string();
    let shown = String::from_utf8_lossy(&hooked.inserted).into_owned();
    step(sink, format!("add to {path}: {}", shown.trim()))?;
    let trigger = Trigger::hook(store.root(), command, &shown);
    if plan_only || hooked.inserted.is_empty() {
        return Ok(Some(trigger));
    }
    let change = SettingsChange {
        before: before.as_deref(),
        after: &hooked.bytes,
        title: "keep sessions at their end",
    };
    match change.write(cx, store) {
        Ok(()) => Ok(Some(trigger)),
        // Settings that boswell must not change, or that are behind a link, need a timer; a failed
        // disk is an error.
        Err(error) if is_refusal(&error) || is_link(store) => {
            cx.fail(error);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Removes exactly the inserted bytes from the settings.
pub(super) fn remove(
    cx: &RequestContext,
    root: &Path,
    command: &str,
    inserted: &str,
    sink: StepSink<'_>,
) -> Result<()> {
    let Some(claude) = boswell_dialect::by_name("claude") else {
        return Ok(());
    };
    let store = Store::in_folder(claude, root);
    let before = store.settings(settings::SETTINGS, LARGEST)?;
    let path = root.join(settings::SETTINGS).display().to_string();
    let after = before
        .as_deref()
        .and_then(|before| settings::remove_hook(before, command, inserted.as_bytes()));
    let Some(after) = after else {
        return step(sink, format!("{path} has no hook of boswell's any more"));
    };
    let change = SettingsChange {
        before: before.as_deref(),
        after: &after,
        title: "stop keeping sessions at their end",
    };
    change.write(cx, &store)?;
    step(sink, format!("took out of {path}: {}", inserted.trim()))
}

/// Whether the hook is in the settings.
pub(super) fn is_installed(store: &Store, command: &str) -> bool {
    let settings = store.settings(settings::SETTINGS, LARGEST);
    settings.is_ok_and(|bytes| bytes.is_some_and(|bytes| settings::has_hook(&bytes, command)))
}

fn is_refusal(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Denied | ErrorKind::Invalid | ErrorKind::Unsupported
    )
}

fn is_link(store: &Store) -> bool {
    let path = store.root().join(settings::SETTINGS);
    RealDisk.is_link(&path).unwrap_or(false)
}

/// Settings before and after the change.
struct SettingsChange<'a> {
    before: Option<&'a [u8]>,
    after: &'a [u8],
    title: &'a str,
}

impl SettingsChange<'_> {
    /// Replaces the agent's settings through the runner; an empty file is removed.
    fn write(&self, cx: &RequestContext, store: &Store) -> Result<()> {
        let key = settings::SETTINGS.to_owned();
        let mut plan = Plan::new("keep", self.title);
        plan.preconditions.push(match self.before {
            Some(before) => Precondition::Unchanged {
                key: key.clone(),
                was: ExpectedState {
                    sha256: Some(Digest::of(before).to_string()),
                    ..ExpectedState::default()
                },
            },
            None => Precondition::Absent { key: key.clone() },
        });
        plan.steps.push(if self.after.is_empty() {
            Step::remove(&key)
        } else {
            Step::put(&key, self.after)
        });
        let session = SessionRef::new(store.dialect().name(), "*");
        let runner = cx.runner()?;
        runner.run(store.root(), &plan, &session, Reason::Before)?;
        Ok(())
    }
}
