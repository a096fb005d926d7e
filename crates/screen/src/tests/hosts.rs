//! Sessions of hosts: rows from the mirror, and Enter.

use crossterm::event::KeyCode;

use super::demo::{Demo, Prepared};
use crate::ScreenExit;
use crate::state::Look;

/// A host that no connection is made to.
const SETTINGS: &str = r#"
[[hosts]]
name = "box"
ssh = "me@box.invalid"
options = ["-o", "ProxyCommand=false"]
shown = true
"#;

const MIRROR: &str = concat!(
    r#"{"v":1,"type":"mirror","ssh":"me@box.invalid","at":"2026-11-01T11:00:00.000Z"}"#,
    "\n",
    r#"{"v":1,"type":"session","ref":"claude:7f3a","name":"Far away","bytes":9,"messages":4,"#,
    r#""project":"/srv/far","last_active":"2026-11-01T10:00:00.000Z","host":"box","#,
    r#""resume":{"argv":["claude","--resume","7f3a"],"cwd":"/srv/far","env":{}}}"#,
    "\n",
);

#[test]
fn a_session_of_a_host_is_listed_and_resumed_by_ssh() {
    let prepared = Prepared {
        settings: SETTINGS,
        files: &[("hosts/box.jsonl", MIRROR)],
    };
    let mut demo = Demo::prepared((120, 40), Look::default(), &prepared);
    // That the host is not reached takes the place of the footer until a key is pressed.
    let is_said = |it: &String| it.contains("box");
    demo.wait("the warning", |state| {
        state.message.as_ref().is_some_and(is_said)
    });
    demo.press(KeyCode::Down);
    demo.select("Far away");
    let screen = demo.screen();
    assert!(screen.contains("box:claude"), "{screen}");
    let footer = screen.lines().last().unwrap();
    assert!(footer.contains("resume on box by ssh"), "{footer}");
    demo.press(KeyCode::Enter);
    let Some(ScreenExit::Resume(plan)) = demo.left() else {
        panic!("not resumed: {:?}", demo.terminal_asks);
    };
    assert_eq!(plan.host.as_deref(), Some("box"));
    assert_eq!(plan.argv[..2], ["ssh", "-t"]);
    let command = plan.argv.last().unwrap();
    assert!(
        command.contains("/srv/far") && command.contains("7f3a"),
        "{command}"
    );
}
