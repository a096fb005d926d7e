//! JSON as agents wrote it, byte for byte.
//!
//! A store whose files belong to other programs must return exactly the bytes that were written:
//! number tokens, key order, duplicate keys, lone surrogates. So no record is parsed into a tree
//! and printed again.
//!
//! * `scan` finds where values end and rejects what `JSON.parse` rejects; [`Scanned`] is its entry
//!   point.
//! * [`Raw`] reads a value in place, without a copy.
//! * `splice` changes one member and leaves every other byte unchanged.
//! * [`Json`] builds new values and prints them as ECMAScript does; [`print_object`] prints them
//!   without building them.
//!
//! Scanning and reading do not recurse: a value a million levels deep costs memory, never the
//! stack.

mod escape;
mod object;
mod object_scanner;
mod outline;
mod quote_bitmap;
mod raw_value;
mod scan;
mod splice;
mod string;
mod value;
mod writer;

pub use escape::is_printable;
pub use object::{Member, Object};
pub use object_scanner::Scanned;
use outline::Outline;
use quote_bitmap::QuoteBitmap;
pub use raw_value::{Items, Members, Raw, RawKind};
pub use scan::{SyntaxError, SyntaxErrorKind, scan_object, value_end};
pub use splice::{insert_member, remove_member, set_member};
pub use string::Str;
pub use value::{Json, number_text, write_string};
pub use writer::{Print, Printer, print_object};
