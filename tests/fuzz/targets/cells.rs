//! The sanitiser, SGR and layout: any bytes, shown in any way, in any width.
#![no_main]

mod safe;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use overspill::internals::text::{ansi, label as labels};
use overspill::internals::text::cells::{Cells, Escapes, Invalid, Show};
use overspill::internals::text::layout::{segment_end, snap, Rows, Wrap};
use safe::is_safe;
use unicode_width::UnicodeWidthStr;

/// The most bytes of a grapheme.
const MAX_GRAPHEME: usize = 32;

fuzz_target!(|data: &[u8]| {
    let _ = all(Unstructured::new(data));
});

fn all(mut data: Unstructured) -> Result<()> {
    let escapes = if data.arbitrary()? { Escapes::Render } else { Escapes::Visible };
    let invalid = if data.arbitrary()? { Invalid::Hex } else { Invalid::Replacement };
    let show = Show { escapes, invalid, tab: data.arbitrary()?, utf16: None, ascii: data.arbitrary()? };
    let (width, from, sideways): (u16, u32, bool) = (data.arbitrary()?, data.arbitrary()?, data.arbitrary()?);
    let bytes = data.take_rest();
    cells(bytes, &show);
    let wrap = match (sideways, from % 2) {
        (true, _) => Wrap::Sideways { from_column: u64::from(from), width: width % 300 },
        (false, 0) => Wrap::Width(width % 300),
        (false, _) => Wrap::Words(width % 300),
    };
    rows(bytes, &show, wrap);
    printed(bytes, &show);
    let style = ansi::legible(ansi::style_at(bytes));
    rows(bytes, &show, Wrap::Width(width % 9));
    assert!(Rows::new(bytes, &show, wrap).with_style(style).next().is_some());
    let at = from as usize % (bytes.len() + 1);
    assert!(segment_end(bytes, at) <= bytes.len() && snap(bytes, at) <= bytes.len());
    Ok(())
}

fn first_line(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1)
}

fn cells(bytes: &[u8], show: &Show) {
    let (mut at, mut joined) = (0, String::new());
    for cell in Cells::new(bytes, show) {
        let text = cell.text.as_str();
        assert_eq!(cell.start as usize, at, "cells tile the line");
        assert!(cell.len > 0 && text.len() <= MAX_GRAPHEME && is_safe(text), "{cell:?}");
        assert!(!show.ascii || text.is_ascii(), "{cell:?}");
        assert_eq!(usize::from(cell.width), text.width(), "{cell:?}");
        assert_eq!(cell.width > 0, cell.kind.is_drawn(), "{cell:?}");
        at = cell.end();
        joined.push_str(text);
    }
    assert_eq!(at, first_line(bytes));
    assert!(is_safe(&joined), "{joined:?}");
}

fn rows(bytes: &[u8], show: &Show, wrap: Wrap) {
    let mut at = 0;
    for row in Rows::new(bytes, show, wrap) {
        let columns: usize = row.cells.iter().map(|cell| usize::from(cell.width)).sum();
        match wrap {
            Wrap::Width(width) | Wrap::Words(width) => {
                assert_eq!(row.start, at, "rows tile the line");
                let is_one_wide = row.cells.iter().filter(|cell| cell.width > 0).count() == 1;
                assert!(columns <= usize::from(width.max(1)) || is_one_wide, "{row:?}");
            }
            Wrap::Sideways { width, .. } => assert!(columns <= usize::from(width.max(1)), "{row:?}"),
        }
        at = row.end;
    }
    if let Wrap::Width(_) | Wrap::Words(_) = wrap {
        assert_eq!(at, first_line(bytes));
    }
}

fn printed(bytes: &[u8], show: &Show) {
    let mut out = Vec::new();
    labels::write_safe(&mut out, bytes, show, false).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.lines().all(is_safe), "{out:?}");
    let label = labels::label(bytes);
    assert!(is_safe(&label), "{label:?}");
    let short = labels::fit(&label, usize::from(show.tab));
    assert!(labels::columns_of(&short) <= usize::from(show.tab), "{short:?}");
}
