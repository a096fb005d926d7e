//! Tests of trials: the same seed gives the same bytes, and verdicts keep their form.

use super::*;

#[test]
fn a_seed_decides_every_trial() {
    let origins = made();
    let hashes = |seed| -> Vec<String> {
        trials(&origins, seed, 150)
            .iter()
            .map(Trial::hash)
            .collect()
    };
    assert_eq!(hashes(7), hashes(7));
    assert_ne!(hashes(7), hashes(8));
}

#[test]
fn every_operator_damages_some_origin() {
    let origins = made();
    let mut idle: Vec<String> = Vec::new();
    let mut number = 0;
    loop {
        let operator = Operator::nth(number);
        if number > 0 && operator.name() == Operator::nth(0).name() {
            break;
        }
        let changes = |origin: &TrialOrigin| {
            (0..5).any(|seed| operator.apply(&origin.bytes, &mut Rng::new(seed)) != origin.bytes)
        };
        if !origins.iter().any(changes) {
            idle.push(operator.name());
        }
        number += 1;
    }
    assert_eq!(idle, ["Untouched"]);
}

#[test]
fn tags_are_found_again_in_order() {
    let line = r#"{"type":"user","message":{"content":"hello"}}"#;
    let bytes = tagged(format!("{line}\n{line}\n").as_bytes());
    assert_eq!(tags_in(&String::from_utf8_lossy(&bytes)), [1, 2]);
}

#[test]
fn verdicts_are_read_as_they_were_written() {
    let text = "ab 2.1.150=refused 2.1.325=1-5,7,3 2.1.50=-\ncd 2.1.325=failed\n";
    let table = VerdictTable::parse(text).unwrap();
    assert_eq!(table.text(), text);
    assert_eq!(
        table.files["ab"]["2.1.325"],
        ClientOutcome::Sent(vec![1, 2, 3, 4, 5, 7, 3])
    );
    assert_eq!(VerdictTable::parse("ab 2.1.325=x"), None);
}
