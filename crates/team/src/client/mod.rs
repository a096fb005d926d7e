//! [`TeamClient`]: pushes and fetches sessions over HTTPS.
//!
//! Every request may be repeated: parts are named by their hashes, and a manifest that is published
//! already is recognised. So a push or a fetch that was interrupted goes on where it stopped.

mod calls;
mod push;
mod transport;

pub use push::PushReport;
pub use transport::TeamClient;
