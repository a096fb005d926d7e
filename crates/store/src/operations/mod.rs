//! What can be done with operations: list them, take them back, delete and restore through them.

mod archived;
mod becoming;
mod kept;
mod list;
mod undo;

pub use list::{LateLines, ListedOperation};
