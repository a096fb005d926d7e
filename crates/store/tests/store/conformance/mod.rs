//! One conformance suite for every backend: files, memory, disks with short or failing calls, rows.

mod flawed;
mod places;
mod reading;
mod writing;
