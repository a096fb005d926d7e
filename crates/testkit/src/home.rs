//! placeholder
/// x
pub struct Home;
/// x
pub struct Planted;
