//! Texts around a credential, and the forms that a text takes inside JSON.

use super::Credential;

/// A context in which a credential is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surrounding {
    /// Name for messages.
    pub name: &'static str,
    before: &'static str,
    after: &'static str,
    /// Only for credentials that other letters may follow without a gap.
    joins: bool,
}

const fn apart(name: &'static str, before: &'static str, after: &'static str) -> Surrounding {
    Surrounding {
        name,
        before,
        after,
        joins: false,
    }
}

const fn joined(name: &'static str, before: &'static str, after: &'static str) -> Surrounding {
    Surrounding {
        name,
        before,
        after,
        joins: true,
    }
}

/// All contexts.
const AROUND: &[Surrounding] = &[
    apart("nothing", "", ""),
    apart("a sentence", "look at ", " and go on"),
    apart("lines", "first\n", "\nlast\n"),
    apart("windows lines", "first\r\n", "\r\nlast"),
    apart("tabs", "name\t", "\tnext"),
    apart("a fence", "```sh\n", "\n```\n"),
    apart("chinese words", "会话 ", " 然后"),
    joined("chinese text", "会话", "。然后"),
    joined("double quotes", "see \"", "\", then"),
    joined("single quotes", "see '", "', then"),
    joined("backticks", "see `", "` then"),
    joined("brackets", "(", ")"),
    joined("a sentence's end", "it was ", "."),
    joined("a comma", "a,", ",b"),
    joined("an address", "https://example.org/a/", "/b?c=d"),
    joined("a query", "https://example.org/a?x=", "&y=1"),
    joined("a path", "/home/bob/", "/notes.txt"),
    joined("a file name", "dump-", ".json"),
    joined("a variable", "export KEY=", "\n"),
    joined("a tag", "<b>", "</b>"),
    joined("letters behind", "x ", "zz9"),
    joined("an underscore behind", "x ", "_old"),
    joined("an emoji", "🔑", "🔑"),
];

/// Returns a credential in every context that leaves it complete: the name of the context, and the
/// text.
pub fn around(credential: &Credential) -> Vec<(&'static str, String)> {
    let fits = |it: &&Surrounding| credential.joins || !it.joins;
    AROUND
        .iter()
        .filter(fits)
        .map(|it| {
            (
                it.name,
                format!("{}{}{}", it.before, credential.text, it.after),
            )
        })
        .collect()
}

/// Returns a text as it occurs in files: raw, in JSON, in JSON inside JSON, and with letters as
/// `\u` escapes.
pub fn escaped(text: &str) -> Vec<(&'static str, String)> {
    let json = |text: &str| serde_json::Value::from(text).to_string();
    let once = json(text);
    let twice = json(&format!("{{\"input\":{once}}}"));
    let thrice = json(&twice);
    let letters = numbered(text, |at| at % 3 == 0);
    let all = numbered(text, |_| true);
    let in_json = json(&format!("{{\"input\":\"{all}\"}}"));
    let slashes = once.replace('/', "\\/");
    vec![
        ("raw", text.to_owned()),
        ("json", once),
        ("json in json", twice),
        ("json in json in json", thrice),
        ("some letters as numbers", format!("\"{letters}\"")),
        ("all letters as numbers", format!("\"{all}\"")),
        ("numbers in json in json", in_json),
        ("escaped slashes", slashes),
    ]
}

/// Writes characters as `\u0067`; characters that JSON must escape are always escaped.
fn numbered(text: &str, which: impl Fn(usize) -> bool) -> String {
    let number = |unit: &u16| format!("\\u{unit:04x}");
    let one = |(at, c): (usize, char)| {
        let plain = !which(at) && !c.is_control() && c != '"' && c != '\\';
        if plain {
            c.to_string()
        } else {
            c.encode_utf16(&mut [0; 2]).iter().map(number).collect()
        }
    };
    text.chars().enumerate().map(one).collect()
}
