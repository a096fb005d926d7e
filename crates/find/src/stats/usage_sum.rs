//! The sum of the usage of several messages, independent of the order of addition.

use boswell_model::Usage;

use super::exact_sum::ExactSum;

/// Tokens, cost and premium requests of several messages; a part that no message states is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct UsageSum {
    /// Token counts only: `cost` and `premium_requests` of this value are `None`.
    pub(crate) tokens: Usage,
    pub(crate) cost: Option<ExactSum>,
    pub(crate) requests: Option<ExactSum>,
}

impl UsageSum {
    pub(crate) fn of(usage: &Usage) -> UsageSum {
        let tokens = Usage {
            cost: None,
            premium_requests: None,
            ..*usage
        };
        UsageSum {
            tokens,
            cost: usage.cost.map(ExactSum::of),
            requests: usage.premium_requests.map(ExactSum::of),
        }
    }

    pub(crate) fn add(&mut self, more: &UsageSum) {
        self.tokens.add(&more.tokens);
        for (sum, more) in [
            (&mut self.cost, more.cost),
            (&mut self.requests, more.requests),
        ] {
            if let Some(more) = more {
                sum.get_or_insert_default().add(more);
            }
        }
    }

    pub(crate) fn usage(&self) -> Usage {
        let (cost, premium_requests) = (
            self.cost.map(ExactSum::value),
            self.requests.map(ExactSum::value),
        );
        Usage {
            cost,
            premium_requests,
            ..self.tokens
        }
    }
}
