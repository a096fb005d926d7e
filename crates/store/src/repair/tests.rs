//! Healthy sessions with each kind of damage at each place, and pairs of damages: nothing is lost,
//! and repair is idempotent.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use boswell_dialect::claude::Claude;
use boswell_dialect::pi::Pi;
use boswell_dialect::{Confidence, Dialect, Patch, SessionLocation};
use boswell_model::{ErrorKind, Framing, ProblemKind, Result};
use boswell_testkit::damage::{self, Damage};
use boswell_testkit::make::{claude, pi};
use boswell_testkit::{Rng, corpus, scanner};
use sha2::{Digest, Sha256};

use super::planner::RepairPlanner;
use super::{RepairRequest, verify};
use crate::Store;
use crate::backend::MemoryBackend;

const KEY: &str = "sessions/--p--/2025-01-01T00-00-00-000Z_S.jsonl";

fn location(len: usize) -> SessionLocation {
    SessionLocation {
        key: Some(KEY.to_owned()),
        ..SessionLocation::of("S", Framing::Lines, len as u64)
    }
}

fn store(dialect: &'static dyn Dialect, bytes: &[u8]) -> Store {
    let mut backend = MemoryBackend::default();
    backend.put(KEY, bytes, None);
    Store::on(dialect, Arc::new(backend), "lab")
}

/// The result of a repair in place and in a fork, with the kinds of problems for which records
/// changed.
struct Fixed {
    placed: Vec<u8>,
    forked: Vec<u8>,
    changed: BTreeSet<ProblemKind>,
}

fn repair(dialect: &'static dyn Dialect, bytes: &[u8], goals: &[&str]) -> Result<Fixed> {
    let level = Confidence::Likely;
    let goals: Vec<String> = goals.iter().map(|goal| (*goal).to_owned()).collect();
    let request = RepairRequest {
        level,
        goals,
        ..RepairRequest::default()
    };
    let (store, location) = (store(dialect, bytes), location(bytes.len()));
    let bench = RepairPlanner::new(&store, &location, &request, Vec::new())?;
    let placed = bench.in_place(Patch::whole(bytes.len() as u64))?;
    let after = bench.session(&placed.patch)?;
    if bench.stands_alone(&placed)? {
        verify::verify(&bench.original, &after, 0)?;
    }
    let forked = bench.settled(placed.patch.clone())?;
    let fixed = bench.session(&forked.patch)?;
    verify::verify(&bench.original, &fixed, forked.changed)?;
    verify::verify(&after, &fixed, forked.changed)?;
    let changed = forked
        .steps
        .iter()
        .filter(|step| step.taken)
        .map(|step| step.problem)
        .collect();
    Ok(Fixed {
        placed: written(bytes, &placed.patch),
        forked: written(bytes, &forked.patch),
        changed,
    })
}

fn written(bytes: &[u8], patch: &Patch) -> Vec<u8> {
    let part = |piece: &boswell_dialect::PatchPiece| match piece {
        boswell_dialect::PatchPiece::Old { at, len } => {
            bytes[*at as usize..(*at + *len) as usize].to_vec()
        }
        boswell_dialect::PatchPiece::New(bytes) => bytes.clone(),
    };
    patch.pieces().iter().flat_map(part).collect()
}

/// Returns a record without its links, ids and time.
fn core(record: &[u8]) -> String {
    let mut value: serde_json::Value = serde_json::from_slice(record).unwrap();
    for key in ["uuid", "parentUuid", "id", "parentId", "timestamp"] {
        value.as_object_mut().unwrap().remove(key);
    }
    value.to_string()
}

/// Examines one damage; returns false if the repair was refused, because fewer entries would be
/// reachable.
fn examine(
    dialect: &'static dyn Dialect,
    bytes: &[u8],
    goals: &[&str],
    note: &dyn Fn() -> String,
) -> bool {
    let is_record: &dyn Fn(&serde_json::Value) -> bool = match dialect.name() {
        "claude" => &scanner::is_claude,
        "pi" => &scanner::is_pi,
        _ => &|_| false,
    };
    let fixed = match repair(dialect, bytes, goals) {
        Ok(fixed) => fixed,
        Err(error) if error.kind() == ErrorKind::Conflict => return false,
        Err(error) => panic!("{}: {error}: {:?}", note(), error.reason()),
    };
    let before = scanner::records(bytes, is_record);
    let placed = fixed
        .placed
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(&fixed.placed);
    let lines: BTreeSet<&[u8]> = placed
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .collect();
    for record in &before {
        assert!(
            lines.contains(record.as_slice()),
            "{}: lost {}",
            note(),
            record.escape_ascii()
        );
    }
    // A change of links keeps the content of records; other changes are identified by their
    // problem.
    let told = [
        ProblemKind::OrphanResult,
        ProblemKind::BadHeader,
        ProblemKind::InvalidUtf8,
        ProblemKind::DuplicateCall,
        ProblemKind::RefusedBlock,
        ProblemKind::Unsent,
    ];
    let lines: BTreeSet<&[u8]> = fixed
        .forked
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .collect();
    let mut changed = before
        .iter()
        .filter(|record| !lines.contains(record.as_slice()))
        .peekable();
    if changed.peek().is_some() && !told.iter().any(|kind| fixed.changed.contains(kind)) {
        let after: BTreeSet<String> = scanner::records(&fixed.forked, is_record)
            .iter()
            .map(|record| core(record))
            .collect();
        let lost = changed
            .filter(|record| !after.contains(&core(record)))
            .count();
        assert!(lost == 0, "{}: {lost} lost in the fork", note());
    }
    let again = repair(dialect, &fixed.forked, goals)
        .unwrap_or_else(|error| panic!("{} again: {error}", note()));
    assert!(
        again.forked == fixed.forked,
        "{}: a second repair changes something",
        note()
    );
    true
}

/// Applies two damages, chosen by a seed.
fn pair(bytes: &[u8], number: usize, seed: usize) -> Option<(Vec<u8>, String)> {
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    let mut rng = Rng::new((number * 900 + seed) as u64);
    let (first, second) = (*rng.pick(damage::ALL), *rng.pick(damage::ALL));
    if matches!(first, Damage::LongLine(_)) || matches!(second, Damage::LongLine(_)) {
        return None;
    }
    let place = rng.below(lines.max(1));
    let once = damage::apply(first, bytes, place, &mut rng);
    let place = rng.below(lines.max(1));
    Some((
        damage::apply(second, &once, place, &mut rng),
        format!("{first:?} and {second:?}"),
    ))
}

/// Examines damages, each different one once; counts them and the refused repairs.
fn lab(
    dialect: &'static dyn Dialect,
    sound: &[Vec<u8>],
    goals: &[&str],
    pairs: usize,
) -> (usize, Vec<String>) {
    let (mut seen, mut refused) = (HashSet::new(), Vec::new());
    let mut look = |broken: &[u8], name: &dyn Fn() -> String| {
        if seen.insert(Sha256::digest(broken)) && !examine(dialect, broken, goals, name) {
            refused.push(name());
        }
    };
    for (number, bytes) in sound.iter().enumerate() {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        for &kind in damage::ALL
            .iter()
            .filter(|kind| !matches!(kind, Damage::LongLine(_)))
        {
            for place in 0..lines {
                let broken = damage::apply(kind, bytes, place, &mut Rng::new(place as u64));
                look(&broken, &|| {
                    format!("{} {number} {kind:?} at {place}", dialect.name())
                });
            }
        }
        for seed in 0..pairs {
            if let Some((broken, kinds)) = pair(bytes, number, seed) {
                look(&broken, &|| {
                    format!("{} {number} {kinds}, seed {seed}", dialect.name())
                });
            }
        }
    }
    (seen.len(), refused)
}

fn claude_sessions() -> Vec<Vec<u8>> {
    use claude::ClaudeShape::{Branched, Compacted, ExplicitLeaf, Interrupted, Plain, ToolUse};
    let made = |shape| claude::file(shape, "/p", 7).bytes().to_vec();
    [
        Plain,
        ToolUse,
        Branched,
        Compacted,
        ExplicitLeaf,
        Interrupted,
    ]
    .into_iter()
    .map(made)
    .collect()
}

fn pi_sessions() -> Vec<Vec<u8>> {
    use pi::PiShape::{Branched, EveryEntry, Labels, Linear, TwoCompactions, TwoRoots, V1};
    let made = |shape| {
        pi::file(shape, pi::PiFlavour::Pi, pi::PiLayout::of("/p"), 7)
            .bytes()
            .to_vec()
    };
    [
        V1,
        Linear,
        EveryEntry,
        Branched,
        TwoCompactions,
        Labels,
        TwoRoots,
    ]
    .into_iter()
    .map(made)
    .collect()
}

#[test]
fn no_damage_of_a_claude_session_costs_a_record_and_repair_is_idempotent() {
    let (count, refused) = lab(&Claude, &claude_sessions(), &[], 1_500);
    assert!(
        count >= 10_000 && refused.len() * 2_000 < count,
        "of {count} refused: {refused:#?}"
    );
}

#[test]
fn no_damage_of_a_pi_session_costs_a_record_and_repair_is_idempotent() {
    let (count, refused) = lab(&Pi::PI, &pi_sessions(), &[], 2_000);
    assert!(
        count >= 10_000 && refused.len() * 2_000 < count,
        "of {count} refused: {refused:#?}"
    );
}

#[test]
fn pairs_that_once_went_wrong_are_repaired() {
    let sessions = claude_sessions();
    for (number, seed) in [(0, 60), (0, 538), (1, 344), (2, 260)] {
        let (broken, kinds) = pair(&sessions[number], number, seed).unwrap();
        assert!(
            examine(&Claude, &broken, &[], &|| format!("{kinds}, seed {seed}")),
            "{kinds}"
        );
    }
}

#[test]
fn a_sound_session_needs_no_repair() {
    for (dialect, sessions) in [
        (&Claude as &'static dyn Dialect, claude_sessions()),
        (&Pi::PI, pi_sessions()),
    ] {
        for bytes in sessions {
            let fixed = repair(dialect, &bytes, &[]).unwrap();
            assert_eq!(
                String::from_utf8_lossy(&fixed.forked),
                String::from_utf8_lossy(&bytes)
            );
        }
    }
}

#[test]
fn no_real_file_costs_a_record_and_repair_is_idempotent() {
    let (Some(real), Some(captures)) = (
        corpus::require_or_skip("BOSWELL_CORPUS"),
        corpus::require_or_skip("BOSWELL_CAPTURES"),
    ) else {
        return;
    };
    let mut count = 0;
    for path in corpus::files(&real)
        .into_iter()
        .chain(corpus::files(&captures))
    {
        let name = path.to_string_lossy().into_owned();
        let bytes = boswell_testkit::disk::read(&path);
        if !name.contains(".jsonl") || bytes.len() > 8 << 20 {
            continue;
        }
        let dialect: &'static dyn Dialect = match () {
            () if name.contains("/claude-code/") => &Claude,
            () if name.contains("/pi/") => &Pi::PI,
            () if name.contains("/codex/") => &boswell_dialect::codex::Codex,
            () => &boswell_dialect::unknown::Unknown,
        };
        for goals in [&[][..], &["sdk-py"]] {
            if goals.is_empty() || dialect.name() == "claude" {
                examine(dialect, &bytes, goals, &|| name.clone());
            }
        }
        count += 1;
    }
    assert!(count > 100, "{count}");
}
