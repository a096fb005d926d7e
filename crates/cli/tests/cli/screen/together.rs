//! Several screens, an index and a purge at once.

use super::terminal::{Terminal, is_missing};

#[test]
fn purged_text_is_gone_from_every_open_view() {
    if is_missing() {
        return;
    }
    let mut terminal = Terminal::new("purge");
    terminal.open();
    terminal.text("coupon rounding");
    terminal.wait("▸  claude    Coupon rounding");
    terminal.press(&["Right"]);
    terminal.wait("takes 10.01 off");
    terminal.another_window();
    terminal.open();
    terminal.text("spring10_takes");
    terminal.wait("▸  claude    Coupon rounding");
    terminal.wait("100.05");
    // A line that quotes its title, the tree and the health of it.
    for (keys, shown) in [("F2", " New name "), ("F3", "‹ Tree"), ("F4", "‹ Health")] {
        terminal.another_window();
        terminal.open();
        terminal.text("coupon rounding");
        terminal.wait("▸  claude    Coupon rounding");
        terminal.press(&[keys]);
        terminal.wait(shown);
    }
    terminal.another_window();
    terminal.line("./try index >/dev/null & ./try delete 5ac5 --purge --apply; wait; echo EXIT $?");
    terminal.wait("EXIT 0");
    for window in 0..5 {
        terminal.choose_window(window);
        terminal.wait_for("no purged text", |screen| {
            let purged = ["10.01", "100.05", "Coupon", "SPRING10", "coupon.rs"];
            !purged.iter().any(|it| screen.contains(it))
        });
    }
    // All screens still work, and know the sessions that are left.
    for window in 0..5 {
        terminal.choose_window(window);
        terminal.press(&["C-u"]);
        terminal.text("websocket");
        terminal.wait("▸  pi        Flaky websocket test");
        terminal.press(&["C-q"]);
        terminal.wait("EXIT 0");
    }
}
