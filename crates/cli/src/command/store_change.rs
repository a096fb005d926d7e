//! A step of a change, for commands that print their own.

pub(crate) use crate::plan_lines::step;
