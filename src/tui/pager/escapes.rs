//! How much of a size limit the escape sequences took in what the model got.

use crate::preview::{Policy, Unit};
use crate::text::ansi;
use crate::text::units::{Measure, Want, measure_all};

use super::doc::{Class, Doc};
use super::reader::{Files, Reader};
use crate::tui::widget::cost::Cost;

/// Longer previews are not searched for escape sequences, in bytes.
const MOST: u64 = 4 << 20;

/// From this percentage of the limit on, the status line tells how much of it the escape sequences took.
const LEAST: u64 = 5;

/// Returns how much the escape sequences in what the model got of the output take of the policy's size limit, in
/// percent; none up to 5, where the policy has no such limit, or counts what they have none of.
pub(crate) fn share(seen: &Doc, files: Files, policy: &Policy) -> Option<u64> {
    let limit = policy.max_size()?;
    let (want, of): (Want, fn(&Measure) -> u64) = match policy.unit() {
        Unit::Bytes => (Want::DECODED_BYTES, |measure| measure.decoded_bytes),
        Unit::Utf16 => (Want::UNITS, |measure| measure.units),
        Unit::Chars => (Want::POINTS, |measure| measure.points),
        Unit::Cells | Unit::Tokens => return None,
    };
    let cost = Cost::default();
    let reader = Reader { doc: seen, files, cost: &cost };
    let is_searched = seen.len() <= MOST;
    let output = seen.classes(0..seen.len()).filter(|(_, class)| is_searched && *class != Class::Notice);
    let taken: u64 =
        output.map(|(range, _)| sequences(&reader.copy(range), |bytes| of(&measure_all(bytes, want)))).sum();
    Some((u128::from(taken) * 100 / u128::from(limit.max(1))) as u64).filter(|percent| *percent > LEAST)
}

/// Adds up what the escape sequences in `bytes` measure.
fn sequences(bytes: &[u8], size: impl Fn(&[u8]) -> u64) -> u64 {
    let (mut at, mut sum) = (0, 0);
    while let Some(found) = memchr::memchr(0x1b, &bytes[at..]) {
        let start = at + found;
        let len = ansi::sequence(&bytes[start..]).map_or(0, |sequence| sequence.len);
        sum += size(&bytes[start..start + len]);
        at = start + len.max(1);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_sequences_count() {
        let of = |bytes: &[u8]| sequences(bytes, |sequence| sequence.len() as u64);
        assert_eq!(of(b""), 0);
        assert_eq!(of(b"\x1b[31mred\x1b[0m"), 9);
        assert_eq!(of(b"\x1b]0;title\x07x"), 10);
        assert_eq!(of(b"\x1b\x1b[3"), 0);
    }
}
