//! Records acknowledged entries, and checks whether a reopened log contains them.
//!
//! It parses logs in its own simple way, one JSON object per line, so that it does not share a
//! defect with the code under test.

use std::collections::BTreeMap;

use serde_json::Value;

/// What an acknowledged entry must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Survives {
    /// The end of the process.
    Process,
    /// A crash of the machine.
    Machine,
}

/// A record of submitted and acknowledged entries.
#[derive(Clone, Debug)]
pub struct Oracle {
    key: &'static str,
    /// Submitted entries, acknowledged or not: id, and the expected line, if it is known.
    attempted: BTreeMap<String, Option<Vec<u8>>>,
    acknowledged: Vec<(String, Survives)>,
    /// The log when it was last read. It only grows, as long as the machine does not crash.
    found: Vec<u8>,
    /// The log when it was last read after a crash of the machine.
    durable: Vec<u8>,
}

impl Oracle {
    /// Creates an oracle for an empty log whose entries have their id under `key`.
    pub fn new(key: &'static str) -> Oracle {
        Oracle::beginning_with(key, b"")
    }

    /// Creates an oracle for an existing durable log.
    pub fn beginning_with(key: &'static str, log: &[u8]) -> Oracle {
        let mut oracle = Oracle {
            key,
            attempted: BTreeMap::new(),
            acknowledged: Vec::new(),
            found: log.to_vec(),
            durable: log.to_vec(),
        };
        for id in oracle.entries(log).into_iter().filter_map(|(id, _)| id) {
            oracle.attempted.insert(id.clone(), None);
            oracle.acknowledged.push((id, Survives::Machine));
        }
        oracle
    }

    /// Records that an entry will be appended; `line` is its record, if the caller knows the bytes.
    pub fn attempt(&mut self, id: &str, line: Option<&[u8]>) {
        self.attempted
            .insert(id.to_owned(), line.map(<[u8]>::to_vec));
    }

    /// Records that an entry was acknowledged. Call it in the order of the receipts' revisions.
    pub fn acknowledge(&mut self, id: &str, survives: Survives) {
        self.attempted.entry(id.to_owned()).or_default();
        match self.acknowledged.iter_mut().find(|(known, _)| known == id) {
            Some((_, promise)) => *promise = survives.max(*promise),
            None => self.acknowledged.push((id.to_owned(), survives)),
        }
    }

    /// Returns the ids that were acknowledged for this kind of failure, in order.
    pub fn owed(&self, died: Survives) -> impl Iterator<Item = &str> {
        self.acknowledged
            .iter()
            .filter(move |(_, promise)| *promise >= died)
            .map(|(id, _)| id.as_str())
    }

    /// Returns everything that is wrong with a log after a failure of this kind.
    pub fn faults(&self, log: &[u8], died: Survives) -> Vec<String> {
        let mut faults = Vec::new();
        let before = if died == Survives::Machine {
            &self.durable
        } else {
            &self.found
        };
        if !log.starts_with(before) {
            faults.push("bytes that were there at an earlier look are gone or changed".to_owned());
        }
        let entries = self.entries(log);
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, (id, line)) in entries.iter().enumerate() {
            let Some(id) = id else { continue };
            match self.attempted.get(id) {
                None => faults.push(format!("`{id}` was never handed in")),
                Some(Some(expected)) if expected != line => {
                    faults.push(format!("`{id}` is not what was handed in"))
                }
                Some(_) => {}
            }
            if seen.insert(id, place).is_some() {
                faults.push(format!("`{id}` stands there twice"));
            }
        }
        let owed: Vec<&str> = self.owed(died).collect();
        faults.extend(
            owed.iter()
                .filter(|id| !seen.contains_key(*id))
                .map(|id| format!("`{id}` is lost")),
        );
        let places: Vec<usize> = owed.iter().filter_map(|id| seen.get(id).copied()).collect();
        if !places.is_sorted() {
            faults.push("acknowledged entries stand in another order".to_owned());
        }
        faults
    }

    /// Checks a log that was opened again after a failure: fails the test if anything is wrong, and
    /// continues from its contents. Every existing entry, acknowledged or not, must exist from now
    /// on; torn bytes must stay.
    pub fn reopened(&mut self, log: &[u8], died: Survives, place: &str) {
        let faults = self.faults(log, died);
        assert!(
            faults.is_empty(),
            "{place}: {}\nlog: {}",
            faults.join("; "),
            log.escape_ascii()
        );
        let promised: BTreeMap<String, Survives> =
            std::mem::take(&mut self.acknowledged).into_iter().collect();
        for id in self.entries(log).into_iter().filter_map(|(id, _)| id) {
            let promise = promised.get(&id).map_or(died, |promise| died.max(*promise));
            self.acknowledged.push((id, promise));
        }
        self.found = log.to_vec();
        if died == Survives::Machine {
            self.durable = log.to_vec();
        }
    }

    /// Returns complete records, each with its id and its line; for other lines, torn or foreign,
    /// only the bytes count. The last one may lack its line end.
    fn entries(&self, log: &[u8]) -> Vec<(Option<String>, Vec<u8>)> {
        let lines = log.split(|byte| *byte == b'\n');
        let object = |line: &[u8]| match serde_json::from_slice(line) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        };
        lines
            .filter_map(|line| object(line).map(|object| (object, line)))
            .map(|(object, line)| {
                (
                    object
                        .get(self.key)
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                    line.to_vec(),
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oracle() -> Oracle {
        let mut oracle = Oracle::beginning_with("id", b"{\"id\":\"0\"}\n");
        for (id, line) in [
            ("1", "{\"id\":\"1\"}"),
            ("2", "{\"id\":\"2\"}"),
            ("3", "{\"id\":\"3\"}"),
        ] {
            oracle.attempt(id, Some(line.as_bytes()));
        }
        oracle.acknowledge("1", Survives::Machine);
        oracle.acknowledge("2", Survives::Process);
        oracle
    }

    fn faults(log: &str, died: Survives) -> String {
        oracle().faults(log.as_bytes(), died).join("; ")
    }

    #[test]
    fn what_was_promised_must_be_there_once_whole_and_in_order() {
        use Survives::{Machine, Process};
        let all = "{\"id\":\"0\"}\n{\"id\":\"1\"}\n{\"id\":\"2\"}\n";
        assert_eq!(faults(all, Process), "");
        assert_eq!(
            faults("{\"id\":\"0\"}\n{\"id\":\"1\"}\n", Machine),
            "",
            "the second was promised less"
        );
        assert_eq!(
            faults("{\"id\":\"0\"}\n{\"id\":\"1\"}\n", Process),
            "`2` is lost"
        );
        assert_eq!(
            faults(&format!("{all}{{\"id\":\"3\"}}\n{{\"torn"), Process),
            "",
            "the third may be there"
        );
        assert_eq!(
            faults(&format!("{all}{{\"id\":\"2\"}}\n"), Process),
            "`2` stands there twice"
        );
        assert_eq!(
            faults(&format!("{all}{{\"id\":\"9\"}}\n"), Process),
            "`9` was never handed in"
        );
        assert_eq!(
            faults(&format!("{all}{{\"id\":\"3\",\"x\":1}}\n"), Process),
            "`3` is not what was handed in"
        );
        let swapped = "{\"id\":\"0\"}\n{\"id\":\"2\"}\n{\"id\":\"1\"}\n";
        assert_eq!(
            faults(swapped, Process),
            "acknowledged entries stand in another order"
        );
        assert!(faults("{\"id\":\"1\"}\n{\"id\":\"2\"}\n", Process).contains("earlier look"));
    }

    #[test]
    fn torn_bytes_must_stay_once_they_were_seen() {
        let mut oracle = oracle();
        let log = b"{\"id\":\"0\"}\n{\"id\":\"1\"}\n{\"id\":\"2\"}\n{\"torn";
        oracle.reopened(log, Survives::Process, "first boot");
        let kept = [&log[..], b"\n{\"id\":\"3\"}\n"].concat();
        assert_eq!(oracle.faults(&kept, Survives::Process), [] as [&str; 0]);
        let cut = b"{\"id\":\"0\"}\n{\"id\":\"1\"}\n{\"id\":\"2\"}\n{\"id\":\"3\"}\n";
        assert_eq!(oracle.faults(cut, Survives::Process).len(), 1);
    }
}
