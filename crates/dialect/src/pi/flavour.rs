//! The programs of the family, and what each can.

use crate::{Capabilities, Operation, Support};

/// Which program of the family writes a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// pi itself.
    Pi,
    /// oh-my-pi, which added titles in the header, models by role and a title slot.
    Omp,
    /// xcsh, which comes from oh-my-pi and added modes, blobs and artifacts.
    Xcsh,
    /// Boswell's own store: version 3 as pi writes it.
    Boswell,
}

impl Flavour {
    /// Whether it is oh-my-pi or comes from it.
    pub(super) fn is_heir(self) -> bool {
        matches!(self, Flavour::Omp | Flavour::Xcsh)
    }

    /// Whether a compaction can carry the history that a provider compacted, which only the
    /// heirs of oh-my-pi write.
    pub(super) fn has_remote_compaction(self) -> bool {
        self.is_heir()
    }
}

/// The dialect of one flavour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pi {
    pub(super) flavour: Flavour,
}

impl Pi {
    /// pi.
    pub const PI: Pi = Pi {
        flavour: Flavour::Pi,
    };
    /// oh-my-pi.
    pub const OMP: Pi = Pi {
        flavour: Flavour::Omp,
    };
    /// xcsh.
    pub const XCSH: Pi = Pi {
        flavour: Flavour::Xcsh,
    };
    /// Boswell's own store.
    pub const BOSWELL: Pi = Pi {
        flavour: Flavour::Boswell,
    };

    /// Which program it is of.
    pub fn flavour(&self) -> Flavour {
        self.flavour
    }

    pub(super) fn word(self) -> &'static str {
        match self.flavour {
            Flavour::Pi => "pi",
            Flavour::Omp => "omp",
            Flavour::Xcsh => "xcsh",
            Flavour::Boswell => "boswell",
        }
    }

    pub(super) fn people_name(self) -> &'static str {
        match self.flavour {
            Flavour::Pi => "pi",
            Flavour::Omp => "oh-my-pi",
            Flavour::Xcsh => "xcsh",
            Flavour::Boswell => "Boswell",
        }
    }

    pub(super) fn table(self) -> Capabilities {
        Capabilities::new(match self.flavour {
            Flavour::Pi => PI,
            Flavour::Omp | Flavour::Xcsh => HEIRS,
            Flavour::Boswell => OWN,
        })
    }
}

macro_rules! table {
    ($title:ident, $metadata:ident, $resume:ident) => {
        &[
            (Operation::Read, Support::Native),
            (Operation::Context, Support::Native),
            (Operation::Append, Support::Native),
            (Operation::Branch, Support::Native),
            (Operation::Rewind, Support::Native),
            (Operation::Fork, Support::Native),
            (Operation::Title, Support::$title),
            (Operation::Tag, Support::$metadata),
            (Operation::Label, Support::Native),
            (Operation::Status, Support::$metadata),
            (Operation::Delete, Support::Native),
            (Operation::Resume, Support::$resume),
        ]
    };
}

const PI: &[(Operation, Support)] = table!(Native, Note, Native);
/// Their title stands in the first line of the file, so a new one means a new file.
const HEIRS: &[(Operation, Support)] = table!(Rewrites, Note, Native);
/// Boswell is no agent: there is nothing that could take its conversations up again.
const OWN: &[(Operation, Support)] = table!(Native, Native, No);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_store_has_a_place_for_tags_and_only_agents_resume() {
        let support = |pi: Pi, operation| pi.table().support(operation);
        assert_eq!(support(Pi::PI, Operation::Title), Support::Native);
        assert_eq!(support(Pi::XCSH, Operation::Title), Support::Rewrites);
        assert_eq!(support(Pi::OMP, Operation::Tag), Support::Note);
        assert_eq!(support(Pi::BOSWELL, Operation::Tag), Support::Native);
        assert_eq!(support(Pi::BOSWELL, Operation::Resume), Support::No);
        for operation in Operation::ALL {
            assert_ne!(
                support(Pi::PI, operation),
                Support::No,
                "{}",
                operation.word()
            );
        }
    }
}
