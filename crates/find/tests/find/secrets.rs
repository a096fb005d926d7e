//! Every kind of secret is found in every context, and nothing else is.

use boswell_find::Secrets;
use boswell_testkit::credential::{self, Credential};
use boswell_testkit::{Rng, corpus, disk};
use serde_json::Value;

/// Decodes every level of JSON around a text; `None` if the rest is not valid JSON.
fn unwrapped(form: &str, text: &str) -> Option<String> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    let string = |text: &str| parse(text)?.as_str().map(str::to_owned);
    let input = |text: &str| parse(text)?["input"].as_str().map(str::to_owned);
    match form {
        "raw" => Some(text.to_owned()),
        "json in json" | "numbers in json in json" => input(&string(text)?),
        "json in json in json" => input(&string(&string(text)?)?),
        _ => string(text),
    }
}

fn check(secrets: &Secrets, credential: &Credential, missed: &mut Vec<String>) -> usize {
    let mut asked = 0;
    for (around, text) in credential::around(credential) {
        for (form, text) in credential::escaped(&text) {
            asked += 1;
            let redacted = secrets.redact(&text);
            let clean =
                |left: &String| !left.contains(&credential.secret) && left.contains(" removed]");
            if !unwrapped(form, &redacted).is_some_and(|left| clean(&left)) {
                missed.push(format!(
                    "{} in {around}, {form}: {text} -> {redacted}",
                    credential.issuer
                ));
            }
        }
    }
    asked
}

#[test]
fn every_kind_of_credential_is_removed_from_every_surrounding_and_form() {
    let secrets = Secrets::new().unwrap();
    let (mut asked, mut missed) = (0, Vec::new());
    for seed in 0..3 {
        let mut rng = Rng::for_part(seed, "credentials");
        for credential in credential::all(&mut rng) {
            asked += check(&secrets, &credential, &mut missed);
        }
    }
    assert!(asked > 50_000, "only {asked} were asked for");
    let some: Vec<&String> = missed.iter().take(20).collect();
    assert!(
        missed.is_empty(),
        "missed {} of {asked}: {some:#?}",
        missed.len()
    );
}

/// Strings of real files that look like a secret, and why they are not.
const PINNED: &[(&str, &str)] = &[];

#[test]
fn real_sessions_give_no_false_alarm() {
    let secrets = Secrets::new().unwrap();
    for variable in [corpus::CORPUS, corpus::CAPTURES] {
        let Some(folder) = corpus::require_or_skip(variable) else {
            return;
        };
        for path in corpus::files(&folder) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = disk::read(&path);
            for secret in secrets.find(&text) {
                let pinned = PINNED
                    .iter()
                    .any(|(file, kind)| *file == name && *kind == secret.kind);
                let from = secret.range.start.saturating_sub(60);
                let around = String::from_utf8_lossy(&text[from..secret.range.start]);
                assert!(
                    pinned,
                    "{name}: {} {} behind {around}",
                    secret.kind,
                    secret.masked(&text)
                );
            }
        }
    }
}
