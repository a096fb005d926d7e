//! Who is at work on a conversation, what else it is, and how it is taken up again.

/// A process that an agent's registry names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtWork {
    /// Its number.
    pub pid: u32,
    /// Id of the session that it is at work on.
    pub session: String,
    /// When it was started, in the kernel's words; another process of the same number began at another time.
    pub started: Option<String>,
}

/// What an agent that is started again may do without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Permissions {
    /// What it may when nobody says otherwise.
    #[default]
    Asked,
    /// What it was last allowed in that session, even everything.
    Same,
}

/// What two refs of one conversation are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// The transcript that the agent's engine keeps of the same conversation.
    Transcript,
}

/// Another session that is the same conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLink {
    /// What it is to this one.
    pub kind: LinkKind,
    /// Dialect of the other one.
    pub dialect: &'static str,
    /// Its id.
    pub id: String,
}

/// A command that takes a conversation up again, as separate words: no shell is involved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeCommand {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Folder to start it in.
    pub cwd: Option<String>,
}
