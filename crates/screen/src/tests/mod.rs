//! Tests of the whole screen: on a demo home with real workers, and of single states.

mod demo;
mod enter;
mod finder;
mod hosts;
mod keys_page;
mod long_reader;
mod panic;
mod picture;
mod random_keys;
mod reader;
mod screens;
mod states;
mod update_table;
