//! Text that an agent shows as other text where it is kept, such as a tag that would end its envelope.

use crate::preview::file::ReplaceForm;
use crate::preview::parts::{Bit, Part};
use crate::preview::text::Text;
use memchr::memmem;

/// Replaces every occurrence in the kept parts of the slots.
pub(super) fn apply(text: &Text, form: &ReplaceForm, slots: &mut [(&'static str, Vec<Part>)]) {
    let finder = memmem::Finder::new(form.text.as_bytes());
    for (_, parts) in slots {
        *parts = parts.drain(..).flat_map(|part| split(text, form, &finder, part)).collect();
    }
}

fn split(text: &Text, form: &ReplaceForm, finder: &memmem::Finder, part: Part) -> Vec<Part> {
    let Part::Kept { range, .. } = &part else { return vec![part] };
    let mut parts = Vec::new();
    let mut at = range.start;
    for found in finder.find_iter(&text.bytes[range.clone()]) {
        let start = range.start + found;
        let end = start + form.text.len();
        parts.extend(text.kept(at..start));
        parts.push(text.changed(start..end, vec![Bit::Text(form.with.clone())]));
        at = end;
    }
    parts.extend(text.kept(at..range.end));
    parts
}
