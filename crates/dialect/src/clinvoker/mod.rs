//! clinvoker: one JSON document per session, and an index document.
