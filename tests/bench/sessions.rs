//! Opening and listing of agents' records, alone in a process so that its time and memory can be taken from outside:
//! `cargo bench --bench sessions -- open FILE`, or `list HOME` (the list), `first HOME` (its first rows only).

use std::io;
use std::path::Path;
use std::time::Instant;

use overspill::internals::session::find::Exposure;
use overspill::internals::session::list;
use overspill::internals::store::Env;

/// How many sessions a screen shows.
const SCREEN: usize = 32;

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let started = Instant::now();
    let counted = match &words[..] {
        [what, file] if what == "open" => open(file.as_ref())?,
        [what, home] if what == "list" => listed(home.as_ref(), usize::MAX),
        [what, home] if what == "first" => listed(home.as_ref(), SCREEN),
        _ => {
            println!("sessions: nothing measured; -- open FILE, list HOME or first HOME");
            return Ok(());
        }
    };
    println!("{counted} in {:.1} ms; {}", started.elapsed().as_secs_f64() * 1e3, memory());
    Ok(())
}

fn open(file: &Path) -> io::Result<usize> {
    let found = list::recognise(file).map_err(io::Error::other)?;
    let opened = list::open(&found, &()).map_err(io::Error::other)?;
    Ok(opened.transcript().calls.len())
}

fn listed(home: &Path, most: usize) -> usize {
    let files = list::list(&Env::hermetic(home), None, &()).sessions;
    let mut exposure = Exposure::default();
    files.into_iter().take(most).filter_map(|file| list::read_listed(file, &mut exposure).ok()).count()
}

/// The most memory that the process ever had, and what of it is its own at the end.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of =
        |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).map_or("?", str::trim).to_owned();
    format!("most {}, own at the end {}", of("VmHWM:"), of("RssAnon:"))
}
