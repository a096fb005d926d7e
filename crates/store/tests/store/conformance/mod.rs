//! One suite for every backend: files, memory, disks that do less than they are asked, rows.

mod flawed;
mod places;
mod reading;
mod writing;
