//! The keys that sums are stored under: one, or one below another.

use std::collections::HashMap;

use boswell_model::{Instant, Interner, Symbol};

use super::By;
use crate::time_zone::TimeZone;

/// How sums are grouped.
#[derive(Debug, Clone)]
pub struct Grouping {
    /// The key.
    pub by: By,
    /// The key below it.
    pub then: Option<By>,
    /// The time zone of days, weeks and months.
    pub zone: TimeZone,
}

impl From<By> for Grouping {
    fn from(by: By) -> Grouping {
        Grouping {
            by,
            then: None,
            zone: TimeZone::utc(),
        }
    }
}

impl Grouping {
    /// What separates two keys in the name of a sum.
    pub const SEPARATOR: char = '\u{1f}';

    /// Whether one of the keys is this.
    pub fn has(&self, by: By) -> bool {
        self.by == by || self.then == Some(by)
    }
}

/// What a sum belongs to, apart from time and model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whose {
    pub(crate) place: usize,
    pub(crate) project: Option<Symbol>,
    pub(crate) agent: Option<Symbol>,
}

/// Computes the key that a sum is stored under.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) grouping: Grouping,
    pub(crate) names: Interner,
    /// The name of the conversation of each place, if sums are grouped by it.
    pub(crate) sessions: HashMap<usize, String>,
    /// Formatted days, weeks and months, so that each is formatted once.
    times: HashMap<(By, Instant), String>,
    joined: String,
}

impl Keys {
    pub(crate) fn new(grouping: Grouping) -> Keys {
        Keys {
            grouping,
            names: Interner::default(),
            sessions: HashMap::new(),
            times: HashMap::new(),
            joined: String::new(),
        }
    }

    /// Returns the key for usage at a time with a model.
    pub(crate) fn of<'k>(
        &'k mut self,
        whose: Whose,
        at: Option<Instant>,
        model: &'k str,
    ) -> &'k str {
        self.remember_times(at);
        let part = |by| self.part(by, whose, at, model);
        let Some(then) = self.grouping.then else {
            return self.part(self.grouping.by, whose, at, model);
        };
        let joined = format!(
            "{}{}{}",
            part(self.grouping.by),
            Grouping::SEPARATOR,
            part(then)
        );
        self.joined = joined;
        &self.joined
    }

    fn part<'k>(&'k self, by: By, whose: Whose, at: Option<Instant>, model: &'k str) -> &'k str {
        let name = match by {
            By::Total => None,
            By::Model => return model,
            By::Session => return self.sessions.get(&whose.place).map_or("", String::as_str),
            By::Day | By::Week | By::Month => {
                let known = at.and_then(|at| self.times.get(&(by, at)));
                return known.map_or("unknown", String::as_str);
            }
            By::Project => whose.project,
            By::Agent => whose.agent,
        };
        name.map_or("", |name| self.names.text(name))
    }

    fn remember_times(&mut self, at: Option<Instant>) {
        let Some(at) = at else { return };
        let zone = &self.grouping.zone;
        for by in [Some(self.grouping.by), self.grouping.then]
            .into_iter()
            .flatten()
        {
            let text: fn(&TimeZone, Instant) -> String = match by {
                By::Day => TimeZone::day,
                By::Week => TimeZone::week,
                By::Month => TimeZone::month,
                _ => continue,
            };
            self.times.entry((by, at)).or_insert_with(|| text(zone, at));
        }
    }
}
