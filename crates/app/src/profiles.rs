//! Finds folders that look like second profiles of an agent, such as `~/.claude-work`. They are
//! reported, never read.

use std::path::PathBuf;

use boswell_dialect::{Dialect, Environment, all};
use boswell_store::disk::{Disk, RealDisk, StatKind};
use boswell_store::store::Stores;

/// Characters that may follow the default name of an agent's folder in that of another profile.
const MARKS: [char; 3] = ['-', '_', '.'];

/// A folder that looks like another profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Profile {
    /// Name of the agent's dialect.
    pub(crate) dialect: &'static str,
    /// The folder.
    pub(crate) root: PathBuf,
}

/// Finds folders whose name begins like an agent's default folder and that contain its folder of
/// sessions. Only names are examined: the user adds the store in the settings.
pub(crate) fn others(env: &Environment, stores: &Stores) -> Vec<Profile> {
    let Some(home) = &env.home else {
        return Vec::new();
    };
    let names: Vec<String> = RealDisk
        .list(home)
        .unwrap_or_default()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    // The environment without variables, to get the default folder.
    let usual = Environment {
        vars: Default::default(),
        ..env.clone()
    };
    let mut found = Vec::new();
    for dialect in all() {
        found.extend(of_dialect(*dialect, &usual, &names));
    }
    let is_known = |it: &Profile| {
        stores
            .iter()
            .any(|(_, store)| store.dialect().name() == it.dialect && store.root() == it.root)
    };
    found.retain(|it| !is_known(it));
    found.sort_by(|a, b| (a.dialect, &a.root).cmp(&(b.dialect, &b.root)));
    found.dedup();
    found
}

fn of_dialect(
    dialect: &'static dyn Dialect,
    usual: &Environment,
    names: &[String],
) -> Vec<Profile> {
    let (Some(home), Some(sessions)) = (&usual.home, dialect.facts().sessions_folder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for place in dialect.roots(usual) {
        let Some((name, rest)) = place.strip_prefix(home).ok().and_then(|below| {
            let mut parts = below.components();
            let first = parts.next()?.as_os_str().to_str()?.to_owned();
            Some((first, parts.as_path().to_owned()))
        }) else {
            continue;
        };
        let is_like = |other: &&String| {
            other
                .strip_prefix(&name)
                .is_some_and(|more| more.starts_with(MARKS))
        };
        for other in names.iter().filter(is_like) {
            let root: PathBuf = home.join(other).join(&rest).components().collect();
            let is_folder = |stat: boswell_store::disk::Stat| stat.kind == StatKind::Folder;
            if RealDisk
                .stat(&root.join(sessions))
                .ok()
                .flatten()
                .is_some_and(is_folder)
            {
                found.push(Profile {
                    dialect: dialect.name(),
                    root,
                });
            }
        }
    }
    found
}
