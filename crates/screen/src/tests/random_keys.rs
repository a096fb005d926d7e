//! Random keys: no panic, and nothing is written outside of boswell's own home until the user
//! agrees.

use boswell_testkit::{Rng, TreeSnapshot};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::demo::{Demo, drawn};
use crate::ask::Event;
use crate::keys::{Action, BINDINGS};

/// Keys that change sessions at once, or after an answer.
fn may_write(key: &KeyEvent) -> bool {
    BINDINGS
        .iter()
        .filter(|it| it.writes || it.action == Action::Resume)
        .any(|it| it.keys.iter().any(|bound| bound.is(key)))
}

fn random_key(rng: &mut Rng) -> KeyEvent {
    if rng.below(3) == 0 {
        let chars: Vec<char> = "agent:claude 二元 \"!*[]{}()tTnN/?jkgGbrcLqyYzsSPdRo👩"
            .chars()
            .collect();
        let c = chars[rng.below(chars.len())];
        return KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
    }
    let keys: Vec<KeyEvent> = BINDINGS
        .iter()
        .flat_map(|it| it.keys)
        .map(|key| key.event())
        .collect();
    keys[rng.below(keys.len())]
}

fn walk(seed: u64, reading_only: bool) {
    let mut rng = Rng::new(seed);
    let mut demo = Demo::open((120, 40));
    let home = demo.root.join("home");
    let before = TreeSnapshot::take(&home);
    let sizes = [(120, 40), (80, 24), (40, 16), (24, 6), (5, 2), (200, 60)];
    for step in 0..250 {
        let key = random_key(&mut rng);
        if !(reading_only && may_write(&key)) {
            demo.event(Event::Key(key));
        }
        if rng.below(20) == 0 {
            let size = sizes[rng.below(sizes.len())];
            demo.resize(size);
        }
        if rng.below(4) == 0 {
            demo.take_waiting();
        }
        let screen = drawn(&demo.state);
        let lines = screen.lines().count();
        assert_eq!(
            lines,
            usize::from(demo.state.size.1),
            "seed {seed}, step {step}"
        );
    }
    if reading_only {
        let after = TreeSnapshot::take(&home);
        assert_eq!(before.diff(&after), Vec::<String>::new(), "seed {seed}");
    }
}

#[test]
fn random_keys_never_panic_and_reading_never_writes() {
    for seed in 1..=4 {
        walk(seed, true);
    }
}

#[test]
fn random_keys_with_changes_never_panic() {
    for seed in 101..=102 {
        walk(seed, false);
    }
}
