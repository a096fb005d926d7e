//! Faults injected into the real binary: a sample of the cases of `cargo xtask soak faults`.
#![expect(clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use boswell_testkit::faults::{
    CallLog, Case, FaultKind, FaultLab, FaultTally, InjectedFault, LoggedCall, Shim, Soak,
    WantedFaults, cases,
};

const BOSWELL: &str = env!("CARGO_BIN_EXE_boswell");

/// The seed of the sample. A failing seed becomes a test; another one is run by `cargo xtask soak
/// faults --sample 3 --seed N`.
const SEED: u64 = 15;

/// One case per command, in the dialect with the most steps.
const SAMPLED: [&str; 34] = [
    "append boswell",
    "append claude",
    "archive claude",
    "attachments extract",
    "branch pi",
    "checkout claude",
    "clean leftovers",
    "clean older",
    "clean vault",
    "delete myagents",
    "export json",
    "fork claude",
    "import claude",
    "index all",
    "index native",
    "label pi",
    "list stale",
    "memory add",
    "memory rm",
    "migrate pi",
    "move claude-pi",
    "new boswell",
    "new clinvoker",
    "rename claude",
    "rename omp",
    "repair in-place",
    "restore archived",
    "restore kept",
    "rewind myagents",
    "search first",
    "status note",
    "summarize program",
    "tag clinvoker",
    "undo delete",
];

fn shim() -> Option<Shim> {
    Shim::require_or_skip(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

fn scratch(name: &str) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let below = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    below.join(format!("boswell-{name}-{}", std::process::id()))
}

#[expect(clippy::print_stdout, reason = "shown where the test fails")]
fn soak(shim: &Shim, name: &str, cases: &[Case], wanted: WantedFaults) -> FaultTally {
    let soak = Soak {
        program: Path::new(BOSWELL),
        shim,
        folder: scratch(name),
        workers: 2,
        seed: SEED,
        wanted,
    };
    soak.run(cases, &|line| println!("{line}"))
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_command_leaves_the_old_or_the_new_state_after_a_fault() {
    let Some(shim) = shim() else { return };
    let chosen: Vec<Case> = cases()
        .into_iter()
        .filter(|case| SAMPLED.contains(&case.name))
        .collect();
    assert_eq!(
        chosen.len(),
        SAMPLED.len(),
        "a sampled case does not exist any more"
    );
    let tally = soak(&shim, "faults", &chosen, WantedFaults::Sample(3));
    let wrong: Vec<String> = tally.unexpected().map(|it| it.line()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let total = tally.total();
    assert_eq!(
        total.struck, total.runs,
        "every fault must strike: {total:?}"
    );
    // A session whose lock is briefly busy is skipped, and then a command makes too few calls for
    // three faults: such a case must reach three in another run.
    let runs_of = |tally: &FaultTally, name: &str| -> usize {
        let rows = tally.rows.iter().filter(|((case, _), _)| *case == name);
        rows.map(|(_, row)| row.runs).sum()
    };
    for case in chosen.iter().filter(|case| runs_of(&tally, case.name) < 3) {
        let again = (0..5).any(|_| {
            let one = std::slice::from_ref(case);
            let tally = soak(&shim, "faults-again", one, WantedFaults::Sample(3));
            let wrong: Vec<String> = tally.unexpected().map(|it| it.line()).collect();
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
            runs_of(&tally, case.name) == 3
        });
        assert!(again, "{} does not give three faults", case.name);
    }
    for kind in FaultKind::ALL {
        let struck: usize = tally
            .rows
            .iter()
            .filter(|((_, it), _)| *it == kind.word())
            .map(|(_, row)| row.struck)
            .sum();
        assert!(struck > 0, "no fault of the kind {kind:?} struck");
    }
    assert!(
        total.old > 0 && total.new > 0 && total.told > 0,
        "{total:?}"
    );
}

#[test]
fn a_violation_is_seen_where_a_command_ignores_the_fault() {
    let Some(shim) = shim() else { return };
    let folder = scratch("faults-seen");
    let place = FaultLab::build(Path::new(BOSWELL), &shim, &folder).unwrap();
    let args = ["rename", "833e", "Another name"];
    let (ran, log) = place.run_faulty(&args, None, None).unwrap();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let log = CallLog::read(&log);
    assert!(log.struck().is_none());
    assert_eq!(
        log.undurable(|path| path.ends_with("ops.jsonl")),
        [] as [&str; 0]
    );
    // The same log without the sync of the operations: as if the program ignored the error.
    let without: Vec<LoggedCall> = log
        .calls
        .iter()
        .filter(|call| !(call.name == "fsync" && call.path.ends_with("ops.jsonl")))
        .cloned()
        .collect();
    assert_eq!(
        CallLog { calls: without }
            .undurable(|path| path.ends_with("ops.jsonl"))
            .len(),
        1
    );
}

/// Returns the name of a system call as the shim logs it; `None` for calls that change no file.
fn shims_word(line: &str) -> Option<&'static str> {
    let call = line.split_once('(')?.0.rsplit(' ').next()?;
    Some(match call {
        "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" => "write",
        "rename" | "renameat" | "renameat2" => "rename",
        "link" | "linkat" => "link",
        "symlink" | "symlinkat" => "symlink",
        "unlink" => "unlink",
        "unlinkat" => {
            if line.contains("AT_REMOVEDIR") {
                "rmdir"
            } else {
                "unlink"
            }
        }
        "rmdir" => "rmdir",
        "mkdir" | "mkdirat" => "mkdir",
        "truncate" | "ftruncate" => "truncate",
        "fsync" | "fdatasync" | "syncfs" | "sync_file_range" => "fsync",
        "fallocate" => "fallocate",
        "utimensat" | "utimes" | "futimesat" => "utimes",
        "chmod" | "fchmod" | "fchmodat" | "fchmodat2" => "chmod",
        "chown" | "fchown" | "lchown" | "fchownat" => "chown",
        "copy_file_range" => "copy_file_range",
        "sendfile" => "sendfile",
        "open" | "openat" | "creat" => {
            let changes = ["O_CREAT", "O_WRONLY", "O_RDWR", "O_TRUNC"]
                .iter()
                .any(|flag| line.contains(flag));
            return changes.then_some("open");
        }
        _ => return None,
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether this is CI is said by the environment only"
)]
#[test]
fn every_system_call_that_changes_a_file_goes_through_the_shim() {
    let Some(shim) = shim() else { return };
    if Command::new("strace").arg("--version").output().is_err() {
        let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!ci, "strace is missing: `cargo xtask test` installs it");
        eprintln!(
            "SKIPPED: strace is not on the path, so the calls of the shim are not compared with those of the system"
        );
        return;
    }
    let folder = scratch("faults-strace");
    let place = FaultLab::build(Path::new(BOSWELL), &shim, &folder).unwrap();
    let live = place.live().to_string_lossy().into_owned();
    let log_file = folder.join("calls").to_string_lossy().into_owned();
    for args in [
        &["rename", "demoRss", "Another name"][..],
        &["delete", "--apply", "5ac5"],
        &["index"],
        &["append", "019a", "--user", "x"],
    ] {
        let (ran, log, traced) = place.run_traced(args).unwrap();
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for call in &log.calls {
            let word = match call.name.as_str() {
                "create" | "open" => "open",
                other => other,
            };
            *seen.entry(word).or_default() += 1;
        }
        let mut real: BTreeMap<&str, usize> = BTreeMap::new();
        // The trace has the path of each descriptor. The shim's own log is excluded.
        for word in traced
            .lines()
            .filter(|line| line.contains(&live) && !line.contains(&log_file))
            .filter_map(shims_word)
        {
            *real.entry(word).or_default() += 1;
        }
        assert!(
            real.values().sum::<usize>() > 3,
            "{args:?}: strace saw nothing: {traced}"
        );
        assert_eq!(seen, real, "{args:?}");
    }
}

#[test]
fn a_killed_process_is_killed_before_the_call_and_a_full_disk_stays_full() {
    let Some(shim) = shim() else { return };
    let folder = scratch("faults-kinds");
    let place = FaultLab::build(Path::new(BOSWELL), &shim, &folder).unwrap();
    place.keep_base().unwrap();
    let args = ["append", "019a", "--user", "hello"];
    let run = |kind, at| {
        place.reset().unwrap();
        let (ran, log) = place
            .run_faulty(&args, None, Some(InjectedFault { kind, at }))
            .unwrap();
        (ran, CallLog::read(&log))
    };
    let (_, log) = run(FaultKind::Eio, usize::MAX);
    let write = log
        .calls
        .iter()
        .find(|call| call.name == "write")
        .unwrap()
        .number;
    let (ran, log) = run(FaultKind::Kill, write);
    assert_eq!(
        (ran.code, log.calls.len()),
        (None, write),
        "nothing runs after the kill"
    );
    let (ran, log) = run(FaultKind::Full, write);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("No space left on device"), "{ran:?}");
    assert_eq!(log.struck().unwrap().number, write);
    let later = log
        .calls
        .iter()
        .filter(|call| call.number > write && call.name == "write");
    assert!(later.clone().all(|call| call.result == "ENOSPC"), "{log:?}");
    let (ran, log) = run(FaultKind::HalfKill, write);
    assert_eq!(
        (ran.code, log.struck().map(|call| call.result.as_str())),
        (None, Some("half"))
    );
}

/// Returns a place, and the number of the first matching call of a command.
#[expect(clippy::print_stdout, reason = "shown where the test fails")]
fn place_and_call(
    shim: &Shim,
    name: &str,
    args: &[&str],
    fits: impl Fn(&LoggedCall) -> bool,
) -> (FaultLab, usize) {
    let place = FaultLab::build(Path::new(BOSWELL), shim, &scratch(name)).unwrap();
    place.keep_base().unwrap();
    // A session whose lock is briefly busy is skipped, and then the call does not happen.
    for _ in 0..5 {
        let (ran, log) = place.run_faulty(args, None, None).unwrap();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let found = CallLog::read(&log)
            .calls
            .iter()
            .find(|call| fits(call))
            .map(|call| call.number);
        place.reset().unwrap();
        if let Some(at) = found {
            return (place, at);
        }
        println!("the call did not come: {ran:?}");
    }
    panic!("no call of {args:?} fits")
}

#[test]
fn cleaning_goes_on_after_a_session_that_cannot_be_copied_and_ends_with_its_error() {
    let Some(shim) = shim() else { return };
    for args in [
        ["clean", "--older-than", "1d", "--agent", "pi", "--apply"],
        ["archive", "--older-than", "1d", "--agent", "pi", "--apply"],
    ] {
        let in_vault = |call: &LoggedCall| {
            call.name == "create" && call.path.to_string_lossy().contains("/vault/objects/")
        };
        let (place, at) = place_and_call(&shim, "faults-clean", &args, in_vault);
        let (ran, _) = place
            .run_faulty(
                &args,
                None,
                Some(InjectedFault {
                    kind: FaultKind::Eio,
                    at,
                }),
            )
            .unwrap();
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(
            ran.stderr.contains("error:") && ran.stderr.contains("(os error 5)"),
            "{ran:?}"
        );
        assert_eq!(
            ran.stdout.lines().count(),
            1,
            "one of two sessions is done: {ran:?}"
        );
    }
}

#[test]
fn half_an_owner_in_the_lock_of_myagents_is_not_taken_for_somebody_elses() {
    let Some(shim) = shim() else { return };
    let args = ["rename", "b8cc", "Another name"];
    let owner = |call: &LoggedCall| call.name == "write" && call.path.ends_with("owner");
    let (place, at) = place_and_call(&shim, "faults-owner", &args, owner);
    let (ran, log) = place
        .run_faulty(
            &args,
            None,
            Some(InjectedFault {
                kind: FaultKind::Half,
                at,
            }),
        )
        .unwrap();
    assert!(CallLog::read(&log).struck().is_some());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        place
            .run(&["list"])
            .unwrap()
            .stdout
            .contains("Another name")
    );
}
