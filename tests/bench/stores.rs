//! A store of many small outputs, as one that nobody ever cleaned.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// So far apart were they made, about.
const APART: Duration = Duration::from_millis(700);

/// Writes `count` outputs into opencode's store under `data` (as `XDG_DATA_HOME`), the youngest made just now, in an
/// order that is not that of their times.
pub fn write(data: &Path, count: u64) -> io::Result<()> {
    let store = data.join("opencode/tool-output");
    fs::create_dir_all(&store)?;
    let now = SystemTime::now();
    for n in 0..count {
        let age = APART * (n.wrapping_mul(2_654_435_761) % count) as u32;
        let made = now - age;
        let millis =
            made.duration_since(SystemTime::UNIX_EPOCH).map_err(io::Error::other)?.as_millis() as u64;
        let id = format!("tool_{:012x}{n:014}", (millis << 12 | 1) & 0xFFFF_FFFF_FFFF);
        let mut file = File::create(store.join(id))?;
        writeln!(file, "output {n} of {count}")?;
        file.set_modified(made)?;
    }
    Ok(())
}
