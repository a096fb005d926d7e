//! JSON as agents wrote it, byte for byte.
//!
//! A store that other programs own must give back exactly what it was given: number tokens, key
//! order, doubled keys, lone surrogates. So nothing here turns a record into a tree and back.
//! `scan` finds where values end and refuses what `JSON.parse` would refuse; [`Raw`] looks into a
//! value without copying it; `splice` changes one member and leaves every other byte alone;
//! [`Json`] builds new values and prints them as ECMAScript does, and [`print_object`] prints them
//! without building them.
//!
//! Nothing here recurses over input: a value a million levels deep costs memory, never the stack.

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
