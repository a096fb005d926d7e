//! `init`: a key binding for a shell that opens the screen.

use std::process::ExitCode;

use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::output::Output;

/// Print a shell key binding that opens the screen
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell init zsh     in ~/.zshrc: eval \"$(boswell init zsh)\"
  boswell init fish    in config.fish: boswell init fish | source")]
pub(crate) struct InitArgs {
    /// The shell
    #[arg(value_enum)]
    shell: InitShell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum InitShell {
    Bash,
    Zsh,
    Fish,
}

const BASH: &str = r#"_boswell_pick() {
    local picked
    picked=$(boswell pick --print </dev/tty) || return
    READLINE_LINE=$(boswell resume --print -- "$picked")
    READLINE_POINT=${#READLINE_LINE}
}
bind -x '"\C-g": _boswell_pick'
"#;

const ZSH: &str = r#"_boswell_pick() {
    local picked
    picked=$(boswell pick --print </dev/tty)
    if [[ -n $picked ]]; then
        BUFFER=$(boswell resume --print -- "$picked")
        CURSOR=${#BUFFER}
    fi
    zle reset-prompt
}
zle -N _boswell_pick
bindkey '^G' _boswell_pick
"#;

const FISH: &str = r#"function _boswell_pick
    set -l picked (boswell pick --print </dev/tty)
    if test -n "$picked"
        commandline --replace (boswell resume --print -- $picked)
    end
    commandline --function repaint
end
bind \cg _boswell_pick
"#;

/// Runs the command.
pub(crate) fn run(app: &App, args: &InitArgs) -> Result<ExitCode> {
    let script = match args.shell {
        InitShell::Bash => BASH,
        InitShell::Zsh => ZSH,
        InitShell::Fish => FISH,
    };
    let mut out = Output::paged(app);
    out.bytes(script.as_bytes())?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
