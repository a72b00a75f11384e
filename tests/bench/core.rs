//! What the parts cost inside the program, on small inputs: `cargo bench --bench core`.

mod spill;

use std::hint::black_box;
use std::time::{Duration, Instant};

use overspill::internals::text::cells::Show;
use overspill::internals::text::index::BlockIndex;
use overspill::internals::text::layout::{Rows, Wrap};
use overspill::internals::text::search::Pattern;
use overspill::internals::text::units::{TotalsMask, measure_all};
use overspill::preview::{Catalog, Input, Output, Totals, plan};

/// Bytes of the output that is worked on: more than the processor's own caches for one core.
const LEN: u64 = 8 << 20;

/// Columns and rows of a frame.
const FRAME: (u16, usize) = (120, 48);

/// Times that each piece of work is sampled, and the least time of a sample.
const SAMPLES: usize = 10;
const MIN_SAMPLE: Duration = Duration::from_millis(50);

/// Prints the median time of `work`, the least and the most, and how many of `bytes` it does in a second.
fn time<R>(what: &str, bytes: usize, mut work: impl FnMut() -> R) {
    let mut sample = |rounds: u32| {
        let started = Instant::now();
        for _ in 0..rounds {
            black_box(work());
        }
        started.elapsed()
    };
    let mut rounds = 1;
    while sample(rounds) < MIN_SAMPLE {
        rounds *= 2;
    }
    let mut times: Vec<f64> =
        (0..SAMPLES).map(|_| sample(rounds).as_secs_f64() / f64::from(rounds)).collect();
    times.sort_by(f64::total_cmp);
    let [median, least, most] = [SAMPLES / 2, 0, SAMPLES - 1].map(|at| times[at] * 1e6);
    let rate = if bytes == 0 { "-".to_owned() } else { format!("{:.2}", bytes as f64 / median / 1e3) };
    println!("{what:<50} {median:>12.3} {least:>12.3} {most:>12.3} {rate:>8}");
}

fn output() -> Vec<u8> {
    let mut bytes = Vec::new();
    spill::write(&mut bytes, LEN, spill::Shape::Lines).expect("memory takes it");
    bytes
}

fn index() {
    let bytes = output();
    let count = || {
        let mut index = BlockIndex::new(LEN);
        index.insert(&BlockIndex::count(&bytes, index.block(), 0..index.blocks()));
        index
    };
    time("index: count", bytes.len(), count);
    let index = count();
    let middle = index.line_feeds().expect("all is counted") / 2;
    time("index: line to offset", 0, || index.offset_of(&bytes, black_box(middle)));
    time("index: offset to line", 0, || index.line_at(&bytes, black_box(LEN / 2)));
}

fn search() {
    let bytes = output();
    let patterns = [
        ("literal, once", spill::NEEDLE),
        ("literal, any case, once", "the needle is in line"),
        ("literal, in most lines", "DEBUG"),
        ("regular expression, once", "needle is in [a-z]+ [0-9a-f]{6}"),
        ("regular expression, in most lines", r"\b[0-9]+\.[0-9]+s\b"),
    ];
    for (name, pattern) in patterns {
        let pattern = Pattern::new(pattern).expect("a pattern");
        time(&format!("search: {name}"), bytes.len(), || pattern.in_lines(&bytes).count());
    }
}

fn measure() {
    let bytes = output();
    let ascii: Vec<u8> = bytes.iter().map(|byte| byte & 0x7F).collect();
    let wide = "größer テスト 完了 проверка 😀 ".repeat(LEN as usize / 64).into_bytes();
    let broken: Vec<u8> = bytes.iter().map(|byte| byte ^ 0x80).collect();
    let want = TotalsMask::LINE_FEEDS.with(TotalsMask::DECODED_BYTES).with(TotalsMask::UNITS);
    for (name, bytes) in [("ascii", &ascii), ("a log", &bytes), ("wide", &wide), ("not text", &broken)] {
        time(&format!("measure: {name}"), bytes.len(), || measure_all(bytes, want));
    }
}

fn plans() {
    let bytes = output();
    let totals = Totals::count(&bytes);
    let catalog = Catalog::builtin();
    for name in catalog.names() {
        let policy = catalog.get(name).expect("a built-in policy");
        let input = Input::new(Output { bytes: &bytes, totals: &totals }, "/tmp/output");
        time(&format!("plan: {name}"), 0, || plan(&input, &policy));
    }
}

fn layout() {
    let bytes = output();
    let long = bytes[..64 << 10].iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte });
    let long: Vec<u8> = long.collect();
    time("layout of a frame: lines", 0, || {
        let lines = bytes.split(|byte| *byte == b'\n').take(FRAME.1);
        lines.map(|line| Rows::new(line, &Show::PAGER, Wrap::Width(FRAME.0)).count()).sum::<usize>()
    });
    time("layout of a frame: one long line", 0, || {
        Rows::new(&long, &Show::PAGER, Wrap::Width(FRAME.0)).take(FRAME.1).count()
    });
}

fn main() {
    println!("{:<50} {:>12} {:>12} {:>12} {:>8}", "what", "median us", "least us", "most us", "GB/s");
    for part in [index, search, measure, plans, layout] {
        part();
    }
}
