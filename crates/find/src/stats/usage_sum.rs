//! What messages cost together.

use boswell_model::Usage;

use super::exact_sum::ExactSum;

/// Tokens, money and requests of several messages; what nobody stated is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct UsageSum {
    /// The tokens; money and requests stand below.
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
