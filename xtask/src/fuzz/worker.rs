//! The child process: runs one target over its inputs until the time is up or it fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::options::Options;
use super::rng::Rng;
use super::targets::{self, Target};
use super::{inputs, mutator};
use crate::{Outcome, workspace};

/// The worker's exit code for a reported finding.
pub(crate) const FOUND: u8 = 1;

/// Runs one input without catching panics, so that the backtrace is visible.
pub(crate) fn run_input(target: &str, input: &Path) -> Outcome<ExitCode> {
    let (_, run) = targets::named(target)?;
    let bytes = std::fs::read(input).map_err(|error| format!("{}: {error}", input.display()))?;
    run(&bytes);
    println!("{target}: {} bytes pass", bytes.len());
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn run(options: &Options, target: &str) -> Outcome<ExitCode> {
    let target = targets::named(target)?;
    let pool = inputs::pool(target.0)?;
    let last_panic = catch_panic_messages();
    let mut rng = Rng::new(options.seed);
    let deadline = Instant::now() + Duration::from_secs(options.seconds);
    let mut rounds = 0_u64;
    let mut input = Vec::new();
    while Instant::now() < deadline {
        // First every seed unchanged: those inputs certainly occur.
        match usize::try_from(rounds)
            .ok()
            .and_then(|round| pool.get(round))
        {
            Some(seed) => input.clone_from(seed),
            None => mutator::mutate(&pool, &mut rng, &mut input),
        }
        if let Some(trace) = &options.trace {
            std::fs::write(trace, &input)?;
        }
        rounds += 1;
        if catch_unwind(AssertUnwindSafe(|| target.1(&input))).is_err() {
            let message = last_panic
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            report(target, &input, &message)?;
            return Ok(ExitCode::from(FOUND));
        }
    }
    println!(
        "{}: {rounds} inputs from {} seeds, no panic",
        target.0,
        pool.len()
    );
    Ok(ExitCode::SUCCESS)
}

/// Stores the text of the last panic instead of printing thousands of them.
fn catch_panic_messages() -> Arc<Mutex<String>> {
    let last = Arc::new(Mutex::new(String::new()));
    let writer = Arc::clone(&last);
    std::panic::set_hook(Box::new(move |info| {
        *writer.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string();
    }));
    last
}

fn report(target: Target, input: &[u8], message: &str) -> Outcome {
    let file = save(target.0, input)?;
    println!("{}: {message}", target.0);
    say_how_to_repeat(target.0, &file);
    Ok(())
}

/// Writes a failing input to `target/fuzz/<target>-<hash>`.
pub(crate) fn save(target: &str, input: &[u8]) -> Outcome<PathBuf> {
    let folder = workspace::target()?.join("fuzz");
    std::fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{target}-{:016x}", fingerprint(input)));
    std::fs::write(&file, input)?;
    Ok(file)
}

pub(crate) fn say_how_to_repeat(target: &str, file: &Path) {
    println!("  the input is in {}", file.display());
    println!(
        "  run it again with `cargo xtask fuzz --input {} {target}`",
        file.display()
    );
    println!("  keep it as a test: copy it to fuzz/seeds/{target}/");
}

/// FNV-1a: only distinguishes findings.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
