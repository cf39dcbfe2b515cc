//! Texts that take long to compare.

/// More lines than are compared without a time limit, when two such texts differ in all of them.
const LINES: usize = 20_001;

/// A text of which few lines are like those of another seed. Comparing the two takes as long as a comparison may, on
/// any machine.
pub fn slow_text(mut seed: u64) -> String {
    let mut number = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{}\n", (seed >> 33) % 50)
    };
    (0..LINES).map(|_| number()).collect()
}
