//! A file of the repository, with the author of every line.

use boswell_testkit::rng::Rng;

use super::logs::Replacement;
use super::truth::{Author, Line, changed};

/// Words that occur in many lines.
pub(super) const WORDS: [&str; 4] = ["count", "total", "index", "buffer"];

#[derive(Debug, Clone)]
pub(super) struct TrackedFile {
    /// Relative to the repository.
    pub(super) path: String,
    pub(super) lines: Vec<Line>,
    pub(super) crlf: bool,
    /// Whether the last line has an end.
    pub(super) ended: bool,
    /// Whether it was changed where no log and no commit shows it yet.
    pub(super) hidden: bool,
}

/// A stretch of lines that is replaced, with the lines around it that make its text unique.
#[derive(Debug, Clone)]
pub(super) struct Stretch {
    pub(super) shown: std::ops::Range<usize>,
    pub(super) replaced: std::ops::Range<usize>,
    pub(super) new: Vec<String>,
}

impl TrackedFile {
    /// The text with `\n` at the ends of lines, as tools of agents show it.
    pub(super) fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        let end = if self.ended { "\n" } else { "" };
        format!("{}{end}", lines.join("\n"))
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let text = self.text();
        match self.crlf {
            true => text.replace('\n', "\r\n").into_bytes(),
            false => text.into_bytes(),
        }
    }

    /// Replaces the text.
    pub(super) fn set(&mut self, text: &str, author: Author) {
        self.ended = text.ends_with('\n');
        let new: Vec<String> = text.lines().map(str::to_owned).collect();
        self.lines = changed(&self.lines, &new, author);
    }

    fn joined(&self, range: std::ops::Range<usize>) -> String {
        let lines = self.lines[range].iter().map(|line| line.text.as_str());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Chooses lines to replace; `None` if no lines around them are unique.
    pub(super) fn stretch(&self, new: Vec<String>, rng: &mut Rng) -> Option<Stretch> {
        let count = self.lines.len();
        let from = rng.below(count + 1);
        let most = if count < 6 { 0 } else { 3.min(count - from) };
        let replaced = from..from + rng.below(most + 1);
        if replaced.is_empty() && new.is_empty() {
            return None;
        }
        let mut shown = replaced.clone();
        let text = self.text();
        let is_fit = |shown: &std::ops::Range<usize>| {
            let old = self.joined(shown.clone());
            // A replaced line without neighbours would lose its end.
            let keeps_line = !new.is_empty() || shown.len() > replaced.len();
            !old.trim().is_empty() && keeps_line && text.matches(&old).count() == 1
        };
        while !is_fit(&shown) {
            if shown == (0..count) {
                return None;
            }
            shown = shown.start.saturating_sub(1)..(shown.end + 1).min(count);
        }
        Some(Stretch {
            shown,
            replaced,
            new,
        })
    }

    /// The texts of a replacement.
    pub(super) fn replacement(&self, stretch: &Stretch) -> Replacement {
        let Stretch {
            shown,
            replaced,
            new,
        } = stretch;
        let kept = |range: std::ops::Range<usize>| {
            let lines = self.lines[range].iter();
            lines.map(|line| line.text.clone()).collect::<Vec<_>>()
        };
        let mut lines = kept(shown.start..replaced.start);
        lines.extend(new.iter().cloned());
        lines.extend(kept(replaced.end..shown.end));
        Replacement {
            old: self.joined(shown.clone()),
            new: lines.join("\n"),
            all: false,
        }
    }

    /// One hunk of a patch.
    pub(super) fn hunk(&self, stretch: &Stretch) -> String {
        let Stretch {
            shown,
            replaced,
            new,
        } = stretch;
        let mut hunk = String::from("@@\n");
        let mut put = |sign: char, text: &str| hunk.push_str(&format!("{sign}{text}\n"));
        let lines = |range: std::ops::Range<usize>| self.lines[range].iter();
        lines(shown.start..replaced.start).for_each(|line| put(' ', &line.text));
        lines(replaced.clone()).for_each(|line| put('-', &line.text));
        new.iter().for_each(|text| put('+', text));
        lines(replaced.end..shown.end).for_each(|line| put(' ', &line.text));
        hunk
    }

    /// Replaces a text.
    pub(super) fn replace(&mut self, with: &Replacement, author: Author) {
        let text = self.text();
        let text = match with.all {
            true => text.replace(&with.old, &with.new),
            false => text.replacen(&with.old, &with.new, 1),
        };
        self.set(&text, author);
    }

    /// Replaces, adds and removes single lines at random.
    pub(super) fn shuffled(
        &self,
        changes: usize,
        fresh: &mut dyn FnMut() -> String,
        rng: &mut Rng,
    ) -> Vec<String> {
        let mut lines: Vec<String> = self.lines.iter().map(|line| line.text.clone()).collect();
        for _ in 0..changes {
            let at = rng.below(lines.len() + 1);
            match rng.below(3) {
                0 if at < lines.len() => lines[at] = fresh(),
                1 if at < lines.len() && lines.len() > 6 => _ = lines.remove(at),
                _ => lines.insert(at, fresh()),
            }
        }
        lines
    }

    /// Changes white space at the beginnings of lines. Authors keep their lines.
    pub(super) fn reformat(&mut self) {
        let has_tabs = self.lines.iter().any(|line| line.text.starts_with('\t'));
        for line in &mut self.lines {
            let bare = line.text.trim_start().to_owned();
            if bare.len() < line.text.len() {
                let indent = if has_tabs { "    " } else { "\t" };
                line.text = format!("{indent}{bare}");
            }
        }
    }
}
