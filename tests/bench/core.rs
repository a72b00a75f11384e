//! What the parts cost inside the program, on small inputs: `cargo bench --bench core`.

mod spill;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use overspill::internals::text::cells::Show;
use overspill::internals::text::index::BlockIndex;
use overspill::internals::text::layout::{Rows, Wrap};
use overspill::internals::text::search::{Pattern, matches};
use overspill::internals::text::units::{TotalsMask, measure_all};
use overspill::preview::{Catalog, Input, Output, Totals, plan};

/// Bytes of the output that is worked on: more than the processor's own caches for one core.
const LEN: u64 = 8 << 20;

/// Columns and rows of a frame.
const FRAME: (u16, usize) = (120, 48);

fn output() -> Vec<u8> {
    let mut bytes = Vec::new();
    spill::write(&mut bytes, LEN, spill::Shape::Lines).expect("memory takes it");
    bytes
}

fn index(c: &mut Criterion) {
    let bytes = output();
    let mut group = c.benchmark_group("index");
    group.throughput(Throughput::Bytes(LEN));
    group.bench_function("count", |b| {
        b.iter(|| {
            let mut index = BlockIndex::new(LEN);
            let counts = BlockIndex::count(&bytes, index.block(), 0..index.blocks());
            index.insert(&counts);
            black_box(index.line_feeds())
        });
    });
    let mut index = BlockIndex::new(LEN);
    index.insert(&BlockIndex::count(&bytes, index.block(), 0..index.blocks()));
    let middle = index.line_feeds().expect("all is counted") / 2;
    group.throughput(Throughput::Elements(1));
    group.bench_function("line to offset", |b| b.iter(|| index.offset_of(&bytes, black_box(middle))));
    group.bench_function("offset to line", |b| b.iter(|| index.line_at(&bytes, black_box(LEN / 2))));
}

fn search(c: &mut Criterion) {
    let bytes = output();
    let mut group = c.benchmark_group("search");
    group.throughput(Throughput::Bytes(LEN));
    let patterns = [
        ("literal, once", spill::NEEDLE),
        ("literal, any case, once", "the needle is in line"),
        ("literal, in most lines", "DEBUG"),
        ("regular expression, once", "needle is in [a-z]+ [0-9a-f]{6}"),
        ("regular expression, in most lines", r"\b[0-9]+\.[0-9]+s\b"),
    ];
    for (name, pattern) in patterns {
        let pattern = Pattern::new(pattern).expect("a pattern");
        group.bench_function(name, |b| b.iter(|| matches(&bytes, &pattern, 0..bytes.len()).count()));
    }
}

fn measuring(c: &mut Criterion) {
    let bytes = output();
    let ascii: Vec<u8> = bytes.iter().map(|byte| byte & 0x7F).collect();
    let wide = "größer テスト 完了 проверка 😀 ".repeat(LEN as usize / 64).into_bytes();
    let broken: Vec<u8> = bytes.iter().map(|byte| byte ^ 0x80).collect();
    let mut group = c.benchmark_group("measure");
    for (name, bytes) in [("ascii", &ascii), ("a log", &bytes), ("wide", &wide), ("not text", &broken)] {
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        let want = TotalsMask::LINE_FEEDS.with(TotalsMask::DECODED_BYTES).with(TotalsMask::UNITS);
        group.bench_function(name, |b| b.iter(|| measure_all(bytes, want)));
    }
}

fn planning(c: &mut Criterion) {
    let bytes = output();
    let totals = Totals::count(&bytes);
    let catalog = Catalog::builtin();
    let mut group = c.benchmark_group("plan");
    for name in catalog.names() {
        let policy = catalog.get(name).expect("a built-in policy");
        let input = Input::new(Output { bytes: &bytes, totals: &totals }, "/tmp/output");
        group.bench_function(name, |b| b.iter(|| plan(&input, &policy)));
    }
}

fn layout(c: &mut Criterion) {
    let bytes = output();
    let long = bytes[..64 << 10].iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte });
    let long: Vec<u8> = long.collect();
    let mut group = c.benchmark_group("layout of a frame");
    group.bench_function("lines", |b| {
        b.iter(|| {
            let lines = bytes.split(|byte| *byte == b'\n').take(FRAME.1);
            lines.map(|line| Rows::new(line, &Show::PAGER, Wrap::Width(FRAME.0)).count()).sum::<usize>()
        });
    });
    group.bench_function("one long line", |b| {
        b.iter(|| Rows::new(&long, &Show::PAGER, Wrap::Width(FRAME.0)).take(FRAME.1).count());
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600));
    targets = index, search, measuring, planning, layout
}
criterion_main!(benches);
