//! pi itself loads every repaired session with the complete tree. Needs node and pi's package in
//! `BOSWELL_PI_PACKAGE`.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use boswell_dialect::pi::Pi;
use boswell_dialect::{Confidence, Depth, Repairer};
use boswell_model::Flags;
use boswell_store::WritableStore;
use boswell_testkit::damage::{self, Damage};
use boswell_testkit::make::pi;
use boswell_testkit::{Rng, corpus};

use crate::repair::bench::Bench;

/// Damages after which pi must load every existing record as an entry of its tree.
const KINDS: &[Damage] = &[
    Damage::TornTail,
    Damage::GluedRecords,
    Damage::CutAndGlued,
    Damage::NulBeforeRecord,
    Damage::NulTail,
    Damage::Bom,
    Damage::GarbageLine,
    Damage::HeaderTorn,
    Damage::NoHeader,
    Damage::LineDeleted,
    Damage::LineDuplicated,
    Damage::RunDuplicated,
    Damage::PhantomParent,
    Damage::ParentCycle,
    Damage::SelfParent,
    Damage::ResultRemoved,
    Damage::OrphanResult,
];

fn ask(package: &Path, files: &[PathBuf]) -> HashMap<PathBuf, (usize, usize)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/repair/pi_loads.mjs");
    let mut node = Command::new("node")
        .arg(script)
        .env("PI_PACKAGE", package)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node is needed to ask pi");
    let mut input = node.stdin.take().unwrap();
    files
        .iter()
        .for_each(|file| writeln!(input, "{}", file.display()).unwrap());
    drop(input);
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success(), "pi failed to load something");
    let answer = |line: &str| {
        let mut parts = line.split('\t');
        let path = PathBuf::from(parts.next().unwrap());
        let mut number = || parts.next().unwrap().parse().unwrap();
        (path, (number(), number()))
    };
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(answer)
        .collect()
}

#[test]
fn pi_loads_every_repaired_session_with_the_whole_tree() {
    let Some(package) = corpus::require_or_skip("BOSWELL_PI_PACKAGE") else {
        return;
    };
    let mut benches = Vec::new();
    for shape in [
        pi::PiShape::Linear,
        pi::PiShape::Branched,
        pi::PiShape::TwoCompactions,
    ] {
        for (number, kind) in KINDS.iter().enumerate() {
            for place in [2, 5, 8] {
                let made = pi::file(shape, pi::PiFlavour::Pi, pi::PiLayout::of("/p"), 3);
                let broken =
                    damage::apply(*kind, made.bytes(), place, &mut Rng::new(number as u64));
                let bench = Bench::new(&Pi::PI, &made, &broken);
                let done = bench.repair(Confidence::Likely);
                let file = done
                    .fork
                    .as_ref()
                    .map_or(bench.path.clone(), |id| bench.made(id));
                benches.push((format!("{shape:?} {kind:?} at {place}"), bench, file));
            }
        }
    }
    let files: Vec<PathBuf> = benches.iter().map(|(_, _, file)| file.clone()).collect();
    let answers = ask(&package, &files);
    for (note, bench, file) in &benches {
        let (entries, branch) = answers[file];
        let (ours, reached) = told(&bench.store, file);
        assert_eq!((entries, branch), (ours, reached), "{note}: pi and boswell");
        assert!(entries > 0 && branch > 0, "{note}");
    }
}

/// Returns how many entries boswell finds in a file, and how many it reports as reachable by pi.
fn told(store: &WritableStore, file: &Path) -> (usize, usize) {
    let key = file.strip_prefix(store.root()).unwrap().to_str().unwrap();
    let listed = store.list().unwrap().sessions;
    let location = listed
        .into_iter()
        .find(|it| it.key.as_deref() == Some(key))
        .unwrap();
    let session = store.read(&location, Depth::Heads).unwrap();
    let entries = session
        .log()
        .heads
        .iter()
        .filter(|head| head.flags.has(Flags::CHAIN))
        .count();
    let reached = Pi::PI
        .entries_agent_sees(&session.view(), session.tip().unwrap())
        .unwrap();
    (entries, reached.len())
}
