//! `continue` through the command line: which session it takes.

use boswell_testkit::disk;
use boswell_testkit::make::{claude, pi};

use crate::find_bench::Bench;

#[test]
fn continue_takes_this_projects_session_before_any_other() {
    let bench = Bench::planted();
    let any = bench.run(&["continue", "--print"]);
    assert!(
        any.code == 0 && any.stdout.contains("--resume"),
        "{}",
        any.stderr
    );
    let id = "22222222-2222-4222-8222-222222222222";
    let cwd = bench.cwd().canonicalize().unwrap().display().to_string();
    let line = format!(
        "{{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"{id}\",\"cwd\":\"{cwd}\",\"timestamp\":\"2020-01-02T03:04:05.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"hello\"}}}}\n"
    );
    disk::write(
        &bench
            .claude()
            .join(format!("projects/{}/{id}.jsonl", claude::project_key(&cwd))),
        line.as_bytes(),
    );
    let here = bench.run(&["continue", "--print"]);
    assert!(here.stdout.contains(id), "{}", here.stdout);
}

#[test]
fn continue_takes_this_terminals_session_before_this_projects() {
    let bench = Bench::planted();
    let cwd = bench.cwd().canonicalize().unwrap();
    let in_project = "22222222-2222-4222-8222-222222222222";
    let line = format!(
        "{{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"{in_project}\",\"cwd\":\"{0}\",\"timestamp\":\"2027-01-02T03:04:05.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"hello\"}}}}\n",
        cwd.display()
    );
    let key = claude::project_key(&cwd.display().to_string());
    disk::write(
        &bench
            .claude()
            .join(format!("projects/{key}/{in_project}.jsonl")),
        line.as_bytes(),
    );
    let agent = bench.home().join(".pi/agent");
    let place = pi::PiLayout::of(cwd.to_str().unwrap());
    let made = pi::file(pi::PiShape::Linear, pi::PiFlavour::Pi, place, 3);
    let session = made.write_to(&agent);
    let crumb = |folder: &std::path::Path, then: &std::path::Path| {
        disk::write(
            &folder.join("terminal-sessions/kitty-7"),
            format!("{}\n{}\n", then.display(), session.display()).as_bytes(),
        );
    };
    let continued = |window: &str| {
        let output = bench
            .command(&["continue", "--print"])
            .env("KITTY_WINDOW_ID", window)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(
        continued("7").contains(in_project),
        "without a crumb the project decides"
    );
    crumb(&agent, &cwd);
    let file = session.file_name().unwrap().to_str().unwrap();
    assert!(
        continued("7").contains(&made.id) || continued("7").contains(file),
        "{}",
        continued("7")
    );
    assert!(continued("8").contains(in_project), "another terminal");
    crumb(&agent, &bench.home());
    assert!(
        continued("7").contains(in_project),
        "a crumb of another folder"
    );
}
