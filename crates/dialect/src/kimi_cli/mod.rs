//! kimi-cli, the predecessor of Kimi Code: the model's context as lines, and other files beside it.
//!
//! The format is described in `docs/dialects/kimi.md`. The program has ended, so its sessions are
//! only read.

mod dialect;
mod layout;
mod wire;

pub use dialect::KimiCli;
