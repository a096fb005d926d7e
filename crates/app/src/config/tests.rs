//! Valid and invalid settings files.

use super::*;

fn parse(text: &str) -> Result<Config> {
    Config::parse(PathBuf::from("c.toml"), text)
}

#[test]
fn settings_are_read_by_name() {
    let config =
        parse("idle = \"2h\"\nstores = [\"pi=/x\"]\n[retention]\ndeleted = \"never\"\n[prices.\"m-1\"]\ninput = 3")
            .unwrap();
    assert_eq!(config.span("idle"), Some(Duration::from_secs(7200)));
    assert_eq!(
        config.stores()[0],
        AddedStore {
            dialect: "pi".into(),
            path: "/x".into(),
            label: None
        }
    );
    assert_eq!(config.span("retention.deleted"), None);
    assert_eq!(
        config.span("retention.before"),
        Some(Duration::from_secs(90 * 86400))
    );
    assert!(config.get("prices").is_some());
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let why = |text: &str| {
        parse(text)
            .unwrap_err()
            .reason()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(
        why("a = 1\nidle = [").starts_with("line 2"),
        "{}",
        why("a = 1\nidle = [")
    );
    assert_eq!(why("idel = \"1h\""), "line 1: there is no setting `idel`");
    assert_eq!(
        why("[retention]\nold = \"1d\""),
        "line 2: there is no setting `retention.old`"
    );
    assert!(why("idle = 5").contains("must be like `idle = \"30d\"`"));
    assert!(why("color = \"red\"").contains("is none of auto, always, never"));
}

#[test]
fn added_stores_are_read_and_a_wrong_one_is_named_with_its_line() {
    let config = parse(
        "[[stores]]\ndialect = \"claude\"\npath = \"~/.claude-work\"\nlabel = \"work\"\n\n[[stores]]\ndialect = \"pi\"\npath = \"/srv/pi\"\n",
    )
    .unwrap();
    let labels: Vec<Option<String>> = config
        .stores()
        .into_iter()
        .map(|store| store.label)
        .collect();
    assert_eq!(labels, [Some("work".to_owned()), None]);
    let why = |text: &str| {
        parse(text)
            .unwrap_err()
            .reason()
            .unwrap_or_default()
            .to_owned()
    };
    let second = |table: &str| {
        why(&format!(
            "[[stores]]\ndialect = \"pi\"\npath = \"/x\"\n[[stores]]\n{table}"
        ))
    };
    assert_eq!(
        second("path = \"/y\""),
        "line 4: `stores` has an item that cannot be used: `dialect` is missing"
    );
    assert!(
        second("dialect = \"netscape\"\npath = \"/y\"")
            .contains("there is no dialect `netscape`; known are")
    );
    assert!(second("dialect = \"pi\"\npath = \"y\"").contains("must begin with `/` or `~/`"));
    assert!(
        second("dialect = \"pi\"\npath = \"/y\"\nlable = \"z\"").contains("there is no `lable`")
    );
    assert!(second("dialect = \"pi\"\npath = \"/y\"\nlabel = \"\"").contains("1 to 32"));
    assert!(why("stores = [\"pi=/x\", 3]").starts_with("line 1: `stores` has an item"));
    assert!(why("stores = \"pi=/x\"").contains("must be like `[[stores]]"));
}

#[test]
fn every_default_fits_its_own_setting() {
    for setting in SETTINGS
        .iter()
        .filter(|it| it.kind == Kind::Span && it.default != "never")
    {
        assert!(time::span(setting.default).is_ok(), "{}", setting.key);
    }
}

#[test]
fn names_of_inner_tables_are_joined_and_other_values_are_refused() {
    let text = "[screen]\nenter = \"read\"\n[screen.keys.finder]\nfork = [\"F7\", \"ctrl-f\"]\n\
                [screen.theme]\nuser = \"blue\"\n";
    let config = Config::parse(PathBuf::from("config.toml"), text).unwrap();
    let words = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        config.names("screen.keys"),
        [("finder.fork".to_owned(), words(&["F7", "ctrl-f"]))]
    );
    assert_eq!(
        config.names("screen.theme"),
        [("user".to_owned(), words(&["blue"]))]
    );
    assert!(config.names("prices").is_empty());
    let wrong = Config::parse(
        PathBuf::from("config.toml"),
        "[screen.keys.finder]\nfork = 7\n",
    );
    assert!(wrong.unwrap_err().to_string().contains("config.toml"));
}
