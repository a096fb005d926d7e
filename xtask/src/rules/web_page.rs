//! The page of the server: it is built from `web/`, asks no other machine, and makes no HTML.

use crate::{sources, web, workspace};

/// What would turn text of a session into markup or code, or leave the machine.
const FORBIDDEN: [&str; 10] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "eval(",
    "new Function",
    "javascript:",
    "dangerouslySetInnerHTML",
    "http://",
    "https://",
];

/// Namespaces and a pattern that look like addresses.
const NO_ADDRESS: [&str; 2] = ["http://www.w3.org/2000/svg", "^https?:"];

fn read(path: &str) -> String {
    std::fs::read_to_string(workspace::root().join(path)).unwrap_or_default()
}

#[test]
fn the_committed_page_is_built_from_its_source() {
    let built = read("crates/serve/dist/SOURCE");
    let now = web::source_hash().expect("the files of web/");
    assert_eq!(built, now, "web/ changed: run `cargo xtask web`");
    for name in web::FILES {
        let size = std::fs::metadata(web::dist().join(name)).expect(name).len();
        assert!(size > 100, "{name} is empty");
    }
}

#[test]
fn the_page_makes_no_markup_of_text_and_asks_no_other_machine() {
    let mut count = 0;
    for file in sources::all() {
        let name = file.to_string_lossy().replace('\\', "/");
        if !name.starts_with("web/src/") || name.ends_with("/shapes.ts") {
            continue;
        }
        let mut text = read(&name);
        for allowed in NO_ADDRESS {
            text = text.replace(allowed, "");
        }
        count += 1;
        for word in FORBIDDEN {
            assert!(!text.contains(word), "{name} contains {word}");
        }
    }
    assert!(count > 15, "the source of the page was not found");
    let page = read("crates/serve/dist/index.html");
    assert!(
        !page.contains("style=") && !page.contains("<style"),
        "inline styles"
    );
    assert!(!page.contains("http"), "{page}");
}

#[test]
fn both_languages_have_every_word() {
    let words = |language: &str| -> Vec<String> {
        let text = read(&format!("web/src/words/{language}.json"));
        let json: serde_json::Value = serde_json::from_str(&text).expect(language);
        let members = json.as_object().expect("an object");
        assert!(
            members
                .values()
                .all(|it| it.as_str().is_some_and(|it| !it.is_empty()))
        );
        let mut names: Vec<String> = members.keys().cloned().collect();
        names.sort();
        names
    };
    assert_eq!(words("en"), words("zh"));
}
