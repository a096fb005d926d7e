//! [`Intake`]: what an agent takes of a conversation that another agent had.

/// The image types of Anthropic and OpenAI.
/// <https://docs.anthropic.com/en/docs/build-with-claude/vision>,
/// <https://platform.openai.com/docs/guides/images-vision>
const COMMON_IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// What a session that is made from a conversation of another agent can contain.
///
/// Texts, calls of tools and their results are taken by every target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intake {
    /// Which reasoning of a model it takes.
    pub thinking: ThinkingIntake,
    /// Where it takes images.
    pub images: ImageIntake,
    /// The types of images that it takes.
    pub image_types: &'static [&'static str],
    /// Whether a result can be marked as that of a failed call.
    pub marks_failed_results: bool,
    /// Whether answers state the models of other agents. Most agents would go on with that model.
    pub states_models: bool,
    /// Beginnings of prompts that the agent does not send, because it treats them as commands or as
    /// its own texts.
    pub unsent_prompts: &'static [&'static str],
}

/// Which reasoning of a model an agent takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingIntake {
    /// None: its provider demands what only the provider itself can issue.
    Never,
    /// The text, without a signature.
    Text,
    /// Only with a signature of this provider.
    Signed(&'static str),
    /// All of it, with its signature.
    Everything,
}

/// Where an agent takes images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageIntake {
    /// Nowhere.
    Never,
    /// In messages of the user.
    Prompts,
    /// In messages of the user and in results of tools.
    PromptsAndResults,
}

impl Intake {
    /// Texts, calls and results alone.
    pub const PLAIN: Intake = Intake {
        thinking: ThinkingIntake::Never,
        images: ImageIntake::Never,
        image_types: &COMMON_IMAGES,
        marks_failed_results: true,
        states_models: false,
        unsent_prompts: &[],
    };
}
