//! Writes a realistic home folder with the stores of every dialect: `cargo run -p boswell-testkit
//! --example home -- DIR`.

fn main() {
    let Some(root) = std::env::args().nth(1) else {
        return;
    };
    boswell_testkit::home::TestHome::build(std::path::Path::new(&root), 1);
}
