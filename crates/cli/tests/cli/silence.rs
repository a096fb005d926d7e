//! Reading never writes: a home is unchanged after every reading command, including the inodes.

use std::path::Path;

use boswell_testkit::{Planted, TestHome, TreeSnapshot, disk};

use crate::bench::Bench;

/// Adds things in the place of sessions that must not be opened, to the folders of every dialect.
#[cfg(unix)]
fn plant_traps(home: &TestHome) {
    let folders = [
        home.claude.join("projects/-home-dev-proj-demo"),
        home.pi.join("sessions/--home-dev-proj-demo--"),
        home.omp.join("sessions/traps"),
        home.xcsh.join("sessions/traps"),
        home.myagents.join("sessions"),
        home.clinvoker.join("sessions"),
        home.oas.join("sessions"),
        home.codex.join("sessions/2026/10/05"),
    ];
    for folder in folders {
        disk::make_dir(&folder);
        traps(&folder);
        std::os::unix::fs::symlink(".", folder.join("again")).unwrap();
    }
}

/// Creates a pipe, a socket, a loop, a broken link and a folder, each named like a session.
#[cfg(unix)]
pub(crate) fn traps(folder: &Path) {
    for ending in ["jsonl", "json"] {
        let named = |what: &str| folder.join(format!("{what}.{ending}"));
        let made = std::process::Command::new("mkfifo")
            .arg(named("00000000-0000-4000-8000-00000000f1f0"))
            .status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
        drop(std::os::unix::net::UnixListener::bind(folder.join(format!("s.{ending}"))).unwrap());
        std::os::unix::fs::symlink(named("loop"), named("loop")).unwrap();
        std::os::unix::fs::symlink("nowhere", named("dangling")).unwrap();
        disk::make_dir(&named("folder"));
    }
}

/// Every reading command that takes no session.
const AT_LARGE: &[&[&str]] = &[
    &[],
    &["list"],
    &["list", "--hidden", "--sort", "size"],
    &["list", "--here"],
    &[
        "list",
        "--project",
        "/home/dev/proj/demo",
        "--agent",
        "claude",
    ],
    &["list", "--since", "7d"],
    &[
        "list",
        "--until",
        "2026-11-01",
        "--match",
        "build",
        "--limit",
        "3",
        "--offset",
        "1",
    ],
    &["list", "--status", "completed"],
    &["list", "--tag", "x", "--branch", "main", "--model", "opus"],
    &["stores"],
    &["stores", "--pairs"],
    &["projects"],
    &["check"],
    &["ops"],
    &["memory"],
    &["memory", "all"],
    &["memory", "all", "search", "build"],
    &["memory", "check"],
    &["memory", "all", "check"],
    &["move", "/home/dev/proj/demo", "/home/dev/proj/elsewhere"],
    &["index", "--native"],
    &["keep", "status"],
    &["keep", "on"],
    &["memory", "/home/dev/proj/demo", "show"],
    &["show", "@last"],
    &["resume", "--print"],
];

/// Every reading command that takes a session as its last argument.
const OF_A_SESSION: &[&[&str]] = &[
    &["show"],
    &["show", "--records"],
    &["show", "--raw", "--records"],
    &["show", "--thinking", "--tools=full"],
    &["show", "--tools=off"],
    &["tree"],
    &["context"],
    &["check"],
    &["attachments"],
    &["files"],
    &["export"],
    &["resume", "--print"],
];

fn chosen(home: &TestHome) -> Vec<&Planted> {
    let of = |dialect| {
        home.of(dialect)
            .filter(|planted| planted.path.is_file())
            .take(2)
    };
    [
        "claude",
        "pi",
        "omp",
        "xcsh",
        "myagents",
        "clinvoker",
        "oas",
        "codex",
    ]
    .into_iter()
    .flat_map(of)
    .collect()
}

#[cfg(unix)]
#[test]
fn no_reading_command_changes_a_byte_a_time_or_an_inode() {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 11);
    plant_traps(&home);
    let has_history = home.omp.join("history.db").is_file();
    if !has_history {
        eprintln!("SKIPPED: python3 is missing, so no history.db in WAL mode was planted");
    }
    assert!(
        !has_history || home.omp.join("history.db-wal").is_file(),
        "the history is in WAL mode"
    );
    let before = TreeSnapshot::take(bench.root());
    let mut runs = 0;
    for json in [false, true] {
        let mut run = |args: &[&str], last: Option<&str>| {
            let ran = bench.run(
                args.iter()
                    .copied()
                    .chain(last)
                    .chain(json.then_some("--json")),
            );
            assert!(matches!(ran.code, Some(0..=2)), "{ran:?}");
            if json && args.first() != Some(&"export") {
                ran.lines();
            }
            runs += 1;
        };
        AT_LARGE.iter().for_each(|args| run(args, None));
        for planted in chosen(&home) {
            let reference = format!("{}:{}", planted.dialect, planted.id);
            OF_A_SESSION
                .iter()
                .for_each(|args| run(args, Some(&reference)));
            run(&["show", "--records"], planted.path.to_str());
            run(&["check"], planted.path.parent().and_then(Path::to_str));
        }
    }
    assert!(runs > 300, "{runs}");
    let after = TreeSnapshot::take(bench.root());
    assert_eq!(before.diff(&after), Vec::<String>::new());
    assert!(
        !bench.own().exists(),
        "boswell's own folder was made by a reading command"
    );
    assert_eq!(disk::list(&bench.tmp()), Vec::<std::path::PathBuf>::new());
}

#[test]
fn attachments_are_written_only_where_asked() {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 12);
    let images = home
        .of("pi")
        .find(|planted| planted.note == "Images")
        .unwrap();
    let before = TreeSnapshot::take(&bench.home());
    let reference = format!("pi:{}", images.id);
    let target = bench.cwd().join("pictures");
    let args = [
        "attachments",
        &reference,
        "--json",
        "--extract",
        target.to_str().unwrap(),
    ];
    let written = bench.run(args).ends(0).of_type("attachment");
    assert!(!written.is_empty());
    for line in &written {
        let path = Path::new(line["written"].as_str().unwrap());
        assert!(path.starts_with(&target));
        assert_eq!(
            disk::read(path).len() as u64,
            line["bytes"].as_u64().unwrap(),
            "{line}"
        );
    }
    // On the second run nothing is overwritten.
    bench.run(args).ends(2).says("extract into an empty folder");
    assert_eq!(
        before.diff(&TreeSnapshot::take(&bench.home())),
        Vec::<String>::new()
    );
    assert!(!bench.own().exists());
}
