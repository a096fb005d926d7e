//! Repairs that change records: in a fork next to the unchanged original, or in place on request.

use boswell_dialect::claude::Claude;
use boswell_dialect::pi::Pi;
use boswell_dialect::{Confidence, Depth, Repairer};
use boswell_model::ProblemKind;
use boswell_store::repair::{RepairRequest, check};
use boswell_testkit::damage::{self, Damage};
use boswell_testkit::make::{claude, pi};
use boswell_testkit::{Rng, jsonl};

use crate::repair::bench::Bench;

#[test]
fn a_missing_parent_is_bridged_in_a_fork_that_names_the_original() {
    let made = pi::file(
        pi::PiShape::Linear,
        pi::PiFlavour::Pi,
        pi::PiLayout::of("/p"),
        3,
    );
    let broken = damage::apply(Damage::PhantomParent, made.bytes(), 6, &mut Rng::new(1));
    let bench = Bench::new(&Pi::PI, &made, &broken);
    let done = bench.repair(Confidence::Certain);
    let id = done
        .fork
        .expect("one branch is open, so there is one candidate");
    assert!(bench.bytes() == broken, "the original is not touched");
    let fork = std::fs::read(bench.made(&id)).unwrap();
    let header = &jsonl::parse(&fork)[0];
    assert_eq!(header["id"], id.as_str());
    assert_eq!(header["parentSession"], bench.path.to_str().unwrap());
    let without_header = |bytes: &[u8]| {
        bytes
            .splitn(2, |byte| *byte == b'\n')
            .nth(1)
            .unwrap()
            .to_vec()
    };
    assert!(
        without_header(&fork) == without_header(made.bytes()),
        "the bridge leads where the link led"
    );
}

#[test]
fn old_clients_and_sdks_are_served_when_they_are_named() {
    let made = claude::file(claude::ClaudeShape::ToolUse, "/p", 3);
    let broken = damage::apply(
        Damage::PhantomParent,
        made.bytes(),
        made.bytes().len(),
        &mut Rng::new(1),
    );
    let bench = Bench::new(&Claude, &made, &broken);
    let done = bench.repair(Confidence::Likely);
    assert!(
        done.fork.is_none(),
        "the newest client finds the same neighbour by itself"
    );
    let plan = bench
        .runner
        .repair_plan(&bench.store, &bench.location(), &RepairRequest::default())
        .unwrap();
    assert!(
        plan.still_lost
            .iter()
            .any(|lost| lost.reader == "sdk-py" && !lost.is_goal),
        "{plan:?}"
    );
    let goals = vec!["2.1.50".to_owned(), "sdk-py".to_owned()];
    let request = RepairRequest {
        level: Confidence::Likely,
        goals,
        ..RepairRequest::default()
    };
    let done = bench
        .runner
        .repair(&bench.store, &bench.location(), &request)
        .unwrap();
    let fork = bench.store.find(done.fork.unwrap()).unwrap();
    let session = bench.store.read(&fork, Depth::Pairs).unwrap();
    assert!(check(&session).unwrap().problems.is_empty());
    assert_eq!(
        session.meta().parent.as_deref(),
        Some(bench.location().id.as_str())
    );
    assert!(
        session
            .meta()
            .title
            .as_deref()
            .is_some_and(|title| title.ends_with("(repaired)"))
    );
}

#[test]
fn goals_that_resume_different_branches_agree_after_a_likely_step() {
    let made = claude::file(claude::ClaudeShape::Plain, "/p", 3);
    let mut lines: Vec<Vec<u8>> = made
        .bytes()
        .split_inclusive(|byte| *byte == b'\n')
        // It would name the branch, and all versions would agree.
        .filter(|line| !line.windows(13).any(|part| part == b"\"last-prompt\""))
        .map(<[u8]>::to_vec)
        .collect();
    // A branch that was written last but is older than the other one.
    let root = jsonl::parse(made.bytes())
        .into_iter()
        .find(|line| line["type"] == "user")
        .unwrap();
    let uuid = root["uuid"].as_str().unwrap();
    lines.push(
        format!(
            "{{\"parentUuid\":\"{uuid}\",\"isSidechain\":false,\"type\":\"assistant\",\"uuid\":\"old\",\"timestamp\":\"2001-01-01T00:00:00.000Z\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"late\"}}]}}}}\n"
        )
        .into_bytes(),
    );
    let bench = Bench::new(&Claude, &made, &lines.concat());
    let request = RepairRequest {
        goals: vec!["2.1.50".to_owned()],
        ..RepairRequest::default()
    };
    let plan = bench
        .runner
        .repair_plan(&bench.store, &bench.location(), &request)
        .unwrap();
    let step = plan
        .steps
        .iter()
        .find(|step| step.helps.contains(&"2.1.50") && step.problem == ProblemKind::LostBranch);
    assert!(
        step.is_some_and(|step| !step.taken && step.confidence == Confidence::Likely),
        "{plan:?}"
    );
    let request = RepairRequest {
        level: Confidence::Likely,
        ..request
    };
    let done = bench
        .runner
        .repair(&bench.store, &bench.location(), &request)
        .unwrap();
    let fork = bench.store.find(done.fork.unwrap()).unwrap();
    let session = bench.store.read(&fork, Depth::Pairs).unwrap();
    let sent = |version| Claude.reading(&session.view(), version).unwrap();
    assert_eq!(sent("2.1.50"), sent("2.1.325"));
}

#[test]
fn one_step_is_taken_in_place_on_request_and_taken_back() {
    let made = pi::file(
        pi::PiShape::Linear,
        pi::PiFlavour::Pi,
        pi::PiLayout::of("/p"),
        3,
    );
    let broken = damage::apply(Damage::ParentCycle, made.bytes(), 6, &mut Rng::new(1));
    let bench = Bench::new(&Pi::PI, &made, &broken);
    let plan = bench
        .runner
        .repair_plan(&bench.store, &bench.location(), &RepairRequest::default())
        .unwrap();
    assert_eq!(plan.reachable, 0, "pi never comes back from a circle");
    assert_eq!(plan.would_reach, plan.total);
    let request = RepairRequest {
        steps: vec![1],
        in_place: true,
        ..RepairRequest::default()
    };
    let done = bench
        .runner
        .repair(&bench.store, &bench.location(), &request)
        .unwrap();
    assert!(bench.bytes() == made.bytes());
    assert!(done.in_place);
    bench.runner.undo(&done.operation.unwrap().id).unwrap();
    assert!(bench.bytes() == broken);
}

#[test]
fn of_steps_that_are_alike_exactly_the_chosen_ones_are_taken() {
    let made = claude::file(claude::ClaudeShape::ToolUse, "/p", 3);
    let is_answer = |line: &[u8]| String::from_utf8_lossy(line).contains("\"tool_use_id\":");
    let lines: Vec<&[u8]> = made
        .bytes()
        .split_inclusive(|byte| *byte == b'\n')
        .collect();
    let broken: Vec<u8> = lines
        .iter()
        .filter(|line| !is_answer(line))
        .flat_map(|line| line.to_vec())
        .collect();
    let bench = Bench::new(&Claude, &made, &broken);
    let unknown = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes)
            .matches("is not in the session's file")
            .count()
    };
    let plan = bench
        .runner
        .repair_plan(&bench.store, &bench.location(), &RepairRequest::default())
        .unwrap();
    let alike: Vec<usize> = plan
        .steps
        .iter()
        .filter(|step| step.problem.word() == "missing_result")
        .map(|step| step.number)
        .collect();
    assert!(alike.len() >= 2, "{plan:?}");
    for steps in [&alike[1..2], &alike[..2]] {
        let request = RepairRequest {
            steps: steps.to_vec(),
            ..RepairRequest::default()
        };
        let done = bench
            .runner
            .repair(&bench.store, &bench.location(), &request)
            .unwrap();
        let (operation, id) = (done.operation.unwrap(), done.fork.unwrap());
        assert_eq!(
            unknown(&std::fs::read(bench.made(&id)).unwrap()),
            steps.len()
        );
        bench.runner.undo(&operation.id).unwrap();
    }
}
