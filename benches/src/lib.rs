//! What the criterion benches (`cargo bench`) and the comparison with peers (`benches/peers/run`) share.

pub mod ppo;
pub mod turns;
