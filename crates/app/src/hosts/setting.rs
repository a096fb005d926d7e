//! `[[hosts]]` of the settings: other machines that have boswell.

use boswell_dialect::by_name;
use toml::{Table, Value};

/// The program that is started on a host, unless the settings name another.
const PROGRAM: &str = "boswell";
/// Words of a selection of hosts that no host can have as its name.
pub(crate) const ALL: &str = "all";
pub(crate) const HERE: &str = "local";

/// A machine that ssh reaches and that has boswell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The user's name for it.
    pub name: String,
    /// The destination as for ssh: `HOST` or `USER@HOST`.
    pub ssh: String,
    /// The program there: a name, an absolute path, or a path below `~/`.
    pub program: String,
    /// Further arguments of ssh, before the destination.
    pub options: Vec<String>,
    /// Whether lists show its sessions without being asked to.
    pub shown: bool,
}

impl Host {
    /// Returns the host of a destination that the settings do not name.
    pub(crate) fn of_destination(destination: &str) -> std::result::Result<Host, String> {
        destination_fits(destination)?;
        Ok(Host {
            name: destination.to_owned(),
            ssh: destination.to_owned(),
            program: PROGRAM.to_owned(),
            options: Vec::new(),
            shown: false,
        })
    }
}

/// Parses an item of `hosts`.
pub(crate) fn host(item: &Value) -> std::result::Result<Host, String> {
    let Value::Table(table) = item else {
        return Err("it is not a table with `name` and `ssh`".to_owned());
    };
    let known = ["name", "ssh", "program", "options", "shown"];
    if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!(
            "there is no `{}`; known are {}",
            key.escape_debug(),
            known.join(", ")
        ));
    }
    let name = text(table, "name")?.ok_or("`name` is missing")?;
    name_fits(&name)?;
    let ssh = text(table, "ssh")?.unwrap_or_else(|| name.clone());
    destination_fits(&ssh)?;
    let program = text(table, "program")?.unwrap_or_else(|| PROGRAM.to_owned());
    program_fits(&program)?;
    Ok(Host {
        options: options(table)?,
        shown: shown(table)?,
        name,
        ssh,
        program,
    })
}

/// The first item that cannot be used, with the reason.
pub(crate) fn all_fit(items: &[Value]) -> std::result::Result<(), (Option<usize>, String)> {
    let mut names: Vec<String> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let wrong = |why: String| (Some(at), format!("has an item that cannot be used: {why}"));
        let host = host(item).map_err(wrong)?;
        if names.contains(&host.name) {
            return Err(wrong(format!("two hosts have the name `{}`", host.name)));
        }
        names.push(host.name);
    }
    Ok(())
}

fn text(table: &Table, key: &str) -> std::result::Result<Option<String>, String> {
    match table.get(key) {
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` must be a text")),
        None => Ok(None),
    }
}

fn options(table: &Table) -> std::result::Result<Vec<String>, String> {
    let wrong = || "`options` must be a list of texts, such as [\"-p\", \"2222\"]".to_owned();
    let Some(value) = table.get("options") else {
        return Ok(Vec::new());
    };
    let items = value.as_array().ok_or_else(wrong)?;
    let mut words = Vec::new();
    for item in items {
        let word = item.as_str().ok_or_else(wrong)?;
        if word.is_empty() || word.chars().any(char::is_control) {
            return Err("a word of `options` is empty or has control characters".to_owned());
        }
        words.push(word.to_owned());
    }
    Ok(words)
}

fn shown(table: &Table) -> std::result::Result<bool, String> {
    match table.get("shown") {
        None => Ok(false),
        Some(Value::Boolean(shown)) => Ok(*shown),
        Some(_) => Err("`shown` must be true or false".to_owned()),
    }
}

/// A name is written before the `:` of a session, where an agent could be, or a drive of Windows.
fn name_fits(name: &str) -> std::result::Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !(2..=32).contains(&name.len()) || !begins || !name.chars().all(is_plain) {
        return Err(format!(
            "the name `{}` must have 2 to 32 letters, digits, dots, hyphens or underscores",
            name.escape_debug()
        ));
    }
    if name == ALL || name == HERE || by_name(name).is_some() {
        return Err(format!(
            "the name `{name}` means something else in the name of a session; choose another"
        ));
    }
    Ok(())
}

/// Refuses what ssh would take for an option, or a shell for more than one word.
pub(crate) fn destination_fits(destination: &str) -> std::result::Result<(), String> {
    let is_plain = |c: char| c.is_alphanumeric() || "@.-_:[]%".contains(c);
    let fits = !destination.is_empty()
        && !destination.starts_with('-')
        && destination.chars().all(is_plain);
    if fits {
        return Ok(());
    }
    Err(format!(
        "`{}` is not a destination of ssh; write HOST or USER@HOST",
        destination.escape_debug()
    ))
}

fn program_fits(program: &str) -> std::result::Result<(), String> {
    let fits = !program.is_empty()
        && !program.starts_with('-')
        && !program.chars().any(char::is_control)
        && (!program.starts_with('~') || program.starts_with("~/"));
    match fits {
        true => Ok(()),
        false => Err(format!(
            "the program `{}` must be a name, or a path that begins with `/` or `~/`",
            program.escape_debug()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> std::result::Result<Host, String> {
        let table: Table = text.parse().unwrap();
        host(&Value::Table(table))
    }

    #[test]
    fn a_name_alone_is_a_host() {
        let host = parsed("name = \"box\"").unwrap();
        assert_eq!(
            (host.ssh.as_str(), host.program.as_str()),
            ("box", "boswell")
        );
        assert!(!host.shown && host.options.is_empty());
        let host = parsed(
            "name = \"gpu\"\nssh = \"me@10.0.0.7\"\nprogram = \"~/bin/boswell\"\n\
             options = [\"-p\", \"2222\"]\nshown = true",
        )
        .unwrap();
        assert_eq!(host.options, ["-p", "2222"]);
        assert!(host.shown);
    }

    #[test]
    fn what_cannot_be_a_host_says_why() {
        for (text, why) in [
            ("ssh = \"box\"", "`name` is missing"),
            ("name = \"claude\"", "means something else"),
            ("name = \"all\"", "means something else"),
            ("name = \"a/b\"", "letters, digits"),
            ("name = \"..\"", "letters, digits"),
            (
                "name = \"box\"\nssh = \"-oProxyCommand=x\"",
                "destination of ssh",
            ),
            ("name = \"box\"\nssh = \"a b\"", "destination of ssh"),
            ("name = \"box\"\nprogram = \"~root/x\"", "must be a name"),
            ("name = \"box\"\noptions = \"-p 22\"", "list of texts"),
            ("name = \"box\"\nshown = 1", "true or false"),
            ("name = \"box\"\nport = 22", "there is no `port`"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let hosts: Table = "hosts = [{name = \"box\"}, {name = \"box\"}]"
            .parse()
            .unwrap();
        let (at, why) = all_fit(hosts["hosts"].as_array().unwrap()).unwrap_err();
        assert_eq!(at, Some(1));
        assert!(why.contains("two hosts"), "{why}");
    }
}
