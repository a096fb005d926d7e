//! A streaming JSON writer: prints objects into a buffer with the same bytes as [`Json`].
//!
//! An append without `fsync` takes about a microsecond, and building a tree of [`Json`] values
//! first would take as long again. So records that are written once are printed directly. A
//! property test compares the output with that of the tree.

use std::io::Write;

use super::value::{Json, number_text, write_string};
use crate::Instant;

/// A value that can be printed as JSON.
pub trait Print {
    /// Appends the compact JSON text to `out`.
    fn print(&self, out: &mut Vec<u8>);
}

/// Appends an object to `out`. `fill` prints the members, which keep that order.
pub fn print_object(out: &mut Vec<u8>, fill: impl FnOnce(&mut Printer<'_>)) {
    let mut printer = Printer { out, first: true };
    printer.out.push(b'{');
    fill(&mut printer);
    printer.out.push(b'}');
}

/// An object that is being printed: its opening brace is written, its closing brace is not.
#[derive(Debug)]
pub struct Printer<'o> {
    out: &'o mut Vec<u8>,
    /// Whether no member was printed yet, so that the next key needs no comma.
    first: bool,
}

impl Printer<'_> {
    /// Prints a member. The key is not escaped, so it must consist of letters, digits and `_`.
    pub fn with(&mut self, key: &'static str, value: impl Print) -> &mut Self {
        self.key(key);
        value.print(self.out);
        self
    }

    /// Prints a member if there is a value. `None` prints no key, as `JSON.stringify` omits
    /// `undefined`.
    pub fn with_some(&mut self, key: &'static str, value: Option<impl Print>) -> &mut Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Prints a member whose value is an object with the members that `fill` prints.
    pub fn with_object(
        &mut self,
        key: &'static str,
        fill: impl FnOnce(&mut Printer<'_>),
    ) -> &mut Self {
        self.key(key);
        print_object(self.out, fill);
        self
    }

    /// Prints a member whose value is an array with one object per item.
    pub fn with_objects<T>(
        &mut self,
        key: &'static str,
        items: &[T],
        mut fill: impl FnMut(&mut Printer<'_>, &T),
    ) -> &mut Self {
        self.key(key);
        self.out.push(b'[');
        for (nth, item) in items.iter().enumerate() {
            if nth > 0 {
                self.out.push(b',');
            }
            print_object(self.out, |object| fill(object, item));
        }
        self.out.push(b']');
        self
    }

    fn key(&mut self, key: &'static str) {
        debug_assert!(
            key.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
            "`{key}` needs an escape"
        );
        self.out.reserve(key.len() + 4);
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
    }
}

impl<T: Print + ?Sized> Print for &T {
    fn print(&self, out: &mut Vec<u8>) {
        (**self).print(out);
    }
}

impl<T: Print> Print for Option<T> {
    fn print(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.print(out),
            None => out.extend_from_slice(b"null"),
        }
    }
}

macro_rules! print {
    ($($kind:ty, $value:ident, $out:ident => $made:expr;)*) => {
        $(impl Print for $kind {
            fn print(&self, $out: &mut Vec<u8>) {
                let $value = self;
                $made
            }
        })*
    };
}

print! {
    str, text, out => write_string(text.as_bytes(), out);
    String, text, out => write_string(text.as_bytes(), out);
    bool, yes, out => out.extend_from_slice(if *yes { b"true" } else { b"false" });
    i64, n, out => print_int(*n, out);
    u64, n, out => match i64::try_from(*n) {
        Ok(n) => print_int(n, out),
        Err(_) => (*n as f64).print(out),
    };
    f64, n, out => out.extend_from_slice(number_text(*n).as_bytes());
    Json, value, out => value.write(out);
    // A string in the form of RFC 3339.
    Instant, at, out => {
        out.push(b'"');
        at.write_rfc3339(out);
        out.push(b'"');
    };
}

fn print_int(n: i64, out: &mut Vec<u8>) {
    // Writing to a `Vec` cannot fail.
    let _ = write!(out, "{n}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_printed_at_once_is_what_a_tree_prints(
            text in "\\PC{0,200}",
            lines in "[\\x00-\\x7f]{0,40}",
            (n, u, f) in any::<(i64, u64, f64)>(),
            millis in -62_135_596_800_000i64..253_402_300_799_999,
            some in any::<Option<bool>>(),
        ) {
            let at = Instant::from_millis(millis);
            let mut printed = b"before".to_vec();
            print_object(&mut printed, |object| {
                object.with("text", text.as_str()).with("n", n).with("u", u).with("f", f).with("at", at);
                object.with("null", some).with_some("some", some).with("raw", Json::Raw(b"[1, 2]".to_vec()));
                object.with_object("inner", |inner| {
                    inner.with("lines", &lines).with_object("empty", |_| {});
                });
                object.with_objects("items", &[n, 7], |item, n| {
                    item.with("n", *n);
                });
            });
            let item = |n: i64| Json::object().with("n", n);
            let tree = Json::object()
                .with("text", text)
                .with("n", n)
                .with("u", u)
                .with("f", f)
                .with("at", at.to_rfc3339())
                .with("null", some)
                .with_some("some", some)
                .with("raw", Json::Raw(b"[1, 2]".to_vec()))
                .with("inner", Json::object().with("lines", lines).with("empty", Json::object()))
                .with("items", vec![item(n), item(7)]);
            prop_assert_eq!(String::from_utf8_lossy(&printed), format!("before{tree}"));
        }
    }
}
