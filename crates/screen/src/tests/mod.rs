//! Tests of the whole screen.
