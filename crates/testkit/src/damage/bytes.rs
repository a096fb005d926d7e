//! Damage to bytes and lines, which does not look into records.

use super::splice::body_end;
use super::{Damage, Log};
use crate::rng::Rng;

pub(super) fn apply(damage: Damage, log: &mut Log, at: usize, rng: &mut Rng) {
    let last = log.len() - 1;
    match damage {
        Damage::TornTail => {
            let whole = body_end(&log[last]);
            let keep = 1 + rng.below(whole.saturating_sub(1).max(1));
            log[last].truncate(keep.min(whole.saturating_sub(1)));
        }
        Damage::NoFinalNewline => unend(&mut log[last]),
        Damage::GluedRecords => unend(&mut log[at.min(last.saturating_sub(1))]),
        Damage::CutAndGlued => {
            let line = &mut log[at.min(last.saturating_sub(1))];
            line.truncate(body_end(line) / 2);
        }
        Damage::BlankLines => {
            log.insert(at, b"\n  \t \n\n".to_vec());
            log.push(b"\n \n".to_vec());
        }
        Damage::Crlf => {
            for line in log.iter_mut().filter(|line| line.ends_with(b"\n")) {
                line.insert(line.len() - 1, b'\r');
            }
        }
        Damage::Bom => drop(log[0].splice(0..0, *b"\xef\xbb\xbf")),
        Damage::GarbageLine => log.insert(at, "not JSON \u{1f4a5} {\"half\": \n".into()),
        Damage::NonObjectLine => log.insert(
            at,
            b"null\n42\n\"text\"\n[1,{\"type\":\"user\"}]\ntrue\n".to_vec(),
        ),
        _ => {
            nuls(damage, log, at);
            lines(damage, log, at, rng);
        }
    }
}

/// Bytes that a file system hands out for blocks that were never written.
fn nuls(damage: Damage, log: &mut Log, at: usize) {
    match damage {
        Damage::NulBeforeRecord => drop(log[at].splice(0..0, [0; 512])),
        Damage::NulOnlyLine => log.insert(at, [&[0; 64][..], b"\n"].concat()),
        Damage::NulHole => {
            let end = body_end(&log[at]);
            log[at][end / 3..end / 2].fill(0);
        }
        Damage::NulTail => log.push(vec![0; 4096]),
        _ => {}
    }
}

fn lines(damage: Damage, log: &mut Log, at: usize, rng: &mut Rng) {
    match damage {
        Damage::EmptyFile => log.clear(),
        Damage::HeaderTorn => {
            let half = body_end(&log[0]) / 2;
            log[0].truncate(half);
            log[0].push(b'\n');
        }
        Damage::NoHeader => drop(log.remove(0)),
        Damage::LineDeleted => drop(log.remove(at)),
        Damage::LineDuplicated => {
            let copy = log[at].clone();
            end(&mut log[at]);
            log.insert(at + 1, copy);
        }
        Damage::RunDuplicated => {
            let run = log[at..].to_vec();
            log.last_mut().into_iter().for_each(end);
            log.extend(run);
        }
        Damage::ShuffledLines => {
            log.last_mut().into_iter().for_each(end);
            let before = log.clone();
            rng.shuffle(&mut log[1..]);
            if *log == before && log.len() > 2 {
                log[1..].rotate_left(1);
            }
        }
        Damage::ReversedLines => {
            log.last_mut().into_iter().for_each(end);
            log[1..].reverse();
        }
        _ => {}
    }
}

fn unend(line: &mut Vec<u8>) {
    if line.ends_with(b"\n") {
        line.pop();
    }
}

fn end(line: &mut Vec<u8>) {
    if !line.ends_with(b"\n") {
        line.push(b'\n');
    }
}
