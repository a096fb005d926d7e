//! Finds the repository of a folder: agents share memory between all its checkouts.

use std::path::Path;

use boswell_dialect::claude::project_key;
pub(crate) use boswell_store::store::main_checkout;

/// Returns the keys under which memory of a folder may be stored; that of the current client first.
pub(crate) fn keys(folder: &Path) -> Vec<String> {
    let own = project_key(&folder.display().to_string());
    let mut keys: Vec<String> = main_checkout(folder)
        .map(|main| project_key(&main.display().to_string()))
        .into_iter()
        .collect();
    if !keys.contains(&own) {
        keys.push(own);
    }
    keys
}
