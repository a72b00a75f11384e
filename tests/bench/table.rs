//! Figures of several runs, and the table in which they are compared.

use std::time::Duration;

/// Runs of two programs in turn: A B A B.
#[derive(Default)]
pub struct Pairs {
    pub ours: Vec<Duration>,
    pub peer: Vec<Duration>,
}

/// Times two things in turn, `rounds` times each; nothing where either gave up.
pub fn pairs(
    rounds: usize,
    mut ours: impl FnMut() -> Option<Duration>,
    mut peer: impl FnMut() -> Option<Duration>,
) -> Pairs {
    let mut pairs = Pairs::default();
    for _ in 0..rounds {
        if let (Some(mine), Some(theirs)) = (ours(), peer()) {
            pairs.ours.push(mine);
            pairs.peer.push(theirs);
        }
    }
    pairs
}

/// The middle of some figures.
pub fn median<T: PartialOrd + Copy>(figures: &[T]) -> Option<T> {
    share(figures, 50)
}

/// The figure that so many per cent are at or below.
pub fn share<T: PartialOrd + Copy>(figures: &[T], percent: usize) -> Option<T> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("a number"));
    sorted.get((sorted.len().saturating_sub(1) * percent).div_ceil(100)).copied()
}

/// Prints the table's head.
pub fn head() {
    println!("| what | overspill | peer | ratio | to reach |");
    println!("|---|---|---|---|---|");
}

/// Prints a row with a peer: the medians, and the median and range of the ratios pair by pair.
pub fn row(what: &str, peer: &str, pairs: &Pairs, target: &str) {
    let ratios: Vec<f64> =
        pairs.ours.iter().zip(&pairs.peer).map(|(a, b)| a.as_secs_f64() / b.as_secs_f64()).collect();
    let ratio = |percent| share(&ratios, percent).unwrap_or(f64::NAN);
    let ratio = format!("{:.2} ({:.2} to {:.2})", ratio(50), ratio(0), ratio(100));
    println!("| {what} | {} | {peer}: {} | {ratio} | {target} |", time(&pairs.ours), time(&pairs.peer));
}

/// Prints a row without a peer: the median and the slowest.
pub fn alone(what: &str, ours: &[Duration], target: &str) {
    let slowest = share(ours, 100).map_or("-".into(), words);
    println!("| {what} | {}, at most {slowest} | | | {target} |", time(ours));
}

/// Prints a row of words.
pub fn plain(what: &str, ours: &str, target: &str) {
    println!("| {what} | {ours} | | | {target} |");
}

fn time(runs: &[Duration]) -> String {
    median(runs).map_or("gave up".into(), words)
}

/// A time in words.
pub fn words(time: Duration) -> String {
    match time.as_secs_f64() {
        short if short < 0.1 => format!("{:.1} ms", short * 1e3),
        long => format!("{long:.2} s"),
    }
}
