#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| boswell_fuzz::run("openhands", bytes));
