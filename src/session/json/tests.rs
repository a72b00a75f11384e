//! The outline of records: what is found, what is refused, and what any bytes do.

use proptest::prelude::*;

use super::Json;
use super::tape::{MOST_VALUES, Tape, TapeError};

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
fn a_value_of_another_kind_is_nothing() {
    with(r#"["1", 1, "long"]"#, |json| {
        let items: Vec<_> = json.items().collect();
        assert_eq!((items[0].int(), items[1].short(9), items[1].bool()), (None, None, None));
        assert!(json.get("a").is_none() && items[1].items().next().is_none());
        assert!(items[2].is("long") && !items[2].is("lon"));
    });
}

#[test]
fn what_is_not_json_is_refused_where_it_breaks() {
    for (text, at) in
        [("", 0), ("{", 1), ("{\"a\"", 4), ("[1,]", 3), ("[1 2]", 3), ("\"\\\"", 0), ("{a:1}", 1), ("1 2", 2)]
    {
        assert_eq!(Tape::default().read(text.as_bytes()).unwrap_err(), TapeError::Broken(at), "{text}");
    }
}

#[test]
fn depth_and_number_are_bounded() {
    let deep = "[".repeat(MOST_VALUES + 1);
    assert_eq!(Tape::default().read(deep.as_bytes()).unwrap_err(), TapeError::TooMany);
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
