use super::*;

fn some() -> Manifest {
    let mut manifest = Manifest {
        next: 9,
        ..Manifest::default()
    };
    manifest.segments.push(SegmentRow {
        number: 7,
        blocks: 12,
        seal: u32::MAX,
        text: 1 << 40,
        bytes: 5,
    });
    for id in ["a", "b", "c会"] {
        let row = manifest.source_mut(&SessionRef::new("claude", id));
        row.generation = 3;
        row.covered = TextPosition {
            at: 1 << 33,
            slot: 17,
            line: 18,
        };
        row.ranges.push(Range {
            segment: 7,
            first: 2,
            count: 4,
        });
    }
    manifest
}

#[test]
fn a_manifest_reads_back() {
    let manifest = some();
    let mut back = Manifest::decode(manifest.encode()).unwrap();
    let rows = |it: &Manifest| -> Vec<_> {
        let rows = it.sources.iter();
        let row = |r: &SourceRow| (it.reference(r), r.generation, r.covered, r.ranges.clone());
        let mut rows: Vec<_> = rows.map(row).collect();
        rows.sort_by_key(|(reference, ..)| reference.to_string());
        rows
    };
    assert_eq!(rows(&back), rows(&manifest));
    assert_eq!((back.next, &back.segments), (9, &manifest.segments));
    assert!(!back.differs_from(&manifest.encode()) && back.differs_from(b""));
    let mut next = 0;
    for id in ["a", "c会", "b"] {
        let reference = SessionRef::new("claude", id);
        assert!(
            back.source_near(&reference, &mut next)
                .is_some_and(|row| back.reference(row) == reference)
        );
    }
    let stranger = SessionRef::new("pi", "a");
    assert!(back.source_near(&stranger, &mut next).is_none());
    // New sources are appended after those that were read.
    back.source_mut(&stranger).ranges.push(Range {
        segment: 7,
        first: 6,
        count: 1,
    });
    back.source_mut(&stranger).ranges.push(Range {
        segment: 7,
        first: 9,
        count: 2,
    });
    back.retain(|all, row| all.reference(row).id != "b");
    let again = Manifest::decode(back.encode()).unwrap();
    assert_eq!(rows(&again), rows(&back));
    assert_eq!(
        again
            .sources
            .iter()
            .map(|row| again.reference(row).id)
            .collect::<Vec<_>>(),
        ["a", "c会", "a"]
    );
}

#[test]
fn sources_are_stored_in_the_order_of_a_listing() {
    let listed = ["/a/x", "/a/y", "/a-b/x", "/a.b/x", "/b"];
    let mut manifest = Manifest::default();
    for place in [3, 0, 4, 1, 2] {
        manifest.source_mut(&SessionRef::new("claude", listed[place]));
    }
    let back = Manifest::decode(manifest.encode()).unwrap();
    let ids = back.sources.iter().map(|row| back.reference(row).id);
    assert_eq!(ids.collect::<Vec<_>>(), listed);
    let mut next = 0;
    for id in listed {
        let reference = SessionRef::new("claude", id);
        assert!(back.source_near(&reference, &mut next).is_some());
    }
    assert!(back.places.get().is_none(), "a table was made");
}

#[test]
fn every_flipped_or_missing_byte_is_seen() {
    let bytes = some().encode();
    for at in 0..bytes.len() {
        let mut hurt = bytes.clone();
        hurt[at] ^= 4;
        assert!(Manifest::decode(hurt).is_err(), "byte {at}");
        assert!(
            Manifest::decode(bytes[..at].to_vec()).is_err(),
            "cut at {at}"
        );
    }
}
