pub fn discount(total: f64, percent: f64) -> f64 {
    (total * percent).round() / 100.0
}
