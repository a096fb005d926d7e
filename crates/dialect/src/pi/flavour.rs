//! The programs of the family, and what each can.

use crate::{Capabilities, Capability, Support};

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
            (Capability::Read, Support::Native),
            (Capability::Context, Support::Native),
            (Capability::Append, Support::Native),
            (Capability::Branch, Support::Native),
            (Capability::Rewind, Support::Native),
            (Capability::Fork, Support::Native),
            (Capability::Title, Support::$title),
            (Capability::Tag, Support::$metadata),
            (Capability::Label, Support::Native),
            (Capability::Status, Support::$metadata),
            (Capability::Delete, Support::Native),
            (Capability::Resume, Support::$resume),
        ]
    };
}

const PI: &[(Capability, Support)] = table!(Native, Note, Native);
/// Their title stands in the first line of the file, so a new one means a new file.
const HEIRS: &[(Capability, Support)] = table!(Rewrites, Note, Native);
/// Boswell is no agent: there is nothing that could take its conversations up again.
const OWN: &[(Capability, Support)] = table!(Native, Native, No);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_store_has_a_place_for_tags_and_only_agents_resume() {
        let support = |pi: Pi, operation| pi.table().support(operation);
        assert_eq!(support(Pi::PI, Capability::Title), Support::Native);
        assert_eq!(support(Pi::XCSH, Capability::Title), Support::Rewrites);
        assert_eq!(support(Pi::OMP, Capability::Tag), Support::Note);
        assert_eq!(support(Pi::BOSWELL, Capability::Tag), Support::Native);
        assert_eq!(support(Pi::BOSWELL, Capability::Resume), Support::No);
        for operation in Capability::ALL {
            assert_ne!(
                support(Pi::PI, operation),
                Support::No,
                "{}",
                operation.word()
            );
        }
    }
}
