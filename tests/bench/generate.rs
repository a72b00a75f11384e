//! Writes what is measured: `cargo bench --bench generate -- [--line] PATH [BYTES]` an output,
//! `cargo bench --bench generate -- stores DIR COUNT` a store of many under DIR, as under `XDG_DATA_HOME`,
//! `-- outputs DIR COUNT` outputs of 200 KB each, `-- transcript PATH BYTES` an agent's records, `-- sessions HOME COUNT` many of them below a home directory.

mod spill;
mod stores;
mod transcripts;

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use spill::Shape;

/// Bytes of the large output: 78 million lines.
const LINES: u64 = 8_000_000_000;

/// Bytes of the one long line.
const LINE: u64 = 200_000_000;

/// Bytes of each of many outputs.
const OUTPUT: u64 = 200 << 10;

/// Writes many outputs, each another stretch of a large one.
fn outputs(dir: &Path, count: u64) -> io::Result<()> {
    let mut all = Vec::new();
    spill::write(&mut all, 64 * OUTPUT, Shape::Lines)?;
    std::fs::create_dir_all(dir)?;
    let room = all.len() as u64 - OUTPUT;
    for number in 0..count {
        let start = (number.wrapping_mul(2_654_435_761) % room) as usize;
        let start = start + all[start..].iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = all.len().min(start + OUTPUT as usize);
        std::fs::write(dir.join(format!("{number:06}.log")), &all[start..end])?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [first, path, count] = &words[..] {
        let count = || count.parse().map_err(io::Error::other);
        match first.as_str() {
            "stores" => return stores::write(path.as_ref(), count()?),
            "outputs" => return outputs(path.as_ref(), count()?),
            "sessions" => return transcripts::write_home(path.as_ref(), count()?),
            "transcript" => {
                return transcripts::write(
                    &mut BufWriter::with_capacity(1 << 20, File::create(path)?),
                    "s",
                    count()?,
                    1,
                );
            }
            _ => {}
        }
    }
    let (shape, words) = match words.split_first() {
        Some((first, rest)) if first == "--line" => (Shape::OneLine, rest),
        _ => (Shape::Lines, &words[..]),
    };
    let Some(path) = words.first() else {
        println!("generate: nothing written; -- [--line] PATH [BYTES] says where, and how much");
        return Ok(());
    };
    let len = match words.get(1) {
        Some(bytes) => bytes.parse().map_err(io::Error::other)?,
        None if shape == Shape::Lines => LINES,
        None => LINE,
    };
    spill::write(&mut BufWriter::with_capacity(1 << 20, File::create(path)?), len, shape)
}
