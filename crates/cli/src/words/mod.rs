//! How answers that several commands give are printed.

pub(crate) mod size;
