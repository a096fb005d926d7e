//! Resumes a session on its host: the agent's own command, in its folder, on a terminal of ssh.

use boswell_dialect::Permissions;
use boswell_model::json::Raw;
use boswell_model::{Error, ErrorKind, Result, SessionRef, shell_literal};

use super::lines::{LineCutter, is_of_type, succeeded};
use super::row::CommandThere;
use super::setting::Host;
use super::ssh::{self, Call, Limits};
use crate::RequestContext;
use crate::resume::ResumePlan;

/// A longer line is no command.
const LONGEST: usize = 1 << 20;

/// Returns the command that resumes a session on a host.
pub(crate) fn plan(
    cx: &RequestContext,
    (host, session): (&Host, &str),
    permissions: Permissions,
) -> Result<ResumePlan> {
    // A face that stays asks for every session that the user passes over.
    let known = (!cx.exits_soon && permissions == Permissions::Asked)
        .then(|| mirrored(cx, host, session))
        .flatten();
    let command = match known {
        Some(command) => command,
        None => asked(host, session, permissions)?,
    };
    let argv = ssh::interactive(host, &remote_command(&command));
    let (dialect, id) = session
        .split_once(':')
        .unwrap_or((host.name.as_str(), session));
    Ok(ResumePlan::on_host(
        host.name.clone(),
        SessionRef::new(dialect, id),
        argv,
    ))
}

/// The command as the mirror has it; an error of the mirror is one of the host then.
fn mirrored(cx: &RequestContext, host: &Host, session: &str) -> Option<CommandThere> {
    let rows = cx.mirror(host)?.rows;
    let row = rows
        .into_iter()
        .find(|row| row.reference.to_string() == session);
    row?.resume
}

/// Asks the host for the command.
fn asked(host: &Host, session: &str, permissions: Permissions) -> Result<CommandThere> {
    let mut words = vec![
        "--json".to_owned(),
        "resume".to_owned(),
        "--print".to_owned(),
    ];
    if permissions == Permissions::Same {
        words.push("--same-permissions".to_owned());
    }
    words.extend(["--".to_owned(), session.to_owned()]);
    let call = Call {
        words: &words,
        columns: None,
        limits: Limits::SHORT,
    };
    let mut cutter = LineCutter::new(host).up_to(LONGEST);
    let mut command = None;
    let ended = ssh::run(host, &call, &mut |piece| {
        cutter.add(piece, &mut |line| {
            if is_of_type(line, "resume") {
                let parsed = Raw::parse(line.trim_ascii()).ok();
                command = parsed.and_then(|it| CommandThere::parse(&it));
            }
            Ok(true)
        })
    })?;
    succeeded(host, &ended, &[0])?;
    command.ok_or_else(|| {
        let what = format!("{} named no command that resumes the session", host.name);
        Error::new(ErrorKind::Unavailable, what)
            .advising(format!("update boswell on {}", host.name))
    })
}

/// Returns the command for the host's shell. It goes through a login shell, because only that one
/// knows where agents are installed.
fn remote_command(command: &CommandThere) -> String {
    let mut inner = String::new();
    if let Some(cwd) = &command.cwd {
        inner.push_str(&format!("cd -- {} && ", shell_literal(cwd)));
    }
    inner.push_str("exec ");
    if !command.env.is_empty() {
        inner.push_str("env ");
        let unset = command.env.iter().filter(|(_, value)| value.is_none());
        unset.for_each(|(name, _)| inner.push_str(&format!("-u {name} ")));
        for (name, value) in &command.env {
            if let Some(value) = value {
                inner.push_str(&format!("{name}={} ", shell_literal(value)));
            }
        }
    }
    let words: Vec<String> = command
        .argv
        .iter()
        .map(|word| shell_literal(word))
        .collect();
    inner.push_str(&words.join(" "));
    format!(
        "exec sh -c 'exec \"${{SHELL:-sh}}\" -lc \"$0\"' {}",
        shell_literal(&inner)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_session_is_read_by_a_shell() {
        let command = CommandThere {
            argv: vec!["claude".to_owned(), "a'b; $(x)".to_owned()],
            cwd: Some("/w/it's".to_owned()),
            env: vec![
                ("A".to_owned(), None),
                ("B".to_owned(), Some("c d".to_owned())),
            ],
        };
        let outer = remote_command(&command);
        let run = std::process::Command::new("sh")
            .args(["-c", &outer.replace("-lc", "-c")])
            .env("SHELL", "/bin/echo")
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&run.stdout),
            "-c cd -- '/w/it'\\''s' && exec env -u A B='c d' 'claude' 'a'\\''b; $(x)'\n"
        );
    }
}
