//! Small helpers for JSON values whose key order is part of the shape.

use serde_json::Value;

use crate::rng::Rng;

/// Adds the fields of `more` to the end of `into`; both must be objects.
pub fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}

/// Returns an amount of money that JavaScript and Rust print alike: never whole, never below
/// 0.0001.
pub fn money(rng: &mut Rng) -> f64 {
    (101 + 10 * rng.below(40_000)) as f64 / 1e6
}
