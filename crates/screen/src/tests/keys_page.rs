//! `docs/screen.md` has the key table and the screens of this program. A run with `BOSWELL_BLESS=1`
//! writes them.

use crossterm::event::KeyCode;

use super::demo::Demo;
use crate::keys::{BINDINGS, of_place};
use crate::words::Language;

pub(super) fn blesses() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a test reads how it was called")]
    let value = std::env::var_os("BOSWELL_BLESS");
    value.is_some_and(|value| value == "1")
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/screen.md");

/// Replaces the part of the page between two markers.
fn with_part(page: &str, name: &str, part: &str) -> String {
    let begin = format!("<!-- {name} -->\n");
    let end = format!("<!-- end of {name} -->");
    let (before, rest) = page
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
    format!("{before}{begin}\n{}\n\n{end}{after}", part.trim_end())
}

#[test]
fn the_page_has_the_keys_and_the_screens_of_the_program() {
    let page = String::from_utf8(boswell_testkit::disk::read(PAGE.as_ref())).unwrap();
    let mut demo = Demo::open((120, 40));
    demo.search("coupon");
    super::screens::steady(&mut demo.state);
    let wide = format!("```text\n{}```", demo.screen());
    demo.press(KeyCode::Esc);
    demo.settle();
    demo.resize((80, 24));
    let narrow = format!("```text\n{}```", demo.screen());
    let mut expected = with_part(&page, "keys", &crate::key_table());
    expected = with_part(&expected, "screen at 120x40", &wide);
    expected = with_part(&expected, "screen at 80x24", &narrow);
    if blesses() {
        boswell_testkit::disk::write(PAGE.as_ref(), expected.as_bytes());
        return;
    }
    assert!(
        page == expected,
        "docs/screen.md is not current; run with BOSWELL_BLESS=1"
    );
}

#[test]
fn help_lists_every_key_of_its_place() {
    let mut demo = Demo::open((120, 100));
    demo.press(KeyCode::F(1));
    let screen = demo.screen();
    for binding in of_place(demo.state.place) {
        let does = Language::English.say(binding.does);
        assert!(screen.contains(does), "{does} in\n{screen}");
    }
}

#[test]
fn the_footer_has_words_of_the_table_only() {
    let demo = Demo::open((200, 40));
    let items = crate::layout::footer(&demo.state);
    assert!(items.len() >= 6, "{items:?}");
    for item in items.iter().skip(1) {
        let known = |it: &&crate::keys::Binding| {
            it.action == item.action && it.short.is_some_and(|short| short.0 == item.word)
        };
        assert!(BINDINGS.iter().any(|it| known(&it)), "{item:?}");
    }
}
