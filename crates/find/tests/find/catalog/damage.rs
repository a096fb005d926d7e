//! Damage of the catalog's file: any answer is equal to that of a new catalog.

use boswell_model::{ErrorKind, Result};

use super::*;

/// What lists and statistics take from a catalog. One that turns out to be damaged is rebuilt, as
/// an application does.
fn answers(lab: &Lab, catalog: &mut Catalog) -> Vec<String> {
    match attempt(lab, catalog) {
        Err(error) if error.kind() == ErrorKind::Damaged => {
            catalog.rebuild(&lab.stores, later(60)).unwrap();
            attempt(lab, catalog).unwrap()
        }
        done => done.unwrap(),
    }
}

fn attempt(lab: &Lab, catalog: &mut Catalog) -> Result<Vec<String>> {
    let mut refreshed = catalog.refresh(&lab.stores, later(60))?;
    assert!(refreshed.unwritten.is_none(), "{:?}", refreshed.unwritten);
    let entries = &mut refreshed.entries;
    catalog.fill(&lab.stores, entries, WantedRows::Whole, 2, &|| true)?;
    let summary = |entry: &CatalogRow| {
        let mut summary = lab.summary(entry);
        // The order in which usage was added is not part of the answer.
        let usage = summary.meta.usage.total();
        summary.meta.usage = Default::default();
        format!("{usage:?} {summary:?}")
    };
    let mut answers: Vec<String> = entries.iter().map(summary).collect();
    let tally = catalog.tally(&lab.stores, entries, By::Day, &|_| true)?;
    answers.push(format!("{:?}", tally.sums(&Prices::default())));
    Ok(answers)
}

/// A catalog that answered once, and its bytes.
fn filled(sessions: usize) -> (Lab, Vec<String>, Vec<u8>) {
    let lab = Lab::new(sessions);
    let expected = answers(&lab, &mut lab.catalog());
    assert_eq!(answers(&lab, &mut lab.catalog()), expected);
    let bytes = disk::read(&lab.folder.path().join("catalog.db"));
    assert!(bytes.len() > 8 * 8192, "{}", bytes.len());
    (lab, expected, bytes)
}

/// Numbers of a seed, for positions and junk.
fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

#[test]
fn no_flipped_bit_changes_an_answer() {
    let (lab, expected, sound) = filled(5);
    let path = lab.folder.path().join("catalog.db");
    let mut next = numbers(0x9e37_79b9);
    let structure = (0..sound.len())
        .step_by(8192)
        .flat_map(|page| page..page + 24);
    let sampled: Vec<usize> = (0..150).map(|_| next() as usize % sound.len()).collect();
    for at in structure.step_by(3).chain(sampled) {
        let mut hurt = sound.clone();
        hurt[at] ^= 1 << (next() % 8);
        disk::write(&path, &hurt);
        assert_eq!(answers(&lab, &mut lab.catalog()), expected, "byte {at}");
    }
}

#[test]
fn no_junk_and_no_missing_end_changes_an_answer() {
    let (lab, expected, sound) = filled(5);
    let path = lab.folder.path().join("catalog.db");
    let mut next = numbers(0x2545_f491);
    for round in 0..60 {
        let mut hurt = sound.clone();
        let (from, len) = (next() as usize % hurt.len(), 1 + next() as usize % 40_000);
        let end = (from + len).min(hurt.len());
        hurt[from..end].fill_with(|| next() as u8);
        disk::write(&path, &hurt);
        assert_eq!(answers(&lab, &mut lab.catalog()), expected, "round {round}");
    }
    for page in 0..sound.len() / 8192 {
        for len in [page * 8192, page * 8192 + 17] {
            disk::write(&path, &sound[..len]);
            assert_eq!(answers(&lab, &mut lab.catalog()), expected, "cut to {len}");
        }
    }
}

#[test]
fn a_file_that_is_cut_while_it_is_open_is_rebuilt() {
    let (lab, expected, sound) = filled(5);
    let path = lab.folder.path().join("catalog.db");
    for page in 0..sound.len() / 8192 {
        disk::write(&path, &sound);
        let mut catalog = lab.catalog();
        lab.look(&mut catalog);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(page as u64 * 8192).unwrap();
        // Pages in the connection's cache are still valid; all others are missing.
        match catalog.refresh(&lab.stores, later(60)) {
            Ok(refreshed) => assert_eq!(refreshed.entries.len(), 5),
            Err(error) => panic!("cut to page {page}: {error}"),
        }
        drop(catalog);
        assert_eq!(answers(&lab, &mut lab.catalog()), expected, "page {page}");
    }
}

#[test]
fn junk_next_to_the_file_changes_no_answer() {
    let (lab, expected, _) = filled(5);
    for ending in ["-journal", "-wal", "-shm", "-seal"] {
        let path = lab.folder.path().join(format!("catalog.db{ending}"));
        for junk in [&b""[..], b"junk", &[0xAB; 40_000]] {
            disk::write(&path, junk);
            let now = answers(&lab, &mut lab.catalog());
            assert_eq!(now, expected, "{ending}, {} bytes", junk.len());
        }
    }
}

#[test]
fn bits_that_change_below_the_file_system_are_seen_in_the_rows_that_are_read() {
    let (lab, expected, sound) = filled(5);
    let path = lab.folder.path().join("catalog.db");
    let seal = lab.folder.path().join("catalog.db-seal");
    let mut next = numbers(0x1234_5678);
    for at in (0..120).map(|_| next() as usize % sound.len()) {
        let mut hurt = sound.clone();
        hurt[at] ^= 0x10;
        disk::write(&path, &hurt);
        // A seal of the damaged file, as if the system had not seen the change.
        seal_again(&path, &seal);
        assert_eq!(answers(&lab, &mut lab.catalog()), expected, "byte {at}");
    }
}

/// Writes the seal of the file as it is now: a copy of the format of `seal.rs`.
fn seal_again(path: &Path, seal: &Path) {
    use boswell_store::disk::{Disk, RealDisk};
    let stat = RealDisk.stat(path).unwrap().unwrap();
    let mut bytes = Vec::new();
    for number in [stat.identity.0, stat.identity.1, stat.len] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for time in [stat.modified, stat.changed] {
        bytes.extend_from_slice(&time.to_le_bytes());
    }
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    disk::write(seal, &bytes);
}
