//! Markdown and comments have the format of `cargo xtask prose --write`.

use crate::prose;

#[test]
fn markdown_has_one_sentence_a_line_and_comments_fit_their_columns() {
    let wrong = prose::breaches().expect("readable files");
    assert!(
        wrong.is_empty(),
        "{}\nrun `cargo xtask prose --write`",
        wrong.join("\n")
    );
}
