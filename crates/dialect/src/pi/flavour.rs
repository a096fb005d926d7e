//! The flavours: the programs of the family, and their names.

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
}
