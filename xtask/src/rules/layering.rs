//! The layering: which crate may depend on which.

use crate::workspace;

/// Folder below `crates/`, and our packages that it may use. A new crate needs a line here.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("dialect", &["boswell-model"]),
    ("store", &["boswell-model", "boswell-dialect"]),
    (
        "find",
        &["boswell-model", "boswell-dialect", "boswell-store"],
    ),
    (
        "app",
        &[
            "boswell-model",
            "boswell-dialect",
            "boswell-store",
            "boswell-find",
        ],
    ),
    (
        "remote",
        &["boswell-model", "boswell-dialect", "boswell-store"],
    ),
    ("team", &["boswell-model", "boswell-remote"]),
    (
        "binding",
        &[
            "boswell-model",
            "boswell-dialect",
            "boswell-store",
            "boswell-app",
            "boswell-remote",
        ],
    ),
    ("serve", &["boswell-model", "boswell-app", "boswell-mcp"]),
    ("mcp", &["boswell-model", "boswell-app"]),
    ("screen", &["boswell-model", "boswell-app"]),
    (
        "cli",
        &[
            "boswell-model",
            "boswell-app",
            "boswell-serve",
            "boswell-mcp",
            "boswell-screen",
            "boswell-remote",
            "boswell-team",
        ],
    ),
    (
        "testkit",
        &[
            "boswell-model",
            "boswell-dialect",
            "boswell-store",
            "boswell-find",
            "boswell-remote",
            "boswell-serve",
        ],
    ),
];

/// Additional packages for tests: those of a face read files and stores directly, to check its real
/// effects.
const FOR_TESTS: &[&str] = &[
    "boswell-testkit",
    "boswell-dialect",
    "boswell-store",
    "boswell-find",
];

/// External packages that a crate must not use.
const BANNED: &[(&str, &[&str])] = &[
    ("model", &["clap", "tokio", "rusqlite"]),
    ("dialect", &["clap", "tokio", "rusqlite"]),
    (
        "store",
        &[
            "clap",
            "rusqlite",
            "libsqlite3-sys",
            "openssl",
            "openssl-sys",
        ],
    ),
];

struct Dependency {
    room: String,
    package: String,
    /// Used by the crate's own tests only.
    dev: bool,
    optional: bool,
}

fn dependencies() -> Vec<Dependency> {
    let metadata = workspace::metadata().expect("cargo metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    let mut found = Vec::new();
    for package in packages {
        let manifest = package["manifest_path"].as_str().expect("a manifest");
        let folder = std::path::Path::new(manifest).parent().expect("a folder");
        if folder
            .parent()
            .is_none_or(|parent| parent != workspace::root().join("crates"))
        {
            continue;
        }
        let room = folder
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        assert!(
            ROOMS.iter().any(|(known, _)| *known == room),
            "crates/{room} is not in the table of rooms"
        );
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            found.push(Dependency {
                room: room.clone(),
                package: dependency["name"].as_str().expect("a name").to_owned(),
                dev: dependency["kind"] == "dev",
                optional: dependency["optional"] == true,
            });
        }
    }
    assert!(!found.is_empty(), "no crate was found");
    found
}

fn is_ours(package: &str) -> bool {
    package == "boswell" || package == "xtask" || package.starts_with("boswell-")
}

#[test]
fn crates_depend_only_on_the_rooms_below_them() {
    let wrong: Vec<String> = dependencies()
        .iter()
        .filter(|dependency| is_ours(&dependency.package))
        .filter(|dependency| {
            let (_, allowed) = ROOMS
                .iter()
                .find(|(room, _)| *room == dependency.room)
                .expect("checked above");
            let for_tests = dependency.dev && FOR_TESTS.contains(&dependency.package.as_str());
            !for_tests && !allowed.contains(&dependency.package.as_str())
        })
        .map(|dependency| {
            format!(
                "crates/{} may not depend on {}",
                dependency.room, dependency.package
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn libraries_do_without_what_would_weigh_on_those_who_embed_them() {
    let wrong: Vec<String> = dependencies()
        .iter()
        .filter(|dependency| !dependency.dev && !dependency.optional)
        .filter(|dependency| {
            let banned = BANNED.iter().find(|(room, _)| *room == dependency.room);
            banned.is_some_and(|(_, names)| names.contains(&dependency.package.as_str()))
        })
        .map(|dependency| {
            format!(
                "crates/{} may not depend on {}",
                dependency.room, dependency.package
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
