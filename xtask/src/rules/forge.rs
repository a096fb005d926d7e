//! The workflows of the forge run what developers run, and hand the signing key to one step only.

use std::path::Path;

use crate::sources;

fn workflow(name: &str) -> String {
    sources::text(&Path::new(".github/workflows").join(name))
}

/// The steps of a workflow: from one `- run:` or `- uses:` to the next.
fn steps(workflow: &str) -> Vec<&str> {
    let mut steps = Vec::new();
    let mut rest = workflow;
    while let Some(at) = rest.find("\n      - ") {
        let step = &rest[at + 9..];
        let end = step.find("\n      - ").unwrap_or(step.len());
        steps.push(&step[..end]);
        rest = &step[end..];
    }
    steps
}

#[test]
fn ci_runs_the_same_script_on_every_system() {
    let text = workflow("ci.yml");
    assert!(steps(&text).contains(&"run: .ci/run\n"), "{text}");
    for system in ["ubuntu", "windows", "macos"] {
        assert!(text.contains(&format!("- os: {system}-")), "{system}");
    }
}

#[test]
fn only_the_step_that_packs_a_pushed_tag_sees_the_signing_key() {
    let text = workflow("release.yml");
    let steps = steps(&text);
    let with_key: Vec<_> = steps
        .iter()
        .filter(|step| step.contains("secrets."))
        .collect();
    let [step] = with_key.as_slice() else {
        panic!("{with_key:?}");
    };
    assert!(step.starts_with("run: cargo xtask dist all\n"), "{step}");
    for line in step.lines().filter(|line| line.contains("secrets.")) {
        assert!(line.contains("github.event_name == 'push' && "), "{line}");
    }
    assert!(
        steps
            .iter()
            .any(|step| step.starts_with("run: cargo xtask dist --check\n"))
    );
}
