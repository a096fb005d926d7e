//! Each damage changes what it documents and nothing else.

use serde_json::Value;

use super::*;
use crate::jsonl;
use crate::make::{claude, codex, pi};

fn claude_log() -> Vec<u8> {
    claude::file(claude::ClaudeShape::ToolUse, "/x", 1)
        .bytes()
        .to_vec()
}

fn pi_log() -> Vec<u8> {
    pi::file(
        pi::PiShape::Linear,
        pi::PiFlavour::Pi,
        pi::PiLayout::of("/x"),
        1,
    )
    .bytes()
    .to_vec()
}

fn broken(damage: Damage, bytes: &[u8], place: usize) -> Vec<u8> {
    apply(damage, bytes, place, &mut Rng::new(1))
}

/// Returns the added and the removed lines.
fn difference(before: &[u8], after: &[u8]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let minus = |from: &[u8], take: &[u8]| {
        let mut left: Vec<Vec<u8>> = jsonl::lines(from)
            .iter()
            .map(|line| line.to_vec())
            .collect();
        for line in jsonl::lines(take) {
            if let Some(at) = left.iter().position(|other| other == line) {
                left.remove(at);
            }
        }
        left
    };
    (minus(after, before), minus(before, after))
}

fn value(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

#[test]
fn every_damage_changes_a_claude_log_and_is_the_same_for_one_seed() {
    let log = claude_log();
    for &damage in ALL {
        let after = broken(damage, &log, 4);
        assert_ne!(after, log, "{damage:?}");
        assert_eq!(after, broken(damage, &log, 4), "{damage:?}");
    }
}

#[test]
fn every_damage_that_pi_files_can_have_changes_one() {
    let log = pi_log();
    let foreign = [
        Damage::WrongSession,
        Damage::NoSession,
        Damage::SidechainTail,
    ];
    for &damage in ALL {
        assert_eq!(
            broken(damage, &log, 4) == log,
            foreign.contains(&damage),
            "{damage:?}"
        );
    }
}

#[test]
fn no_damage_panics_on_odd_input() {
    let codex = codex::rollout(codex::CodexShape::Tools, "/x", None, 1)
        .bytes()
        .to_vec();
    for log in [
        &b""[..],
        b"\n",
        b"{}",
        b"{}\n",
        b"[]\n",
        b"{\"a\":1}",
        b"\n\n\n",
        b"{\"a\":\"\\",
        b"\"",
        &codex,
    ] {
        for &damage in ALL {
            for place in [0, 1, 99] {
                broken(damage, log, place);
            }
        }
    }
}

#[test]
fn line_damage_leaves_every_other_line_alone() {
    for log in [claude_log(), pi_log()] {
        let one_line = [
            Damage::TornTail,
            Damage::NulBeforeRecord,
            Damage::NulHole,
            Damage::InvalidUtf8,
            Damage::LoneSurrogate,
            Damage::DuplicateKeys,
            Damage::HeaderTorn,
            Damage::PhantomParent,
            Damage::ParentCycle,
            Damage::SelfParent,
            Damage::DuplicateToolUseId,
            Damage::OrphanResult,
            Damage::UnknownType,
            Damage::NoTimestamp,
            Damage::UnsignedThinking,
            Damage::EmptyText,
            Damage::LongLine(1),
        ];
        for damage in one_line {
            let (new, gone) = difference(&log, &broken(damage, &log, 6));
            assert_eq!((new.len(), gone.len()), (1, 1), "{damage:?}");
        }
        for damage in [Damage::LineDeleted, Damage::NoHeader, Damage::ResultRemoved] {
            let (new, gone) = difference(&log, &broken(damage, &log, 6));
            assert_eq!((new.len(), gone.len()), (0, 1), "{damage:?}");
        }
        for damage in [
            Damage::NulOnlyLine,
            Damage::GarbageLine,
            Damage::LineDuplicated,
            Damage::NulTail,
        ] {
            let (new, gone) = difference(&log, &broken(damage, &log, 6));
            assert_eq!((new.len(), gone.len()), (1, 0), "{damage:?}");
        }
        for damage in [Damage::GluedRecords, Damage::CutAndGlued] {
            let (new, gone) = difference(&log, &broken(damage, &log, 6));
            assert_eq!((new.len(), gone.len()), (1, 2), "{damage:?}");
        }
        for damage in [
            Damage::ShuffledLines,
            Damage::ReversedLines,
            Damage::NoFinalNewline,
        ] {
            assert_eq!(
                difference(&log, &broken(damage, &log, 6)),
                (vec![], vec![]),
                "{damage:?}"
            );
        }
    }
}

#[test]
fn torn_tails_are_prefixes_and_never_whole() {
    let log = claude_log();
    for seed in 0..200 {
        let after = apply(Damage::TornTail, &log, 0, &mut Rng::new(seed));
        assert!(log.starts_with(&after) && after.len() < log.len() - 1);
        let lines = jsonl::lines(&after);
        assert_eq!(lines.len(), jsonl::lines(&log).len());
        assert!(serde_json::from_slice::<Value>(lines[lines.len() - 1]).is_err());
    }
}

#[test]
fn whole_file_damage_can_be_undone_by_hand() {
    let log = pi_log();
    let text = |damage| String::from_utf8(broken(damage, &log, 3)).unwrap();
    let plain = String::from_utf8(log.clone()).unwrap();
    assert_eq!(text(Damage::Crlf).replace("\r\n", "\n"), plain);
    assert_eq!(
        text(Damage::Bom).strip_prefix('\u{feff}'),
        Some(plain.as_str())
    );
    assert_eq!(text(Damage::NoFinalNewline) + "\n", plain);
    assert_eq!(text(Damage::EmptyFile), "");
    let kept: String = text(Damage::BlankLines)
        .split_inclusive('\n')
        .filter(|line| !line.trim().is_empty())
        .collect();
    assert_eq!(kept, plain);
}

#[test]
fn parents_are_broken_as_named() {
    for log in [claude_log(), pi_log()] {
        let (key, own) = if log.starts_with(b"{\"type\":\"session\"") {
            ("parentId", "id")
        } else {
            ("parentUuid", "uuid")
        };
        let changed = |damage| value(&difference(&log, &broken(damage, &log, 6)).0[0]);
        let selfish = changed(Damage::SelfParent);
        assert_eq!(selfish[key], selfish[own]);
        let phantom = changed(Damage::PhantomParent);
        assert!(
            !jsonl::parse(&log)
                .iter()
                .any(|line| line[own] == phantom[key])
        );
        let after = jsonl::parse(&broken(Damage::ParentIsMetadata, &log, 6));
        let at = after
            .iter()
            .position(|line| line["type"] == "file-history-snapshot")
            .unwrap();
        assert_eq!(after[at + 1][key], after[at]["messageId"]);
        let only = jsonl::parse(&broken(Damage::MetadataOnly, &log, 6));
        assert!(!only.is_empty() && only.iter().all(|line| line.get(key).is_none()));
        let cycle = changed(Damage::ParentCycle);
        let child = jsonl::parse(&log)
            .into_iter()
            .find(|line| line[own] == cycle[key])
            .unwrap();
        assert_eq!(child[key], cycle[own]);
        assert!(
            jsonl::parse(&broken(Damage::AllParentsNull, &log, 0))
                .iter()
                .all(|line| line[key].is_null())
        );
    }
}

#[test]
fn records_stay_json_where_only_their_meaning_is_broken() {
    for log in [claude_log(), pi_log()] {
        for damage in [
            Damage::DuplicateToolUseId,
            Damage::OrphanResult,
            Damage::DanglingCall,
            Damage::UnknownType,
            Damage::NoTimestamp,
            Damage::NoSession,
            Damage::ParentIsMetadata,
            Damage::MetadataOnly,
            Damage::UnsignedThinking,
            Damage::EmptyText,
            Damage::SidechainTail,
            Damage::WrongSession,
            Damage::RunDuplicated,
            Damage::LongLine(1),
            Damage::NonObjectLine,
        ] {
            for place in 0..jsonl::lines(&log).len() {
                assert!(
                    !jsonl::parse(&broken(damage, &log, place)).is_empty(),
                    "{damage:?} at {place}"
                );
            }
        }
    }
}

#[test]
fn long_lines_are_as_long_as_asked() {
    let after = broken(Damage::LongLine(3), &pi_log(), 2);
    assert!(jsonl::lines(&after)[2].len() > 3_000_000);
}

#[test]
fn a_lone_surrogate_is_refused_by_serde_and_doubled_keys_are_not() {
    let log = claude_log();
    let line = difference(&log, &broken(Damage::LoneSurrogate, &log, 6))
        .0
        .remove(0);
    assert!(serde_json::from_slice::<Value>(&line).is_err());
    let line = difference(&log, &broken(Damage::DuplicateKeys, &log, 6))
        .0
        .remove(0);
    assert_ne!(value(&line)["type"], "overridden");
}
