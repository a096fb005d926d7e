//! Filters by time, text, agent, status, model and folder.

use serde_json::Value;

use super::{home, refs, rows, text};

#[test]
fn since_and_until_part_the_list_in_two() {
    let (bench, _) = home(44);
    let all = rows(&bench, &["--hidden"]);
    let mut times: Vec<&str> = all.iter().map(|row| text(row, "last_active")).collect();
    times.sort_unstable();
    let middle = times[times.len() / 2];
    let since = rows(&bench, &["--hidden", "--since", middle]);
    let until = rows(&bench, &["--hidden", "--until", middle]);
    assert!(since.iter().all(|row| text(row, "last_active") >= middle));
    // A linked conversation is as recent as its most recent side.
    assert!(until.iter().all(|row| text(row, "last_active") < middle));
    let mut both = [refs(&since), refs(&until)].concat();
    let mut every = refs(&all);
    both.sort();
    every.sort();
    assert_eq!(both, every);
    assert_eq!(
        rows(&bench, &["--hidden", "--until", "1990-01-01"]).len(),
        0
    );
    assert_eq!(
        rows(&bench, &["--hidden", "--since", "2020-01-01"]).len(),
        all.len()
    );
    assert_eq!(
        rows(&bench, &["--hidden", "--since", "5200w"]).len(),
        all.len()
    );
}

#[test]
fn text_agent_status_and_model_choose_rows() {
    let (bench, _) = home(45);
    let all = rows(&bench, &["--hidden"]);
    let some = all
        .iter()
        .find(|row| text(row, "first_prompt").len() > 20)
        .unwrap();
    let word: String = text(some, "first_prompt").chars().take(12).collect();
    let found = rows(&bench, &["--hidden", "--match", &word.to_uppercase()]);
    assert!(
        refs(&found).contains(&text(some, "ref").to_owned()),
        "{word}"
    );
    let found = rows(&bench, &["--hidden", "--match", text(some, "ref")]);
    assert_eq!(refs(&found), [text(some, "ref")], "a ref finds its session");
    assert_eq!(
        rows(&bench, &["--match", "no such words anywhere"]).len(),
        0
    );
    bench
        .run(["list", "--match", "no such words anywhere"])
        .ends(0)
        .says("no session matches");
    for dialect in ["pi", "omp", "xcsh", "myagents", "oas", "codex"] {
        let of: Vec<_> = all
            .iter()
            .filter(|row| {
                let link = |link: &Value| {
                    link["ref"]
                        .as_str()
                        .unwrap()
                        .starts_with(&format!("{dialect}:"))
                };
                row["dialect"] == dialect
                    || row["agent"] == dialect
                    || row["links"].as_array().unwrap().iter().any(link)
            })
            .cloned()
            .collect();
        assert_eq!(
            refs(&rows(&bench, &["--hidden", "--agent", dialect])),
            refs(&of),
            "{dialect}"
        );
        assert!(!of.is_empty(), "{dialect}");
    }
    let completed = rows(&bench, &["--hidden", "--status", "completed"]);
    assert!(!completed.is_empty() && completed.iter().all(|row| row["status"] == "completed"));
    let sonnet = rows(&bench, &["--hidden", "--model", "sonnet"]);
    let has = |row: &Value| {
        row["models"]
            .as_array()
            .unwrap()
            .iter()
            .any(|model| model.as_str().unwrap().contains("sonnet"))
    };
    assert!(!sonnet.is_empty() && sonnet.iter().all(has));
    assert_eq!(rows(&bench, &["--agent", "nobody"]).len(), 0);
}

#[test]
fn here_and_project_choose_a_folder_and_what_is_below_it() {
    let (bench, home) = home(46);
    let all = rows(&bench, &["--hidden"]);
    for project in home.projects.iter().take(2) {
        let expected: Vec<_> = all
            .iter()
            .filter(|row| row["project"] == project.as_str())
            .cloned()
            .collect();
        assert!(!expected.is_empty(), "{project}");
        assert_eq!(
            refs(&rows(&bench, &["--hidden", "--project", project])),
            refs(&expected)
        );
        let mut here = bench.command(["list", "--json", "--hidden", "--here"]);
        here.current_dir(project);
        assert_eq!(
            refs(&crate::bench::finish(here).ends(0).of_type("session")),
            refs(&expected)
        );
        let name = project.rsplit('/').next().unwrap();
        assert_eq!(
            refs(&rows(&bench, &["--hidden", "--project", name])),
            refs(&expected),
            "relative to where we are"
        );
        let mut last = bench.command(["show", "@here", "--json"]);
        last.current_dir(project);
        crate::bench::finish(last).ends(0);
    }
    let below: Vec<_> = all
        .iter()
        .filter(|row| text(row, "project").starts_with(bench.cwd().to_str().unwrap()))
        .cloned()
        .collect();
    assert_eq!(
        refs(&rows(&bench, &["--hidden", "--project", "."])),
        refs(&below)
    );
    let projects = bench.run(["projects", "--json"]).ends(0).of_type("project");
    let counted: u64 = projects
        .iter()
        .map(|project| project["sessions"].as_u64().unwrap())
        .sum();
    assert_eq!(counted as usize, rows(&bench, &[]).len());
}

#[test]
fn hidden_sessions_are_shown_only_when_asked_for() {
    let (bench, home) = home(48);
    let (usual, every) = (refs(&rows(&bench, &[])), rows(&bench, &["--hidden"]));
    let hidden: Vec<_> = every
        .iter()
        .filter(|row| !row["hidden"].is_null())
        .map(|row| text(row, "ref").to_owned())
        .collect();
    assert!(!hidden.is_empty());
    assert_eq!(usual.len() + hidden.len(), every.len());
    assert!(usual.iter().all(|r| !hidden.contains(r)));
    for planted in home.planted.iter().filter(|planted| planted.hidden) {
        assert!(
            hidden.contains(&format!("{}:{}", planted.dialect, planted.id)),
            "{planted:?}"
        );
    }
    assert_eq!(
        refs(&bench.run(["--json"]).ends(0).of_type("session")),
        usual,
        "no command means list"
    );
}
