//! Every crate that is published has what registries ask for, and names its siblings by version.

use crate::workspace;

fn published() -> Vec<serde_json::Value> {
    let metadata = workspace::metadata().expect("cargo metadata");
    let packages = metadata["packages"].as_array().expect("packages").clone();
    let published: Vec<_> = packages
        .into_iter()
        .filter(|package| package["publish"].is_null())
        .collect();
    assert!(published.len() >= 9, "only {} crates", published.len());
    published
}

#[test]
fn every_published_crate_has_the_fields_that_registries_ask_for() {
    let mut wrong = Vec::new();
    for package in published() {
        let name = package["name"].as_str().expect("a name");
        for field in [
            "description",
            "license",
            "repository",
            "readme",
            "rust_version",
        ] {
            if package[field].as_str().is_none_or(str::is_empty) {
                wrong.push(format!("{name}: {field}"));
            }
        }
        // The limits of the registry.
        let keywords = package["keywords"].as_array().expect("a list");
        let fits = |word: &serde_json::Value| word.as_str().is_some_and(|word| word.len() <= 20);
        if keywords.is_empty() || keywords.len() > 5 || !keywords.iter().all(fits) {
            wrong.push(format!("{name}: keywords"));
        }
        if package["categories"].as_array().is_none_or(Vec::is_empty) {
            wrong.push(format!("{name}: categories"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn published_crates_name_the_version_of_what_they_depend_on() {
    let mut wrong = Vec::new();
    let packages = published();
    let is_published = |name: &serde_json::Value| packages.iter().any(|it| it["name"] == *name);
    for package in &packages {
        for dependency in package["dependencies"].as_array().expect("a list") {
            // Cargo leaves dependencies of tests without version out of what it publishes.
            if dependency["kind"] == "dev" {
                continue;
            }
            let is_ours = dependency["path"].is_string();
            let is_lost = is_ours && !is_published(&dependency["name"]);
            if dependency["req"] == "*" || is_lost {
                wrong.push(format!("{}: {}", package["name"], dependency["name"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
