//! Classifies values: random strings, words, code, or placeholders.

/// Returns the Shannon entropy in bits per byte.
pub(super) fn bits(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    bytes
        .iter()
        .for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = bytes.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|p| -p * p.log2())
        .sum()
}

/// Returns whether a word can begin at `at`: not inside a longer word, but directly after an escape
/// such as `\n`, at any depth of escaping.
pub(super) fn begins_a_word(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| text.get(before)) else {
        return true;
    };
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    let slash =
        |back: usize| at.checked_sub(back).and_then(|place| text.get(place)) == Some(&b'\\');
    if matches!(before, b'n' | b'r' | b't' | b'b' | b'f') && slash(2) {
        return true;
    }
    let escape = at.checked_sub(5).and_then(|from| text.get(from..at));
    slash(6)
        && escape
            .is_some_and(|it| it.starts_with(b"u") && it.iter().skip(1).all(u8::is_ascii_hexdigit))
}

/// Upper-case texts that examples contain and real keys do not by chance.
const FILLERS: [&str; 10] = [
    "XXXXXX",
    "YOUR_",
    "YOUR-",
    "PLACEHOLDER",
    "......",
    "REDACTED",
    "******",
    "EXAMPLE",
    "000000000000",
    "REMOVED]",
];

/// Returns whether a value of a known form is a placeholder.
pub(super) fn is_filler(bytes: &[u8]) -> bool {
    let upper = bytes.to_ascii_uppercase();
    FILLERS
        .iter()
        .any(|word| memchr::memmem::find(&upper, word.as_bytes()).is_some())
}

/// Lower-case texts that mark a value as an example, a reference or a message.
const REFERENCES: [&str; 30] = [
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "change_this",
    "redacted",
    "removed]",
    "dummy",
    "sample",
    "insert",
    "replace",
    "xxxxx",
    "****",
    "...",
    "…",
    "•••",
    "process.env",
    "environ",
    "getenv",
    "secrets.",
    "config.",
    "settings.",
    "not-set",
    "not_set",
    "not set",
    "undefined",
    "-here",
    "_here",
    "23456789",
];

/// As [`REFERENCES`], but short enough to occur in keys by chance: they count only at the start of
/// a word.
const SHORT_REFERENCES: [&str; 4] = ["your", "fake", "mock", "env."];

/// Values that are words of code, of forms or of documentation rather than secrets.
const WORDS: [&str; 76] = [
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "secrets",
    "token",
    "key",
    "apikey",
    "api_key",
    "api-key",
    "string",
    "str",
    "text",
    "true",
    "false",
    "null",
    "none",
    "nil",
    "empty",
    "required",
    "optional",
    "hidden",
    "default",
    "value",
    "admin",
    "root",
    "user",
    "username",
    "postgres",
    "mysql",
    "guest",
    "test",
    "testing",
    "public",
    "private",
    "bearer",
    "basic",
    "oauth",
    "oauth2",
    "jwt",
    "boolean",
    "number",
    "object",
    "any",
    "int",
    "bytes",
    "missing",
    "invalid",
    "incorrect",
    "wrong",
    "valid",
    "unknown",
    "disabled",
    "enabled",
    "auto",
    "input",
    "field",
    "header",
    "cookie",
    "session",
    "local",
    "localhost",
    "file",
    "keyring",
    "keychain",
    "vault",
    "prompt",
    "manual",
    "option",
    "type",
    "foo",
    "bar",
    "baz",
    "foobar",
];

/// Returns whether a value is a generic word.
pub(super) fn is_word(bytes: &[u8]) -> bool {
    let lower = bytes.to_ascii_lowercase();
    WORDS.iter().any(|word| word.as_bytes() == lower)
}

/// Returns whether a value is a reference to the real one or a placeholder.
pub(super) fn is_reference(bytes: &[u8]) -> bool {
    let lower = bytes.to_ascii_lowercase();
    let has = |part: &[u8]| memchr::memmem::find(&lower, part).is_some();
    let framed = |open: u8, close: u8| lower.first() == Some(&open) && lower.last() == Some(&close);
    is_word(bytes)
        || one_letter(bytes)
        || is_variable(bytes)
        || framed(b'<', b'>')
        || framed(b'{', b'}')
        || framed(b'[', b']')
        || framed(b'%', b'%')
        || [&b"${"[..], b"$(", b"{{", b"}}", b"<%", b"%(", b"%s", b"#{"]
            .iter()
            .any(|part| has(part))
        || REFERENCES.iter().any(|word| has(word.as_bytes()))
        || SHORT_REFERENCES.iter().any(|word| {
            memchr::memmem::find_iter(&lower, word.as_bytes()).any(|at| begins_a_word(&lower, at))
        })
}

/// `****`, `xxxxxx`, `------`: at most two different bytes.
fn one_letter(bytes: &[u8]) -> bool {
    if bytes.len() < 4 {
        return false;
    }
    let first = bytes.first();
    let others = bytes.iter().filter(|byte| Some(*byte) != first);
    let second = others.clone().next();
    others.clone().all(|byte| Some(byte) == second)
}

/// `$NAME`, `$name`, `$1`, `$env:NAME`.
fn is_variable(bytes: &[u8]) -> bool {
    let Some(name) = bytes.strip_prefix(b"$") else {
        return false;
    };
    let all = |fits: fn(&u8) -> bool| name.iter().all(|byte| fits(byte) || *byte == b'_');
    name.starts_with(b"env:")
        || all(u8::is_ascii_uppercase)
        || all(u8::is_ascii_lowercase)
        || name.iter().all(u8::is_ascii_digit)
        || (name
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
            && name.contains(&b'_'))
}

/// Counts that distinguish words from passwords and keys.
#[derive(Debug)]
pub(super) struct Letters {
    pub(super) digits: usize,
    pub(super) upper: usize,
    pub(super) lower: usize,
    /// Signs that passwords have and identifiers do not.
    pub(super) signs: usize,
    pub(super) spaces: usize,
    /// Bytes that are not ASCII.
    pub(super) foreign: usize,
}

impl Letters {
    pub(super) fn of(bytes: &[u8]) -> Letters {
        let count = |fits: fn(&u8) -> bool| bytes.iter().filter(|byte| fits(byte)).count();
        Letters {
            digits: count(u8::is_ascii_digit),
            upper: count(u8::is_ascii_uppercase),
            lower: count(u8::is_ascii_lowercase),
            signs: count(|b| b"!@#%^*+~?&$=|".contains(b)),
            spaces: count(u8::is_ascii_whitespace),
            foreign: count(|b| !b.is_ascii()),
        }
    }

    pub(super) fn letters(&self) -> usize {
        self.upper + self.lower
    }
}

/// Returns whether a value is a path, an address, a file, a call or an identifier.
pub(super) fn is_code(bytes: &[u8]) -> bool {
    let starts = |part: &[u8]| bytes.starts_with(part);
    let slashes = bytes.iter().filter(|byte| **byte == b'/').count();
    let path = starts(b"/") && slashes > 1 || starts(b"./") || starts(b"../") || starts(b"~/");
    let address = memchr::memmem::find(bytes, b"://").is_some();
    // A call or an index: `read(`, `parts[`.
    let call = bytes.windows(2).any(
        |pair| matches!(pair, [name, b'(' | b'['] if name.is_ascii_alphanumeric() || *name == b'_'),
    );
    path || address || call || is_file(bytes) || is_dotted(bytes) || is_constant(bytes)
}

fn is_file(bytes: &[u8]) -> bool {
    const ENDS: [&str; 16] = [
        ".pem", ".key", ".json", ".txt", ".yaml", ".yml", ".env", ".crt", ".pub", ".ts", ".js",
        ".py", ".rs", ".md", ".toml", ".html",
    ];
    let lower = bytes.to_ascii_lowercase();
    ENDS.iter().any(|end| lower.ends_with(end.as_bytes()))
}

/// `settings.DB_PASSWORD_2`, `self.token1`, `crypto::Secret`: names joined by dots.
fn is_dotted(bytes: &[u8]) -> bool {
    let name = |part: &[u8]| {
        part.first()
            .is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
            && part.iter().all(|b| {
                b.is_ascii_alphanumeric() || matches!(b, b'_' | b'[' | b']' | b'?' | b'!' | b':')
            })
            && (part.len() < 12 || bits(part) < 3.6 || is_camel_case(part))
    };
    let parts: Vec<&[u8]> = bytes.split(|byte| *byte == b'.').collect();
    let joined = parts.len() > 1 && parts.iter().all(|part| name(part));
    joined
        || memchr::memmem::find(bytes, b"::").is_some()
        || memchr::memmem::find(bytes, b"->").is_some()
}

/// `DB_PASSWORD`, `OPENAI_API_KEY_2`: the name of a variable.
fn is_constant(bytes: &[u8]) -> bool {
    let parts = bytes
        .split(|byte| *byte == b'_')
        .filter(|part| !part.is_empty());
    let words = parts
        .clone()
        .filter(|part| part.iter().all(u8::is_ascii_uppercase))
        .count();
    bytes.contains(&b'_')
        && bytes
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
        && words * 2 >= parts.count()
}

/// Returns whether a value contains the name of what it is, such as `current-password` or
/// `newToken2`.
pub(super) fn names_itself(bytes: &[u8]) -> bool {
    let lower = bytes.to_ascii_lowercase();
    [
        "passw",
        "secret",
        "token",
        "apikey",
        "api_key",
        "api-key",
        "credential",
        "auth",
    ]
    .iter()
    .any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

/// `X509RequestOptions`: an identifier of several words with hardly a digit.
pub(super) fn is_camel_case(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"_").unwrap_or(bytes);
    let words = bytes.chunk_by(|_, next| next.is_ascii_lowercase());
    let in_words: usize = words.filter(|word| word.len() >= 4).map(<[u8]>::len).sum();
    bytes.iter().all(u8::is_ascii_alphanumeric)
        && bytes.iter().any(u8::is_ascii_uppercase)
        && bytes.iter().filter(|byte| byte.is_ascii_digit()).count() <= 4
        && in_words * 10 >= bytes.len() * 8
}
