//! Byte-level repairs, and late lines that are copied into the log.

use std::io::Write;

use boswell_dialect::Confidence;
use boswell_dialect::claude::Claude;
use boswell_dialect::pi::Pi;
use boswell_model::{Advice, ErrorKind};
use boswell_store::repair::RepairRequest;
use boswell_testkit::damage::{self, Damage};
use boswell_testkit::make::{claude, pi};
use boswell_testkit::{Made, Rng, corpus};

use crate::repair::bench::Bench;

fn claude_session() -> Made {
    claude::file(claude::ClaudeShape::ToolUse, "/p", 3)
}

fn pi_session() -> Made {
    pi::file(
        pi::PiShape::Linear,
        pi::PiFlavour::Pi,
        pi::PiLayout::of("/p"),
        3,
    )
}

fn glued(made: &Made) -> Vec<u8> {
    damage::apply(Damage::GluedRecords, made.bytes(), 5, &mut Rng::new(1))
}

#[test]
fn every_repair_is_taken_back_bit_for_bit() {
    for (kind, place) in damage::ALL
        .iter()
        .filter(|kind| !matches!(kind, Damage::LongLine(_)))
        .zip((0..9).cycle())
    {
        let (claude, pi) = (claude_session(), pi_session());
        for (dialect, made) in [
            (&Claude as &'static dyn boswell_dialect::Dialect, &claude),
            (&Pi::PI, &pi),
        ] {
            let broken = damage::apply(*kind, made.bytes(), place, &mut Rng::new(2));
            if broken.is_empty() {
                continue;
            }
            let bench = Bench::new(dialect, made, &broken);
            let before = bench.tree();
            let done = bench.repair(Confidence::Likely);
            if let Some(operation) = &done.operation {
                assert!(bench.tree() != before, "{kind:?}");
                bench.runner.undo(&operation.id).unwrap();
            }
            assert!(
                bench.tree() == before,
                "{} {kind:?} at {place}",
                dialect.name()
            );
        }
    }
}

#[test]
fn every_capture_is_repaired_for_everybody_and_taken_back_bit_for_bit() {
    let Some(captures) = corpus::require_or_skip("BOSWELL_CAPTURES") else {
        return;
    };
    let mut count = 0;
    for path in corpus::files(&captures) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.extension().is_none_or(|end| end != "jsonl") || name.len() != 42 {
            continue;
        }
        let bench = Bench::of_claude(name, &std::fs::read(&path).unwrap());
        let before = bench.tree();
        let goals = ["sdk-py", "sdk-ts"].map(str::to_owned).to_vec();
        let request = RepairRequest {
            level: Confidence::Likely,
            goals,
            ..RepairRequest::default()
        };
        let done = bench
            .runner
            .repair(&bench.store, &bench.location(), &request)
            .unwrap();
        if let Some(operation) = &done.operation {
            bench.runner.undo(&operation.id).unwrap();
        }
        assert!(bench.tree() == before, "{name}");
        count += 1;
    }
    assert!(count > 30, "{count}");
}

#[test]
fn a_repaired_file_stays_as_it_is_when_it_is_repaired_again() {
    let made = claude_session();
    let bench = Bench::new(&Claude, &made, &glued(&made));
    assert!(bench.repair(Confidence::Certain).in_place);
    assert!(
        bench.bytes() == made.bytes(),
        "records that shared a line stand as they stood before"
    );
    let again = bench.repair(Confidence::Likely);
    assert!(again.operation.is_none() && again.fork.is_none() && again.steps.is_empty());
}

#[test]
fn taking_back_after_the_agent_went_on_keeps_what_it_wrote() {
    let made = pi_session();
    let broken = glued(&made);
    let bench = Bench::new(&Pi::PI, &made, &broken);
    let operation = bench.repair(Confidence::Certain).operation.unwrap();
    let line = b"{\"type\":\"custom\",\"id\":\"new\",\"parentId\":null,\"timestamp\":\"2025-01-01T00:00:00Z\"}\n";
    std::fs::OpenOptions::new()
        .append(true)
        .open(&bench.path)
        .unwrap()
        .write_all(line)
        .unwrap();
    assert_eq!(
        bench.runner.undo(&operation.id).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    bench.runner.undo_keep_new(&operation.id).unwrap();
    assert!(bench.bytes() == [broken.as_slice(), line].concat());
}

#[test]
fn lines_that_an_agent_wrote_into_the_old_file_are_brought_home_once() {
    let made = claude_session();
    let bench = Bench::new(&Claude, &made, &glued(&made));
    let old = std::fs::OpenOptions::new()
        .read(true)
        .open(&bench.path)
        .unwrap();
    bench.repair(Confidence::Certain).operation.unwrap();
    // The agent still has the replaced file open; here it is found under the vault's hard link.
    let inode = old.metadata().unwrap();
    let late = b"{\"type\":\"tag\",\"tag\":\"late\",\"sessionId\":\"s\"}\n";
    drop(old);
    append_to_inode(
        bench.folder.path(),
        std::os::unix::fs::MetadataExt::ino(&inode),
        late,
    );
    let plan = bench
        .runner
        .repair_plan(&bench.store, &bench.location(), &RepairRequest::default())
        .unwrap();
    assert_eq!(
        plan.steps
            .iter()
            .map(|step| step.problem.word())
            .collect::<Vec<_>>(),
        ["late_lines"]
    );
    let done = bench.repair(Confidence::Certain);
    assert_eq!(
        done.steps
            .iter()
            .map(|step| step.problem.word())
            .collect::<Vec<_>>(),
        ["late_lines"]
    );
    assert!(bench.bytes() == [made.bytes(), late].concat());
    assert!(bench.repair(Confidence::Certain).operation.is_none());
}

fn append_to_inode(folder: &std::path::Path, inode: u64, bytes: &[u8]) {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
        {
            let meta = entry.metadata().unwrap();
            if meta.is_dir() {
                open.push(entry.path());
            } else if std::os::unix::fs::MetadataExt::ino(&meta) == inode {
                std::fs::OpenOptions::new()
                    .append(true)
                    .open(entry.path())
                    .unwrap()
                    .write_all(bytes)
                    .unwrap();
                return;
            }
        }
    }
    panic!("the old file is kept nowhere");
}

#[test]
fn an_unknown_step_and_changes_before_bytes_are_in_order_are_refused() {
    let made = pi_session();
    let broken = damage::apply(Damage::PhantomParent, &glued(&made), 9, &mut Rng::new(1));
    let bench = Bench::new(&Pi::PI, &made, &broken);
    let ask = |steps: &[usize], in_place| {
        let request = RepairRequest {
            steps: steps.to_vec(),
            in_place,
            ..RepairRequest::default()
        };
        bench
            .runner
            .repair(&bench.store, &bench.location(), &request)
            .unwrap_err()
    };
    assert_eq!(ask(&[99], false).kind(), ErrorKind::NotFound);
    let change = bench
        .runner
        .repair_plan(&bench.store, &bench.location(), &RepairRequest::default())
        .unwrap();
    let change = change
        .steps
        .iter()
        .find(|step| step.problem.word() == "missing_parent")
        .unwrap()
        .number;
    let error = ask(&[change], true);
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(
        matches!(error.advice(), Some(Advice::Repair { .. })),
        "{error}"
    );
    assert_eq!(ask(&[], true).kind(), ErrorKind::Invalid);
}
