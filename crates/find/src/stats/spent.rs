//! What messages cost together.

use boswell_model::Usage;

use super::exact::Exact;

/// Tokens, money and requests of several messages; what nobody stated is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Spent {
    /// The tokens; money and requests stand below.
    pub(crate) tokens: Usage,
    pub(crate) cost: Option<Exact>,
    pub(crate) requests: Option<Exact>,
}

impl Spent {
    pub(crate) fn of(usage: &Usage) -> Spent {
        let tokens = Usage {
            cost: None,
            premium_requests: None,
            ..*usage
        };
        Spent {
            tokens,
            cost: usage.cost.map(Exact::of),
            requests: usage.premium_requests.map(Exact::of),
        }
    }

    pub(crate) fn add(&mut self, more: &Spent) {
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
        let (cost, premium_requests) =
            (self.cost.map(Exact::value), self.requests.map(Exact::value));
        Usage {
            cost,
            premium_requests,
            ..self.tokens
        }
    }
}
