//! The outline of records: what is found, what is refused, and what any bytes do.

use std::ops::ControlFlow;

use proptest::prelude::*;

use super::quote::LOOKED_AT;
use super::tape::{MAX_VALUES, Tape, TapeError, Tapes};
use super::{Json, JsonText, Kind};

fn with<T>(text: &str, look: impl FnOnce(Json) -> T) -> T {
    look(Tape::default().read(text.as_bytes()).unwrap())
}

#[test]
fn values_are_found_by_path() {
    let text = r#" {"a": [1, {"b": "x\"y\\"}, []], "c": {}, "a\u0062": true, "n": -2.5, "z": null} "#;
    with(text, |json| {
        let items: Vec<_> = json.get("a").unwrap().items().collect();
        assert_eq!(items.len(), 3);
        assert_eq!(items[0].int(), Some(1));
        assert_eq!(items[1].get("b").unwrap().short(10).as_deref(), Some("x\"y\\"));
        assert_eq!(items[2].items().count(), 0);
        assert_eq!(json.path(&["c", "d"]).map(|value| value.range()), None);
        assert_eq!(json.get("ab").unwrap().bool(), Some(true));
        assert_eq!((json.get("n").unwrap().int(), json.get("n").unwrap().float()), (Some(-2), Some(-2.5)));
        assert!(json.get("z").unwrap().is_null());
        assert_eq!(json.raw(), text.trim().as_bytes());
    });
}

#[test]
fn the_last_of_equal_keys_wins() {
    with(r#"{"a":1,"a":2}"#, |json| assert_eq!(json.get("a").unwrap().int(), Some(2)));
}

#[test]
fn every_key_of_a_record_is_found() {
    let numbers: Vec<String> = (0..2000).map(|n| format!("\"k{n}\":[{n},{n}]")).collect();
    with(&format!("{{{}}}", numbers.join(",")), |json| {
        for n in 0..2000 {
            let value = json.get(&format!("k{n}")).unwrap();
            assert_eq!(value.items().map(|item| item.int()).collect::<Vec<_>>(), [Some(n), Some(n)]);
        }
        assert!(json.get("k2000").is_none() && json.get("").is_none());
    });
    with(r#"{"a":1,"\u0061":2,"b":3,"":4}"#, |json| {
        assert_eq!(json.get("a").unwrap().int(), Some(2), "an escaped key is the last of equal ones");
        assert_eq!((json.get("b").unwrap().int(), json.get("").unwrap().int()), (Some(3), Some(4)));
    });
}

#[test]
fn a_block_of_records_reads_the_same_as_single_records() {
    let block = br#"{"a":[1,{"b":"x"}]}|{"a":|[2]|{"c":{"a":3},"a":4}"#;
    let mut tapes = Tapes::default();
    for _ in 0..2 {
        tapes.clear();
        [0..19, 20..25, 26..29, 30..49].into_iter().for_each(|range| tapes.add(block, range));
        let mut found = Vec::new();
        let _ = tapes.each(block, &mut |at, record| {
            let a = record.map(|record| record.get("a").map(|value| value.raw().to_vec()));
            found.push((at, a.map(|a| String::from_utf8(a.unwrap_or_default()).unwrap())));
            ControlFlow::Continue(())
        });
        let text = |text: &str| Ok(text.to_owned());
        let broken = Err(TapeError::Broken(5));
        assert_eq!(found, [(0, text(r#"[1,{"b":"x"}]"#)), (20, broken), (26, text("")), (30, text("4"))]);
    }
}

#[test]
fn a_block_of_very_many_values_is_read_whole() {
    let record = format!("{{\"a\":[{}],\"n\":7}}", vec!["0"; 100_000].join(","));
    let (small, mut tapes) = ("{\"n\":7}", Tapes::default());
    let block = record.repeat(4) + &small.repeat(10_000);
    let ends = |n: usize| n * record.len()..(n + 1) * record.len();
    let starts = |n: usize| record.len() * 4 + n * small.len();
    let ranges: Vec<std::ops::Range<usize>> =
        (0..4).map(ends).chain((0..10_000).map(|n| starts(n)..starts(n + 1))).collect();
    ranges.into_iter().for_each(|range| tapes.add(block.as_bytes(), range));
    let mut count = 0;
    let _ = tapes.each(block.as_bytes(), &mut |_, record| {
        count += record.unwrap().get("n").unwrap().int().unwrap();
        ControlFlow::Continue(())
    });
    assert_eq!(count, 7 * 10_004);
}

#[test]
fn scans_a_repeated_string_only_once() {
    let looks = |text: &str| {
        LOOKED_AT.set(0);
        with(text, |json| json.get("b").unwrap().range().len());
        LOOKED_AT.get()
    };
    let long = r#"{\"name\":\"x\"}\n"#.repeat(1000);
    let once = looks(&format!(r#"{{"a":"{long}","b":""}}"#));
    assert!(once > long.len() / 2, "{once}");
    let same = looks(&format!(r#"{{"a":"{long}","b":"{long}"}}"#));
    assert!(same < once + 1000, "{same} after {once}");
    let longer = looks(&format!(r#"{{"a":"{long}","b":"{long}\"more\""}}"#));
    assert!(longer < once + 1000, "{longer} after {once}");
    let shorter = looks(&format!(r#"{{"a":"{long}","b":"{}"}}"#, &long[..12_000]));
    assert!(shorter < once + 1000, "{shorter} after {once}");
}

#[test]
fn a_value_of_another_kind_reads_as_none() {
    with(r#"["1", 1, "long"]"#, |json| {
        let items: Vec<_> = json.items().collect();
        assert_eq!((items[0].int(), items[1].short(9), items[1].bool()), (None, None, None));
        assert!(json.get("a").is_none() && items[1].items().next().is_none());
        assert!(items[2].is("long") && !items[2].is("lon"));
    });
}

#[test]
fn short_refuses_text_over_the_limit() {
    with(r#"["1234", "12345", "\u0031234", "\u00312345"]"#, |json| {
        let short: Vec<_> = json.items().map(|item| item.short(4)).collect();
        assert_eq!(short, [Some("1234".to_owned()), None, Some("1234".to_owned()), None]);
        assert!(
            json.items()
                .map(|item| item.short_text(4))
                .eq(short.iter().map(|text| text.as_deref().map(Into::into)))
        );
    });
}

#[test]
fn invalid_json_is_refused_at_the_byte_where_it_breaks() {
    for (text, at) in
        [("", 0), ("{", 1), ("{\"a\"", 4), ("[1,]", 3), ("[1 2]", 3), ("\"\\\"", 0), ("{a:1}", 1), ("1 2", 2)]
    {
        assert_eq!(Tape::default().read(text.as_bytes()).unwrap_err(), TapeError::Broken(at), "{text}");
    }
}

#[test]
fn depth_and_number_are_bounded() {
    let deep = "[".repeat(MAX_VALUES + 1);
    assert_eq!(Tape::default().read(deep.as_bytes()).unwrap_err(), TapeError::TooLarge);
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    assert!(Tape::default().read(deep.as_bytes()).is_ok());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut tape = Tape::default();
        if let Ok(json) = tape.read(&bytes) {
            let _ = (json.members().count(), json.items().count(), json.get("a"), json.text());
        }
    }

    #[test]
    fn repeated_strings_are_read_as_serde_reads_them(
        start in r#"[a"\\]{250,300}"#,
        ends in proptest::collection::vec(r#"[a"\\]{0,300}"#, 1..5),
    ) {
        let texts: Vec<String> = ends.iter().map(|end| format!("{start}{end}")).collect();
        let record = serde_json::to_string(&texts).unwrap();
        let mut tape = Tape::default();
        let found = tape.read(record.as_bytes()).unwrap();
        let found: Vec<_> = found.items().map(|item| item.short(1000).unwrap()).collect();
        prop_assert_eq!(found, texts);
    }

    #[test]
    fn valid_json_is_read_as_serde_reads_it(keys in proptest::collection::vec(("[a-c\"\\\\é]{0,3}", "\\PC{0,8}"), 0..8)) {
        let object: serde_json::Map<_, _> =
            keys.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
        let text = serde_json::to_string(&object).unwrap();
        let mut tape = Tape::default();
        let json = tape.read(text.as_bytes()).unwrap();
        for (key, value) in &object {
            prop_assert_eq!(json.get(key).unwrap().short(100), value.as_str().map(str::to_owned));
        }
    }
}

/// Writes a value as JSON again, with `_` for what has no bytes.
fn written(value: Json) -> String {
    let list = |items: Vec<String>| items.join(",");
    match value.kind() {
        Kind::Array => format!("[{}]", list(value.items().map(written).collect())),
        Kind::Object => {
            let member =
                |(key, value): (JsonText, Json)| format!("{}:{}", key.to_text(99).text, written(value));
            format!("{{{}}}", list(value.members().map(member).collect()))
        }
        Kind::String => format!("'{}'", value.text().unwrap().to_text(99).text),
        Kind::Bare if value.raw().is_empty() => "_".to_owned(),
        Kind::Bare => String::from_utf8_lossy(value.raw()).into_owned(),
    }
}

#[test]
fn the_beginning_of_a_record_is_read_wherever_it_ends() {
    let record = br#"{"id": 12, "c": [{"t": "ab\"c"}, [1, true], {}], "z": "end"}"#;
    let mut tape = Tape::default();
    let whole = written(tape.read(record).unwrap());
    assert_eq!(whole, "{id:12,c:[{t:'ab\"c'},[1,true],{}],z:'end'}");
    for len in 1..record.len() {
        let beginning = written(tape.read_beginning(&record[..len]).unwrap());
        // What is there is as in the whole, up to the place where the rest is missing.
        let same = beginning.trim_end_matches(['}', ']', '_', '\'', '\u{fffd}', ':']);
        assert!(whole.starts_with(same), "{len}: {beginning}");
    }
    let begun = |len| written(Tape::default().read_beginning(&record[..len]).unwrap());
    assert_eq!(begun(8), "{id:_}", "more digits may follow");
    assert_eq!(begun(27), "{id:12,c:[{t:'ab'}]}", "the last byte stands for the quote");
    assert_eq!(begun(13), "{id:12}", "half a key");
    for text in [&b""[..], b"\"abc", b"[1}", b"{\"a\" 1"] {
        assert!(Tape::default().read_beginning(text).is_err());
    }
}
