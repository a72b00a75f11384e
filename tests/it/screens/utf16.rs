//! Text in UTF-16, as PowerShell writes it: shown decoded, searched and copied as text, and as bytes on request.

use overspill::internals::tui::app::Effect;
use overspill::internals::tui::widget::layout::Side;

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;

/// Returns a log of 3,000 lines that end in CRLF, in one order or the other.
fn log(little: bool) -> Vec<u8> {
    let line = |n: usize| match n {
        2500 => format!("error: žluť {n} 日本 🎉 is missing\r\n"),
        _ => format!("row {n} čeká\r\n"),
    };
    let text: String = std::iter::once("\u{feff}".to_owned()).chain((1..=3000).map(line)).collect();
    let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
    text.encode_utf16().flat_map(bytes).collect()
}

fn open(size: (u16, u16), bytes: &[u8]) -> Bench {
    let home = Home::new();
    Bench::open(size, &home.file("build.log", bytes), policy("opencode/output"))
}

#[test]
fn the_whole_output_is_shown_decoded_and_the_title_says_so() {
    let mut bench = open((140, 24), &log(true));
    bench.keys("<Tab>/žluť<Enter>");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("utf16_140x24", bench.screen());
    });
}

#[test]
fn utf16_is_searched_filtered_and_copied_as_text() {
    for little in [true, false] {
        let mut bench = open((80, 24), &log(little));
        bench.keys("<Tab>");
        let shown = bench.rows();
        assert!(shown[0].contains("UTF-16") && shown[1].contains(" 1 │ row 1 čeká "), "{shown:#?}");
        bench.keys("/^error.*MISSING<Enter>");
        assert!(!bench.rows().join("\n").contains("missing"), "a capital letter counts: {:#?}", bench.rows());
        bench.keys("/^error.*missing<Enter>");
        assert!(
            bench.rows().join("\n").contains("2500 ┊ error: žluť 2500 日本 🎉 is missing"),
            "{:#?}",
            bench.rows()
        );
        assert!(bench.rows()[23].contains("1 of 1"), "{:#?}", bench.rows());
        bench.keys("yl");
        let Some(Effect::Copy(text)) = bench.asked.last() else { panic!("{:?}", bench.asked.last()) };
        assert_eq!(text.trim_end(), "error: žluť 2500 日本 🎉 is missing");
        bench.keys("&29.7 č<Enter>");
        let rows = bench.rows();
        assert!(rows[2].contains("2907 ┊ row 2907 čeká") && rows[3].contains("2917 "), "{rows:#?}");
        bench.keys("&<Enter>");
        for (keys, says) in [("/\\bword<Enter>", "word boundaries"), ("&\\bword<Enter>", "word boundaries")] {
            assert!(bench.keys(keys).rows()[23].contains(says), "{:#?}", bench.rows());
            bench.keys("<Esc>");
        }
    }
}

#[test]
fn r_shows_the_raw_bytes_of_utf16_without_folding() {
    let mut bench = open((80, 24), &log(true));
    bench.keys("<Tab>r");
    let rows = bench.rows();
    assert!(rows[1].contains("<FF><FE>r^@o^@w^@ ^@1^@"), "{rows:#?}");
    assert!(rows[2].contains("^@r^@o^@w^@ ^@2^@"), "{rows:#?}");
    assert!(!bench.keys("r").rows().join("\n").contains("states"));
    assert!(
        bench.pager().show(Side::Preview).utf16.is_none(),
        "the model got what the policy made of the bytes"
    );
}

#[test]
fn every_row_is_shown_once_on_the_way_down_and_on_the_way_up() {
    for (little, wrapped) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut bench = open((40, 12), &log(little));
        bench.keys(if wrapped { "<Tab>" } else { "<Tab>w" });
        let number = |row: &str| {
            row.split('│').next().and_then(|n| n.trim().trim_end_matches('▸').parse::<u64>().ok())
        };
        let first = |bench: &Bench| number(&bench.rows()[1]);
        for n in 1..=40 {
            assert_eq!(first(&bench), Some(n), "{:#?}", bench.rows());
            bench.keys("j");
        }
        bench.keys("40k");
        assert_eq!(first(&bench), Some(1));
        let end = bench.keys("G").rows().join("\n");
        assert!(end.contains("3000 ┊ row 3000 čeká"), "{end}");
    }
}

#[test]
fn utf16_lines_are_counted_as_text_lines() {
    for (little, text, lines) in [
        (true, "one\ntwo\n", 2),
        (false, "one\ntwo\n", 2),
        (true, "one\ntwo", 2),
        (false, "one\ntwo", 2),
        (true, "one\n\n", 2),
        (false, "\n", 1),
        (true, "\n", 1),
    ] {
        let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        let bytes: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect();
        let mut bench = open((80, 24), &bytes);
        assert_eq!(bench.pager().output.lines(), Some(lines), "{text:?} {little}");
        for keys in ["<Tab>G", "100j", "w", "G", "/t?$<Enter>n"] {
            let rows = bench.keys(keys).rows();
            let is_numbered = |row: &&String| row.contains(['│', '┊']) && !row.contains("UTF-16");
            assert_eq!(rows.iter().filter(is_numbered).count() as u64, lines, "{rows:#?}");
            assert!(rows[1 + lines as usize].contains("end of the file"), "{rows:#?}");
        }
    }
}
