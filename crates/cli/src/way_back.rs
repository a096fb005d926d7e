//! How to take back what a command did, as it is said afterwards.

/// Names the operations unless there is one alone: bare `undo` is the last operation.
pub(crate) fn way_back(operations: &[String]) -> String {
    match operations {
        [] | [_] => "`boswell undo` takes it back".to_owned(),
        several => {
            let ids: Vec<&str> = several.iter().map(|id| id.get(..8).unwrap_or(id)).collect();
            format!("`boswell undo {}` takes all of it back", ids.join(" "))
        }
    }
}
