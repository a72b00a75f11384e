//! Runs each scene without a fault, then once for each call and each error, and judges what came of it.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use regex::Regex;

use crate::calls::Counts;
use crate::common::home::{Ran, finish};
use crate::plan::{ALL, KINDS, Kind, Order};
use crate::scenes::{SCENES, Scene, Stage};
use crate::stocked::Stocked;
use crate::{COUNTS, ORDER, changing, screens};

/// With this variable set every call fails, with every error of its kind; else [`SOME`] calls, each with one in turn.
const ALL_FAULTS: &str = "OVERSPILL_TEST_ALL_FAULTS";
/// Calls of each kind in each scene.
const SOME: u32 = 3;
/// With this variable set what each fault made the program say is printed.
const TELL: &str = "OVERSPILL_TEST_TELL_FAULTS";

/// What came of a run.
pub struct Came {
    pub home: Stocked,
    pub ran: Ran,
    calls: [u32; KINDS],
    given: bool,
    order: Option<Order>,
    /// The same without a fault: status, standard output and error.
    usual: (i32, String, String),
}

impl Came {
    /// All that was said, without what differs from run to run.
    pub fn said(&self) -> (i32, String, String) {
        let root = self.home.work();
        let root = root.parent().expect("a home").display().to_string();
        static IDS: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new("tool_[0-9a-zA-Z]{26,28}|opencode-s/[0-9a-zA-Z._-]+|20[0-9-]{8}T[0-9:.]+Z|[0-9]+ (s|ms)\\b|[0-9.]+ [GT]B").expect("a pattern")
        });
        let plain = |text: &str| IDS.replace_all(&text.replace(&root, "HOME"), "ID").into_owned();
        let out = String::from_utf8_lossy(&self.ran.stdout);
        (self.ran.status, plain(&out), plain(&self.ran.stderr))
    }

    /// What is said without a fault.
    pub fn usual(&self) -> &(i32, String, String) {
        &self.usual
    }

    /// Whether it is writing to standard output that failed.
    pub fn print_failed(&self) -> bool {
        self.given && self.order.is_some_and(|order| order.kind == Kind::Print)
    }

    /// Every file below a directory of the home.
    pub fn below(&self, name: &str) -> Vec<PathBuf> {
        let (mut files, mut left) = (Vec::new(), vec![self.home.dir(name)]);
        while let Some(dir) = left.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_dir { left.push(entry.path()) } else { files.push(entry.path()) }
            }
        }
        files
    }
}

fn perform(scene: &Scene, order: Option<Order>, usual: &(i32, String, String)) -> Came {
    let home = Stocked::new();
    (scene.prepare)(&home);
    let path = home.dir("counts");
    fs::write(&path, vec![0; size_of::<Counts>()]).expect("a file for the counts");
    let program = std::env::current_exe().expect("this program");
    let fault = order.map(Order::words).unwrap_or_default();
    let ran = match &scene.stage {
        Stage::Command { words, input } => {
            let mut command = Command::new(program);
            command.args(*words).current_dir(home.work()).env_clear().envs(home.env());
            command.env(ORDER, fault).env(COUNTS, &path);
            let open = |name: &str| fs::File::open(home.at(name)).expect("an input").into();
            command.stdin(input.map_or_else(Stdio::null, open)).stdout(Stdio::piped()).stderr(Stdio::piped());
            finish(command.spawn().expect("the program starts"))
        }
        Stage::Screens { line, steps } => {
            let [program, path] = [&program, &path].map(|path| path.to_str().expect("UTF-8"));
            let vars = [("overspill", program), (ORDER, fault.as_str()), (COUNTS, path)];
            screens::play(&home, &vars, line, steps)
        }
    };
    let counted = read_counts(&path);
    Came {
        home,
        ran,
        calls: std::array::from_fn(|n| counted[n]),
        given: counted[KINDS] != 0,
        order,
        usual: usual.clone(),
    }
}

fn read_counts(path: &Path) -> [u32; KINDS + 1] {
    let bytes = fs::read(path).expect("the counts");
    std::array::from_fn(|n| u32::from_ne_bytes(bytes[4 * n..4 * n + 4].try_into().expect("four bytes")))
}

/// One call to fail in one scene, and what the scene says without.
struct Case<'a> {
    scene: &'a Scene,
    order: Order,
    usual: &'a (i32, String, String),
}

impl Case<'_> {
    /// What is wrong, if anything is.
    fn fault(&self) -> Option<String> {
        let came = match catch_unwind(|| perform(self.scene, Some(self.order), self.usual)) {
            Ok(came) => came,
            Err(fault) => return Some(fault.downcast_ref::<String>().cloned().unwrap_or_default()),
        };
        if std::env::var_os(TELL).is_some() && came.given {
            println!(
                "{} {:?} -> {} {}",
                self.scene.name,
                self.order,
                came.ran.status,
                came.said().2.trim_end()
            );
        }
        judge(self, &came).err().map(|why| format!("{why}; it said {}", brief(&came.said())))
    }
}

/// The ends of what was said.
fn brief((status, out, err): &(i32, String, String)) -> String {
    let out: Vec<char> = out.chars().collect();
    let ends = [&out[..out.len().min(60)], &out[out.len().saturating_sub(160)..]]
        .map(|end| end.iter().collect::<String>());
    format!("{status} {err:?} {ends:?}")
}

fn judge(case: &Case<'_>, came: &Came) -> Result<(), String> {
    let (said, usual) = (came.said(), case.usual.clone());
    if said.0 == 101 || said.0 >= 128 || said.2.contains("panicked") {
        return Err("it died".into());
    }
    if !came.given || case.order.must_not_be_seen() {
        return if said == usual {
            Ok(())
        } else {
            Err(format!("it is to be as without a fault: {}", brief(&usual)))
        };
    }
    if said != usual && said.2 == usual.2 && !said.1.contains("(os error ") {
        return Err(format!("another outcome without a word: {}", brief(&usual)));
    }
    if said.2.lines().any(|line| !names_something(line)) {
        return Err("it names nothing".into());
    }
    is_given_back(came, case.order)?;
    no_half(came, case.order)?;
    (case.scene.judge)(came)
}

/// `overspill: ` and what the system said are not all: a name stands before that, or behind it.
fn names_something(line: &str) -> bool {
    let own = line.strip_prefix("overspill: ").unwrap_or(line);
    let Some((told, rest)) = own.split_once(" (os error") else { return true };
    let name = rest.split_once("): ").map_or("", |(_, name)| name);
    told.contains(": ") || name.starts_with(|first: char| !first.is_whitespace())
}

/// The terminal is as it was; what could not be written to it aside.
fn is_given_back(came: &Came, order: Order) -> Result<(), String> {
    let (_, text, _) = came.said();
    let mut left = text.lines().filter(|line| line.starts_with("left: "));
    let is_fault = |line: &&str| order.kind != Kind::Print || line.contains("modes");
    left.find(is_fault).map_or(Ok(()), |line| Err(format!("not given back: {line}")))
}

/// What was begun and not finished is gone, unless removing it is what failed.
fn no_half(came: &Came, order: Order) -> Result<(), String> {
    let is_begun = |path: &PathBuf| path.to_string_lossy().contains(".tmp-");
    let left: Vec<_> = came.below("").into_iter().filter(is_begun).collect();
    if left.is_empty() || order.kind == Kind::Change { Ok(()) } else { Err(format!("left behind: {left:?}")) }
}

/// The calls of each kind that are to fail, and the errors that each is given.
fn orders(calls: &[u32; KINDS]) -> Vec<Order> {
    let mut orders = Vec::new();
    for ((kind, faults), calls) in ALL.into_iter().zip(calls) {
        let given = |nth, faults: &[_]| {
            faults.iter().map(|fault| Order { kind, nth, fault: *fault }).collect::<Vec<_>>()
        };
        if std::env::var_os(ALL_FAULTS).is_some() {
            orders.extend((1..=*calls).flat_map(|nth| given(nth, faults)));
        } else {
            let some = SOME.min(*calls);
            // The last ones first: those are of the work itself, the others of getting there.
            let spread = (0..some).map(|n| calls - n * calls / some);
            orders.extend(
                spread
                    .zip((0..faults.len()).cycle())
                    .flat_map(|(nth, turn)| given(nth, &faults[turn..=turn])),
            );
        }
    }
    orders
}

/// The faults found in one scene.
fn try_all(scene: &Scene) -> (usize, Vec<String>) {
    let mut came = perform(scene, None, &Default::default());
    assert_eq!(came.ran.status, scene.status, "{}", came.ran.stderr);
    let usual = came.said();
    if let Stage::Screens { .. } = scene.stage {
        assert_eq!(usual.1, "", "{}", scene.name);
    }
    came.usual.clone_from(&usual);
    (scene.judge)(&came).expect("what is asked of a run with faults holds without");
    let orders = orders(&came.calls);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(order) = orders.get(next.fetch_add(1, Ordering::Relaxed)) {
            let case = Case { scene, order: *order, usual: &usual };
            let fault = case.fault().map(|fault| format!("{} {order:?}: {fault}", scene.name));
            found.lock().expect("no thread has failed").extend(fault);
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        (0..threads).for_each(|_| drop(scope.spawn(work)));
    });
    (orders.len(), found.into_inner().expect("no thread has failed"))
}

/// The test in which the file that is read changes.
const CHANGING: &str = "what_is_read_of_a_file_that_changes_is_of_one_content";

/// Tests that the words on the command line ask for, as other test programs have it.
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--list") {
        SCENES.iter().map(|scene| scene.name).chain([CHANGING]).for_each(|name| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let filters: BTreeSet<&str> =
        words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| filters.is_empty() || filters.iter().any(|word| name.contains(word));
    let mut faults = 0;
    let mut report = |name: &str, (tried, found): (usize, Vec<String>)| {
        println!("test {name} ... {} ({tried} faults)", if found.is_empty() { "ok" } else { "FAILED" });
        found.iter().for_each(|fault| println!("{fault}"));
        faults += found.len();
    };
    SCENES.iter().filter(|scene| wanted(scene.name)).for_each(|scene| report(scene.name, try_all(scene)));
    if wanted(CHANGING) {
        report(CHANGING, changing::try_all());
    }
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
