//! Help in groups, and shells that complete values.

use crate::bench::Bench;

#[test]
fn c8_the_first_page_has_at_most_sixteen_commands_and_global_options_apart() {
    let bench = Bench::new();
    let first = bench.run(["-h"]).ends(0).text();
    let commands = |text: &str| {
        let groups = text.split("Options:\n").next().unwrap();
        groups.lines().filter(|line| line.starts_with("  ")).count()
    };
    assert!((8..=16).contains(&commands(&first)), "{first}");
    let all = bench.run(["--help"]).ends(0).text();
    assert!(commands(&all) > 40, "{all}");
    assert!(all.contains("\nGlobal options:\n"), "{all}");
    let list = bench.run(["list", "--help"]).ends(0).text();
    let (own, global) = list.split_once("Global options:\n").unwrap();
    assert!(
        own.contains("--sort") && !own.contains("--no-pager"),
        "{list}"
    );
    assert!(
        global.contains("--no-pager") && !global.contains("--sort"),
        "{list}"
    );
}

#[test]
fn c8_shells_complete_the_values_of_options() {
    let bench = Bench::new();
    let id = bench.run(["new", "--project", "/w/shop"]).ends(0).text();
    bench.run(["append", id.trim(), "--user", "hi"]).ends(0);
    bench.run(["tag", id.trim(), "urgent"]).ends(0);
    for (what, value) in [
        ("agents", "claude"),
        ("projects", "/w/shop"),
        ("tags", "urgent"),
        ("fields", "prompts"),
    ] {
        let text = bench.run(["__complete", what]).ends(0).text();
        assert!(text.lines().any(|line| line == value), "{what}: {text}");
    }
    bench.run(["__complete", "models"]).ends(0);
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = bench.run(["completions", shell]).ends(0).text();
        assert!(script.contains("boswell"), "{shell}");
        for what in ["agents", "projects", "tags", "models", "fields"] {
            assert!(script.contains(what), "{shell} does not complete {what}");
        }
        assert!(
            script.contains("boswell __complete 2>"),
            "{shell}: sessions"
        );
    }
}

/// A completer that is registered twice would replace the first one.
#[test]
fn c8_powershell_completes_options_values_and_sessions_in_one_completer() {
    let bench = Bench::new();
    let script = bench.run(["completions", "powershell"]).ends(0).text();
    let registered = script.matches("Register-ArgumentCompleter").count();
    assert_eq!(registered, 1, "{script}");
    assert!(script.contains("$script:BoswellOptions = {"), "{script}");
    let (opened, closed) = (script.matches('{').count(), script.matches('}').count());
    assert_eq!(opened, closed, "{script}");
    // Where the shell is there, it reads the script without a complaint.
    let path = bench.plant("complete.ps1", script.as_bytes());
    let check = format!(
        "$e = $null; [void][System.Management.Automation.Language.Parser]::ParseFile('{}', [ref]$null, [ref]$e); $e.Count",
        path.display()
    );
    let shell = std::process::Command::new("pwsh")
        .args(["-NoProfile", "-Command", &check])
        .output();
    match shell {
        Ok(ran) => assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), "0"),
        Err(_) => eprintln!("SKIPPED: there is no PowerShell to parse the script"),
    }
}
