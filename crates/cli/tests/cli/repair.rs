//! The story of a damaged session: check, repair, look again, undo.

use boswell_testkit::damage::{self, Damage};
use boswell_testkit::make::{claude, pi};
use boswell_testkit::{Made, Rng, disk};

use crate::bench::Bench;

fn plant(bench: &Bench, folder: &str, made: &Made, bytes: &[u8]) -> String {
    let path = made.write_to(&bench.home().join(folder));
    disk::write(&path, bytes);
    path.to_str().unwrap().to_owned()
}

fn broken(made: &Made, kinds: &[Damage]) -> Vec<u8> {
    kinds.iter().fold(made.bytes().to_vec(), |bytes, kind| damage::apply(*kind, &bytes, 6, &mut Rng::new(1)))
}

fn pi_session() -> Made {
    pi::file(pi::Shape::Linear, pi::Flavour::Pi, pi::Place::of("/home/dev/p"), 3)
}

#[test]
fn a_damaged_session_is_checked_repaired_and_put_back() {
    let bench = Bench::new();
    let made = pi_session();
    let bytes = broken(&made, &[Damage::GluedRecords]);
    let path = plant(&bench, ".pi/agent", &made, &bytes);
    let found = bench.run(["check", &path]).ends(1).text();
    assert!(found.contains("glued_records") && found.contains("boswell repair pi:"), "{found}");
    let plan = bench.run(["repair", &path]).ends(0);
    assert!(plan.text().contains("*  1  certain  rewrite"), "{plan:?}");
    assert!(plan.stderr.contains("--apply"), "{plan:?}");
    assert_eq!(disk::read(path.as_ref()), bytes, "a plan writes nothing");
    bench.run(["repair", &path, "--apply"]).ends(0);
    assert_eq!(disk::read(path.as_ref()), made.bytes());
    bench.run(["check", &path]).ends(0);
    assert!(bench.run(["repair", &path, "--apply"]).ends(0).text().contains("nothing to repair"));
    bench.run(["undo"]).ends(0);
    assert_eq!(disk::read(path.as_ref()), bytes);
}

#[test]
fn changed_records_go_into_a_fork_that_is_made_once() {
    let bench = Bench::new();
    let made = pi_session();
    let bytes = broken(&made, &[Damage::PhantomParent]);
    let path = plant(&bench, ".pi/agent", &made, &bytes);
    let damage = bench.run(["check", &path, "--json"]).ends(1).of_type("damage");
    assert_eq!(damage[0]["repair"], "fork");
    assert!(damage[0]["hurts"].as_array().unwrap().iter().any(|name| name == "pi"), "{damage:?}");
    assert!(damage[0]["reachable"].as_u64() < damage[0]["total"].as_u64(), "{damage:?}");
    let done = bench.run(["repair", &path, "--apply", "--json"]).ends(0);
    let fork = done.of_type("op")[0]["made"].as_str().unwrap().to_owned();
    assert_eq!(disk::read(path.as_ref()), bytes, "the original stays");
    bench.run(["check", &fork]).ends(0);
    let again = bench.run(["repair", &path, "--apply"]).ends(0);
    assert!(again.stderr.contains(&format!("already repaired as {fork}")), "{again:?}");
    bench.run(["undo"]).ends(0);
    bench.run(["show", &fork]).ends(2);
}

#[test]
fn readers_that_still_lose_something_are_named() {
    let bench = Bench::new();
    let made = claude::file(claude::Shape::ToolUse, "/home/dev/p", 3);
    let path = plant(&bench, ".claude", &made, &broken(&made, &[Damage::PhantomParent]));
    let plan = bench.run(["repair", &path, "--json"]).ends(0);
    let readers: Vec<_> = plan.of_type("loss").iter().map(|loss| loss["reader"].to_string()).collect();
    assert!(readers.contains(&"\"sdk-py\"".to_owned()), "{readers:?}");
    let served = bench.run(["repair", &path, "--likely", "--for", "sdk-py", "--json"]).ends(0);
    assert!(served.of_type("loss").iter().all(|loss| loss["reader"] != "sdk-py"), "{served:?}");
    let unknown = bench.run(["repair", &path, "--for", "netscape"]).ends(2);
    assert!(unknown.stderr.contains("known are 2.1.17"), "{unknown:?}");
    bench.run(["--read-only", "repair", &path, "--apply"]).ends(2);
}
