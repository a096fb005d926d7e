//! Sessions of other machines, through ssh: nothing but ssh and boswell is needed there.
//!
//! A host is a table `[[hosts]]` of the settings, or any destination that ssh knows. Boswell runs
//! there and answers with the same lines of JSON as here (`ssh.rs`). Rows of lists are mirrored in
//! boswell's home (`mirror.rs`), so that a list does not wait for the network.
//!
//! What a host sends is not trusted: it is bounded, parsed line by line, and made harmless before
//! it is shown. Nothing of it becomes a path, except in [`copy`], which takes names that the
//! session's dialect knows and no others.

mod asked;
pub(crate) mod copied;
pub mod copy;
mod lines;
mod list;
mod mirror;
mod moved;
mod name;
mod relay;
mod resume;
mod row;
mod search;
pub(crate) mod setting;
mod ssh;
mod stats;

pub use asked::HostSelection;
pub use list::{HostsListRequest, ListedPage, ListedRow};
pub use relay::{HostAnswerForm, HostCall, HostPiece, HostSink, Relayed};
pub use row::HostRow;
pub use search::{FoundThere, HostHit, HostsSearchRequest};
pub use setting::Host;
pub use stats::HostTotalsRequest;

pub(crate) use name::refuse_host;
pub(crate) use resume::plan as resume_plan;
