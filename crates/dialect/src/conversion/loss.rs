//! [`Loss`]: what a conversion does not carry over, or carries over changed.

/// Something that is lost or changed by a conversion, counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The kind of loss.
    pub kind: LossKind,
    /// How often it occurs.
    pub count: u64,
    /// The first entry of the source where it occurs, if it belongs to one.
    pub entry: Option<String>,
}

/// A kind of loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LossKind {
    /// Messages on other branches.
    OtherBranches,
    /// Messages that the source's agent no longer sends, such as those before a compaction.
    Unsent,
    /// Messages with the role of the system or a developer.
    SystemMessage,
    /// Texts that the source's agent added in the user's place.
    Injected,
    /// Reasoning that the target does not take.
    Thinking,
    /// Signatures of reasoning whose text is carried over.
    Signature,
    /// Images with data, where the target takes none.
    Image,
    /// Images and files that are only referred to.
    Reference,
    /// Files that are not images.
    File,
    /// Parts of a type that is not known.
    OtherPart,
    /// Texts without any visible character.
    EmptyText,
    /// Results whose call is missing or has one already.
    OrphanResult,
    /// Calls without a result, which get one that says so.
    MissingResult,
    /// Marks that a call failed.
    FailedMark,
    /// Ids of calls that providers refuse or that occur twice, replaced by others.
    CallId,
    /// Names of tools with characters that providers refuse, which are replaced.
    ToolName,
    /// Arguments that are not a JSON object, which become its member `input`.
    FreeInput,
    /// Prompts that the target would treat as a command, which get a word before them.
    MarkedPrompt,
    /// A first message for a conversation that begins with an answer.
    AddedPrompt,
    /// Tokens and cost, which stay with the source.
    Usage,
    /// Files beside the log: subagents, attachments, plans.
    SideFile,
}

impl LossKind {
    /// Every kind, in display order.
    pub const ALL: [LossKind; 21] = [
        LossKind::OtherBranches,
        LossKind::Unsent,
        LossKind::SystemMessage,
        LossKind::Injected,
        LossKind::Thinking,
        LossKind::Signature,
        LossKind::Image,
        LossKind::Reference,
        LossKind::File,
        LossKind::OtherPart,
        LossKind::EmptyText,
        LossKind::OrphanResult,
        LossKind::MissingResult,
        LossKind::FailedMark,
        LossKind::CallId,
        LossKind::ToolName,
        LossKind::FreeInput,
        LossKind::MarkedPrompt,
        LossKind::AddedPrompt,
        LossKind::Usage,
        LossKind::SideFile,
    ];

    /// The name of the kind in JSON.
    pub fn word(self) -> &'static str {
        match self {
            LossKind::OtherBranches => "other_branches",
            LossKind::Unsent => "unsent",
            LossKind::SystemMessage => "system_message",
            LossKind::Injected => "injected",
            LossKind::Thinking => "thinking",
            LossKind::Signature => "signature",
            LossKind::Image => "image",
            LossKind::Reference => "reference",
            LossKind::File => "file",
            LossKind::OtherPart => "other_part",
            LossKind::EmptyText => "empty_text",
            LossKind::OrphanResult => "orphan_result",
            LossKind::MissingResult => "missing_result",
            LossKind::FailedMark => "failed_mark",
            LossKind::CallId => "call_id",
            LossKind::ToolName => "tool_name",
            LossKind::FreeInput => "free_input",
            LossKind::MarkedPrompt => "marked_prompt",
            LossKind::AddedPrompt => "added_prompt",
            LossKind::Usage => "usage",
            LossKind::SideFile => "side_file",
        }
    }

    /// What happens to it, for users.
    pub fn text(self) -> &'static str {
        match self {
            LossKind::OtherBranches => "messages on other branches are not carried over",
            LossKind::Unsent => "messages that the model no longer sees are not carried over",
            LossKind::SystemMessage => "system messages are not carried over",
            LossKind::Injected => "texts that the agent added itself are not carried over",
            LossKind::Thinking => "parts of reasoning are not carried over",
            LossKind::Signature => "parts of reasoning lose their signature",
            LossKind::Image => "images become a text that names their type",
            LossKind::Reference => "images or files without data become a text that names them",
            LossKind::File => "files become a text that names their type",
            LossKind::OtherPart => "parts of an unknown type are not carried over",
            LossKind::EmptyText => "empty texts are not carried over",
            LossKind::OrphanResult => {
                "results without a call, or a second one of a call, are not carried over"
            }
            LossKind::MissingResult => "calls without a result get one that says so",
            LossKind::FailedMark => "failed results are no longer marked as failed",
            LossKind::CallId => "ids of calls are replaced",
            LossKind::ToolName => "names of tools are changed",
            LossKind::FreeInput => "arguments that are not an object become its member `input`",
            LossKind::MarkedPrompt => "prompts get a word before them, so that they are sent",
            LossKind::AddedPrompt => "first prompt is added before the answer that begins",
            LossKind::Usage => "counts of tokens stay with the source",
            LossKind::SideFile => "side files are not carried over",
        }
    }
}
