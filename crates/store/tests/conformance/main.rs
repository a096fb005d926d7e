//! One suite for every backend: files, memory, disks that do less than they are asked, rows.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod flawed;
mod places;
mod reading;
mod writing;
