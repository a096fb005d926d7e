//! Invariants of every generated pi-family file.

use std::collections::HashSet;

use serde_json::Value;

use super::*;
use crate::{disk, jsonl, sha256};

fn each(mut check: impl FnMut(PiShape, PiFlavour, crate::Made)) {
    for &flavour in PiFlavour::ALL {
        for &shape in PiShape::ALL {
            check(
                shape,
                flavour,
                file(shape, flavour, PiLayout::of("/home/dev/proj/demo"), 11),
            );
        }
    }
}

fn parsed(shape: PiShape, bytes: &[u8]) -> Vec<Value> {
    // Lone surrogates are valid for the agents, but not for this parser.
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let text = if shape == PiShape::Traps {
        text.replace("\\ud83d", "?")
    } else {
        text
    };
    jsonl::parse(text.as_bytes())
}

#[test]
fn every_line_is_json_and_the_header_names_the_session() {
    each(|shape, flavour, made| {
        let lines = parsed(shape, made.bytes());
        let header = &lines[usize::from(shape == PiShape::TitleSlot)];
        assert_eq!(header["type"], "session", "{shape:?} {flavour:?}");
        assert_eq!(header["id"], made.id.as_str());
        assert_eq!(header["cwd"], made.project.as_str());
        assert!(made.main.ends_with(&format!("_{}.jsonl", made.id)));
    });
}

#[test]
fn parents_are_found_wherever_the_tree_is_said_to_be_sound() {
    each(|shape, flavour, made| {
        let lines = parsed(shape, made.bytes());
        let ids: Vec<&str> = lines
            .iter()
            .skip(1)
            .filter_map(|line| line["id"].as_str())
            .collect();
        let set: HashSet<&str> = ids.iter().copied().collect();
        let missing = lines
            .iter()
            .filter_map(|line| line["parentId"].as_str())
            .filter(|p| !set.contains(p))
            .count();
        if shape.has_sound_tree() {
            assert_eq!(missing, 0, "{shape:?} {flavour:?}");
            assert_eq!(set.len(), ids.len(), "{shape:?} {flavour:?} repeats an id");
        }
        if shape == PiShape::Orphan {
            assert_eq!(missing, 1);
        }
        if shape == PiShape::DuplicateIds {
            assert_eq!(ids.len() - set.len(), 2);
        }
    });
}

#[test]
fn a_compaction_keeps_something_that_stands_before_it() {
    each(|shape, _, made| {
        let lines = parsed(shape, made.bytes());
        for (at, line) in lines
            .iter()
            .enumerate()
            .filter(|(_, line)| line["type"] == "compaction")
        {
            if shape == PiShape::V1 {
                let kept = line["firstKeptEntryIndex"].as_u64().unwrap() as usize;
                assert_eq!(lines[kept]["message"]["role"], "user");
                assert!(kept < at);
            } else {
                let kept = &line["firstKeptEntryId"];
                assert!(
                    lines[..at].iter().any(|before| before["id"] == *kept),
                    "{shape:?}"
                );
            }
        }
    });
}

#[test]
fn the_flavours_write_all_their_entry_types() {
    let types = |flavour| {
        let made = file(PiShape::EveryEntry, flavour, PiLayout::of("/x"), 1);
        jsonl::parse(made.bytes())
            .iter()
            .map(|l| l["type"].as_str().unwrap().to_owned())
            .collect::<HashSet<_>>()
    };
    // The header and fourteen types; pi has no platform entries, oh-my-pi has five more of its own.
    assert_eq!(types(PiFlavour::Pi).len(), 10);
    assert_eq!(types(PiFlavour::Xcsh).len(), 16);
    assert_eq!(types(PiFlavour::Omp).len(), 21);
}

#[test]
fn large_images_are_blobs_named_by_their_hash_except_in_pi() {
    for (flavour, blobs) in [
        (PiFlavour::Pi, 0),
        (PiFlavour::Omp, 2),
        (PiFlavour::Xcsh, 2),
    ] {
        let made = file(PiShape::Images, flavour, PiLayout::of("/x"), 2);
        let found: Vec<_> = made
            .files
            .list
            .iter()
            .filter(|f| f.path.starts_with("blobs/"))
            .collect();
        assert_eq!(found.len(), blobs, "{flavour:?}");
        let text = String::from_utf8(made.bytes().to_vec()).unwrap();
        for blob in found {
            assert_eq!(blob.path, format!("blobs/{}", sha256::hex(&blob.bytes)));
            assert!(text.contains(&format!("blob:sha256:{}", sha256::hex(&blob.bytes))));
        }
    }
}

#[test]
fn a_seed_gives_the_same_files_again_and_another_seed_others() {
    each(|shape, flavour, made| {
        let place = PiLayout::of("/home/dev/proj/demo");
        assert_eq!(file(shape, flavour, place, 11).files, made.files);
        assert_ne!(file(shape, flavour, place, 12).files, made.files);
    });
}

#[test]
fn a_deep_chain_is_as_deep_as_asked() {
    let lines = jsonl::parse(&deep(PiFlavour::Pi, 2_000, 1));
    assert_eq!(lines.len(), 2_001);
    assert_eq!(lines[2_000]["parentId"], lines[1_999]["id"]);
    assert!(lines[1]["parentId"].is_null());
}

#[test]
fn side_files_hold_what_the_agents_put_there() {
    assert_eq!(
        breadcrumb("/x", std::path::Path::new("/y/z.jsonl")),
        b"/x\n/y/z.jsonl\n"
    );
    let files = artifacts("sessions/-x/a.jsonl", PiFlavour::Xcsh, "/x", 3);
    assert_eq!(
        jsonl::parse(files.get("sessions/-x/a/0-Explore.jsonl").unwrap())[1]["type"],
        "session_init"
    );
    let root = disk::scratch("pi-history");
    let path = root.join("history.db");
    if history_db(&path, "/x", &["one", "二"]) {
        assert!(disk::read(&path).starts_with(b"SQLite format 3\0"));
        assert!(root.join("history.db-wal").exists());
    }
    disk::remove(&root);
}
