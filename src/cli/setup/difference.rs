//! PURE: the lines by which two texts differ, with some around them.

/// How many lines are shown around a change.
const AROUND: usize = 3;

/// A line of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiffLine<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
    /// Lines that are the same are left out.
    Gap,
}

/// More pairs of lines than this are not compared: all between the first and the last change counts as changed.
const MAX_PAIRS: usize = 4 << 20;

/// Returns the lines that differ.
pub(super) fn difference<'a>(old: &'a str, new: &'a str) -> Vec<DiffLine<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (rest, others) = (&old[start..], &new[start..]);
    let end = rest.iter().rev().zip(others.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut all: Vec<DiffLine> = old[..start].iter().map(|line| DiffLine::Same(line)).collect();
    push_changed(&mut all, &rest[..rest.len() - end], &others[..others.len() - end]);
    all.extend(old[old.len() - end..].iter().map(|line| DiffLine::Same(line)));
    near_changes(&all)
}

/// Adds the shortest way from some lines to others.
fn push_changed<'a>(all: &mut Vec<DiffLine<'a>>, old: &[&'a str], new: &[&'a str]) {
    let is_compared = old.len().saturating_mul(new.len()) <= MAX_PAIRS;
    let width = new.len() + 1;
    // How many lines are the same from here on.
    let mut same = vec![0_u32; if is_compared { (old.len() + 1) * width } else { 0 }];
    if is_compared {
        for (a, b) in (0..old.len()).rev().flat_map(|a| (0..new.len()).rev().map(move |b| (a, b))) {
            let next = [same[(a + 1) * width + b], same[a * width + b + 1]];
            let both = if old[a] == new[b] { same[(a + 1) * width + b + 1] + 1 } else { 0 };
            same[a * width + b] = both.max(next[0]).max(next[1]);
        }
    }
    let (mut a, mut b) = (0, 0);
    while a < old.len() || b < new.len() {
        if is_compared && a < old.len() && b < new.len() && old[a] == new[b] {
            all.push(DiffLine::Same(old[a]));
            (a, b) = (a + 1, b + 1);
        } else if b == new.len()
            || a < old.len() && (!is_compared || same[(a + 1) * width + b] >= same[a * width + b + 1])
        {
            all.push(DiffLine::Removed(old[a]));
            a += 1;
        } else {
            all.push(DiffLine::Added(new[b]));
            b += 1;
        }
    }
}

fn near_changes<'a>(all: &[DiffLine<'a>]) -> Vec<DiffLine<'a>> {
    let is_same = |line: &DiffLine| matches!(line, DiffLine::Same(_));
    let is_near =
        |at: usize| !all[at.saturating_sub(AROUND)..(at + AROUND + 1).min(all.len())].iter().all(is_same);
    let mut shown = Vec::new();
    for (at, line) in all.iter().enumerate() {
        if is_near(at) {
            shown.push(*line);
        } else if shown.last() != Some(&DiffLine::Gap) {
            shown.push(DiffLine::Gap);
        }
    }
    shown
}
