//! Placeholder until the mends are tested.
