//! Values that a shell offers while a command is typed.

use std::collections::BTreeSet;

use boswell_find::Field;

use crate::list::ListRequest;
use crate::{Answer, App, AppResult};

/// How many of the last sessions are looked at.
const RECENT: usize = 500;

/// What is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferedValues {
    /// Agents and dialects.
    Agents,
    /// Project folders of recent sessions.
    Projects,
    /// Tags of recent sessions.
    Tags,
    /// Models of recent sessions.
    Models,
    /// Parts of sessions that can be searched.
    Fields,
}

impl App {
    /// Returns the values, in order.
    ///
    /// # Errors
    ///
    /// As for a list of sessions.
    pub fn offered_values(&self, what: OfferedValues) -> AppResult<Vec<String>> {
        let own = |words: BTreeSet<&str>| Answer {
            value: words.into_iter().map(str::to_owned).collect(),
            notices: Vec::new(),
        };
        match what {
            OfferedValues::Agents => {
                let dialects = boswell_dialect::all().iter();
                let names = dialects.flat_map(|it| [it.name(), it.facts().agent]);
                return Ok(own(names.filter(|name| !name.is_empty()).collect()));
            }
            OfferedValues::Fields => {
                return Ok(own(Field::ALL.iter().map(|field| field.word()).collect()));
            }
            _ => {}
        }
        let page = self.list(&ListRequest {
            limit: Some(RECENT),
            ..ListRequest::default()
        })?;
        let sides = page
            .value
            .rows
            .iter()
            .flat_map(|row| row.conversation.sides());
        let mut values = BTreeSet::new();
        for side in sides {
            match what {
                OfferedValues::Projects => values.extend(side.meta.project.clone()),
                OfferedValues::Tags => values.extend(side.meta.tags.iter().cloned()),
                _ => values.extend(side.meta.models.iter().map(ToString::to_string)),
            }
        }
        Ok(Answer {
            value: values.into_iter().filter(|it| !it.is_empty()).collect(),
            notices: page.notices,
        })
    }
}
