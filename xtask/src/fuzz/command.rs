//! The parent process: one worker per target, and a report if a worker does not return.

use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::options::Options;
use super::{targets, worker};
use crate::{Outcome, workspace};

/// How long a worker may take for one input after its time, before it counts as stuck.
const GRACE: Duration = Duration::from_secs(30);

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    let options = Options::parse(arguments)?;
    match (&options.input, &options.target) {
        (Some(input), Some(target)) => return worker::run_input(target, input),
        (Some(_), None) => return Err("--input needs the name of a target".into()),
        (None, Some(target)) if options.worker => return worker::run(&options, target),
        _ => {}
    }
    let chosen: Vec<&str> = match &options.target {
        Some(name) => vec![targets::named(name)?.0],
        None => targets::all().iter().map(|(name, _)| *name).collect(),
    };
    println!(
        "fuzz: {} targets, {} s each, seed {}",
        chosen.len(),
        options.seconds,
        options.seed
    );
    let mut failed = 0;
    for target in &chosen {
        failed += usize::from(!passes(&options, target)?);
    }
    println!(
        "fuzz: {} targets passed, {failed} failed",
        chosen.len() - failed
    );
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn passes(options: &Options, target: &str) -> Outcome<bool> {
    let limit = Duration::from_secs(options.seconds) + GRACE;
    match wait(
        &mut start(target, options.seconds, options.seed, None)?,
        limit,
    )? {
        Some(status) if status.success() => Ok(true),
        Some(status) if status.code() == Some(i32::from(worker::FOUND)) => Ok(false),
        ended => {
            println!(
                "{target}: {}; running the same inputs again with a trace",
                describe(ended)
            );
            retrace(options, target)?;
            Ok(false)
        }
    }
}

/// Repeats the run, slower, with each input written to disk before it is used; the last one written
/// is the failing one.
fn retrace(options: &Options, target: &str) -> Outcome {
    let folder = workspace::target()?.join("fuzz");
    std::fs::create_dir_all(&folder)?;
    let trace = folder.join(format!("{target}-current"));
    // Writing each input costs more than running it, so the same number of inputs takes longer.
    let seconds = options.seconds * 20 + 20;
    let mut child = start(target, seconds, options.seed, Some(&trace))?;
    let ended = wait(&mut child, Duration::from_secs(seconds) + GRACE)?;
    if ended.is_some_and(|status| status.success()) {
        println!("{target}: it did not happen again; it depends on more than its input");
        return Ok(());
    }
    let file = worker::save(target, &std::fs::read(&trace)?)?;
    println!("{target}: {}", describe(ended));
    worker::say_how_to_repeat(target, &file);
    Ok(())
}

fn start(target: &str, seconds: u64, seed: u64, trace: Option<&Path>) -> Outcome<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["fuzz", "--worker", target]);
    command.args([
        "--seconds",
        &seconds.to_string(),
        "--seed",
        &seed.to_string(),
    ]);
    if let Some(trace) = trace {
        command.arg("--trace").arg(trace);
    }
    Ok(command.stdin(Stdio::null()).spawn()?)
}

/// Waits until the child ends and returns its status; `None` if the time is over and the child was
/// killed.
fn wait(child: &mut Child, limit: Duration) -> Outcome<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn describe(ended: Option<ExitStatus>) -> String {
    match ended {
        Some(status) => format!("the worker died ({status})"),
        None => "the worker did not come back from an input".to_owned(),
    }
}
