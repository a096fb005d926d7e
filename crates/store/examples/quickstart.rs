//! The whole library in thirty lines: open, append, branch, context.
//!
//! `cargo run -p boswell-store --example quickstart -- FOLDER`

#![expect(clippy::print_stdout, reason = "an example shows what it did")]

use boswell_store::{Draft, Home, NewSession, Outcome};

fn main() -> boswell_store::Result<()> {
    run(&std::env::args()
        .nth(1)
        .unwrap_or_else(|| "boswell-quickstart".to_owned()))
}

pub(crate) fn run(folder: &str) -> boswell_store::Result<()> {
    let store = Home::at(folder).sessions()?; // a folder, created if absent
    let writer = store.create(NewSession::in_project("/proj/demo"))?; // holds the session's lease
    let asked = writer.append(Draft::user("why is the build red?"))?; // blocks until durable
    let ticket = writer.submit(Draft::assistant("a test is flaky"))?; // or does not wait
    ticket.wait()?;
    writer.branch(&asked.entry)?; // move the leaf, durably
    writer.append(Draft::assistant("the lock file is stale"))?;
    // The context: what would be sent to the model.
    for message in writer.session()?.messages()? {
        println!("{:?}: {}", message.role, message.text());
    }
    println!("{}", writer.reference());
    writer.finish(Outcome::Completed)
}
