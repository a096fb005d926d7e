//! MyAgents: an index array, and a line log per session.
