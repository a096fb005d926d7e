//! The next step after an error or a finding, as data.
//!
//! A library cannot know how its caller offers a step: the command line prints a command or a
//! flag, a screen shows a button, an agent calls a method. So the library names the step and the
//! values that it needs, and each face phrases it. [`Advice::Plain`] is for steps that are the same
//! everywhere, such as "make the folder readable".

use std::borrow::Cow;

/// Defines [`Advice`] and the word of each variant together, so that a variant cannot be without
/// one.
macro_rules! advice {
    ($(
        $(#[$doc:meta])*
        $name:ident
        $({ $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? })?
        $(($inner:ty))?
        => $word:literal
    ),* $(,)?) => {
        /// What to do next.
        ///
        /// Sessions are given as a name that resolves: `DIALECT:ID`, an id or a path. They are not
        /// quoted for a shell.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Advice {
            $(
                $(#[$doc])*
                $name $({ $($(#[$field_doc])* $field: $type),* })? $(($inner))?
            ),*
        }

        impl Advice {
            /// The words of all variants, in the order of their definition.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The step as one lower-case word with underscores.
            pub fn word(&self) -> &'static str {
                match self {
                    $(Advice::$name { .. } => $word),*
                }
            }
        }
    };
}

advice! {
    /// A step that names neither a command nor a flag, as a clause without a full stop.
    Plain(Cow<'static, str>) => "plain",
    /// Any one of these steps.
    AnyOf(Vec<Advice>) => "any_of",
    /// These steps, one after the other.
    InOrder(Vec<Advice>) => "in_order",
    /// All of these statements and steps, in no order.
    AllOf(Vec<Advice>) => "all_of",

    /// Repeat the request.
    Retry => "retry",
    /// Repeat the request when the other process has finished.
    RetryLater => "retry_later",
    /// Repeat the request and wait longer for the lock or the agent.
    WaitLonger => "wait_longer",
    /// End the agent that has the session open.
    CloseAgent => "close_agent",
    /// Open the session again and append there.
    ReopenSession => "reopen_session",
    /// Read the session again, then append with the revision or leaf that was found.
    ReadAgain => "read_again",
    /// Install a newer version of this program.
    Upgrade => "upgrade",
    /// Permit this program to write.
    AllowWriting => "allow_writing",

    /// Repeat the request without this input.
    Omit(RequestInput) => "omit",
    /// Repeat the request with this input.
    Give(RequestInput) => "give",
    /// Name the folder of a store.
    NameStore {
        /// The dialect of the store, where it is known.
        dialect: Option<String>,
    } => "name_store",
    /// Name a session as lists of sessions show it.
    UseListedId => "use_listed_id",
    /// Take the revision from a receipt or from a list of sessions.
    UseListedRevision => "use_listed_revision",
    /// Name an operation with more of its id.
    GiveLongerOperationId => "give_longer_operation_id",

    /// List sessions.
    ListSessions {
        /// The one dialect to list.
        dialect: Option<String>,
        /// Whether sessions that lists leave out are wanted too.
        hidden: bool,
    } => "list_sessions",
    /// List all sessions whose name contains a text.
    FindSessions {
        /// The text.
        matching: String,
    } => "find_sessions",
    /// List sessions with the files that they are in.
    ListSessionFiles => "list_session_files",
    /// List the stores and the folders in which they are expected.
    ListStores => "list_stores",
    /// List the operations that each store supports.
    SeeCapabilities => "see_capabilities",
    /// List the projects that have sessions.
    ListProjects => "list_projects",
    /// Read a session or a file.
    ShowSession {
        /// The session; the one at hand where it is missing.
        session: Option<String>,
    } => "show_session",
    /// Look at the records of a session as its agent wrote them.
    ShowRecords {
        /// The session; the one at hand where it is missing.
        session: Option<String>,
        /// The entry to look around.
        around: Option<String>,
    } => "show_records",
    /// Read another branch of a session than the current one.
    ShowBranch {
        /// The session.
        session: String,
        /// The last entry of the branch.
        leaf: String,
    } => "show_branch",
    /// Look at the prompts of the session at hand.
    ShowPrompts => "show_prompts",
    /// Look at the entries and branches of the session at hand.
    ShowTree => "show_tree",
    /// List the files that the session at hand touched.
    ShowFiles => "show_files",
    /// Look for damage.
    Check {
        /// The session; all sessions or the one at hand where it is missing.
        session: Option<String>,
    } => "check",
    /// Print a digest of a session, for an agent that cannot take the session itself.
    Handoff {
        /// The session.
        session: String,
    } => "handoff",
    /// Make a session of another agent from the conversation.
    Convert {
        /// The session.
        session: String,
    } => "convert",
    /// List the keys and passwords in a session.
    ShowSecrets {
        /// The session.
        session: String,
    } => "show_secrets",
    /// List the operations that were carried out.
    ListOperations => "list_operations",
    /// Look at what one operation changed.
    ShowOperation {
        /// The id of the operation.
        operation: String,
    } => "show_operation",
    /// Look at which sessions are kept.
    ShowKept => "show_kept",
    /// List the settings.
    ShowSettings => "show_settings",
    /// List the pages of a project's memory.
    ShowMemory => "show_memory",

    /// Create a session.
    NewSession => "new_session",
    /// Append to a session.
    AppendTo {
        /// The session; the one at hand where it is missing.
        session: Option<String>,
    } => "append_to",
    /// Fork a session.
    Fork {
        /// The session; the one at hand where it is missing.
        session: Option<String>,
        /// The entry to fork at.
        at: Option<String>,
    } => "fork",
    /// Move the leaf of the session at hand to another entry.
    ChooseLeaf => "choose_leaf",
    /// Remove the last prompts of the session at hand.
    Rewind => "rewind",
    /// Give the session at hand a title.
    Rename => "rename",
    /// Give the session at hand a tag.
    Tag => "tag",
    /// Remove the pin from a session.
    Unpin {
        /// The session.
        session: String,
    } => "unpin",
    /// Mark a session as completed.
    CompleteSession {
        /// The session.
        session: String,
    } => "complete_session",
    /// Put an archived or deleted session back.
    Restore {
        /// The session; the one at hand where it is missing.
        session: Option<String>,
    } => "restore",
    /// Delete a session.
    Delete {
        /// The session.
        session: String,
    } => "delete",
    /// Delete a session and every copy of it.
    Purge {
        /// The session.
        session: String,
    } => "purge",
    /// Rewrite the session at hand in its agent's current format.
    Migrate => "migrate",
    /// Import a file that was imported before.
    ImportAgain => "import_again",
    /// Export a session as a document that can be imported.
    ExportDocument => "export_document",
    /// Copy a session of another host into the store of its agent here.
    CopySession {
        /// The session: `HOST:SESSION`.
        session: String,
    } => "copy_session",
    /// Export a session as text, in which secrets are replaced.
    ExportText {
        /// The session.
        session: String,
    } => "export_text",
    /// Export every byte of a session, also those that are hidden.
    ExportEveryByte {
        /// The session.
        session: String,
    } => "export_every_byte",
    /// Replace the secrets in a session, or in all.
    ReplaceSecrets {
        /// The session; all of them where it is missing.
        session: Option<String>,
    } => "replace_secrets",
    /// Record that the folder of a project was moved.
    MoveProject {
        /// The old folder, where it is known.
        from: Option<String>,
    } => "move_project",
    /// Move a project back to the folder that it had.
    MoveProjectBack {
        /// The folders that it has and that it had, where they are known.
        folders: Option<(String, String)>,
    } => "move_project_back",

    /// Look at the steps of a repair.
    ShowRepair {
        /// The session; the one at hand where it is missing.
        session: Option<String>,
        /// Whether steps that only probably help are wanted too.
        likely: bool,
    } => "show_repair",
    /// Repair a session.
    Repair {
        /// The session.
        session: String,
    } => "repair",
    /// Make a session for the current model provider of its agent.
    ChangeProvider {
        /// The session.
        session: String,
    } => "change_provider",
    /// Choose single steps of a repair.
    RepairByStep => "repair_by_step",
    /// Carry out single steps of a repair in the session itself.
    RepairInPlace => "repair_in_place",
    /// Let the repair be written as a fork.
    RepairIntoFork => "repair_into_fork",
    /// Carry out the steps too that only probably help.
    RepairLikely => "repair_likely",

    /// Rebuild the index that an agent keeps of its own sessions.
    RebuildAgentIndex => "rebuild_agent_index",
    /// Rebuild the search index.
    RebuildSearchIndex => "rebuild_search_index",
    /// Search for a text as it is, without words and operators.
    SearchSubstring => "search_substring",
    /// Search for a word.
    SearchWord => "search_word",

    /// Undo an operation.
    Undo {
        /// The id of the operation; the last one where it is missing.
        operation: Option<String>,
    } => "undo",
    /// Undo an operation, but keep what was added since.
    UndoKeepingNew {
        /// The id of the operation.
        operation: String,
    } => "undo_keeping_new",
    /// Undo an earlier operation.
    UndoEarlier {
        /// The id of the operation.
        operation: String,
        /// What the operation did.
        title: String,
    } => "undo_earlier",
    /// Look at the difference first, then restore the files although they changed.
    ForceRestore => "force_restore",

    /// Keep copies of sessions that their agent will delete.
    KeepCopies => "keep_copies",
    /// Keep copies by a timer instead of a hook of the agent.
    KeepByTimer => "keep_by_timer",
    /// Copy changed sessions now.
    KeepNow => "keep_now",
    /// Move files that no session needs into the vault.
    CleanLeftovers {
        /// The dialect of the store.
        dialect: String,
    } => "clean_leftovers",
    /// Use another file of settings.
    NameConfig => "name_config",
    /// Use no file of settings.
    IgnoreConfig => "ignore_config",
    /// Change the file of settings.
    EditConfig => "edit_config",
}

/// An input of a request that advice is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RequestInput {
    /// The id of a new session.
    SessionId,
    /// Which agent's way of forking is used.
    ForkStyle,
    /// Whether a fork copies all branches.
    ForkScope,
    /// The summary of the branch that is left.
    BranchSummary,
    /// The place in a list from which the next page starts.
    PageCursor,
    /// The version of an agent for which a session is repaired.
    TargetReader,
    /// The folder of the project.
    Project,
    /// Provider and model of a new session.
    Backend,
    /// The folder in which this program keeps its own data.
    Home,
    /// Which parts of a session are searched.
    SearchScope {
        /// The words that are known.
        known: Vec<String>,
    },
}

impl Advice {
    /// Creates [`Advice::ShowSession`] for a session that is named.
    pub fn show(session: impl ToString) -> Advice {
        Advice::ShowSession {
            session: Some(session.to_string()),
        }
    }

    /// Creates [`Advice::ShowRecords`] for a session that is named.
    pub fn show_records(session: impl ToString) -> Advice {
        Advice::ShowRecords {
            session: Some(session.to_string()),
            around: None,
        }
    }

    /// Creates [`Advice::Check`] for a session that is named.
    pub fn check(session: impl ToString) -> Advice {
        Advice::Check {
            session: Some(session.to_string()),
        }
    }

    /// Creates [`Advice::Restore`] for a session that is named.
    pub fn restore(session: impl ToString) -> Advice {
        Advice::Restore {
            session: Some(session.to_string()),
        }
    }

    /// Creates the advice to list every session, also those that lists leave out.
    pub fn list_all() -> Advice {
        Advice::ListSessions {
            dialect: None,
            hidden: true,
        }
    }

    /// Creates the advice to append to the session that exists, or to take another id.
    pub fn append_or_other_id(session: impl ToString) -> Advice {
        let append = Advice::AppendTo {
            session: Some(session.to_string()),
        };
        append.or(Advice::Omit(RequestInput::SessionId))
    }

    /// Offers another step instead of this one.
    #[must_use]
    pub fn or(self, other: impl Into<Advice>) -> Advice {
        match self {
            Advice::AnyOf(mut steps) => {
                steps.push(other.into());
                Advice::AnyOf(steps)
            }
            first => Advice::AnyOf(vec![first, other.into()]),
        }
    }

    /// Adds a step that comes after this one.
    #[must_use]
    pub fn then(self, next: impl Into<Advice>) -> Advice {
        match self {
            Advice::InOrder(mut steps) => {
                steps.push(next.into());
                Advice::InOrder(steps)
            }
            first => Advice::InOrder(vec![first, next.into()]),
        }
    }

    /// Adds a statement or step that holds besides this one.
    #[must_use]
    pub fn also(self, other: impl Into<Advice>) -> Advice {
        match self {
            Advice::AllOf(mut steps) => {
                steps.push(other.into());
                Advice::AllOf(steps)
            }
            first => Advice::AllOf(vec![first, other.into()]),
        }
    }
}

impl From<&'static str> for Advice {
    fn from(text: &'static str) -> Advice {
        Advice::Plain(Cow::Borrowed(text))
    }
}

impl From<String> for Advice {
    fn from(text: String) -> Advice {
        Advice::Plain(Cow::Owned(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_in_lower_case() {
        let mut words = Advice::WORDS.to_vec();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Advice::WORDS.len());
        let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(words.iter().all(is_plain), "{words:?}");
        assert_eq!(Advice::Retry.word(), "retry");
        assert_eq!(Advice::from("wait").word(), "plain");
        assert_eq!(Advice::show("a:b").word(), "show_session");
    }

    #[test]
    fn steps_of_the_same_sort_stay_in_one_list() {
        let three = Advice::WaitLonger.or(Advice::Retry).or("give up");
        let expected = vec![Advice::WaitLonger, Advice::Retry, Advice::from("give up")];
        assert_eq!(three, Advice::AnyOf(expected));
        let both = Advice::Retry.then("look").also("nothing was changed");
        assert!(matches!(both, Advice::AllOf(parts) if parts.len() == 2));
    }
}
