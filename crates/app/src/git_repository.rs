//! Which repository a folder belongs to: agents share memory between all checkouts of one.

use std::path::Path;

use boswell_dialect::claude::project_key;
pub(crate) use boswell_store::store::main_checkout;

/// Keys under which memory of a folder may be filed: first the one that today's client uses.
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
