//! The name of a session in clinvoker's lists.

/// Longest prompt, in code points, that is shown completely.
const WHOLE: usize = 50;
/// Number of code points that are shown of a longer prompt.
const CUT: usize = 47;

/// Returns the title; else the prompt, cut to 47 code points and `...` if it has more than 50; else
/// the first eight bytes of the id.
pub fn display_name(title: &str, prompt: &str, id: &str) -> String {
    if !title.is_empty() {
        return title.to_owned();
    }
    if !prompt.is_empty() {
        if prompt.chars().nth(WHOLE).is_none() {
            return prompt.to_owned();
        }
        let end = prompt
            .char_indices()
            .nth(CUT)
            .map_or(prompt.len(), |(at, _)| at);
        return format!("{}...", prompt.get(..end).unwrap_or(prompt));
    }
    id.get(..8).unwrap_or(id).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_comes_first_then_the_prompt_then_the_id() {
        assert_eq!(display_name("T", "p", "0123456789"), "T");
        assert_eq!(display_name("", "p", "0123456789"), "p");
        assert_eq!(display_name("", "", "0123456789"), "01234567");
        assert_eq!(display_name("", "", "0123"), "0123");
    }

    #[test]
    fn prompts_are_counted_in_code_points() {
        let fifty = "字".repeat(50);
        assert_eq!(display_name("", &fifty, "x"), fifty);
        assert_eq!(
            display_name("", &format!("{fifty}末"), "x"),
            format!("{}...", "字".repeat(47))
        );
    }
}
