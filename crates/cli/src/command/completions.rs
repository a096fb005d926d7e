//! `completions`: scripts for shells, with live sessions.

use std::process::ExitCode;

use boswell_app::list::ListRequest;
use boswell_app::offers::OfferedValues;
use boswell_model::Result;
use clap::Args;
use clap_complete::Shell;

use crate::app::App;
use crate::output::Output;
use crate::terminal::{cut, one_line};

/// How many sessions a shell is offered.
const OFFERED: usize = 200;
/// Commands whose first argument is a session.
const OF_A_SESSION: &str = "show tree context attachments files export resume append branch rewind fork rename tag untag label \
                            status close checkout delete check stats watch";

/// Print shell completions, which also complete session ids
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell completions bash > ~/.local/share/bash-completion/completions/boswell
  boswell completions fish > ~/.config/fish/completions/boswell.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Known,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Known {
    Bash,
    Zsh,
    Fish,
    #[value(name = "powershell")]
    PowerShell,
}

/// Prints live sessions or values for the scripts.
#[derive(Debug, Args)]
pub(crate) struct OfferArgs {
    /// What is completed; sessions without it
    what: Option<WhatArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum WhatArg {
    Agents,
    Projects,
    Tags,
    Models,
    Fields,
}

impl From<WhatArg> for OfferedValues {
    fn from(what: WhatArg) -> OfferedValues {
        match what {
            WhatArg::Agents => OfferedValues::Agents,
            WhatArg::Projects => OfferedValues::Projects,
            WhatArg::Tags => OfferedValues::Tags,
            WhatArg::Models => OfferedValues::Models,
            WhatArg::Fields => OfferedValues::Fields,
        }
    }
}

/// Options whose values are completed, and what they are.
const VALUES: [(&str, &str); 5] = [
    ("agent", "agents"),
    ("project", "projects"),
    ("tag", "tags"),
    ("model", "models"),
    ("in", "fields"),
];

/// Runs `completions`.
pub(crate) fn run(app: &App, args: &CompletionsArgs) -> Result<ExitCode> {
    let mut command = crate::parse::whole();
    let shell = match args.shell {
        Known::Bash => Shell::Bash,
        Known::Zsh => Shell::Zsh,
        Known::Fish => Shell::Fish,
        Known::PowerShell => Shell::PowerShell,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "boswell", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let mut out = Output::paged(app);
    out.bytes(live(args.shell, script).as_bytes())?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Adds live sessions and values to what the options give.
fn live(shell: Known, script: String) -> String {
    match shell {
        Known::Bash => bash(&script),
        Known::Zsh => zsh(&script),
        Known::Fish => fish(&script),
        Known::PowerShell => powershell(&script),
    }
}

fn bash(script: &str) -> String {
    let value = |(option, what): &(&str, &str)| {
        format!(
            "        --{option}) COMPREPLY=($(compgen -W \"$(boswell __complete {what} 2>/dev/null)\" -- \"$word\")); return ;;\n"
        )
    };
    let values: String = VALUES.iter().map(value).collect();
    format!(
        "{script}\n_boswell_live() {{\n    _boswell \"$@\"\n    local word=\"${{COMP_WORDS[COMP_CWORD]}}\"\n    case \"${{COMP_WORDS[COMP_CWORD-1]}}\" in\n{values}    esac\n    case \" {OF_A_SESSION} \" in\n        *\" ${{COMP_WORDS[1]}} \"*)\n            [[ $word == -* ]] || COMPREPLY+=($(compgen -W \"$(boswell __complete 2>/dev/null | cut -f1)\" -- \"$word\"))\n            ;;\n    esac\n}}\ncomplete -F _boswell_live -o bashdefault -o default boswell\n"
    )
}

fn zsh(script: &str) -> String {
    let line = |line: &str| {
        let start = line.trim_start();
        if start.starts_with("':session") || start.starts_with("'::session") {
            return line.replace(":_default'", ":_boswell_sessions'");
        }
        let value = VALUES.iter().find(|(option, _)| {
            start.contains(&format!("'--{option}=")) || start.contains(&format!("*--{option}="))
        });
        match value {
            Some((_, what)) => line.replace(":_default'", &format!(":{{_boswell_values {what}}}'")),
            None => line.to_owned(),
        }
    };
    let text: Vec<String> = script.lines().map(line).collect();
    let functions = "_boswell_sessions() {\n    local -a found\n    found=(${(f)\"$(boswell __complete 2>/dev/null | sed 's/:/\\\\:/g; s/\\t/:/')\"})\n    _describe 'session' found\n}\n_boswell_values() {\n    local -a found\n    found=(${(f)\"$(boswell __complete $1 2>/dev/null)\"})\n    compadd -a found\n}\n";
    let (first, rest) = text
        .split_first()
        .map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    format!("{first}\n\n{functions}{}\n", rest.join("\n"))
}

fn fish(script: &str) -> String {
    let value = |(option, what): &(&str, &str)| {
        format!("complete -c boswell -l {option} -x -a '(boswell __complete {what} 2>/dev/null)'\n")
    };
    let values: String = VALUES.iter().map(value).collect();
    format!(
        "{script}{values}complete -c boswell -n '__fish_seen_subcommand_from {OF_A_SESSION}' -f -a '(boswell __complete 2>/dev/null)'\n"
    )
}

/// PowerShell has one completer for each program, so the generated one becomes a function that ours
/// asks where no value is to be completed.
fn powershell(script: &str) -> String {
    let registers = "Register-ArgumentCompleter -Native -CommandName 'boswell' -ScriptBlock {";
    let asked = "$script:BoswellOptions = {";
    let values: String = VALUES
        .iter()
        .map(|(option, what)| format!("        '--{option}' {{ '{what}' }}\n"))
        .collect();
    format!(
        "{}\n{registers}
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | ForEach-Object {{ $_.ToString() }})
    $typed = $words.Count
    if ($wordToComplete -ne '') {{ $typed -= 1 }}
    $previous = if ($typed -gt 0) {{ $words[$typed - 1] }} else {{ '' }}
    $what = switch ($previous) {{
{values}        default {{ '' }}
    }}
    if ($what -ne '') {{
        return boswell __complete $what 2>$null |
            Where-Object {{ $_ -like \"$wordToComplete*\" }} |
            ForEach-Object {{ [System.Management.Automation.CompletionResult]::new($_) }}
    }}
    & $script:BoswellOptions $wordToComplete $commandAst $cursorPosition
    $ofSession = '{OF_A_SESSION}' -split '\\s+'
    if ($words.Count -gt 1 -and $ofSession -contains $words[1] -and $wordToComplete -notlike '-*') {{
        boswell __complete 2>$null | ForEach-Object {{ ($_ -split \"`t\")[0] }} |
            Where-Object {{ $_ -like \"$wordToComplete*\" }} |
            ForEach-Object {{ [System.Management.Automation.CompletionResult]::new($_) }}
    }}
}}\n",
        script.replace(registers, asked)
    )
}

/// Runs the hidden command behind the scripts: an id and a name a line, last active first. What
/// could not be looked at is not reported, for it would appear on the line that is being typed.
pub(crate) fn offer(app: &App, args: &OfferArgs) -> Result<ExitCode> {
    if let Some(what) = args.what {
        let values = app.requests.offered_values(what.into());
        let values = values.map_err(|it| it.error)?.value;
        let mut out = Output::plain(app);
        for value in values {
            out.line(&one_line(&value))?;
        }
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let request = ListRequest {
        limit: Some(OFFERED),
        ..ListRequest::default()
    };
    let page = app.requests.list(&request).map_err(|it| it.error)?.value;
    let mut out = Output::plain(app);
    for row in &page.rows {
        let summary = &row.conversation.front.1;
        out.line(&format!(
            "{}\t{}",
            one_line(&summary.reference.id),
            cut(&one_line(&summary.name()), 60)
        ))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
