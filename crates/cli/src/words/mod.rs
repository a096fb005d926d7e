//! How answers that several commands give are printed.

pub(crate) mod acknowledgement;
pub(crate) mod planned_change;
