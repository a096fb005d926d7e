//! Conversations that move from one agent to another: what a target takes, and how a conversation
//! is fitted to it.
//!
//! Everything here is pure. The store reads the turns of a session, [`fit`] makes drafts of them
//! that the target's own encoder accepts and lists what is lost, and [`differences`] compares the
//! result with what the target's dialect reads back. See `docs/adr/0026`.

mod derived_ids;
mod fit;
mod intake;
mod loss;
mod pairing;
mod read_back;

pub use derived_ids::DerivedIds;
pub use fit::{Fitted, Turn, fit};
pub use intake::{ImageIntake, Intake, ThinkingIntake};
pub use loss::{Loss, LossKind};
pub use read_back::differences;
