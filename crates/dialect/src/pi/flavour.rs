//! The flavours: the programs of the family, and their names.
//!
//! Differences between the programs are asked of the flavour, or are in `facts.rs`.

/// Which program of the family writes a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// pi itself.
    Pi,
    /// oh-my-pi, which added titles in the header, models by role and a title slot.
    Omp,
    /// xcsh, a fork of oh-my-pi that added modes, blobs and artifacts.
    Xcsh,
    /// Boswell's own store: version 3 as pi writes it.
    Boswell,
}

impl Flavour {
    /// Whether the program is oh-my-pi or a fork of it.
    pub(super) fn is_heir(self) -> bool {
        matches!(self, Flavour::Omp | Flavour::Xcsh)
    }

    /// Whether a compaction can contain the history that a provider compacted. Only oh-my-pi and
    /// its forks write it.
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
    /// The dialect of pi.
    pub const PI: Pi = Pi {
        flavour: Flavour::Pi,
    };
    /// The dialect of oh-my-pi.
    pub const OMP: Pi = Pi {
        flavour: Flavour::Omp,
    };
    /// The dialect of xcsh.
    pub const XCSH: Pi = Pi {
        flavour: Flavour::Xcsh,
    };
    /// The dialect of boswell's own sessions.
    pub const BOSWELL: Pi = Pi {
        flavour: Flavour::Boswell,
    };

    /// Returns the program that writes this dialect.
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
