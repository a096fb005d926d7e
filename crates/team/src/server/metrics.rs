//! Counts in the text form of Prometheus. They name nobody and no session.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the start.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    answered: [AtomicU64; 4],
    pub(super) running: AtomicU64,
    pub(super) refused_tokens: AtomicU64,
    pub(super) received: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) published: AtomicU64,
    pub(super) swept: AtomicU64,
}

impl Metrics {
    /// Counts an answer by the class of its status.
    pub(super) fn answered(&self, status: u16) {
        let class = usize::from((status / 100).clamp(2, 5) - 2);
        if let Some(count) = self.answered.get(class) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn add(count: &AtomicU64, by: u64) {
        count.fetch_add(by, Ordering::Relaxed);
    }

    /// Returns the page.
    pub(super) fn text(&self) -> String {
        let mut page = String::new();
        let mut family = |name: &str, kind: &str, help: &str, values: &[(&str, u64)]| {
            let _ = write!(page, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
            for (label, value) in values {
                let _ = writeln!(page, "{name}{label} {value}");
            }
        };
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let [two, three, four, five] = &self.answered;
        family(
            "boswell_team_answers_total",
            "counter",
            "Requests that were answered, by class of status.",
            &[
                ("{status=\"2xx\"}", of(two)),
                ("{status=\"3xx\"}", of(three)),
                ("{status=\"4xx\"}", of(four)),
                ("{status=\"5xx\"}", of(five)),
            ],
        );
        let counters = [
            (
                "refused_tokens_total",
                "Requests without a valid token.",
                &self.refused_tokens,
            ),
            (
                "received_bytes_total",
                "Bytes of parts that were pushed.",
                &self.received,
            ),
            (
                "sent_bytes_total",
                "Bytes of parts that were read.",
                &self.sent,
            ),
            (
                "published_total",
                "Pushes that were completed.",
                &self.published,
            ),
            (
                "swept_sessions_total",
                "Sessions past their retention.",
                &self.swept,
            ),
        ];
        for (name, help, count) in counters {
            let name = format!("boswell_team_{name}");
            family(&name, "counter", help, &[("", of(count))]);
        }
        let running = [("", of(&self.running))];
        family(
            "boswell_team_requests",
            "gauge",
            "Requests that run now.",
            &running,
        );
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_its_help_its_type_and_a_value() {
        let metrics = Metrics::default();
        metrics.answered(204);
        metrics.answered(503);
        let page = metrics.text();
        assert!(page.contains("boswell_team_answers_total{status=\"2xx\"} 1\n"));
        assert!(page.contains("boswell_team_answers_total{status=\"5xx\"} 1\n"));
        let helps = page.matches("# HELP ").count();
        assert_eq!(helps, page.matches("# TYPE ").count());
        assert!(page.ends_with('\n') && helps >= 7);
    }
}
