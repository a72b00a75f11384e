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

/// The figure that so many per cent are at or below.
pub fn share<T: PartialOrd + Copy>(figures: &[T], percent: usize) -> Option<T> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("a number"));
    sorted.get((sorted.len().saturating_sub(1) * percent).div_ceil(100)).copied()
}

/// Prints on what is measured, and the table's head.
pub fn head() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("Measured on {}, {cores} cores; figures are median (least to most).\n", processor());
    println!("| what | overspill | peer | ratio | target |");
    println!("|---|---|---|---|---|");
}

/// The processor's name; its family and model, too, as some are called alike.
fn processor() -> String {
    let known = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        let line = known.lines().find(|line| line.split(':').next().is_some_and(|word| word.trim() == key));
        line.and_then(|line| line.split_once(':'))
            .map_or("?".to_owned(), |(_, value)| value.trim().to_owned())
    };
    format!("{} (family {}, model {})", value("model name"), value("cpu family"), value("model"))
}

/// Prints a row with a peer: both programs' times, and the ratios pair by pair, each with its spread.
pub fn row(what: &str, peer: &str, pairs: &Pairs, target: &str) {
    let ratios: Vec<f64> =
        pairs.ours.iter().zip(&pairs.peer).map(|(a, b)| a.as_secs_f64() / b.as_secs_f64()).collect();
    let ratio = spread(&ratios, |ratio| format!("{ratio:.2}"));
    let [ours, theirs] = [&pairs.ours, &pairs.peer].map(|runs| spread(runs, words));
    println!("| {what} | {ours} | {peer}: {theirs} | {ratio} | {target} |");
}

/// Prints a row without a peer.
pub fn alone(what: &str, ours: &[Duration], target: &str) {
    println!("| {what} | {} | | | {target} |", spread(ours, words));
}

/// Prints a row of words.
pub fn plain(what: &str, ours: &str, target: &str) {
    println!("| {what} | {ours} | | | {target} |");
}

/// The median of some figures, their least and their most.
fn spread<T: PartialOrd + Copy>(figures: &[T], write: impl Fn(T) -> String) -> String {
    match [50, 0, 100].map(|percent| share(figures, percent).map(&write)) {
        [Some(median), Some(least), Some(most)] => format!("{median} ({least} to {most})"),
        _ => "gave up".to_owned(),
    }
}

/// A time in words.
pub fn words(time: Duration) -> String {
    match time.as_secs_f64() {
        short if short < 0.1 => format!("{:.1} ms", short * 1e3),
        long => format!("{long:.2} s"),
    }
}
