//! Entries, paths, branches and labels.

use std::path::Path;

use serde_json::Value;

use super::planted;
use crate::pi_lab::{FAMILY, Lab, answer, text_of, user};

/// Returns the parents by id, as in the file.
fn parents(log: &Path) -> Vec<(String, Value)> {
    let lines = text_of(log);
    let entries = lines
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries
        .map(|entry| {
            (
                entry["id"].as_str().unwrap().to_owned(),
                entry["parentId"].clone(),
            )
        })
        .collect()
}

fn nodes(lab: &Lab, session: &str) -> Vec<Value> {
    lab.run(&["tree", session, "--json"])
        .ends(0)
        .of_type("node")
}

fn labels(lab: &Lab, session: &str) -> Vec<(String, String)> {
    let label = |node: &Value| {
        Some((
            node["id"].as_str()?.to_owned(),
            node["label"].as_str()?.to_owned(),
        ))
    };
    nodes(lab, session).iter().filter_map(label).collect()
}

fn pair(id: &str, label: &str) -> (String, String) {
    (id.to_owned(), label.to_owned())
}

/// tree-traversal:7–:105, context-change:5 and :23, save-entry:5: an appended entry of any kind is
/// the child of the entry before it, and becomes the leaf.
#[test]
fn every_kind_of_entry_goes_into_the_tree() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let model = r#"{"type":"model_change","model":"p/m","provider":"p","modelId":"m"}"#;
        let ids = lab.feed(
            "0b7e",
            &[
                r#"{"role":"user","text":"first"}"#,
                r#"{"type":"thinking_level_change","thinkingLevel":"high"}"#,
                model,
                r#"{"type":"compaction","summary":"summary","firstKeptEntryId":"u2","tokensBefore":1000}"#,
                r#"{"type":"custom","customType":"mine","data":{"key":"value"}}"#,
                r#"{"type":"context_change","contextName":"prod","tenant":"t","namespace":"n"}"#,
                r#"{"role":"assistant","text":"last"}"#,
            ],
        );
        assert!(ids.iter().all(|id| !id.is_empty()), "context-change:23");
        let mut above = Value::from("a2");
        for (id, parent) in parents(&lab.log()).split_off(4) {
            assert_eq!(parent, above, "{dialect}: {id}");
            above = Value::from(id);
        }
        assert_eq!(
            above,
            Value::from(ids.last().unwrap().as_str()),
            "{dialect}: tree-traversal:105"
        );
        assert_eq!(
            lab.context("0b7e"),
            ["summary", "add it", "done", "first", "last"],
            "{dialect}: tree-traversal:65"
        );
        let log = text_of(&lab.log());
        for part in [
            r#""data":{"key":"value"}"#,
            r#""contextName":"prod","tenant":"t","namespace":"n""#,
        ] {
            assert!(
                log.contains(part),
                "{dialect}: save-entry:5, context-change:5"
            );
        }
    }
}

/// tree-traversal:121–:242, :339–:363: paths, trees and single entries.
#[test]
fn paths_and_trees_are_what_the_parents_say() {
    let lab = Lab::new("xcsh");
    planted(&lab, "empty", "/proj/demo", &[]);
    assert!(
        nodes(&lab, "empty").is_empty() && lab.context("empty").is_empty(),
        "tree-traversal:122, :164, :340"
    );
    planted(&lab, "single", "/proj/demo", &[user("1", "", "hello")]);
    assert_eq!(lab.context("single"), ["hello"], "tree-traversal:127");
    let (leaf, roots) = (
        |node: &Value| node["leaf"] == true,
        |node: &&Value| node["parent"].is_null(),
    );
    assert!(nodes(&lab, "single").iter().any(leaf), "tree-traversal:345");
    let deep = [
        user("1", "", "1"),
        answer("2", "1", "2"),
        user("3", "2", "3"),
        answer("4", "3", "4"),
        user("5", "2", "5"),
        user("6", "5", "6"),
        user("7", "5", "7"),
        user("8", "2", "8"),
    ];
    planted(&lab, "deep", "/proj/demo", &deep);
    assert_eq!(lab.context("deep"), ["1", "2", "8"], "tree-traversal:136");
    let at = |leaf: &str| {
        let said = lab
            .run(&["context", "deep", "--leaf", leaf, "--json"])
            .ends(0)
            .of_type("message");
        said.iter()
            .map(|line| line["content"][0]["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join("")
    };
    for (leaf, path) in [("4", "1234"), ("6", "1256"), ("7", "1257"), ("2", "12")] {
        assert_eq!(at(leaf), path, "tree-traversal:149, :385");
    }
    let shown = nodes(&lab, "deep");
    assert_eq!(shown.iter().filter(roots).count(), 1, "tree-traversal:169");
    let children = |id: &str| {
        let found = shown
            .iter()
            .find(|node| node["id"] == id)
            .unwrap_or_else(|| panic!("{id} is not shown"));
        found["children"].as_u64().unwrap()
    };
    assert_eq!(
        (children("2"), children("5")),
        (3, 2),
        "tree-traversal:188, :215, :242"
    );
    lab.run(&["show", "deep", "--entry", "nobody"]).ends(2);
    lab.run(&["context", "deep", "--leaf", "nobody"])
        .ends(2)
        .says("nobody");
}

/// tree-traversal:274–:331, :384: the leaf moves, the next entry is its child, and a missing entry
/// cannot be the leaf.
#[test]
fn branching_moves_the_leaf() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        lab.run(&["branch", "0b7e", "u1"]).ends(0);
        assert_eq!(
            lab.context("0b7e"),
            ["why is the build red?"],
            "{dialect}: tree-traversal:275"
        );
        lab.run(&["append", "0b7e", "--user", "otherwise"]).ends(0);
        assert_eq!(
            lab.context("0b7e"),
            ["why is the build red?", "otherwise"],
            "{dialect}: tree-traversal:295, :385"
        );
        let before = text_of(&lab.log());
        lab.run(&["branch", "0b7e", "nobody"])
            .ends(2)
            .says("nobody");
        lab.run(&["branch", "0b7e", "nobody", "--summary", "s"])
            .ends(2);
        assert_eq!(
            text_of(&lab.log()),
            before,
            "{dialect}: tree-traversal:288, :331"
        );
        lab.run(&["branch", "0b7e", "a1", "--summary", "left something"])
            .ends(0);
        let last: Value =
            serde_json::from_str(text_of(&lab.log()).lines().last().unwrap()).unwrap();
        let found = (&last["type"], &last["parentId"], &last["summary"]);
        let expected = (
            &Value::from("branch_summary"),
            &Value::from("a1"),
            &Value::from("left something"),
        );
        assert_eq!(found, expected, "{dialect}: tree-traversal:311");
        let text = lab.context("0b7e");
        assert_eq!(
            text.last().unwrap(),
            "left something",
            "{dialect}: tree-traversal:311"
        );
    }
}

/// tree-traversal:407–:439: a session made from a branch contains the path in order, and nothing of
/// other branches.
#[test]
fn a_branched_session_is_its_path() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let entries = [
            user("1", "", "1"),
            answer("2", "1", "2"),
            user("3", "2", "3"),
            user("4", "2", "4"),
            answer("5", "4", "5"),
        ];
        planted(&lab, "source", "/proj/demo", &entries);
        let before = lab
            .run(&["list", "--json"])
            .ends(0)
            .of_type("session")
            .len();
        lab.run(&["fork", "source", "--at", "nobody"]).ends(2);
        assert_eq!(
            lab.run(&["list", "--json"]).of_type("session").len(),
            before,
            "{dialect}: tree-traversal:408"
        );
        let fork = lab
            .run(&["fork", "source", "--at", "5"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        assert_eq!(
            lab.context(&fork),
            ["1", "2", "4", "5"],
            "{dialect}: tree-traversal:415, :439"
        );
        let path = lab.session(fork.split_once(':').unwrap().1)["path"]
            .as_str()
            .unwrap()
            .to_owned();
        let ids: Vec<_> = parents(Path::new(&path))
            .into_iter()
            .map(|(id, _)| id)
            .collect();
        assert_eq!(ids, ["1", "2", "4", "5"], "{dialect}: tree-traversal:439");
    }
}

/// labels:5–:173.
#[test]
fn labels_are_set_cleared_shown_and_go_along_with_their_entries() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let session = "0b7e";
        lab.run(&["label", session, "u1", "start"]).ends(0);
        assert_eq!(
            labels(&lab, session),
            [pair("u1", "start")],
            "{dialect}: labels:5, :51"
        );
        lab.run(&["label", session, "u1", "again"]).ends(0);
        assert_eq!(
            labels(&lab, session),
            [pair("u1", "again")],
            "{dialect}: labels:39"
        );
        lab.run(&["label", session, "u1", "--clear"]).ends(0);
        assert_eq!(labels(&lab, session), [], "{dialect}: labels:26");
        let before = text_of(&lab.log());
        lab.run(&["label", session, "nobody", "x"])
            .ends(2)
            .says("nobody");
        assert_eq!(text_of(&lab.log()), before, "{dialect}: labels:173");
        for (id, label) in [("u1", "first"), ("a2", "last")] {
            lab.run(&["label", session, id, label]).ends(0);
        }
        let said = [
            "why is the build red?",
            "a rule is missing",
            "add it",
            "done",
        ];
        assert_eq!(lab.context(session), said, "{dialect}: labels:162");
        let short = lab
            .run(&["fork", session, "--at", "a1"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        assert_eq!(
            labels(&lab, &short),
            [pair("u1", "first")],
            "{dialect}: labels:125"
        );
        let long = lab
            .run(&["fork", session, "--at", "a2"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        assert_eq!(
            labels(&lab, &long),
            [pair("u1", "first"), pair("a2", "last")],
            "{dialect}: labels:87"
        );
    }
}
