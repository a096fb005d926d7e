//! `append_lab HOME`: durable appends of the Rust library, beside those of Python and Node.
//!
//! Each line of standard input is a number of appends; the answer is a line with the seconds of
//! each of them. So one process is measured in turns with others.

#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::io::{BufRead, Write};
use std::time::Instant;

use boswell_store::{Draft, Home, NewSession};

/// The text of a message; `bench.py` and `append.mjs` append the same.
const TEXT_BYTES: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let home = std::env::args().nth(1).ok_or("usage: append_lab HOME")?;
    let store = Home::open(home)?.sessions()?;
    let writer = store.create(NewSession::in_project("/bench"))?;
    let text = "x".repeat(TEXT_BYTES);
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let count: u32 = line?.trim().parse()?;
        let mut seconds = Vec::new();
        for _ in 0..count {
            let began = Instant::now();
            writer.append(Draft::user(text.as_str()))?;
            seconds.push(began.elapsed().as_secs_f64().to_string());
        }
        writeln!(out, "{}", seconds.join(" "))?;
        out.flush()?;
    }
    Ok(())
}
