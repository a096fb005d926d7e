//! Who wrote each line of a file.
//!
//! Two states of a file can often be compared in several shortest ways: of two equal lines either
//! may be the new one. A line has every author that one of these ways gives it, and any of them is
//! right.

/// The call of a session that wrote a line, by session and prompt; `None` for a hand.
pub(super) type Author = Option<(usize, usize)>;

/// A line of a file.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) text: String,
    /// Who may be said to have written it.
    pub(super) authors: Vec<Author>,
}

impl Line {
    pub(super) fn by(author: Author, text: &str) -> Line {
        Line {
            text: text.to_owned(),
            authors: vec![author],
        }
    }

    fn may_be_by(&mut self, author: Author) {
        if !self.authors.contains(&author) {
            self.authors.push(author);
        }
    }
}

/// Returns the lines of a file that an author changed to these texts.
pub(super) fn changed(old: &[Line], new: &[String], author: Author) -> Vec<Line> {
    let common = Common::of(old, new);
    let line = |(at, text): (usize, &String)| {
        let mut line = Line {
            text: text.clone(),
            authors: Vec::new(),
        };
        if common.may_be_new(at) {
            line.may_be_by(author);
        }
        for (from, before) in old.iter().enumerate() {
            if before.text == *text && common.may_stay(from, at) {
                before.authors.iter().for_each(|it| line.may_be_by(*it));
            }
        }
        line
    };
    new.iter().enumerate().map(line).collect()
}

/// The lengths of the longest common subsequences of all beginnings and of all ends of two states.
struct Common {
    beginnings: Vec<Vec<usize>>,
    ends: Vec<Vec<usize>>,
    most: usize,
}

impl Common {
    fn of(old: &[Line], new: &[String]) -> Common {
        let mut beginnings = vec![vec![0; new.len() + 1]; old.len() + 1];
        let mut ends = beginnings.clone();
        for (i, before) in old.iter().enumerate() {
            for (j, text) in new.iter().enumerate() {
                beginnings[i + 1][j + 1] = match before.text == *text {
                    true => beginnings[i][j] + 1,
                    false => beginnings[i][j + 1].max(beginnings[i + 1][j]),
                };
            }
        }
        for (i, before) in old.iter().enumerate().rev() {
            for (j, text) in new.iter().enumerate().rev() {
                ends[i][j] = match before.text == *text {
                    true => ends[i + 1][j + 1] + 1,
                    false => ends[i][j + 1].max(ends[i + 1][j]),
                };
            }
        }
        let most = ends[0][0];
        Common {
            beginnings,
            ends,
            most,
        }
    }

    /// Whether a shortest way keeps the old line as the new one, which has the same text.
    fn may_stay(&self, old: usize, new: usize) -> bool {
        self.beginnings[old][new] + 1 + self.ends[old + 1][new + 1] == self.most
    }

    /// Whether a shortest way adds the new line.
    fn may_be_new(&self, new: usize) -> bool {
        let rows = self.beginnings.iter().zip(&self.ends);
        let mut sums = rows.map(|(beginnings, ends)| beginnings[new] + ends[new + 1]);
        sums.any(|sum| sum == self.most)
    }
}

#[test]
fn of_two_equal_lines_either_may_be_the_new_one() {
    let old = [Line::by(Some((0, 0)), "a"), Line::by(Some((1, 0)), "}")];
    let new = ["a", "}", "}", "b"].map(str::to_owned);
    let lines = changed(&old, &new, None);
    let authors: Vec<usize> = lines.iter().map(|line| line.authors.len()).collect();
    assert_eq!(authors, [1, 2, 2, 1]);
    assert_eq!(lines[0].authors, [Some((0, 0))]);
    assert_eq!(lines[3].authors, [None]);
}
