//! open-agent-sdk: a header and rows.
