//! One of many processes that work on the same session, for the tests that kill them.
//!
//! `hammer ROLE HOME SESSION NAME COUNT [BATCH]`. Each entry is called `NAME-NUMBER`, which is its
//! id or begins its text, and is printed once the entry is acknowledged. Roles: `create` and
//! `defer` (make the session, visible at once or with its first answer), `drive` (one lease for
//! all), `share` (a lease for each batch), `annotate` and `note` (no lease; with labels and
//! without), `hold` (takes the lease and waits for the end of its input), `read` (reads until the
//! end of its input), `foreign` (appends to the file that SESSION names, without any lock, whole
//! lines and half ones).

#![expect(
    clippy::print_stdout,
    reason = "what it prints is what the tests look at"
)]

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use boswell_store::model::json::Json;
use boswell_store::model::{Gap, SpanKind};
use boswell_store::writer::Visibility;
use boswell_store::{
    Body, Draft, Durability, Error, ErrorKind, Expect, Home, NewSession, Outcome, Receipt, Result,
    SessionWriter, Wait,
};

struct Task {
    home: String,
    session: String,
    name: String,
    count: usize,
    batch: usize,
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().unwrap_or_default();
    let (role, home, session, name) = (next(), next(), next(), next());
    let mut number = || next().parse().unwrap_or(1);
    let (count, batch) = (number(), number());
    let task = Task {
        home,
        session,
        name,
        count,
        batch,
    };
    match role.as_str() {
        "create" => create(&task, Visibility::AtOnce),
        "defer" => create(&task, Visibility::WithFirstAnswer),
        "drive" => drive(&task),
        "share" => share(&task),
        "annotate" => annotate(&task, 3),
        "note" => annotate(&task, 2),
        "hold" => hold(&task),
        "read" => read(&task),
        "foreign" => foreign(&task).map_err(|error| Error::io(&task.session, "append to", error)),
        _ => Err(Error::new(
            ErrorKind::Invalid,
            format!("`{role}` is no role"),
        )),
    }
}

/// Entries of different kinds and lengths; a few are long enough for more than a page.
fn draft(task: &Task, number: usize) -> Draft {
    let text = format!(
        "{}-{number} {}",
        task.name,
        "x".repeat(number * 37 % 500 + number % 50 / 49 * 9000)
    );
    if number.is_multiple_of(2) {
        Draft::user(text)
    } else {
        Draft::assistant(text)
    }
}

fn say(receipts: &[Receipt]) -> Result<()> {
    say_names(receipts.iter().map(|receipt| receipt.entry.to_string()))
}

fn say_names(mut names: impl Iterator<Item = String>) -> Result<()> {
    // One write per line: the process that reads the pipe must not get half a name after a kill.
    let mut out = std::io::stdout().lock();
    names
        .try_for_each(|name| out.write_all(format!("{name}\n").as_bytes()))
        .and_then(|()| out.flush())
        .map_err(|error| Error::io("stdout", "write to", error))
}

fn create(task: &Task, visible: Visibility) -> Result<()> {
    let new = NewSession {
        visible,
        ..NewSession::in_project("/proj/demo").with_id(&task.session)
    };
    let writer = Home::at(&task.home).sessions()?.create(new)?;
    println!("created");
    for number in 0..task.count {
        say(&[writer.append(draft(task, number).with_id(format!("{}-{number}", task.name)))?])?;
    }
    writer.finish(Outcome::Completed)
}

fn drive(task: &Task) -> Result<()> {
    let writer = Home::at(&task.home)
        .sessions()?
        .writer(&task.session, Wait::Forever)?;
    for start in (0..task.count).step_by(task.batch) {
        let named = |number: usize| draft(task, number).with_id(format!("{}-{number}", task.name));
        let batch = numbers(task, start).map(named).collect();
        let durability = if start % 3 == 0 {
            Durability::Os
        } else {
            Durability::Fsync
        };
        say(&writer.append_all(batch, Expect::Any, durability)?)?;
    }
    println!("races {}", writer.races());
    writer.release()
}

fn numbers(task: &Task, start: usize) -> std::ops::Range<usize> {
    start..(start + task.batch).min(task.count)
}

fn share(task: &Task) -> Result<()> {
    let store = Home::at(&task.home).sessions()?;
    for start in (0..task.count).step_by(task.batch) {
        let writer: SessionWriter = store.writer(&task.session, Wait::Forever)?;
        // Without ids chosen by the caller: looking those up would read the whole log for each
        // lease.
        let batch = numbers(task, start)
            .map(|number| draft(task, number))
            .collect();
        writer.append_all(batch, Expect::Any, Durability::Fsync)?;
        say_names(numbers(task, start).map(|number| format!("{}-{number}", task.name)))?;
    }
    Ok(())
}

fn annotate(task: &Task, kinds: usize) -> Result<()> {
    let store = Home::at(&task.home).sessions()?;
    for number in 0..task.count {
        let body = match number % kinds {
            0 => Body::Title(format!("{} {number}", task.name)),
            1 => {
                let tags = Json::Array(vec![Json::from(task.name.as_str())]);
                Body::Custom {
                    kind: "boswell.tags".to_owned(),
                    data: Some(Json::object().with("tags", tags)),
                }
            }
            _ => Body::Label {
                target: "first".into(),
                label: Some(format!("{}-{number}", task.name)),
            },
        };
        let draft = Draft::new(body).with_id(format!("{}-{number}", task.name));
        say(&[store.annotate(&task.session, draft)?])?;
    }
    Ok(())
}

fn hold(task: &Task) -> Result<()> {
    let writer = Home::at(&task.home)
        .sessions()?
        .writer(&task.session, Wait::No)?;
    println!("held");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    writer.release()
}

/// Reads repeatedly. Only bytes after the last line end may look incomplete.
fn read(task: &Task) -> Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let watcher = Arc::clone(&stop);
    let input = std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        watcher.store(true, Ordering::Relaxed);
    });
    let store = Home::at(&task.home).sessions()?;
    let (mut looks, mut before) = (0, 0);
    while !stop.load(Ordering::Relaxed) || looks == 0 {
        let session = store.session(&task.session)?;
        let damaged = session
            .log()
            .gaps
            .iter()
            .find(|gap| gap.kind != SpanKind::Gap(Gap::Pending));
        if let Some(gap) = damaged {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!("{} bytes at {} are no record", gap.len, gap.at),
            ));
        }
        if session.log().bytes < before {
            return Err(Error::new(ErrorKind::Damaged, "the log became shorter"));
        }
        before = session.log().bytes;
        let tip = session.tip()?;
        for item in session.context(tip)?.items.iter().rev().take(3) {
            session.render(item)?;
        }
        looks += 1;
    }
    let _ = input.join();
    println!("looks {looks}");
    Ok(())
}

/// Acts as a program without locks.
fn foreign(task: &Task) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&task.session)?;
    for number in 0..task.count {
        let line = format!(
            "{{\"type\":\"custom\",\"id\":\"{0}-{number}\",\"parentId\":null,\"timestamp\":\"2026-10-05T08:00:00.000Z\",\"customType\":\"foreign\"}}\n",
            task.name
        );
        if number % 4 == 3 {
            let (head, tail) = line.split_at(line.len() / 2);
            file.write_all(head.as_bytes())?;
            file.write_all(tail.as_bytes())?;
        } else {
            file.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}
