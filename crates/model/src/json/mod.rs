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

mod build;
mod object;
mod outline;
mod print;
mod printable;
mod quotes;
mod raw;
mod scan;
mod scanned;
mod splice;
mod string;

pub use build::{Json, number_text, write_string};
pub use object::{Member, Object};
use outline::Outline;
pub use print::{Print, Printer, print_object};
pub use printable::is_printable;
use quotes::Quotes;
pub use raw::{Items, Kind, Members, Raw};
pub use scan::{Fault, FaultKind, scan_object, value_end};
pub use scanned::Scanned;
pub use splice::{insert_member, remove_member, set_member};
pub use string::Str;
