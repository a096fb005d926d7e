//! The address of a server.

use super::shape;

shape! {
    /// From `serve` and `web`: a server that listens.
    ServingShape: "serving" {
        /// address of the page
        url: String,
        /// address and port that it listens at
        address: String,
        /// file with the token for reading
        read_token: String,
        /// file with the token for changes; `null` if the server only reads
        write_token: Option<String>,
        /// file with the token for agents, which opens `/mcp` alone; `null` if that is not served
        mcp_token: Option<String>,
        /// process id of the server
        pid: u32,
    }

    /// From the server: how far long work is.
    ProgressShape: "progress" {
        /// the work: `check`, `index`, `keep`
        work: &'static str,
        /// how much is done: sessions, for `index` blocks of 16 KB
        done: usize,
        /// how much there is
        total: usize,
    }
}
