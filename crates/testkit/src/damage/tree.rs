//! Damage to the links between records.

use super::splice::field;
use super::{Damage, Log};
use crate::rng::Rng;

const PARENT: [&str; 2] = ["parentUuid", "parentId"];
const OWN: [&str; 2] = ["uuid", "id"];

fn value<'a>(line: &'a [u8], keys: &[&str]) -> Option<&'a [u8]> {
    keys.iter()
        .find_map(|key| field(line, key))
        .map(|place| &line[place])
}

fn parent(line: &[u8]) -> Option<&[u8]> {
    value(line, &PARENT).filter(|parent| *parent != b"null")
}

fn own(line: &[u8]) -> Option<&[u8]> {
    value(line, &PARENT)?;
    value(line, &OWN)
}

fn set_parent(line: &mut Vec<u8>, new: &[u8]) {
    if let Some(place) = PARENT.iter().find_map(|key| field(line, key)) {
        line.splice(place, new.iter().copied());
    }
}

pub(super) fn apply(damage: Damage, log: &mut Log, at: usize, rng: &mut Rng) {
    if damage == Damage::AllParentsNull {
        return log
            .iter_mut()
            .filter(|line| parent(line).is_some())
            .for_each(|line| set_parent(line, b"null"));
    }
    if damage == Damage::MetadataOnly {
        return log.retain(|line| value(line, &PARENT).is_none());
    }
    let Some(target) = (at..log.len())
        .chain(0..at)
        .find(|&line| suits(damage, log, line))
    else {
        return;
    };
    let new = match damage {
        Damage::SelfParent => own(&log[target]).map(<[u8]>::to_vec),
        Damage::ParentCycle => child(log, target)
            .and_then(|child| own(&log[child]))
            .map(<[u8]>::to_vec),
        _ => Some(format!("\"{}\"", rng.uuid_v4()).into_bytes()),
    };
    let Some(new) = new else { return };
    set_parent(&mut log[target], &new);
    if damage == Damage::ParentIsMetadata {
        let id = String::from_utf8_lossy(&new);
        let snapshot = format!("{{\"messageId\":{id},\"trackedFileBackups\":{{}}}}");
        let line = format!(
            "{{\"type\":\"file-history-snapshot\",\"messageId\":{id},\"snapshot\":{snapshot},\"isSnapshotUpdate\":false}}\n"
        );
        log.insert(target, line.into_bytes());
    }
}

fn suits(damage: Damage, log: &Log, line: usize) -> bool {
    parent(&log[line]).is_some() && (damage != Damage::ParentCycle || child(log, line).is_some())
}

fn child(log: &Log, of: usize) -> Option<usize> {
    let id = own(&log[of])?;
    (0..log.len()).find(|&line| line != of && parent(&log[line]) == Some(id))
}
