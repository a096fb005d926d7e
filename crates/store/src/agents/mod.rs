//! What is known about running agents: which of them have a session open, which session a terminal
//! was used for, and what they left behind.

pub(crate) mod activity;
pub(crate) mod breadcrumb;
pub(crate) mod idle_agents;
pub(crate) mod leftovers;
