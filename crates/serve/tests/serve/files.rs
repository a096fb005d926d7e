//! Files of projects, and who wrote their lines: which files are shown, and which never.

use boswell_app::{App, AppConfig, Config, Environment};
use boswell_serve::Changes;
use serde_json::Value;

use crate::bench::{Answer, Bench, CLAUDE};

/// Returns the folder of a project of the demo.
fn project(bench: &Bench, name: &str) -> String {
    let folder = bench.temp.path().join("d/projects").join(name);
    folder.display().to_string()
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn files(bench: &Bench, project: &str) -> Answer {
    bench.get(&format!("/v1/files?project={}", encoded(project)))
}

fn blame(bench: &Bench, project: &str, file: &str) -> Answer {
    let (project, file) = (encoded(project), encoded(file));
    bench.get(&format!("/v1/blame?project={project}&file={file}"))
}

#[test]
fn a_file_of_a_project_is_listed_and_its_lines_lead_to_entries() {
    let bench = Bench::reading();
    let shop = project(&bench, "shop");
    let listed = files(&bench, &shop).is(200).json();
    let file = &listed["items"][0];
    assert_eq!(file["path"], "src/coupon.rs", "{listed}");
    assert_eq!(file["session"], CLAUDE, "{listed}");
    assert_eq!(file["calls"], 2, "{listed}");
    let blame = blame(&bench, &shop, "src/coupon.rs").is(200).json();
    let lines = blame["lines"].as_array().unwrap();
    let origins: Vec<&str> = lines
        .iter()
        .map(|it| it["origin"].as_str().unwrap())
        .collect();
    assert_eq!(origins, ["unexplained", "session", "unexplained"]);
    assert_eq!(blame["unexplained"], 2);
    let written = &lines[1];
    assert_eq!(written["session"], CLAUDE, "{blame}");
    for name in ["entry", "prompt"] {
        let entry = written[name].as_str().unwrap();
        let path = format!("/v1/sessions/{CLAUDE}/entries/{entry}");
        bench.get(&path).is(200);
    }
    let prompt = blame["prompts"][0]["text"].as_str().unwrap();
    assert!(prompt.contains("SPRING10"), "{blame}");
}

/// Fails unless the answer is the one for every file that is not shown.
#[track_caller]
fn assert_not_shown(answer: &Answer, file: &str) {
    assert_eq!(answer.status, 404, "{file}: {}", answer.text());
    let problem: Value = answer.json();
    let detail = problem["detail"].as_str().unwrap().to_owned();
    assert!(detail.starts_with("no session wrote a line of"), "{detail}");
    for leaked in ["root:", "the secret"] {
        assert!(!answer.text().contains(leaked), "{file}: {}", answer.text());
    }
}

#[test]
fn no_file_is_shown_that_no_session_wrote() {
    let bench = Bench::reading();
    let shop = project(&bench, "shop");
    let folder = std::path::Path::new(&shop);
    let outside = bench.temp.path().join("outside.txt");
    for file in [&outside, &folder.join("never-written.txt")] {
        std::fs::write(file, "the secret\n").unwrap();
    }
    std::fs::write(folder.join("binary"), b"the secret\0").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, folder.join("link.txt")).unwrap();
        std::os::unix::fs::symlink("/etc", folder.join("etc")).unwrap();
    }
    for file in [
        "never-written.txt",
        "missing.txt",
        "binary",
        "link.txt",
        "etc/passwd",
        "src",
        "..",
        "../../outside.txt",
        "src/../../../outside.txt",
        "/etc/passwd",
        "./src/coupon.rs",
        "src/../src/coupon.rs",
        outside.to_str().unwrap(),
    ] {
        assert_not_shown(&blame(&bench, &shop, file), file);
    }
    // A folder that contains projects is not one, and neither is a path that only leads to one.
    let roots = bench.temp.path().display().to_string();
    for (project, file) in [
        ("/", "etc/passwd"),
        (roots.as_str(), "d/projects/shop/src/coupon.rs"),
        (&format!("{shop}/src"), "coupon.rs"),
        (&format!("{shop}/../shop"), "src/coupon.rs"),
        ("shop", "src/coupon.rs"),
    ] {
        assert_not_shown(&blame(&bench, project, file), project);
        files(&bench, project).is(404);
    }
    for path in ["/v1/blame", "/v1/files", "/v1/blame?project=%2f&file="] {
        bench.get(path).is(400);
    }
    bench.get("/v1/blame?project=a&file=b%00c").is(400);
}

#[test]
fn an_excluded_project_has_no_files() {
    let mut bench = Bench::reading();
    let shop = project(&bench, "shop");
    files(&bench, &shop).is(200);
    let root = bench.temp.path().join("d");
    let settings = root.join("home/.config/boswell");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(
        settings.join("config.toml"),
        format!("exclude = [{shop:?}]\n"),
    )
    .unwrap();
    let env = Environment {
        home: Some(root.join("home")),
        cwd: bench.temp.path().to_owned(),
        tmp: bench.temp.path().to_owned(),
        ..Environment::default()
    };
    let settings = Config::load(&env).unwrap();
    let config = AppConfig {
        settings,
        ..AppConfig::new(env, Some(root.join("own")))
    };
    bench.app = App::open(config).unwrap();
    bench.again(Changes::Never);
    assert_not_shown(&blame(&bench, &shop, "src/coupon.rs"), "src/coupon.rs");
    files(&bench, &shop).is(404);
    files(&bench, &project(&bench, "blog")).is(200);
}
